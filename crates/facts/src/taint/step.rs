//! What one GCN3 instruction does to what may differ, and which of the things it reads decide time.

use super::state::{EXEC, NOWHERE, State, VCC, Vectors, bits};
use crate::plain::{mask_operation, mask_written, plain};
use wb_flowproof::taint::{Seen, TimeUse};
use wb_isa::Pc;
use wb_isa::gcn3::table::implicit;
use wb_isa::gcn3::{Format, Inst, Op, Operand, Ty, flag};

/// Memory of waves as far as it may differ, for all of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memories {
    pub local: bool,
    pub private: bool,
}

/// A rule that can be left out, to see that the search for wrong labellings finds it and the checker refuses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaintRule {
    /// Branches decide time.
    Branches,
    /// Addresses of global accesses decide time.
    Addresses,
    /// Which banks of local memory are accessed decides time.
    Banks,
    /// Which lanes take part in an access decides time.
    LanesOfAccess,
    /// What an atomic returns may differ.
    AtomicResults,
    /// A lane that is on in one run only has another value afterwards.
    MaskedWrites,
    /// What lanes that are off hold comes back when they are on again.
    LanesThatAreOff,
    /// Other lanes' registers are read.
    OtherLanes,
    /// What is stored in local memory is loaded again.
    LocalMemory,
    /// Comparisons and carries of what may differ are masks that may differ.
    Masks,
}

impl TaintRule {
    pub const ALL: [TaintRule; 10] = [
        TaintRule::Branches,
        TaintRule::Addresses,
        TaintRule::Banks,
        TaintRule::LanesOfAccess,
        TaintRule::AtomicResults,
        TaintRule::MaskedWrites,
        TaintRule::LanesThatAreOff,
        TaintRule::OtherLanes,
        TaintRule::LocalMemory,
        TaintRule::Masks,
    ];
}

/// One instruction, what the run showed of it, and what it meets.
pub struct Step<'a> {
    pub pc: Pc,
    pub inst: &'a Inst,
    pub seen: Seen,
    pub memories: &'a mut Memories,
    /// Only for tests of the search.
    pub without: Option<TaintRule>,
    /// What lets time depend on contents, and where that comes from.
    pub uses: Vec<(TimeUse, Pc)>,
}

/// The values of two mask bits, in both runs.
type Bits = (bool, bool);
const SAME: [Bits; 2] = [(false, false), (true, true)];
const ANY: [Bits; 4] = [(false, false), (true, true), (true, false), (false, true)];

/// Instructions that name all registers they read and write; `v_movrels` reads any of them, which is followed.
pub fn covered(inst: &Inst) -> bool {
    plain(inst)
        && !matches!(inst.format, Format::Vintrp | Format::Exp)
        && !matches!(inst.op, Op::SMovrelsB32 | Op::SMovrelsB64 | Op::SSetGprIdxOff)
        && !inst.has(flag::GDS)
        && mask_written(inst).is_none_or(|n| n & 1 == 0)
}

