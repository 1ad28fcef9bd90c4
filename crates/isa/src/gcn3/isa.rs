//! GCN3 as an [`Isa`]: what a dispatch gives every wave ([`Setup`]), the registers a wave starts with,
//! static facts, and names.

use super::exec::{self, SCRATCH_WORD3};
use super::follow;
use super::format::Format;
use super::gcn::Gcn;
use super::inst::{Inst, flag};
use super::op::Op;
use super::operand::{Operand, Ty, scalar_name, sreg};
use super::state::Regs;
use super::symbols::Waitcnt;
use super::table::{CLASSES, Class, Ctl};
use super::{disassemble, disassemble_to, masks, watch};
use crate::marks::{Marks, Origin, Watch};
use crate::{
    At, Bus, Facts, Flow, FlowKind, Isa, Mask, Needed, Pc, Quick, Trap, Waits, WaveStart, first_lanes,
};

pub use super::exec::active;
pub use super::state::{FIRST_ACCUMULATOR, FIRST_SCALAR, MODE, SCC};

/// User SGPRs a kernel asks for, in the order they are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserSgprs {
    pub private_segment_buffer: bool,
    pub dispatch_ptr: bool,
    pub queue_ptr: bool,
    pub kernarg_ptr: bool,
    pub dispatch_id: bool,
    pub flat_scratch_init: bool,
    pub private_segment_size: bool,
}

impl From<[bool; 7]> for UserSgprs {
    /// In the order of the kernel descriptor's properties.
    fn from(flags: [bool; 7]) -> UserSgprs {
        let [buffer, dispatch, queue, kernarg, id, flat, size] = flags;
        UserSgprs {
            private_segment_buffer: buffer,
            dispatch_ptr: dispatch,
            queue_ptr: queue,
            kernarg_ptr: kernarg,
            dispatch_id: id,
            flat_scratch_init: flat,
            private_segment_size: size,
        }
    }
}

/// What a dispatch gives every wave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// What the code was written for.
    pub gcn: Gcn,
    pub vgprs: u32,
    /// Accumulators, which gfx908 and later have.
    pub agprs: u32,
    /// MODE at start.
    pub mode: u32,
    pub user: UserSgprs,
    /// User SGPRs the descriptor counts; system SGPRs follow them. Less than `user` needs counts as that.
    pub user_sgprs: u32,
    /// Workgroup id x, y, z, and workgroup info.
    pub workgroup: [bool; 4],
    pub scratch_wave_offset: bool,
    /// Dimensions of the work-item id in v0, v1, v2.
    pub work_item_dimensions: u32,
    /// Work-items of the launch; zero: as many as the groups have.
    pub grid: [u32; 3],
    /// Work-items of a full group; zero: a line of the launch's group size.
    pub group: [u32; 3],
    pub kernarg: u64,
    /// Arguments that stand in registers behind the user SGPRs (gfx90a and later, if the kernel asks for it).
    pub preloaded: Vec<u32>,
    pub packet: u64,
    pub queue: u64,
    pub dispatch_id: u64,
    /// Local memory of a group.
    pub lds_bytes: u32,
    /// Private memory of a lane, rounded up to dwords; a wave's share is 64 times that.
    pub scratch_per_lane: u32,
    /// Where the private memory of all waves begins.
    pub scratch_region: u64,
}

impl Setup {
    /// Whether the ids of a work-item stand in one register.
    pub fn packed_ids(&self) -> bool {
        self.gcn.generation().packed_ids
    }

    /// Whether a register has the wave's offset in private memory.
    pub fn has_scratch_offset(&self) -> bool {
        self.scratch_wave_offset && !self.gcn.generation().architected_scratch
    }

