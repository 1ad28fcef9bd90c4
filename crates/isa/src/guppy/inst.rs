//! A decoded instruction: opcode, operands, and what `exec` wants to know without looking again
//! (the highest register named, and whether writing in order would clobber a source).

use super::table::{Op, Slot};
use crate::Pc;

pub const COMPONENTS: [char; 4] = ['x', 'y', 'z', 'w'];
/// Views and samplers are numbered 0..63.
pub const MAX_BINDINGS: u32 = 64;
/// Registers are numbered r0..r255.
pub const MAX_REGISTERS: u32 = 256;

/// Rows of the register file before r0.x. Whatever an instruction reads is a row: builtins are
/// filled when a wave starts, immediates and the clock when the instruction runs.
pub(super) mod rows {
    pub const ZERO: u16 = 0;
    pub const THREAD: u16 = 1;
    pub const LANE: u16 = 2;
    pub const WAVE: u16 = 3;
    /// Immediates and the clock, one row per source.
    pub const SPLAT: u16 = 4;
    /// Results held back until every source is read, one row per position.
    pub const HELD: u16 = 7;
    /// Length of a vector, for `norm`.
    pub const LENGTH: u16 = 11;
    /// r0.x.
    pub const FIRST: u16 = 12;
}

/// One to four components in order; unused places hold 0, so equal swizzles compare equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swizzle {
    count: u8,
    comps: [u8; 4],
}

impl Swizzle {
    /// None unless there are one to four components, each 0..=3.
    pub fn new(comps: &[u8]) -> Option<Swizzle> {
        if comps.is_empty() || comps.len() > 4 || comps.iter().any(|&c| c > 3) {
            return None;
        }
        let mut all = [0; 4];
        all[..comps.len()].copy_from_slice(comps);
        Some(Swizzle { count: comps.len() as u8, comps: all })
    }

    #[inline(always)]
    pub fn comps(&self) -> &[u8] {
        &self.comps[..usize::from(self.count & 7).min(4)]
    }

    #[inline(always)]
    pub fn count(&self) -> usize {
        usize::from(self.count)
    }

    /// The component at a position; a single component stands at every position.
    #[inline(always)]
    pub fn at(&self, position: usize) -> Option<u8> {
        match self.count {
            1 => Some(self.comps[0]),
            n if position < usize::from(n) => Some(self.comps[position & 3]),
            _ => None,
        }
    }

    /// A component named more than once: legal in a source, meaningless in a destination.
    pub fn duplicate(&self) -> Option<u8> {
        let comps = self.comps();
        (1..comps.len()).find(|&i| comps[..i].contains(&comps[i])).map(|i| comps[i])
    }

    pub fn text(&self) -> String {
        self.comps().iter().map(|&c| COMPONENTS[usize::from(c)]).collect()
    }
}

/// A register, or a view, with its components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub index: u8,
    pub swizzle: Swizzle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Builtin {
    ThreadId,
    LaneId,
    WaveId,
    Clock,
}

/// Builtins with their names; the order is that of the discriminants.
pub const BUILTINS: [(&str, Builtin); 4] = [
    ("thread_id", Builtin::ThreadId),
    ("lane_id", Builtin::LaneId),
    ("wave_id", Builtin::WaveId),
    ("clock", Builtin::Clock),
];

/// An operand that is read. Immediates keep how they were written, for the disassembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Src {
    Reg(Place),
    Imm { float: bool, count: u8, values: [u32; 4] },
    Builtin(Builtin),
}

impl Default for Src {
    fn default() -> Self {
        Src::Imm { float: false, count: 1, values: [0; 4] }
    }
}

impl Src {
    /// Positions that carry a value of their own; builtins fill all four.
    pub fn positions(&self) -> usize {
        match self {
            Src::Reg(place) => place.swizzle.count(),
            Src::Imm { count, .. } => usize::from(*count),
            Src::Builtin(_) => 4,
        }
    }

    /// Id of the register component read at a position, if it is one.
    #[inline(always)]
    pub fn register(&self, position: usize) -> Option<u16> {
        match self {
            Src::Reg(p) => p.swizzle.at(position).map(|c| u16::from(p.index) * 4 + u16::from(c)),
            _ => None,
        }
    }