impl Step<'_> {
    pub fn run(&mut self, state: &mut State) {
        self.control(state);
        match self.inst.format {
            Format::Smem => self.scalar_memory(state),
            Format::Ds
            | Format::Flat
            | Format::Global
            | Format::Scratch
            | Format::Mubuf
            | Format::Mtbuf
            | Format::Mimg => self.vector_memory(state),
            Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk | Format::Sopp => self.scalar(state),
            Format::Vop1
            | Format::Vop2
            | Format::Vop3
            | Format::Vop3p
            | Format::Vopc
            | Format::Sdwa
            | Format::Dpp
            | Format::Vintrp
            | Format::Exp => {
                self.vector(state);
            }
        }
    }

    fn uses_time(&mut self, what: TimeUse, from: Pc) {
        let rule = match what {
            TimeUse::Branch => Some(TaintRule::Branches),
            TimeUse::Address => Some(TaintRule::Addresses),
            TimeUse::LocalAddress => Some(TaintRule::Banks),
            TimeUse::Lanes => Some(TaintRule::LanesOfAccess),
            TimeUse::Jump | TimeUse::Split | TimeUse::Mode => None,
        };
        if rule.is_none_or(|r| self.has(r)) {
            self.uses.push((what, from));
        }
    }

    /// The rule is not left out.
    fn has(&self, rule: TaintRule) -> bool {
        self.without != Some(rule)
    }

    /// Branches, jumps, splits, modes and messages.
    fn control(&mut self, state: &State) {
        let scalars = |registers: &[u8]| {
            registers.iter().find(|&&n| state.scalar(n)).map(|&n| state.origin_of_scalar(n))
        };
        match self.inst.op {
            Op::SCbranchScc0 | Op::SCbranchScc1 if state.scc => {
                self.uses_time(TimeUse::Branch, state.origin_of_scc())
            }
            Op::SCbranchVccz | Op::SCbranchVccnz => {
                if let Some(from) = scalars(&[106, 107]) {
                    self.uses_time(TimeUse::Branch, from);
                }
            }
            Op::SCbranchExecz | Op::SCbranchExecnz => {
                if let Some(from) = scalars(&[126, 127]) {
                    self.uses_time(TimeUse::Branch, from);
                }
            }
            Op::SSetpcB64 | Op::SSwappcB64 => self.scalar_sources(state, TimeUse::Jump),
            Op::Split | Op::SplitEnd => self.scalar_sources(state, TimeUse::Split),
            Op::SSetregB32 | Op::SSetregImm32B32 => self.scalar_sources(state, TimeUse::Mode),
            Op::VMovrelsB32 | Op::SSendmsg | Op::SSendmsghalt => {
                if let Some(from) = scalars(&[124]) {
                    self.uses_time(TimeUse::Mode, from);
                }
            }
            _ => {}
        }
    }

    /// A use of time for every scalar register that is named and may differ.
    fn scalar_sources(&mut self, state: &State, what: TimeUse) {
        for i in 0..3 {
            if let Operand::Sgpr(n) = self.inst.src[i] {
                let mut all = (0..self.inst.src_dwords(i).max(1)).map(|k| n.wrapping_add(k));
                if let Some(n) = all.find(|&n| state.scalar(n)) {
                    self.uses_time(what, state.origin_of_scalar(n));
                }
            }
        }
    }

    /// Whether scalar registers and SCC that a scalar instruction reads may differ, and where that comes from.
    fn scalars_read(&self, state: &State) -> (bool, Pc) {
        let reads = self.inst.uses().into_iter().filter(|u| u.read);
        self.differing(state, reads.map(|u| (u.operand, u.dwords)))
    }

    /// The same for what is the same for all lanes of a vector instruction: not EXEC, and not masks that are read lane by lane.
    fn uniform_read(&self, state: &State) -> (bool, Pc) {
        let inst = self.inst;
        let named =
            (0..3).filter(|&i| inst.src_ty(i) != Ty::Mask).map(|i| (inst.src[i], inst.src_dwords(i).max(1)));
        let m0 = (inst.entry().reads & implicit::M0 != 0).then_some((Operand::M0, 1));
        self.differing(state, named.chain(m0))
    }

    fn differing(&self, state: &State, operands: impl Iterator<Item = (Operand, u8)>) -> (bool, Pc) {
        for (operand, dwords) in operands {
            let (first, dwords) = match operand {
                Operand::Sgpr(n) => (n, dwords),
                Operand::VccZ => (106, 2),
                Operand::ExecZ => (126, 2),
                Operand::Scc if state.scc => return (true, state.origin_of_scc()),
                _ => continue,
            };
            if let Some(n) = (0..dwords).map(|k| first.wrapping_add(k) & 127).find(|&n| state.scalar(n)) {
                return (true, state.origin_of_scalar(n));
            }
        }
        (false, NOWHERE)
    }

    fn write_scalars(&self, state: &mut State, differs: bool, from: Pc) {
        for used in self.inst.uses().into_iter().filter(|u| u.write) {
            match used.operand {
                Operand::Sgpr(n) => {
                    for n in (0..used.dwords).map(|k| n.wrapping_add(k) & 127) {
                        state.write_scalar(n, differs, from);
                    }
                }
                Operand::Scc => state.set_scc(differs, from),
                _ => {}
            }
        }
    }

    /// The bits that a 64-bit operand can have in a case.
    fn mask_bits(state: &State, case: u128, operand: Operand) -> Vec<Bits> {
        match operand {
            Operand::Sgpr(n) if n & 1 == 0 && state.tracked(n >> 1) => vec![bits(case, n >> 1)],
            Operand::Sgpr(n) if state.scalar(n) || state.scalar(n.wrapping_add(1)) => ANY.to_vec(),
            Operand::InlineInt(0) => vec![(false, false)],
            Operand::InlineInt(-1) => vec![(true, true)],
            _ => SAME.to_vec(),
        }
    }

    fn scalar(&mut self, state: &mut State) {
        let inst = self.inst;
        let (mut differs, mut from) = self.scalars_read(state);
        if inst.op == Op::SGetregB32 {
            // The status register shows SCC, and whether EXEC and VCC are zero.
            let shown = [(Operand::Scc, 1), (Operand::ExecZ, 1), (Operand::VccZ, 1)];
            (differs, from) = self.differing(state, shown.into_iter());
        }
        let [x, y, _] = inst.src;
        let pair = match inst.dst {
            Operand::Sgpr(n) if n & 1 == 0 => n >> 1,
            _ => u8::MAX,
        };
        if inst.op == Op::SCselectB64 && pair < 64 && !state.scc {
            let before = state.clone();
            state.assign(&[pair], |case| {
                let both = [x, y].into_iter().flat_map(|o| Self::mask_bits(&before, case, o));
                both.map(|b| [b]).collect()
            });
            self.origin_of_pair(state, pair, from);
            return;
        }
        let Some((op, saves)) = mask_operation(inst.op) else {
            self.write_scalars(state, differs, from);
            return;
        };
        if pair >= 64 {
            self.write_scalars(state, differs, from);
            return;
        }
        let before = state.clone();
        let second = if saves { Operand::EXEC } else { y };
        let result = |case: u128| -> Vec<Bits> {
            let (a, b) = (Self::mask_bits(&before, case, x), Self::mask_bits(&before, case, second));
            // The operation is src0 OP EXEC.
            a.iter().flat_map(|p| b.iter().map(move |q| (op(p.0, q.0), op(p.1, q.1)))).collect()
        };
        if saves && pair != EXEC {
            state.assign(&[pair, EXEC], |case| {
                result(case).into_iter().map(|r| [bits(case, EXEC), r]).collect()
            });
            self.origin_of_pair(state, pair, before.origin_of_scalar(126));
            self.origin_of_pair(state, EXEC, from);
        } else {
            let to = if saves { EXEC } else { pair };
            state.assign(&[to], |case| result(case).into_iter().map(|r| [r]).collect());
            self.origin_of_pair(state, to, from);
        }
        // SCC says whether the result is zero: of all lanes.
        if inst.uses().iter().any(|u| u.write && u.operand == Operand::Scc) {
            let to = if saves { EXEC } else { pair };
            let differs = state.scalar(2 * to);
            state.set_scc(differs, state.origin_of_scalar(2 * to));
        }
    }

    fn origin_of_pair(&self, state: &mut State, pair: u8, from: Pc) {
        let from = if state.scalar(2 * pair) { from } else { NOWHERE };
        (0..2).for_each(|i| state.set_origin_of_scalar(2 * pair + i, from));
    }

    fn vector(&mut self, state: &mut State) {
        let inst = self.inst;
        match inst.op {
            Op::VReadfirstlaneB32 | Op::VReadlaneB32 => return self.read_lane(state),
            Op::VWritelaneB32 => return self.write_lane(state),
            _ => {}
        }
        let (scalar, scalar_from) = self.uniform_read(state);
        let reads: Vec<u8> = self.vectors(true);
        let across = inst.format == Format::Dpp;
        let elsewhere = (across
            && self.has(TaintRule::OtherLanes)
            && (state.exec_differs() || self.in_some_lane(state, &reads)))
            // M0 leads to any register, also to those before the one that is named.
            || inst.op == Op::VMovrelsB32 && state.lanes.values().any(Vectors::any);
        let all = scalar || elsewhere;
        let masks: Vec<Operand> = self.masks_read();
        let before = state.clone();
        let differs = |case: u128, vectors: &Vectors| {
            all || reads.iter().any(|&v| vectors.has(v))
                || masks.iter().any(|&m| Self::mask_bits(&before, case, m).iter().any(|b| b.0 != b.1))
        };
        let from = self.origin(&before, &reads, &masks, scalar_from);
        self.write_vectors(state, &differs, from);
        // Masks of lanes: carries and comparisons. Lanes that are off get a zero.
        let Some(first) = mask_written(inst) else { return };
        let exec = inst.entry().compare().is_some_and(|c| c.exec);
        let result = |case: u128| -> Vec<Bits> {
            let (a, b) = bits(case, EXEC);
            let own = before.lanes.get(&case).copied().unwrap_or_default();
            let options =
                if differs(case, &own) && self.has(TaintRule::Masks) { &ANY[..] } else { &SAME[..] };
            options.iter().map(|&(x, y)| (a & x, b & y)).collect()
        };
        let pair = first >> 1;
        if exec && pair != EXEC {
            state.assign(&[pair, EXEC], |case| result(case).into_iter().map(|r| [r, r]).collect());
            self.origin_of_pair(state, pair, from);
            self.origin_of_pair(state, EXEC, from);
        } else {
            state.assign(&[pair], |case| result(case).into_iter().map(|r| [r]).collect());
            self.origin_of_pair(state, pair, from);
        }
    }

    /// Where a difference in what is read comes from.
    fn origin(&self, state: &State, vectors: &[u8], masks: &[Operand], scalar: Pc) -> Pc {
        let from_vectors = vectors.iter().map(|&v| state.origin_of_vector(v));
        let from_masks = masks.iter().filter_map(|m| match m {
            Operand::Sgpr(n) => Some(state.origin_of_scalar(*n)),
            _ => None,
        });
        let exec = state.origin_of_scalar(126);
        std::iter::once(scalar).chain(from_vectors).chain(from_masks).find(|&p| p != NOWHERE).unwrap_or(exec)
    }

    /// Vector registers that are read or written.
    fn vectors(&self, read: bool) -> Vec<u8> {
        let wanted = |u: &wb_isa::gcn3::Use| if read { u.read } else { u.write };
        let all = self.inst.uses().into_iter().filter(wanted).filter_map(|u| match u.operand {
            Operand::Vgpr(n) => Some((n, u.dwords)),
            _ => None,
        });
        all.flat_map(|(n, dwords)| (0..dwords).map(move |k| n.wrapping_add(k))).collect()
    }

    /// Pairs that are read lane by lane.
    fn masks_read(&self) -> Vec<Operand> {
        let inst = self.inst;
        let named = (0..3).filter(|&i| inst.src_ty(i) == Ty::Mask).map(|i| inst.src[i]);
        let implicit = (inst.entry().reads & implicit::VCC != 0).then_some(Operand::Sgpr(2 * VCC));
        named.chain(implicit).filter(|o| matches!(o, Operand::Sgpr(_))).collect()
    }

    fn in_some_lane(&self, state: &State, vectors: &[u8]) -> bool {
        state.lanes.values().any(|l| vectors.iter().any(|&v| l.has(v)))
    }

    /// Writes the vector registers of the result: where both runs have the lane on, with what `differs` says.
    fn write_vectors(&self, state: &mut State, differs: &dyn Fn(u128, &Vectors) -> bool, from: Pc) {
        let writes = self.vectors(false);
        if writes.is_empty() {
            return;
        }
        let mut some = false;
        for (&case, vectors) in &mut state.lanes {
            let new = match bits(case, EXEC) {
                (false, false) if self.has(TaintRule::LanesThatAreOff) => continue,
                (false, false) | (true, true) => differs(case, vectors),
                _ => self.has(TaintRule::MaskedWrites),
            };
            some |= new;
            writes.iter().for_each(|&v| vectors.set(v, new));
        }
        for &v in &writes {
            let left = some || state.lanes.values().any(|l| l.has(v));
            let from = if some { from } else { state.origin_of_vector(v) };
            state.set_origin_of_vector(v, if left { from } else { NOWHERE });
        }
    }

    fn read_lane(&mut self, state: &mut State) {
        let (scalar, from) = self.uniform_read(state);
        let reads = self.vectors(true);
        let first = self.inst.op == Op::VReadfirstlaneB32;
        // The first lane that is on; lane 0 if none is.
        let looks = |case: u128| !first || self.seen.idle || bits(case, EXEC) != (false, false);
        let lane = self.has(TaintRule::OtherLanes)
            && state.lanes.iter().any(|(&c, l)| looks(c) && reads.iter().any(|&v| l.has(v)));
        let differs = scalar || lane || first && state.exec_differs();
        let from = self.origin(state, &reads, &[], from);
        self.write_scalars(state, differs, from);
    }

    fn write_lane(&mut self, state: &mut State) {
        let (differs, from) = self.uniform_read(state);
        let differs = differs || self.in_some_lane(state, &self.sources());
        for v in self.vectors(false) {
            if differs {
                state.lanes.values_mut().for_each(|l| l.set(v, true));
                state.set_origin_of_vector(v, from);
            }
        }
    }

    /// Vector registers named as sources.
    fn sources(&self) -> Vec<u8> {
        self.inst.src.iter().filter_map(|o| if let Operand::Vgpr(n) = o { Some(*n) } else { None }).collect()
    }

    fn scalar_memory(&mut self, state: &mut State) {
        let inst = self.inst;
        if matches!(inst.op, Op::SMemtime | Op::SMemrealtime) {
            // Time is the same as long as nothing that decides it differs.
            return self.write_scalars(state, false, NOWHERE);
        }
        self.scalar_sources(state, TimeUse::Address);
        let differs = self.loaded();
        self.write_scalars(state, differs, self.pc);
    }

    /// What a load brings may differ.
    fn loaded(&self) -> bool {
        let Seen { global, local, private, .. } = self.seen;
        global
            || local && self.memories.local && self.has(TaintRule::LocalMemory)
            || private && self.memories.private
    }

    fn vector_memory(&mut self, state: &mut State) {
        let inst = self.inst;
        if matches!(inst.op, Op::DsSwizzleB32 | Op::DsPermuteB32 | Op::DsBpermuteB32) {
            let reads = self.vectors(true);
            let differs =
                self.has(TaintRule::OtherLanes) && (state.exec_differs() || self.in_some_lane(state, &reads));
            let from = self.origin(state, &reads, &[], NOWHERE);
            return self.write_vectors(state, &|_, _| differs, from);
        }
        let what = if inst.format == Format::Ds { TimeUse::LocalAddress } else { TimeUse::Address };
        if state.exec_differs() {
            self.uses_time(TimeUse::Lanes, state.origin_of_scalar(126));
        }
        let address: Vec<u8> = match inst.src[0] {
            Operand::Vgpr(n) => (0..self.address_dwords()).map(|k| n.wrapping_add(k)).collect(),
            _ => Vec::new(),
        };
        let on = |case: u128| bits(case, EXEC) != (false, false);
        let tainted = |v: u8| state.lanes.iter().any(|(&c, l)| on(c) && l.has(v));
        if let Some(&v) = address.iter().find(|&&v| tainted(v)) {
            self.uses_time(what, state.origin_of_vector(v));
        }
        if inst.format == Format::Ds {
            if state.scalar(124) {
                self.uses_time(what, state.origin_of_scalar(124));
            }
        } else {
            self.scalar_sources(state, what);
        }
        self.store(state, &address);
        let forgotten = inst.entry().atomic && !self.has(TaintRule::AtomicResults);
        let differs = (self.loaded() || inst.has(flag::TFE)) && !forgotten;
        // What an atomic returns is what was there.
        self.write_vectors(state, &|_, _| differs, self.pc);
    }

    fn address_dwords(&self) -> u8 {
        match self.inst.format {
            // Coordinates, offsets and gradients of images.
            Format::Mimg => 16,
            _ => self.inst.src_dwords(0),
        }
    }

    /// What goes to local or private memory may make it differ.
    fn store(&mut self, state: &State, address: &[u8]) {
        let inst = self.inst;
        let data: Vec<u8> = self.vectors(true).into_iter().filter(|v| !address.contains(v)).collect();
        let again = self.data_is_address(address);
        let on = |case: u128| bits(case, EXEC) != (false, false);
        let tainted = |v: &u8| state.lanes.iter().any(|(&c, l)| on(c) && l.has(*v));
        let name = inst.entry().name;
        let reads_only = name.starts_with("ds_read") || name.contains("_load_");
        if reads_only && !inst.has(flag::LDS) {
            return;
        }
        let differs = data.iter().any(tainted)
            || again && address.iter().any(tainted)
            || state.exec_differs()
            || inst.has(flag::LDS) && self.seen.global
            // Atomics put together what is there with what comes.
            || inst.entry().atomic && self.loaded();
        self.memories.local |= differs && (self.seen.local || inst.has(flag::LDS));
        self.memories.private |= differs && self.seen.private;
    }

    /// The data registers are among those of the address.
    fn data_is_address(&self, address: &[u8]) -> bool {
        let named = self.inst.src[1..].iter().chain([&self.inst.dst]);
        named.into_iter().any(|o| matches!(o, Operand::Vgpr(n) if address.contains(n)))
    }
}
