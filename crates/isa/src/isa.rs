//! What an instruction set is: the trait, what it is told about an instruction and a new wave, and what it says about waiting and
//! merging.

use crate::basics::{Mask, Pc};
use crate::bus::Bus;
use crate::flow::{Facts, Flow, Trap};
use crate::marks::{Marks, Origin, Watch};

/// Where an instruction runs: everything `exec` may look at besides registers and memory.
#[derive(Clone, Copy, Debug)]
pub struct At {
    pub pc: Pc,
    /// Pc of the next instruction in program order.
    pub next: Pc,
    /// Active lanes of the path (predication comes on top, inside `exec`).
    pub mask: Mask,
    /// Launched lanes of the wave that have not exited.
    pub live: Mask,
    /// Cycle in a timed run, instructions issued so far by the wave in an untimed one.
    pub clock: u64,
    pub core: u32,
    /// Entries of the wave's divergence stack.
    pub depth: u32,
    /// Waves of the core that have not ended, one bit each (the first 64).
    pub waves: u64,
    /// The wave has only ever had this path: its execution mask may reach beyond the launched lanes.
    pub whole: bool,
    /// Lanes may disagree about a plain branch; otherwise the ISA raises what it has for that.
    pub may_diverge: bool,
}

/// Who a new wave is; [`Isa::start`] turns it into initial register contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaveStart {
    /// Number of the wave in the launch.
    pub wave: u32,
    pub group: u32,
    pub wave_in_group: u32,
    /// Threads of a full group (not lanes).
    pub group_size: u32,
    /// Lanes a wave can have on this machine.
    pub lanes: u32,
    /// Waves that make up this wave's group.
    pub waves_in_group: u32,
    /// Where the group's local memory and the wave's private memory were placed in device memory.
    pub lds_base: u64,
    pub scratch_base: u64,
    /// For a wave started by another wave: a register and the value it is born with.
    pub spawned: Option<(u16, u64)>,
    /// The registers are those of the last wave in this slot and stay as they are (Vortex).
    pub kept: bool,
    /// What the wave that started this one hands over; see [`Isa::handed_over`].
    pub inherited: Option<u32>,
}

/// What became of an instruction that was executed as it was [bound](Isa::bind).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quick {
    /// It was not: nothing happened, [`Isa::exec`] has to do it.
    No,
    Next,
    Jump(Pc),
    /// A branch on the execution mask, for mechanisms that only follow it; [`Isa::exec`] tells others more.
    MaskBranch {
        jump: bool,
        target: Pc,
    },
}

/// Counters of outstanding memory operations that code waits for explicitly (GCN `s_waitcnt`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Counters this instruction raises until it is done.
    pub raises: [bool; COUNTERS],
    /// It may issue when each counter is at most this; `u8::MAX` = does not matter.
    pub until: Option<[u8; COUNTERS]>,
}

/// Vector memory (vmcnt), and LDS, scalar memory and messages (lgkmcnt).
pub const COUNTERS: usize = 2;

/// Path registers that code after a merge still reads, by id minus the first of [`Isa::path_registers`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needed {
    pub live: [u64; NEEDED_WORDS],
    /// Read as something else than a lane mask.
    pub value: [u64; NEEDED_WORDS],
}

/// Enough for 192 path registers.
pub const NEEDED_WORDS: usize = 3;

impl Needed {
    pub fn is_live(&self, i: usize) -> bool {
        self.live[i / 64] >> (i % 64) & 1 == 1
    }

    pub fn is_value(&self, i: usize) -> bool {
        self.value[i / 64] >> (i % 64) & 1 == 1
    }

    pub fn add(&mut self, i: usize, value: bool) {
        self.live[i / 64] |= 1 << (i % 64);
        self.value[i / 64] |= u64::from(value) << (i % 64);
    }

    pub fn remove(&mut self, i: usize) {
        self.live[i / 64] &= !(1 << (i % 64));
        self.value[i / 64] &= !(1 << (i % 64));
    }

