//! What one instruction does to what is known: scalars once, vector registers in every class of lanes that is on.

use super::arith::{arithmetic, counts_low};
use super::fact::Why;
use super::linear::{Dims, Lin};
use super::pattern;
use super::state::{Class, EXEC, Pending, State, bit};
use super::value::{Id, Tag, Value, Wide};
use crate::infer::range::Range;
use crate::infer::state::State as Ranges;
use std::rc::Rc;
use wb_isa::gcn3::table::implicit;
use wb_isa::gcn3::{Format, Inst, Op, Operand, Ty, sreg};
use wb_isa::{Mask, Pc};

/// A rule that can be left out, to see that tests find it missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessRule {
    /// What lanes that are off hold comes back when they are on again.
    LanesThatAreOff,
    /// The high half of a sum has the carry of the low half.
    Carry,
    /// What an instruction made in an earlier round is not what it makes now.
    OlderRounds,
    /// A comparison is decided lane by lane only if all its numbers are known, their base included.
    KnownNumbers,
    /// What one wave of a group touches says nothing about the others.
    EveryWave,
    /// A pointer moves once for each time that a loop goes round.
    EveryRound,
}

impl AccessRule {
    pub const ALL: [AccessRule; 6] = [
        AccessRule::LanesThatAreOff,
        AccessRule::Carry,
        AccessRule::OlderRounds,
        AccessRule::KnownNumbers,
        AccessRule::EveryWave,
        AccessRule::EveryRound,
    ];
}

/// What is the same for all instructions of a kernel.
#[derive(Clone, Copy)]
pub struct Setting {
    pub dims: Dims,
    /// Paths of a wave may run apart and meet again.
    pub apart: bool,
    /// A lane may have private memory.
    pub private: bool,
    pub without: Option<AccessRule>,
}

/// One instruction, and the ranges before and after it.
pub struct Step<'a> {
    pub pc: Pc,
    pub inst: &'a Inst,
    pub set: Setting,
    pub before: &'a Ranges,
    pub after: &'a Ranges,
}

/// What a register gets, and what another one turns out to be.
struct Result {
    values: Vec<Value>,
    /// The low half of a number whose high half is the first value.
    low: Option<(Operand, Tag)>,
    pending: Option<Pending>,
}

impl Result {
    fn new(values: Vec<Value>) -> Result {
        Result { values, low: None, pending: None }
    }
}