    /// Value of an immediate at a position; a single one stands everywhere.
    #[inline(always)]
    pub fn immediate(&self, position: usize) -> Option<u32> {
        match self {
            Src::Imm { count: 1, values, .. } => Some(values[0]),
            Src::Imm { values, .. } => Some(values[position & 3]),
            _ => None,
        }
    }

    /// Row source number `n` is read from at a position.
    fn row(&self, n: u16, position: usize) -> u16 {
        match self {
            Src::Reg(_) => self.register(position).map_or(rows::ZERO, |id| rows::FIRST + id),
            Src::Imm { .. } | Src::Builtin(Builtin::Clock) => rows::SPLAT + n,
            Src::Builtin(Builtin::ThreadId) => rows::THREAD,
            Src::Builtin(Builtin::LaneId) => rows::LANE,
            Src::Builtin(Builtin::WaveId) => rows::WAVE,
        }
    }
}

/// Operands by role; the table says which of them an opcode has, the others stay at their default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Args {
    pub dst: Place,
    pub view: Place,
    pub sampler: u8,
    pub src: [Src; 3],
    pub target: [Pc; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inst {
    pub(super) op: Op,
    pub(super) args: Args,
    /// A component written early is read at a later position: compute everything, then write.
    pub(super) hazard: bool,
    /// Row of each source at each position, and of each destination position.
    pub(super) src_rows: [[u16; 4]; 3],
    pub(super) dst_rows: [u16; 4],
    /// Registers needed: highest register named, plus one.
    pub(super) regs: u16,
}

impl Inst {
    pub fn new(op: Op, args: Args) -> Inst {
        let src_rows = std::array::from_fn(|n| std::array::from_fn(|p| args.src[n].row(n as u16, p)));
        let id = |c: u8| u16::from(args.dst.index) * 4 + u16::from(c);
        let dst_rows = args.dst.swizzle.comps.map(|c| rows::FIRST + id(c));
        let mut inst = Inst { op, args, hazard: false, src_rows, dst_rows, regs: 0 };
        for slot in op.line().slots {
            let place = match *slot {
                Slot::Dst => Some(args.dst),
                Slot::Src(i) | Slot::One(i) | Slot::Pair(i) => match args.src[i] {
                    Src::Reg(place) => Some(place),
                    _ => None,
                },
                _ => None,
            };
            if let Some(place) = place {
                inst.regs = inst.regs.max(u16::from(place.index) + 1);
            }
        }
        let dst = args.dst.swizzle.count();
        inst.hazard = (1..dst).any(|late| {
            let reads = |row: u16| src_rows.iter().any(|s| s[late] == row);
            (0..late).any(|early| reads(dst_rows[early]))
        });
        inst
    }

    pub fn op(&self) -> Op {
        self.op
    }

    pub fn args(&self) -> &Args {
        &self.args
    }

    /// Register ids read, each once. Positions the destination has no place for are not read.
    pub fn reads(&self) -> Vec<u16> {
        let dst = self.args.dst.swizzle.count();
        let mut ids = Vec::new();
        for slot in self.op.line().slots {
            let (i, positions) = match *slot {
                Slot::Src(i) => match self.op {
                    Op::Len | Op::Norm => (i, 4),
                    Op::Ld => (i, 1),
                    // Coordinates of a texel, or one byte address: the view decides at run time.
                    Op::St if i == 0 => (i, 2),
                    Op::St => (i, self.args.view.swizzle.count()),
                    _ => (i, dst),
                },
                Slot::One(i) => (i, 1),
                Slot::Pair(i) => (i, 2),
                _ => continue,
            };
            for row in (0..positions).filter_map(|p| self.args.src[i].register(p)) {
                if !ids.contains(&row) {
                    ids.push(row);
                }
            }
        }
        ids
    }

    /// Instructions this one names: jump targets and points to reconverge at.
    pub fn targets(&self) -> impl Iterator<Item = Pc> + use<> {
        let target = self.args.target;
        let labels = self.op.line().slots.iter().filter_map(|s| match *s {
            Slot::Label(i) => Some(i),
            _ => None,
        });
        labels.map(move |i| target[i])
    }

    /// Register ids written, in position order.
    pub fn writes(&self) -> Vec<u16> {
        if !self.op.line().slots.contains(&Slot::Dst) {
            return Vec::new();
        }
        self.dst_rows[..self.args.dst.swizzle.count()].iter().map(|row| row - rows::FIRST).collect()
    }
}
