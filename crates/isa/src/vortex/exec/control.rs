//! Control flow: branches and jumps, the instructions that control lanes and waves, votes and shuffles. The result is
//! a [`Flow`]; what becomes of lanes that disagree is the mechanism's business (docs/vortex.md).

use crate::lanes::bits;
use crate::vortex::Vortex;
use crate::vortex::inst::Inst;
use crate::vortex::regs::Regs;
use crate::vortex::table::Op;
use crate::{At, EnterWhy, Flow, Mask, Pc, Trap, first_lanes};

/// Top bit of a barrier's number: it counts cores, not waves.
const GLOBAL_BARRIER: u32 = 1 << 31;

impl Vortex {
    #[inline]
    pub(super) fn branch(&self, inst: &Inst, at: &At, regs: &mut Regs) -> Result<Flow, Trap> {
        match inst.op {
            Op::Jal => {
                let target = self.relative(at.pc, inst.imm)?;
                self.link(inst, at, regs);
                Ok(Flow::Jump(target))
            }
            Op::Jalr => {
                let Some(base) = agreed(regs, inst.rs1, at.mask) else {
                    let what = "lanes of one wave jump to different addresses through a register";
                    return Err(if at.may_diverge {
                        Trap::Other(format!("{what}; no mechanism here follows that"))
                    } else {
                        Trap::Divergent
                    });
                };
                let addr = base.wrapping_add(inst.imm as u32) & !1;
                let target = self.pc_of(addr.into()).ok_or(Trap::BadTarget { addr: addr.into() })?;
                self.link(inst, at, regs);
                Ok(Flow::Jump(target))
            }
            _ => {
                let taken = at.mask & condition(inst, regs);
                if taken == 0 {
                    return Ok(Flow::Next);
                }
                let target = self.relative(at.pc, inst.imm)?;
                if taken == at.mask {
                    Ok(Flow::Jump(target))
                } else if at.may_diverge {
                    Ok(Flow::Branch { taken, target })
                } else {
                    Err(Trap::Divergent)
                }
            }
        }
    }

    /// The pc `offset` bytes from `pc`.
    fn relative(&self, pc: Pc, offset: i32) -> Result<Pc, Trap> {
        let addr = u64::from(self.address(pc).wrapping_add(offset as u32));
        self.pc_of(addr).ok_or(Trap::BadTarget { addr })
    }

    fn link(&self, inst: &Inst, at: &At, regs: &mut Regs) {
        if inst.rd != 0 {
            let back = self.address(at.next);
            let d = usize::from(inst.rd);
            regs.rows.map1(d, d, at.mask, |_| back);
        }
    }

    pub(super) fn control(&self, inst: &Inst, at: &At, regs: &mut Regs) -> Result<Flow, Trap> {
        let lanes = first_lanes(regs.lanes());
        let last = 63 - at.mask.leading_zeros().min(63);
        let (a, b) = (regs.get(inst.rs1.into(), last), regs.get(inst.rs2.into(), last));
        // The predicate of each active lane.
        let holds = |negate: bool| at.mask & (regs.rows.test(inst.rs1.into(), |x| (x & 1 == 1) != negate));
        match inst.op {
            Op::Fence | Op::FenceI => Ok(Flow::Next),
            Op::Ecall | Op::Ebreak => Err(Trap::Other(format!(
                "`{}`: there is no operating system or debugger to call; a wave ends with `vx_tmc zero`",
                inst.entry().name
            ))),
            Op::Tmc => match u64::from(a) & lanes {
                0 if a != 0 => Err(Trap::Other(format!(
                    "`vx_tmc` with mask {a:#x}: this machine has {} lanes",
                    regs.lanes()
                ))),
                0 => Ok(Flow::Exit { lanes: at.mask }),
                mask => Ok(Flow::Enter { pc: at.next, mask, why: EnterWhy::Lanes }),
            },
            Op::Wspawn => {
                if regs.wave != 0 {
                    let text = "`vx_wspawn` starts waves 1 and up, and is for wave 0 alone";
                    return Err(Trap::Other(format!("{text}; this is wave {}", regs.wave)));
                }
                // One wave is the one that asks: it only waits until it is alone, and programs give no target then.
                let pc = match a {
                    0 | 1 => at.pc,
                    _ => self.pc_of(b.into()).ok_or(Trap::BadTarget { addr: b.into() })?,
                };
                Ok(Flow::SpawnWaves { pc, count: a })
            }
            Op::Split | Op::SplitN => {
                let taken = holds(inst.op == Op::SplitN);
                if inst.rd != 0 {
                    let (d, depth) = (usize::from(inst.rd), at.depth);
                    regs.rows.map1(d, d, at.mask, |_| depth);
                }
                Ok(Flow::Split { taken })
            }
            Op::Join => Ok(Flow::JoinTo { depth: a }),
            Op::Bar if a & GLOBAL_BARRIER != 0 => Err(Trap::Other(format!(
                "`vx_bar` with id {a:#x}: barriers across cores (top bit of the id) are not supported"
            ))),
            Op::Bar => Ok(Flow::Barrier { id: a.into(), count: b.into() }),
            Op::Pred | Op::PredN => {
                let keep = holds(inst.op == Op::PredN);
                let restore = u64::from(b) & lanes;
                if keep == 0 && restore == 0 {
                    return Err(Trap::Other(format!(
                        "`{}` found no lane to keep and none to restore: mask {b:#x}",
                        inst.entry().name
                    )));
                }
                Ok(Flow::Predicate { keep, restore })
            }
            _ => Err(Trap::Other(format!("`{}` is no control instruction", inst.entry().name))),
        }
    }