impl Step<'_> {
    pub fn run(&self, state: &mut State) {
        if self.set.without != Some(AccessRule::OlderRounds) {
            state.forget(|id| matches!(id, Id::Made(pc, _) if pc == self.pc));
        }
        match self.inst.format {
            Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk | Format::Sopp | Format::Smem => {
                self.scalar(state);
            }
            _ if matches!(self.inst.op, Op::VReadfirstlaneB32 | Op::VReadlaneB32) => self.read_lane(state),
            _ => self.vector(state),
        }
        if !self.after.is_clean(sreg::EXEC) {
            state.lose_lanes();
        }
    }

    /// A scalar operand or a constant.
    pub fn scalar_value(&self, state: &State, operand: Operand) -> Value {
        match operand {
            Operand::Sgpr(n) => {
                let n = usize::from(n & 127);
                Value::clone(&state.scalars[n]).with_range(self.before.scalars[n].range)
            }
            Operand::Scc | Operand::VccZ | Operand::ExecZ => Value::uniform(Range::unsigned(0, 1), false),
            Operand::InlineInt(v) => Value::constant(i32::from(v) as u32),
            Operand::Literal(v) => Value::constant(v),
            Operand::InlineFloat(f) => Value::constant(f.bits32()),
            _ => Value::uniform(Range::FULL, false),
        }
    }

    /// An operand of the lanes of a class.
    pub fn value(&self, state: &State, class: &Class, operand: Operand) -> Value {
        match operand {
            Operand::Vgpr(n) => {
                let value = Rc::unwrap_or_clone(class.get(n)).with_range(self.before.on[usize::from(n)]);
                value.narrowed(class.lanes, self.set.dims)
            }
            other => self.scalar_value(state, other),
        }
    }

    /// A 64-bit operand.
    pub fn wide(&self, state: &State, class: &Class, operand: Operand) -> Wide {
        match operand {
            Operand::Vgpr(n) => {
                let high = self.value(state, class, Operand::Vgpr(n.wrapping_add(1)));
                Wide::pair(&self.value(state, class, operand), &high, self.set.dims)
            }
            Operand::Sgpr(n) => {
                let high = self.scalar_value(state, Operand::Sgpr(n.wrapping_add(1) & 127));
                Wide::pair(&self.scalar_value(state, operand), &high, self.set.dims)
            }
            Operand::InlineInt(v) => Wide::exact(i64::from(v) as u64),
            _ => Wide::of(vec![Lin::unknown()]),
        }
    }

    fn scalar(&self, state: &mut State) {
        let inst = self.inst;
        let class = Class::default();
        let get = |operand: Operand| self.scalar_value(state, operand);
        let result = match inst.format {
            Format::Smem => Some(Result::new(self.loaded_scalars())),
            _ => self.result(state, &class, &get, state.carry.as_ref(), (0, None)),
        };
        let writes: Vec<(u8, u8)> = self.written(|o| if let Operand::Sgpr(n) = o { Some(n) } else { None });
        let scc = inst.uses().iter().any(|u| u.write && u.operand == Operand::Scc);
        let mut values = result.as_ref().map_or_else(Vec::new, |r| r.values.clone()).into_iter();
        let masks = self.mask_result(state);
        if scc {
            state.carry = None;
        }
        for (n, dwords) in writes {
            let first = inst.dst == Operand::Sgpr(n);
            for i in 0..dwords {
                let n = n.wrapping_add(i) & 127;
                let made = if first { values.next() } else { None };
                let mut value = made.unwrap_or_else(|| Value::uniform(Range::FULL, false));
                value = one_for_all(value).with_range(self.after.scalars[usize::from(n)].range);
                value.id = value.id.or(Some(Id::Made(self.pc, i.into())));
                match &masks {
                    // The bits of the lanes follow.
                    Some(_) => state.scalars[usize::from(n)] = Rc::new(value),
                    None => state.put_scalar(n, value),
                }
            }
        }
        if let Some(masks) = masks {
            state.assign_masks(masks);
        }
        let Some(Result { low, pending, .. }) = result else { return };
        if let Some((Operand::Sgpr(n), tag)) = low {
            Rc::make_mut(&mut state.scalars[usize::from(n & 127)]).tag(tag);
        }
        state.carry = pending.or(state.carry.take());
    }

    /// Registers of one kind that are written.
    fn written(&self, pick: impl Fn(Operand) -> Option<u8>) -> Vec<(u8, u8)> {
        let all = self.inst.uses().into_iter().filter(|u| u.write);
        all.filter_map(|u| Some((pick(u.operand)?, u.dwords))).collect()
    }

    fn loaded_scalars(&self) -> Vec<Value> {
        let Operand::Sgpr(first) = self.inst.dst else { return Vec::new() };
        let count = self.inst.dst_dwords();
        let mut values: Vec<Value> = (0..count)
            .map(|i| {
                let scalar = &self.after.scalars[usize::from(first.wrapping_add(i) & 127)];
                Value::uniform(scalar.range, scalar.argument.is_some())
            })
            .collect();
        for (i, two) in values.chunks_exact_mut(2).enumerate() {
            let fixed = two.iter().all(|v| v.alts.iter().all(|l| l.fixed));
            let wide = Rc::new(Wide::of(vec![Lin::uniform(fixed)]));
            for (value, high) in two.iter_mut().zip([false, true]) {
                let id = Id::Made(self.pc, 2 * i as u16);
                value.tag(Tag { id, high, wide: wide.clone(), from: None });
            }
        }
        values
    }

    /// The result for a class of lanes, or for a scalar. `slot` names it; `row`: what it is lane by lane.
    fn result(
        &self,
        state: &State,
        class: &Class,
        get: &dyn Fn(Operand) -> Value,
        carry: Option<&Pending>,
        (slot, bit): (u16, Option<bool>),
    ) -> Option<Result> {
        let inst = self.inst;
        let dims = self.set.dims;
        let [a, b, c] = inst.src.map(get);
        let id = Id::Made(self.pc, slot);
        let ranges = |i: u8| match inst.dst {
            Operand::Vgpr(n) => self.after.on[usize::from(n.wrapping_add(i))],
            Operand::Sgpr(n) => self.after.scalars[usize::from(n.wrapping_add(i) & 127)].range,
            _ => Range::FULL,
        };
        let loose = |v: &&&Value| v.alts.iter().any(|l| l.spread != Some(0));
        let why = [&a, &b, &c].iter().filter(loose).find_map(|v| v.why);
        let put = |alts: Vec<Lin>, i: u8| Value { why, ..Value::new(alts, ranges(i)) };
        let halves = |wide: Wide| {
            let wide = Rc::new(wide);
            let low = put(wide.alts.clone(), 0).with_row(wide.pattern.as_ref().map(|p| p.register()));
            let high = put(high_half(&wide), 1);
            let high = high.with_row(wide.pattern.as_ref().and_then(pattern::high_half));
            let tagged = |mut v: Value, high: bool| {
                v.tag(Tag { id, high, wide: wide.clone(), from: None });
                v
            };
            Result::new(vec![tagged(low, false), tagged(high, true)])
        };
        if !pattern::changed(inst) {
            match inst.op {
                Op::SMovB64 => {
                    let Operand::Sgpr(n) = inst.src[0] else {
                        return Some(halves(self.wide(state, class, inst.src[0])));
                    };
                    return Some(Result::new(vec![
                        get(Operand::Sgpr(n)),
                        get(Operand::Sgpr(n.wrapping_add(1) & 127)),
                    ]));
                }
                Op::SMovB32 | Op::VMovB32 => return Some(Result::new(vec![a])),
                Op::SLshlB64 => {
                    return Some(halves(self.wide(state, class, inst.src[0]).shifted(b.range.constant()?)));
                }
                Op::VLshlrevB64 => {
                    return Some(halves(self.wide(state, class, inst.src[1]).shifted(a.range.constant()?)));
                }
                Op::VLshlAddU64 => {
                    let by = b.range.constant().filter(|n| *n <= 4)?;
                    let sum = self.wide(state, class, inst.src[0]).shifted(by);
                    return Some(halves(sum.add(&self.wide(state, class, inst.src[2]))));
                }
                Op::SAshrI64 => return Some(halves(self.spread_high(get, inst.src[0], &b)?)),
                Op::VAshrrevI64 => return Some(halves(self.spread_high(get, inst.src[1], &a)?)),
                Op::VMadU64U32 => {
                    let (x, by) = match (a.range.constant(), b.range.constant()) {
                        (_, Some(c)) => (&a, c),
                        (Some(c), _) => (&b, c),
                        _ => return None,
                    };
                    let x = x.extended(false, dims);
                    let range = x.range.map(|(lo, hi)| (lo * i128::from(by), hi * i128::from(by)));
                    let pattern = x.pattern.as_ref().map(|p| p.scale(by.into()));
                    let alts = x.alts.iter().map(|l| l.scale(by.into())).collect();
                    let product = Wide { alts, range, pattern };
                    return Some(halves(product.add(&self.wide(state, class, inst.src[2]))));
                }
                Op::SAddcU32 | Op::VAddcU32 | Op::SSubbU32 | Op::VSubbU32 | Op::VSubbrevU32 => {
                    return self.carried(carry?, &a, &b, id, &put);
                }
                // All lanes of the class have the one, or the other.
                Op::VCndmaskB32 if dims.rows && bit.is_some() => {
                    return Some(Result::new(vec![if bit == Some(true) { b } else { a }]));
                }
                _ => {}
            }
        }
        let old = get(inst.dst);
        let alts = match arithmetic(inst, [&a, &b, &c], &old, dims) {
            Some(alts) => alts,
            None if self.lanewise() && self.reads_same(get) => vec![Lin::uniform(false)],
            None => vec![],
        };
        let rows = [&a, &b, &c].map(|v| v.row(dims));
        let moved = || pattern::moved(inst, rows.each_ref().map(Option::as_ref), [a.range, b.range, c.range]);
        let row = if dims.rows && matches!(inst.dst, Operand::Vgpr(_)) {
            pattern::execute(inst, &rows, bit).and_then(|e| e.result).or_else(moved)
        } else {
            None
        };
        let mut value = put(alts, 0).with_row(row);
        if value.alts.iter().any(|l| l.spread.is_none()) {
            value.why = value.why.or(Some(Why::Operation));
        }
        value.counts_low = counts_low(inst, [&a, &b], dims);
        let mut result = Result::new(vec![value]);
        let to = match inst.dst {
            Operand::Vgpr(n) | Operand::Sgpr(n) => n,
            _ => return Some(result),
        };
        let plus = |a: Value, b: Value, minus: bool| Some(Pending { pc: self.pc, to, a, b, minus });
        match inst.op {
            _ if pattern::changed(inst) => {}
            Op::SAddU32 | Op::VAddU32 => result.pending = plus(a, b, false),
            Op::SSubU32 | Op::VSubU32 => result.pending = plus(a, b, true),
            Op::VSubrevU32 => result.pending = plus(b, a, true),
            Op::SAshrI32 | Op::VAshrrevI32 => {
                let (x, from, by) = match inst.op {
                    Op::SAshrI32 => (a, inst.src[0], b),
                    _ => (b, inst.src[1], a),
                };
                if by.range.constant().is_some_and(|n| n & 31 == 31) && from != inst.dst {
                    let wide = Rc::new(x.extended(true, dims));
                    result.values[0].tag(Tag { id, high: true, wide: wide.clone(), from: None });
                    result.low = Some((from, Tag { id, high: false, wide, from: None }));
                }
            }
            _ => {}
        }
        Some(result)
    }

    /// The high half of a sum or difference: with the low half it is a number.
    fn carried(
        &self,
        carry: &Pending,
        x: &Value,
        y: &Value,
        id: Id,
        put: &dyn Fn(Vec<Lin>, u8) -> Value,
    ) -> Option<Result> {
        let dims = self.set.dims;
        let pair = |lo: &Value, hi: &Value| Wide::pair(lo, hi, dims);
        let known = |w: &Wide| w.alts.iter().all(|l| l.spread.is_some()) && w.range.is_some();
        let minus = !matches!(self.inst.op, Op::SAddcU32 | Op::VAddcU32);
        if minus != carry.minus {
            return None;
        }
        let wide = match self.inst.op {
            Op::SSubbU32 | Op::VSubbU32 => pair(&carry.a, x).sub(&pair(&carry.b, y)),
            Op::VSubbrevU32 => pair(&carry.a, y).sub(&pair(&carry.b, x)),
            _ => {
                let straight = pair(&carry.a, x).add(&pair(&carry.b, y));
                let crossed = pair(&carry.a, y).add(&pair(&carry.b, x));
                if known(&straight) || !known(&crossed) { straight } else { crossed }
            }
        };
        let wide = match self.set.without {
            // As if the low half of a number that goes back left no carry.
            Some(AccessRule::Carry) if carry.a.range.constant().is_some_and(|a| a >> 31 == 1) => {
                wide.sub(&Wide::exact(1 << 32))
            }
            _ => wide,
        };
        let wide = Rc::new(wide);
        let mut high = put(high_half(&wide), 0);
        high = high.with_row(wide.pattern.as_ref().and_then(pattern::high_half));
        let from = self.moved(carry, x, y);
        high.tag(Tag { id, high: true, wide: wide.clone(), from });
        let low = match self.inst.dst {
            Operand::Vgpr(n) if n != carry.to => Some(Operand::Vgpr(carry.to)),
            Operand::Sgpr(n) if n != carry.to => Some(Operand::Sgpr(carry.to)),
            _ => None,
        };
        let low = low.map(|o| (o, Tag { id, high: false, wide, from }));
        Some(Result { values: vec![high], low, pending: None })
    }

    /// `x << 32 >> by` with the sign, as compilers extend an index.
    fn spread_high(&self, get: &dyn Fn(Operand) -> Value, from: Operand, by: &Value) -> Option<Wide> {
        let by = by.range.constant().filter(|&n| n <= 32)?;
        let (low, high) = match from {
            Operand::Vgpr(n) => (get(from), get(Operand::Vgpr(n.wrapping_add(1)))),
            Operand::Sgpr(n) => (get(from), get(Operand::Sgpr(n.wrapping_add(1) & 127))),
            _ => return None,
        };
        let zero = low.range.constant() == Some(0);
        zero.then(|| high.extended(true, self.set.dims).shifted(32 - by))
    }

    /// Every lane's result depends on its own operands alone.
    fn lanewise(&self) -> bool {
        let inst = self.inst;
        let known = matches!(inst.format, Format::Vop1 | Format::Vop2 | Format::Vop3 | Format::Sdwa);
        let masks = (0..3).any(|i| inst.src_ty(i) == Ty::Mask) || inst.entry().reads & implicit::VCC != 0;
        let own = matches!(
            inst.op,
            Op::VMbcntLoU32B32 | Op::VMbcntHiU32B32 | Op::VMovrelsB32 | Op::VMovrelsdB32 | Op::VWritelaneB32
        );
        known && !masks && !own
    }

    /// All vector registers that are read have one number for all lanes.
    fn reads_same(&self, get: &dyn Fn(Operand) -> Value) -> bool {
        self.inst.uses().into_iter().filter(|u| u.read).all(|u| match u.operand {
            Operand::Vgpr(n) => {
                (0..u.dwords).all(|i| get(Operand::Vgpr(n.wrapping_add(i))).only().is_some_and(Lin::same))
            }
            _ => true,
        })
    }

    fn vector(&self, state: &mut State) {
        let inst = self.inst;
        let writes = self.written(|o| if let Operand::Vgpr(n) = o { Some(n) } else { None });
        if inst.op == Op::VWritelaneB32 {
            self.write_scalars(state);
            for (n, _) in writes {
                let lose = |class: &mut Class| class.put(n, Value::unknown(Range::FULL, Why::Operation));
                state.lanes.values_mut().for_each(lose);
            }
            return;
        }
        // All results before anything is written.
        let named = self.named(state);
        let told = self.told(state);
        let result = |(index, (case, class)): (usize, (u64, &Class))| {
            let slot = if named { 0 } else { 256 * (1 + index as u16 % 128) };
            let get = |operand: Operand| self.value(state, class, operand);
            let carry = match inst.src[2] {
                Operand::Sgpr(n) if n & 1 == 0 => class.carries.get(&(n >> 1)),
                _ => None,
            };
            let result = match inst.format {
                Format::Ds
                | Format::Flat
                | Format::Global
                | Format::Scratch
                | Format::Mubuf
                | Format::Mtbuf
                | Format::Mimg => Some(self.loaded(state, class)),
                _ => self.result(state, class, &get, carry, (slot, self.bit_read(state, case))),
            };
            (case, slot, result)
        };
        let results: Vec<(u64, u16, Option<Result>)> = state.on().enumerate().map(result).collect();
        self.write_scalars(state);
        for (case, slot, result) in results {
            self.put(state, case, &writes, result, slot);
        }
        self.write_masks(state, &told);
    }

    /// Puts the result of a class.
    fn put(&self, state: &mut State, case: u64, writes: &[(u8, u8)], result: Option<Result>, slot: u16) {
        let inst = self.inst;
        let off = self.set.without == Some(AccessRule::LanesThatAreOff);
        let result = result.unwrap_or_else(|| Result::new(Vec::new()));
        for (_, class) in state.lanes.iter_mut().filter(|(c, _)| **c == case || off && !bit(**c, EXEC)) {
            for &(n, dwords) in writes {
                for i in 0..dwords {
                    let at = n.wrapping_add(i);
                    let made =
                        if inst.dst == Operand::Vgpr(n) { result.values.get(usize::from(i)) } else { None };
                    let mut value =
                        made.cloned().unwrap_or_else(|| Value::unknown(Range::FULL, Why::Operation));
                    value = value.with_range(self.after.on[usize::from(at)]);
                    value.id = value.id.or(Some(Id::Made(self.pc, slot + u16::from(i))));
                    value = value.narrowed(class.lanes, self.set.dims);
                    if self.set.apart {
                        value.apart();
                    }
                    class.put(at, value);
                }
            }
            if let Some((Operand::Vgpr(n), tag)) = &result.low
                && let Some(value) = class.regs.get_mut(n)
            {
                let value = Rc::make_mut(value);
                value.tag(tag.clone());
                if self.set.apart {
                    value.apart();
                }
            }
            if let Some(pending) = &result.pending
                && inst.sdst & 1 == 0
                && inst.sdst >> 1 != EXEC
            {
                class.carries.insert(inst.sdst >> 1, pending.clone());
            }
        }
    }

    /// Scalar registers that a vector instruction writes: pairs of bits, whose lanes follow later.
    fn write_scalars(&self, state: &mut State) {
        for (n, dwords) in self.written(|o| if let Operand::Sgpr(n) = o { Some(n) } else { None }) {
            for i in 0..dwords {
                let n = n.wrapping_add(i) & 127;
                let range = self.after.scalars[usize::from(n)].range;
                state.scalars[usize::from(n)] = Rc::new(Value::uniform(range, false));
                state.drop_carry(n >> 1);
            }
            if n & 1 == 1 {
                state.drop_mask(n >> 1);
                state.drop_mask(n.wrapping_add(1) >> 1 & 63);
            }
        }
    }

    /// All classes that are on have the same operands, so the same results.
    fn named(&self, state: &State) -> bool {
        let mut classes = state.on().map(|c| c.1);
        let Some(first) = classes.next() else { return true };
        let reads: Vec<u8> = self
            .inst
            .uses()
            .into_iter()
            .filter(|u| u.read)
            .filter_map(|u| if let Operand::Vgpr(n) = u.operand { Some((n, u.dwords)) } else { None })
            .flat_map(|(n, dwords)| (0..dwords).map(move |i| n.wrapping_add(i)))
            .collect();
        let firm = |v: &Value| v.id.is_some() || v.range.constant().is_some();
        classes.all(|class| {
            first.carries == class.carries
                && reads.iter().all(|&n| {
                    let (a, b) = (first.get(n), class.get(n));
                    a == b && firm(&a)
                })
        })
    }

    /// What a load brings: one number for all lanes from one place.
    fn loaded(&self, state: &State, class: &Class) -> Result {
        let inst = self.inst;
        let one = |alts: &[Lin]| alts.len() == 1 && alts.iter().all(Lin::same);
        let same = match inst.format {
            Format::Flat => !self.set.private && one(&self.wide(state, class, inst.src[0]).alts),
            Format::Global if inst.src[2] == Operand::None => one(&self.wide(state, class, inst.src[0]).alts),
            Format::Global => one(&self.value(state, class, inst.src[0]).alts),
            Format::Ds if inst.entry().name.starts_with("ds_read") => {
                one(&self.value(state, class, inst.src[0]).alts)
            }
            _ => false,
        };
        let whole = same && !inst.entry().atomic;
        let value = |i: u8| {
            let range = match inst.dst {
                Operand::Vgpr(n) => self.after.on[usize::from(n.wrapping_add(i))],
                _ => Range::FULL,
            };
            let value = if whole { Value::uniform(range, false) } else { Value::unknown(range, Why::Memory) };
            Value { why: Some(Why::Memory), ..value }
        };
        Result::new((0..inst.dst_dwords()).map(value).collect())
    }

    fn read_lane(&self, state: &mut State) {
        let inst = self.inst;
        let first =
            inst.op == Op::VReadfirstlaneB32 && self.before.is_some(sreg::EXEC) && !pattern::changed(inst);
        let read = first.then(|| {
            let values = state.on().map(|(_, class)| (class.lanes, self.value(state, class, inst.src[0])));
            let both = |(m, a): (Mask, Value), (n, b): (Mask, Value)| {
                let all = a.of_lanes(&b, [m, n], self.set.dims);
                (m | n, all)
            };
            values.reduce(both).map(|v| Value { pattern: None, ..v.1 })
        });
        let value = read.flatten().map(|v| {
            if v.only().is_some_and(Lin::same) {
                let mut v = v;
                v.tags.retain(|t| {
                    matches!(t.wide.alts.as_slice(), [one] if one.same()) && t.wide.pattern.is_none()
                });
                return v;
            }
            let (residue, known) = super::value::any(&v.alts).alignment();
            let known = known.min(32);
            Value::new(vec![Lin { residue, known, ..Lin::uniform(false) }], v.range)
        });
        for (n, _) in self.written(|o| if let Operand::Sgpr(n) = o { Some(n) } else { None }) {
            let range = self.after.scalars[usize::from(n & 127)].range;
            let mut value =
                value.clone().unwrap_or_else(|| Value::uniform(Range::FULL, false)).with_range(range);
            value.id = value.id.or(Some(Id::Made(self.pc, 0)));
            state.put_scalar(n, value);
        }
    }
}

/// The high half of a number: all that is known is whether all lanes share it.
fn high_half(wide: &Wide) -> Vec<Lin> {
    match wide.alts.as_slice() {
        [one] if one.same() => vec![Lin::uniform(one.fixed)],
        _ => Vec::new(),
    }
}

/// A scalar is the same for all lanes, so that alternatives are ways.
fn one_for_all(mut value: Value) -> Value {
    value.pattern = None;
    if value.alts.len() > 1 {
        let one = value.alts.iter().copied().reduce(|a, b| a.join(&b, super::linear::REGISTER));
        value.alts = one.into_iter().collect();
    }
    if let [one] = value.alts.as_mut_slice()
        && !one.same()
    {
        let (residue, bits) = one.alignment();
        let known = bits.min(super::linear::REGISTER);
        *one = Lin { residue, known, ..Lin::uniform(false) };
    }
    value
}