    /// Adds what `other` needs; whether that was more.
    pub fn join(&mut self, other: &Needed) -> bool {
        let before = *self;
        for i in 0..NEEDED_WORDS {
            self.live[i] |= other.live[i];
            self.value[i] |= other.value[i];
        }
        *self != before
    }
}

/// One instruction set. Implementations are small values (architecture parameters) shared by all waves.
pub trait Isa: Send + Sync + 'static {
    /// A decoded instruction: plain data, decoded once.
    type Inst: Clone + PartialEq + Send + Sync + std::fmt::Debug;
    /// An instruction bound to its operands when the program is loaded; `()` for ISAs that have no quick way.
    type Bound: Clone + Send + Sync + std::fmt::Debug;
    /// Vector registers, predicates and per-wave architectural state: rows of lanes.
    type Regs: Send;

    fn name(&self) -> &'static str;
    /// Names of the timing classes; [`Facts::class`] indexes them, machine files map them to units.
    fn classes(&self) -> &'static [&'static str];
    /// Number of register ids used in [`Facts::reads`] and [`Facts::writes`].
    fn register_count(&self) -> usize;
    /// Register `id` as the assembler writes it.
    fn register_name(&self, id: u16) -> String;

    /// What the scoreboard locks when `register` is written: the register itself unless several ids
    /// share one lock (GUPPY locks a register with its four components).
    fn lock(&self, register: u16) -> u16 {
        register
    }

    /// Registers of a fresh wave, sized for `lanes` lanes.
    fn registers(&self, lanes: u32) -> Self::Regs;
    /// What a wave hands over to the waves it starts.
    fn handed_over(&self, _regs: &Self::Regs) -> Option<u32> {
        None
    }
    /// Resets `regs` to the contents a wave starts with.
    fn start(&self, regs: &mut Self::Regs, start: &WaveStart);

    fn facts(&self, inst: &Self::Inst, pc: Pc, next: Pc) -> Facts;
    fn exec<B: Bus>(
        &self,
        inst: &Self::Inst,
        at: &At,
        regs: &mut Self::Regs,
        bus: &mut B,
    ) -> Result<Flow, Trap>;
    /// Binds an instruction; must not depend on what is only known when a wave starts.
    fn bind(&self, inst: &Self::Inst, next: Pc) -> Self::Bound;
    /// Does what [`Isa::exec`] does, bit for bit, or nothing at all. Never touches memory. `mask` and `whole` are those of [`At`].
    #[inline(always)]
    fn quick(&self, _bound: &Self::Bound, _mask: Mask, _whole: bool, _regs: &mut Self::Regs) -> Quick {
        Quick::No
    }
    /// Explicit wait counters; most ISAs have none.
    fn waits(&self, _inst: &Self::Inst) -> Waits {
        Waits::default()
    }
    /// Bytes of memory that the instruction accesses for each lane, or for the wave if it is scalar. 0: none, or only the
    /// run can tell.
    fn access_bytes(&self, inst: &Self::Inst) -> u32;
    /// Waves of different groups could use the instruction to learn of each other: an atomic on global memory, an access that must be
    /// seen at once, a call to the host. Programs without any are run by groups in any order.
    fn shares(&self, _inst: &Self::Inst) -> bool {
        true
    }
    /// A barrier is for every lane of its group: one that some lanes do not reach is an error. Elsewhere it counts waves.
    fn lane_barriers(&self) -> bool {
        false
    }
    /// Lanes of a path that the next vector instruction works on: less than `mask` where the ISA has an
    /// execution mask of its own.
    fn active(&self, _regs: &Self::Regs, mask: Mask) -> Mask {
        mask
    }
    /// Sets the execution mask, where the ISA has one of its own.
    fn set_active(&self, _regs: &mut Self::Regs, _lanes: Mask) {}
    /// Ids of the registers each path has a copy of (scalars); the others belong to lanes.
    fn path_registers(&self) -> std::ops::Range<u16> {
        0..0
    }
    /// Ids of the registers that hold the execution mask, where the ISA has one.
    fn execution_mask(&self) -> std::ops::Range<u16> {
        0..0
    }
    /// A vector instruction has the execution mask among its operands, as a number.
    fn reads_execution_mask(&self, _inst: &Self::Inst) -> bool {
        false
    }
    /// The path registers, as words: what a path keeps beside its own if somebody wants to know the *base* execution mask, the one that
    /// the program has before the path's lanes are laid over it (THESIS 4.3.3). Empty where the ISA cannot tell.
    fn base(&self, _regs: &Self::Regs) -> Vec<u32> {
        Vec::new()
    }
    /// What `inst`, which is executed next, does to lane masks in `base`; false if it computes none. Then `base` takes over the registers
    /// it writes ([`Isa::take_base`]).
    fn base_step(&self, _inst: &Self::Inst, _regs: &mut Self::Regs, _base: &mut [u32]) -> bool {
        false
    }
    /// `base` has the path's contents of a register.
    fn take_base(&self, _base: &mut [u32], _regs: &Self::Regs, _register: u16) {}
    /// The execution mask in `base`.
    fn base_mask(&self, _base: &[u32]) -> Mask {
        Mask::MAX
    }
    /// [`Isa::merge`] for `base`; `regs` are merged already.
    fn merge_base(
        &self,
        _base: &mut [u32],
        _from: &[u32],
        _lanes: Mask,
        _needed: &Needed,
        _regs: &Self::Regs,
    ) {
    }
    /// The state of a new path that starts where another one stands, without the lanes' registers, which stay
    /// with `regs`; `None` if the ISA cannot split waves.
    fn fork(&self, _regs: &Self::Regs) -> Option<Self::Regs> {
        None
    }
    /// From now on the path has only these lanes.
    fn confine(&self, _regs: &mut Self::Regs, _lanes: Mask) {}
    /// The lanes' registers go from the path that used them last to another one of the wave.
    fn hand_over(&self, _from: &mut Self::Regs, _to: &mut Self::Regs) {}
    /// Path registers in which two paths that want to become one disagree although they are read later as plain
    /// values.
    fn differ(&self, _a: &Self::Regs, _b: &Self::Regs, _needed: &Needed) -> Vec<u16> {
        Vec::new()
    }
    /// Two paths of a wave become one: `into` takes from `from`, whose lanes are `lanes`, the bits of lane masks
    /// that belong to those lanes, and the registers `take` as they are.
    fn merge(
        &self,
        _into: &mut Self::Regs,
        _from: &Self::Regs,
        _lanes: Mask,
        _needed: &Needed,
        _take: &[u16],
    ) {
    }
    /// Marks what a wave finds undefined in its registers; for checked runs.
    fn undefined(&self, _marks: &mut Marks, _origin: Origin) {}
    /// What a checked run has to know of an instruction; `ahead` are those behind it in program order.
    fn watch(&self, inst: &Self::Inst, _ahead: &[&Self::Inst]) -> Watch {
        Watch { memory: self.access_bytes(inst) > 0, ..Watch::default() }
    }
    /// Follows marks through an instruction that is about to run; what it loads is the checker's affair. `reads` and `writes` are
    /// those of [`Facts`], `always` is that of [`Watch`].
    fn follow(
        &self,
        _inst: &Self::Inst,
        at: &At,
        regs: &Self::Regs,
        marks: &mut Marks,
        _always: bool,
        (reads, writes): (&[u16], &[u16]),
    ) {
        marks.any_to_all(reads, writes, self.active(regs, at.mask));
    }
    /// Disassembly text; `label` names a pc where the program has a symbol for it.
    fn show(&self, inst: &Self::Inst, pc: Pc, label: &dyn Fn(Pc) -> Option<String>) -> String;
    /// Address of a pc as the program sees it (link registers, listings).
    fn addr_of(&self, pc: Pc) -> u64;
    /// Registers of one lane as (name, value) for dumps and tests, in a fixed order.
    fn dump(&self, regs: &Self::Regs, lane: u32) -> Vec<(String, u64)>;
}
