//! What differs from Vortex when an instruction is executed (docs/riscv.md): three memories behind one address, registers of
//! work-items, returns on which lanes disagree, the barrier of the group.

use super::csr::{self, WORK_ITEM};
use super::machine::{EXIT, PRIVATE, PRIVATE_END, Regs, Riscv};
use crate::lanes::{Row, bits};
use crate::vortex::{Access, Class, Inst, LOCAL, Op, Place, Space, local_lanes};
use crate::{At, Bus, Flow, Mask, Trap};

/// Local memory of the group and private memories of the wave's lanes.
struct Memories {
    local_base: u64,
    local_bytes: u32,
    private_base: u64,
    private_bytes: u32,
    lanes: u32,
}

impl Space for Memories {
    const CONSOLE: bool = false;

    #[inline]
    fn place(&self, access: &Access, top: u32, addr: &mut Row<u32>, on: Mask) -> Result<Place, Trap> {
        let mut place =
            Place { local_base: self.local_base, private_base: self.private_base, ..Place::default() };
        if top >= PRIVATE {
            place.private = self.private_lanes(access, addr, on)?;
            place.local = local_lanes(access, self.local_bytes, addr, on & !place.private)?;
        }
        Ok(place)
    }
}

impl Memories {
    /// The lanes that go to their private memories. Words of the lanes of a wave lie side by side, so that lanes at the same
    /// address touch neighbouring words.
    fn private_lanes(&self, access: &Access, addr: &mut Row<u32>, on: Mask) -> Result<Mask, Trap> {
        let first = PRIVATE_END - self.private_bytes;
        let mut private = 0;
        for lane in bits(on) {
            let a = &mut addr[lane as usize];
            if *a < PRIVATE || *a >= LOCAL {
                continue;
            }
            let Some(offset) = a.checked_sub(first).filter(|o| o + access.bytes <= self.private_bytes) else {
                let size = self.private_bytes;
                return Err(
                    access.fault(*a, format!("private memory of a lane has {size} bytes (lane {lane})"))
                );
            };
            *a = offset / 4 * 4 * self.lanes + lane * 4 + offset % 4;
            private |= 1 << lane;
        }
        Ok(private)
    }
}

impl Riscv {
    #[inline]
    pub(super) fn execute<B: Bus>(
        &self,
        inst: &Inst,
        at: &At,
        regs: &mut Regs,
        bus: &mut B,
    ) -> Result<Flow, Trap> {
        match inst.entry().class {
            Class::Mem => {
                let space = Memories {
                    local_base: regs.who.local_base,
                    local_bytes: self.setup.local_bytes,
                    private_base: regs.who.private_base,
                    private_bytes: self.setup.private_bytes,
                    lanes: regs.harts.lanes(),
                };
                self.core.memory_in(&space, inst, at, &mut regs.harts, bus)
            }
            Class::Branch if inst.op == Op::Jalr => self.jump(inst, at, regs, bus),
            Class::Control => self.control(inst, at, regs, bus),
            Class::Csr => self.csr(inst, at, regs, bus),
            _ => self.core.execute(inst, at, &mut regs.harts, bus),
        }
    }

    /// A jump through a register. Lanes may disagree: paths that came from different calls can have become one in a function. Those
    /// that go where the first one goes leave, the others execute the instruction again.
    fn jump<B: Bus>(&self, inst: &Inst, at: &At, regs: &mut Regs, bus: &mut B) -> Result<Flow, Trap> {
        let target = |lane: u32| regs.get(inst.rs1.into(), lane).wrapping_add(inst.imm as u32) & !1;
        let ends = bits(at.mask).filter(|&l| target(l) == EXIT).fold(0, |m, l| m | 1 << l);
        let stays = at.mask & !ends;
        if stays == 0 {
            return Ok(Flow::Exit { lanes: at.mask });
        }
        let to = target(stays.trailing_zeros());
        let together = bits(stays).filter(|&l| target(l) == to).fold(0, |m, l| m | 1 << l);
        if together == at.mask {
            return self.core.execute(inst, at, &mut regs.harts, bus);
        }
        if inst.rd != 0 {
            return Err(Trap::Other("lanes of one wave call different functions through a pointer".into()));
        }
        let target = self.core.pc_of(to.into()).ok_or(Trap::BadTarget { addr: to.into() })?;
        Ok(Flow::Scatter { taken: together, target })
    }

    fn control<B: Bus>(&self, inst: &Inst, at: &At, regs: &mut Regs, bus: &mut B) -> Result<Flow, Trap> {
        match inst.op {
            Op::Bar => {
                Ok(Flow::Barrier { id: regs.who.number.into(), count: regs.who.waves_in_group.into() })
            }
            Op::Fence | Op::FenceI => self.core.execute(inst, at, &mut regs.harts, bus),
            Op::Ecall | Op::Ebreak => Err(Trap::Other(format!(
                "`{}`: there is no operating system or debugger to call; compilers put it where a program must not come",
                inst.entry().name
            ))),
            _ => Err(Trap::Other(format!(
                "`{}` is an instruction of Vortex: on a lane-pc machine lanes branch as they like",
                inst.entry().name
            ))),
        }
    }

    fn csr<B: Bus>(&self, inst: &Inst, at: &At, regs: &mut Regs, bus: &mut B) -> Result<Flow, Trap> {
        let number = inst.imm as u32;
        if csr::is_plain(number) {
            return self.core.execute(inst, at, &mut regs.harts, bus);
        }
        let Some(&(_, name, item)) = WORK_ITEM.iter().find(|c| c.0 == number) else {
            return Err(Trap::Other(format!("there is no CSR {number:#x} (docs/riscv.md lists them)")));
        };
        if matches!(inst.op, Op::Csrrw | Op::Csrrwi) || inst.rs1 != 0 {
            return Err(Trap::Other(format!("the CSR {name} can only be read")));
        }
        let row = regs.work_item(&self.setup, item);
        regs.harts.blend(inst.rd.into(), at.mask, &row);
        Ok(Flow::Next)
    }
}

/// Atomics: waves of different groups can learn of each other by them.
pub(super) fn is_atomic(inst: &Inst) -> bool {
    matches!(
        inst.op,
        Op::LrW
            | Op::ScW
            | Op::AmoSwap
            | Op::AmoAdd
            | Op::AmoXor
            | Op::AmoAnd
            | Op::AmoOr
            | Op::AmoMin
            | Op::AmoMax
            | Op::AmoMinu
            | Op::AmoMaxu
    )
}