    /// Where a group stands in the grid, and its size, smaller at the far edges.
    fn place(&self, start: &WaveStart) -> ([u32; 3], [u32; 3]) {
        let full = match self.group {
            group if group.contains(&0) => [start.group_size, 1, 1],
            group => group,
        };
        let mut rest = start.group;
        let mut id = [0; 3];
        let mut size = full;
        for d in 0..3 {
            if self.grid[d] == 0 {
                // Unknown extent: all the rest of the number lies in this dimension.
                (id[d], rest) = (rest, 0);
                continue;
            }
            let groups = self.grid[d].div_ceil(full[d].max(1));
            (id[d], rest) = (rest % groups, rest / groups);
            let before = id[d].saturating_mul(full[d]);
            size[d] = full[d].min(self.grid[d].saturating_sub(before));
        }
        (id, size)
    }
}

/// The instruction set for one dispatch.
#[derive(Clone, Debug, Default)]
pub struct Gcn3 {
    pub setup: Setup,
    /// Address of pc 0: pc = (address − code_base) / 4.
    pub code_base: u64,
}

/// Gives SGPRs in order.
struct Filler<'a> {
    regs: &'a mut Regs,
    next: usize,
}

impl Filler<'_> {
    fn put(&mut self, wanted: bool, values: &[u32]) {
        if wanted {
            for &value in values {
                // A descriptor that asks for more than there are gets what there is.
                if self.next < usize::from(sreg::COUNT) {
                    self.regs.s[self.next] = value;
                }
                self.next += 1;
            }
        }
    }

    fn put64(&mut self, wanted: bool, value: u64) {
        self.put(wanted, &[value as u32, (value >> 32) as u32]);
    }
}

impl Gcn3 {
    /// V# of the private memory of all waves: base, swizzle on, no bound (checked per wave).
    fn private_descriptor(&self) -> [u32; 4] {
        let base = self.setup.scratch_region;
        [base as u32, (base >> 32) as u32 & 0xffff | 1 << 31, u32::MAX, SCRATCH_WORD3]
    }

    fn fill_scalars(&self, regs: &mut Regs, start: &WaveStart, group: [u32; 3]) {
        let s = &self.setup;
        let mut f = Filler { regs, next: 0 };
        f.put(s.user.private_segment_buffer, &self.private_descriptor());
        f.put64(s.user.dispatch_ptr, s.packet);
        f.put64(s.user.queue_ptr, s.queue);
        f.put64(s.user.kernarg_ptr, s.kernarg);
        f.put64(s.user.dispatch_id, s.dispatch_id);
        // Where private memory begins and how much a lane has; from gfx9 on its address.
        let flat = [[0, s.scratch_per_lane], [s.scratch_region as u32, (s.scratch_region >> 32) as u32]];
        f.put(s.user.flat_scratch_init, &flat[usize::from(s.gcn > Gcn::Gfx8)]);
        f.put(s.user.private_segment_size, &[s.scratch_per_lane]);
        f.put(true, &s.preloaded);
        f.next = f.next.max(s.user_sgprs as usize);
        for (wanted, id) in s.workgroup.into_iter().zip(group) {
            f.put(wanted, &[id]);
        }
        let info = u32::from(start.wave_in_group == 0) << 31 | start.waves_in_group & 63;
        f.put(s.workgroup[3], &[info]);
        f.put(s.has_scratch_offset(), &[start.scratch_base.wrapping_sub(s.scratch_region) as u32]);
    }

    fn fill_vectors(&self, regs: &mut Regs, first: u32, size: [u32; 3]) {
        let dimensions = self.setup.work_item_dimensions.clamp(1, 3);
        let packed = self.setup.packed_ids();
        let dimensions = if packed { dimensions } else { dimensions.min(regs.vgprs) } as usize;
        let [x, y, _] = size.map(|n| n.max(1));
        let mut ids = [first % x, first / x % y, first / x / y];
        let lanes = regs.v.lanes();
        let mut lane = 0;
        while lane < lanes {
            // Lanes that differ in x only.
            let run = (x - ids[0]).min(lanes - lane);
            let some = lane as usize..(lane + run) as usize;
            if packed {
                // Ten bits each in one register.
                let others = (1..dimensions).map(|d| (ids[d] & 0x3ff) << (10 * d)).sum::<u32>();
                for (id, x) in regs.v.row_mut(0)[some].iter_mut().zip(ids[0]..) {
                    *id = x & 0x3ff | others;
                }
            } else {
                for (d, &id) in ids[..dimensions].iter().enumerate() {
                    let row = &mut regs.v.row_mut(d)[some.clone()];
                    if d == 0 {
                        row.iter_mut().zip(id..).for_each(|(own, x)| *own = x);
                    } else {
                        row.fill(id);
                    }
                }
            }
            lane += run;
            ids = match ids[1] + 1 {
                next if next < y => [0, next, ids[2]],
                _ => [0, 0, ids[2].wrapping_add(1)],
            };
        }
    }
}