    /// Votes and shuffles: lanes see each other. Inactive lanes do not vote, but their registers can be read.
    pub(super) fn cross(&self, inst: &Inst, at: &At, regs: &mut Regs) {
        let (d, a, b) = (usize::from(inst.rd), usize::from(inst.rs1), usize::from(inst.rs2));
        let vote = regs.rows.test(a, |x| x & 1 == 1) & at.mask;
        let result = match inst.op {
            Op::VoteAll => u32::from(vote == at.mask),
            Op::VoteAny => u32::from(vote != 0),
            Op::VoteUni => u32::from(vote == at.mask || vote == 0),
            Op::VoteBallot => vote as u32,
            _ => {
                let mut out = [0; 64];
                for lane in bits(at.mask) {
                    let from = shuffle(inst.op, lane as i32, regs.get(b, lane));
                    let from = if (from as u32) < regs.lanes() { from as u32 } else { lane };
                    out[lane as usize] = regs.get(a, from);
                }
                regs.rows.blend(d, at.mask, &out);
                return;
            }
        };
        regs.rows.map1(d, d, at.mask, |_| result);
    }
}

/// The lane whose value `lane` gets: within segments given by `mask`, up to `c`, moved by `b`.
fn shuffle(op: Op, lane: i32, control: u32) -> i32 {
    let field = |at: u32| (control >> at & 0x3f) as i32;
    let (b, c, mask) = (field(0), field(6), field(12));
    let first = lane & mask;
    let last = first | c & !mask;
    let (from, inside) = match op {
        Op::ShflUp => (lane - b, lane - b >= first),
        Op::ShflDown => (lane + b, lane + b <= last),
        Op::ShflBfly => (lane ^ b, (lane ^ b) <= last),
        _ => (first | b & !mask, (first | b & !mask) <= last),
    };
    if inside { from } else { lane }
}

#[inline(always)]
fn condition(inst: &Inst, regs: &Regs) -> Mask {
    let (a, b) = (regs.rows.row(inst.rs1.into()), regs.rows.row(inst.rs2.into()));
    match inst.op {
        Op::Beq => compare(a, b, |x, y| x == y),
        Op::Bne => compare(a, b, |x, y| x != y),
        Op::Blt => compare(a, b, |x, y| (x as i32) < y as i32),
        Op::Bge => compare(a, b, |x, y| (x as i32) >= y as i32),
        Op::Bltu => compare(a, b, |x, y| x < y),
        _ => compare(a, b, |x, y| x >= y),
    }
}

/// The lanes for which `f` holds.
#[inline(always)]
fn compare(a: &[u32], b: &[u32], f: impl Fn(u32, u32) -> bool) -> Mask {
    let mut mask = 0;
    for (c, (a, b)) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0).enumerate() {
        let mut byte = 0u64;
        for i in 0..8 {
            byte |= u64::from(f(a[i], b[i])) << i;
        }
        mask |= byte << (c * 8);
    }
    mask
}

/// What register `r` has in all lanes of `on`, if it is one value.
fn agreed(regs: &Regs, r: u8, on: Mask) -> Option<u32> {
    let value = regs.get(r.into(), on.trailing_zeros() & 63);
    (regs.rows.test(r.into(), |x| x != value) & on == 0).then_some(value)
}