/// What the table knows of an access: parts of a dword by name, everything else by the registers of its data.
fn access_bytes(inst: &Inst) -> u32 {
    let entry = inst.entry();
    let bytes = |ty: Ty| u32::from(ty.dwords()) * 4;
    match inst.op {
        Op::FlatLoadUbyte | Op::FlatLoadSbyte | Op::FlatStoreByte => return 1,
        Op::BufferLoadUbyte | Op::BufferLoadSbyte | Op::BufferStoreByte => return 1,
        Op::DsReadI8 | Op::DsReadU8 | Op::DsWriteB8 => return 1,
        Op::FlatLoadUshort | Op::FlatLoadSshort | Op::FlatStoreShort => return 2,
        Op::BufferLoadUshort | Op::BufferLoadSshort | Op::BufferStoreShort => return 2,
        Op::DsReadI16 | Op::DsReadU16 | Op::DsWriteB16 => return 2,
        Op::FlatLoadUbyteD16
        | Op::FlatLoadUbyteD16Hi
        | Op::FlatLoadSbyteD16
        | Op::FlatLoadSbyteD16Hi
        | Op::FlatStoreByteD16Hi
        | Op::FlatLoadLdsUbyte
        | Op::FlatLoadLdsSbyte
        | Op::BufferLoadUbyteD16
        | Op::BufferLoadUbyteD16Hi
        | Op::BufferLoadSbyteD16
        | Op::BufferLoadSbyteD16Hi
        | Op::BufferStoreByteD16Hi
        | Op::DsReadU8D16
        | Op::DsReadU8D16Hi
        | Op::DsReadI8D16
        | Op::DsReadI8D16Hi
        | Op::DsWriteB8D16Hi => return 1,
        Op::FlatLoadShortD16
        | Op::FlatLoadShortD16Hi
        | Op::FlatStoreShortD16Hi
        | Op::FlatLoadLdsUshort
        | Op::FlatLoadLdsSshort
        | Op::BufferLoadShortD16
        | Op::BufferLoadShortD16Hi
        | Op::BufferStoreShortD16Hi
        | Op::DsReadU16D16
        | Op::DsReadU16D16Hi
        | Op::DsWriteB16D16Hi => return 2,
        Op::FlatLoadLdsDword => return 4,
        _ => {}
    }
    match entry.format {
        Format::Flat | Format::Mubuf | Format::Smem if entry.atomic => u32::from(entry.atomic_dwords()) * 4,
        Format::Smem => bytes(entry.dst),
        Format::Flat => bytes(entry.dst).max(bytes(entry.src[1])),
        // What a format means is in the descriptor.
        Format::Mubuf if entry.code < 0x10 => 0,
        Format::Mubuf => bytes(entry.dst),
        Format::Ds if entry.atomic => bytes(entry.src[1]),
        Format::Ds if entry.two_offsets && entry.dst == Ty::None => bytes(entry.src[1]) + bytes(entry.src[2]),
        Format::Ds => bytes(entry.dst).max(bytes(entry.src[1])),
        _ => 0,
    }
}

impl Isa for Gcn3 {
    type Inst = Inst;
    type Bound = exec::Bound;
    type Regs = Regs;

    fn name(&self) -> &'static str {
        "gcn3"
    }

    fn classes(&self) -> &'static [&'static str] {
        CLASSES
    }

    fn register_count(&self) -> usize {
        match self.setup.agprs {
            0 => usize::from(SCC) + 1,
            agprs => usize::from(FIRST_ACCUMULATOR) + agprs.min(256) as usize,
        }
    }

    fn register_name(&self, id: u16) -> String {
        match id {
            0..FIRST_SCALAR => format!("v{id}"),
            FIRST_SCALAR..SCC => {
                let mut name = String::new();
                let _ = scalar_name(&mut name, self.setup.gcn, (id - FIRST_SCALAR) as u8, 1);
                name
            }
            SCC => "scc".to_owned(),
            FIRST_ACCUMULATOR.. => format!("a{}", id - FIRST_ACCUMULATOR),
            _ => "MODE".to_owned(),
        }
    }

    /// Rows have 64 lanes whatever the machine's width: lane masks and readlane are 64 wide.
    fn registers(&self, _lanes: u32) -> Regs {
        Regs::with_accumulators(self.setup.vgprs.clamp(1, 256), self.setup.agprs.min(256), 64)
    }

    fn start(&self, regs: &mut Regs, start: &WaveStart) {
        let s = &self.setup;
        if !std::mem::take(&mut regs.fresh) {
            regs.v.clear();
        }
        regs.s = [0; 128];
        regs.scc = false;
        regs.mode = s.mode;
        regs.lds_base = start.lds_base;
        regs.lds_bytes = s.lds_bytes;
        regs.scratch_base = start.scratch_base;
        regs.scratch_per_lane = s.scratch_per_lane.next_multiple_of(4);
        regs.group = start.group;
        regs.wave_in_group = start.wave_in_group;
        regs.waves_in_group = start.waves_in_group.max(1);
        let lanes = start.lanes.clamp(1, 64);
        let (group, size) = s.place(start);
        let first = start.wave_in_group.wrapping_mul(lanes);
        let threads = size.iter().fold(1, |n: u32, &d| n.saturating_mul(d));
        let existing: Mask = first_lanes(threads.saturating_sub(first).min(lanes));
        self.fill_scalars(regs, start, group);
        self.fill_vectors(regs, first, size);
        regs.set_pair(sreg::EXEC, existing);
        regs.s[usize::from(sreg::M0)] = u32::MAX;
    }

    fn active(&self, regs: &Regs, mask: Mask) -> Mask {
        exec::active(regs, mask)
    }

    fn set_active(&self, regs: &mut Regs, lanes: Mask) {
        regs.set_pair(sreg::EXEC, lanes);
    }

    fn path_registers(&self) -> std::ops::Range<u16> {
        FIRST_SCALAR..SCC + 1
    }

    fn execution_mask(&self) -> std::ops::Range<u16> {
        let first = FIRST_SCALAR + u16::from(sreg::EXEC);
        first..first + 2
    }

    fn reads_execution_mask(&self, inst: &Inst) -> bool {
        let named = |o: &Operand| match o {
            Operand::Sgpr(n) => *n == sreg::EXEC || *n == sreg::EXEC + 1,
            Operand::ExecZ | Operand::VccZ => true,
            _ => false,
        };
        inst.src.iter().any(named)
    }

    fn base(&self, regs: &Regs) -> Vec<u32> {
        regs.s.to_vec()
    }

    fn base_step(&self, inst: &Inst, regs: &mut Regs, base: &mut [u32]) -> bool {
        masks::mask_flow(inst) && exec::on_base(inst, regs, base)
    }

    fn take_base(&self, base: &mut [u32], regs: &Regs, register: u16) {
        let i = usize::from(register.saturating_sub(FIRST_SCALAR));
        if let (Some(base), Some(now)) = (base.get_mut(i), regs.s.get(i)) {
            *base = *now;
        }
    }

    fn base_mask(&self, base: &[u32]) -> Mask {
        masks::base_mask(base)
    }

    fn merge_base(&self, base: &mut [u32], from: &[u32], lanes: Mask, needed: &Needed, regs: &Regs) {
        masks::merge_base(base, from, lanes, needed, regs);
    }

    fn fork(&self, regs: &Regs) -> Option<Regs> {
        Some(masks::fork(regs))
    }

    fn confine(&self, regs: &mut Regs, lanes: Mask) {
        let exec = regs.exec();
        regs.set_pair(sreg::EXEC, exec & lanes);
    }

    fn hand_over(&self, from: &mut Regs, to: &mut Regs) {
        std::mem::swap(&mut from.v, &mut to.v);
    }

    fn differ(&self, a: &Regs, b: &Regs, needed: &Needed) -> Vec<u16> {
        masks::differ(a, b, needed)
    }

    fn merge(&self, into: &mut Regs, from: &Regs, lanes: Mask, needed: &Needed, take: &[u16]) {
        masks::merge(into, from, lanes, needed, take);
    }

    fn waits(&self, inst: &Inst) -> Waits {
        let class = inst.class();
        let vector = matches!(class, Class::Vmem | Class::Flat);
        let until = (inst.op == Op::SWaitcnt).then(|| {
            // The largest value of a field means "do not wait".
            Waitcnt::until(inst.gcn, inst.imm).map(|count| count.unwrap_or(u8::MAX))
        });
        // FLAT may be local or global memory: it counts in both.
        let local = matches!(class, Class::Lds | Class::Smem | Class::Flat);
        Waits { raises: [vector, local], until }
    }

    fn facts(&self, inst: &Inst, _pc: Pc, next: Pc) -> Facts {
        let entry = inst.entry();
        let flow = match entry.flow {
            Ctl::Branch => FlowKind::Jump(exec::target(inst, next)),
            Ctl::BranchIf if matches!(inst.op, Op::SCbranchExecz | Op::SCbranchExecnz) => {
                FlowKind::MaskBranch {
                    target: exec::target(inst, next),
                    when_empty: inst.op == Op::SCbranchExecz,
                }
            }
            Ctl::BranchIf => FlowKind::Branch(exec::target(inst, next)),
            Ctl::Indirect => FlowKind::Indirect { conditional: false },
            Ctl::Call if inst.op == Op::SCallB64 => {
                FlowKind::Call { target: Some(exec::target(inst, next)), conditional: false }
            }
            Ctl::Call => FlowKind::Call { target: None, conditional: false },
            Ctl::End => FlowKind::Exit { conditional: false },
            Ctl::Barrier => FlowKind::Barrier,
            Ctl::Split => FlowKind::SplitLanes { apart: inst.op == Op::SplitEnd },
            Ctl::Merge => FlowKind::Merge,
            // Trap when executed.
            Ctl::Next | Ctl::Trap | Ctl::Fork => FlowKind::Next,
        };
        // Room for what most instructions have: the lists of a program are made all at once.
        let (mut reads, mut writes) = (Vec::with_capacity(8), Vec::with_capacity(4));
        inst.each_use(|used| {
            let first = match used.operand {
                Operand::Vgpr(n) => u16::from(n),
                Operand::Agpr(n) => FIRST_ACCUMULATOR + u16::from(n),
                Operand::Sgpr(n) => FIRST_SCALAR + u16::from(n),
                Operand::Scc => SCC,
                _ => return,
            };
            // Accumulators that the kernel has not asked for trap when the instruction runs.
            let last = if first > SCC { self.register_count() as u16 - 1 } else { SCC };
            for id in (first..first + u16::from(used.dwords)).take_while(|&id| id <= last) {
                for (wanted, list) in [(used.read, &mut reads), (used.write, &mut writes)] {
                    if wanted && !list.contains(&id) {
                        list.push(id);
                    }
                }
            }
        });
        let lanes = masks::lane_effect(inst);
        Facts {
            class: inst.class() as u8,
            flow,
            reads,
            writes,
            mask_reads: masks::mask_reads(inst),
            mask_flow: masks::carries(inst.op, lanes),
            lanes,
            cross_lane: masks::cross_lane(inst),
            waits_for_all: false,
        }
    }

    fn access_bytes(&self, inst: &Inst) -> u32 {
        access_bytes(inst)
    }

    /// Compilers mark accesses that other groups must see with GLC, and invalidate caches behind acquire operations.
    fn shares(&self, inst: &Inst) -> bool {
        let entry = inst.entry();
        match entry.format {
            Format::Flat | Format::Global | Format::Scratch | Format::Mubuf | Format::Mtbuf => {
                let fence = matches!(
                    inst.op,
                    Op::BufferWbinvl1 | Op::BufferWbinvl1Vol | Op::BufferWbl2 | Op::BufferInvl2
                );
                entry.atomic || fence || inst.has(flag::GLC) || inst.has(flag::SC1)
            }
            Format::Smem => {
                let fence =
                    matches!(inst.op, Op::SDcacheInv | Op::SDcacheInvVol | Op::SDcacheWb | Op::SDcacheWbVol);
                fence || entry.atomic || inst.has(flag::GLC)
            }
            Format::Ds => inst.has(flag::GDS),
            Format::Sopp => matches!(inst.op, Op::SSendmsg | Op::SSendmsghalt),
            Format::Mimg | Format::Exp => true,
            Format::Sop2
            | Format::Sop1
            | Format::Sopc
            | Format::Sopk
            | Format::Vop1
            | Format::Vop2
            | Format::Vopc
            | Format::Vop3
            | Format::Vop3p
            | Format::Sdwa
            | Format::Dpp
            | Format::Vintrp => false,
        }
    }

    #[inline]
    fn exec<B: Bus>(&self, inst: &Inst, at: &At, regs: &mut Regs, bus: &mut B) -> Result<Flow, Trap> {
        exec::exec(inst, at, regs, bus, self.code_base)
    }

    fn bind(&self, inst: &Inst, next: Pc) -> exec::Bound {
        exec::Bound::new(inst, next)
    }

    #[inline(always)]
    fn quick(&self, bound: &exec::Bound, mask: Mask, whole: bool, regs: &mut Regs) -> Quick {
        bound.run(regs, if whole { Mask::MAX } else { mask })
    }

    /// All vector registers but the ids of work-items.
    fn undefined(&self, marks: &mut Marks, origin: Origin) {
        let ids =
            if self.setup.packed_ids() { 1 } else { self.setup.work_item_dimensions.clamp(1, 3) } as u16;
        for id in (0..self.register_count() as u16).filter(|id| !self.path_registers().contains(id)) {
            if id >= ids && id != MODE {
                marks.mark(id, Mask::MAX, origin);
            }
        }
    }

    fn watch(&self, inst: &Inst, ahead: &[&Inst]) -> Watch {
        watch::watch(inst, ahead, access_bytes(inst))
    }

    fn follow(
        &self,
        inst: &Inst,
        at: &At,
        regs: &Regs,
        marks: &mut Marks,
        always: bool,
        registers: (&[u16], &[u16]),
    ) {
        follow::follow(inst, regs, marks, (exec::active(regs, at.mask), at.live, always), registers);
    }

    fn show(&self, inst: &Inst, pc: Pc, label: &dyn Fn(Pc) -> Option<String>) -> String {
        match inst.branch_words() {
            None => disassemble(inst),
            Some(_) => {
                let target = exec::target(inst, pc.wrapping_add(u32::from(inst.size) / 4));
                disassemble_to(inst, &label(target).unwrap_or_else(|| format!("{:#x}", self.addr_of(target))))
            }
        }
    }

    fn addr_of(&self, pc: Pc) -> u64 {
        self.code_base.wrapping_add(u64::from(pc) * 4)
    }

    fn dump(&self, regs: &Regs, lane: u32) -> Vec<(String, u64)> {
        let name = |id: u16| self.register_name(id);
        // Paths that have not run last are without the lanes' registers.
        let vgprs = if regs.v.has(regs.vgprs as usize) { regs.vgprs as u16 } else { 0 };
        let vectors = (0..vgprs).map(|n| (name(n), regs.v.get(n.into(), lane.min(63)).into()));
        let scalars = (0..128).map(|n: u16| (name(FIRST_SCALAR + n), regs.s[usize::from(n)].into()));
        let rest = [("scc".to_owned(), u64::from(regs.scc)), ("mode".to_owned(), regs.mode.into())];
        vectors.chain(scalars).chain(rest).collect()
    }
}
