//! What each instruction does to the lanes of a wave. Results are always truncated to the word.
//! Virtual memory is harptool's basic machine, identity translation: the tlb* instructions do nothing.

use super::arch::Arch;
use super::inst::Inst;
use super::regs::Regs;
use super::table::Op;
use super::{Harp, divide};
use crate::lanes::bits;
use crate::{At, Bus, EnterWhy, Flow, Isa, Mask, Pc, Trap, first_lanes};

/// Interrupt numbers; 1 and 2 are page faults, which identity translation never raises.
pub(super) const TRAP: u32 = 0;
pub(super) const PRIVILEGED: u32 = 3;
pub(super) const DIVERGENT: u32 = 4;
pub(super) const DIVIDE: u32 = 5;

fn interrupt_name(number: u32) -> &'static str {
    match number {
        TRAP => "trap",
        PRIVILEGED => "privileged instruction in user mode",
        DIVERGENT => "divergent branch",
        DIVIDE => "division by zero",
        _ => "unknown",
    }
}

impl Harp {
    #[inline]
    pub(super) fn execute<B: Bus>(
        &self,
        inst: &Inst,
        at: &At,
        regs: &mut Regs,
        bus: &mut B,
    ) -> Result<Flow, Trap> {
        let word = self.arch.word_mask();
        let [d, a, b] = inst.r.map(usize::from);
        if !regs.supervisor && inst.entry().privileged {
            return self.raise(PRIVILEGED, at, regs);
        }
        let on = match inst.pred {
            None => at.mask,
            Some(p) => at.mask & regs.pred[usize::from(p)],
        };
        if on == 0 && !matches!(inst.op, Op::Split | Op::Join) {
            return Ok(Flow::Next);
        }
        let k = inst.imm as u64 & word;
        let gpr = &mut regs.gpr;
        match inst.op {
            Op::Nop | Op::TlbAdd | Op::TlbFlush | Op::TlbRm => {}
            Op::Neg => gpr.map1(d, a, on, |x| x.wrapping_neg() & word),
            Op::Not => gpr.map1(d, a, on, |x| !x & word),
            Op::And => gpr.map2(d, a, b, on, |x, y| x & y),
            Op::Or => gpr.map2(d, a, b, on, |x, y| x | y),
            Op::Xor => gpr.map2(d, a, b, on, |x, y| x ^ y),
            Op::Add => gpr.map2(d, a, b, on, |x, y| x.wrapping_add(y) & word),
            Op::Sub => gpr.map2(d, a, b, on, |x, y| x.wrapping_sub(y) & word),
            Op::Mul => gpr.map2(d, a, b, on, |x, y| x.wrapping_mul(y) & word),
            Op::Shl => gpr.map2(d, a, b, on, |x, y| shift_left(x, y) & word),
            Op::Shr if self.arch.bytes == 8 => gpr.map2(d, a, b, on, arithmetic_right),
            Op::Shr => gpr.map2(d, a, b, on, logical_right),
            Op::AndI => gpr.map1(d, a, on, |x| x & k),
            Op::OrI => gpr.map1(d, a, on, |x| x | k),
            Op::XorI => gpr.map1(d, a, on, |x| x ^ k),
            Op::AddI => gpr.map1(d, a, on, |x| x.wrapping_add(k) & word),
            Op::SubI => gpr.map1(d, a, on, |x| x.wrapping_sub(k) & word),
            Op::MulI => gpr.map1(d, a, on, |x| x.wrapping_mul(k) & word),
            Op::ShlI => gpr.map1(d, a, on, |x| shift_left(x, k) & word),
            Op::ShrI if self.arch.bytes == 8 => gpr.map1(d, a, on, |x| arithmetic_right(x, k)),
            Op::ShrI => gpr.map1(d, a, on, |x| logical_right(x, k)),
            Op::LdI => gpr.map1(d, d, on, |_| k),
            Op::Div | Op::Mod => {
                if gpr.test(b, |y| y == 0) & on != 0 {
                    return self.raise(DIVIDE, at, regs);
                }
                if inst.op == Op::Div {
                    gpr.map2(d, a, b, on, |x, y| x.checked_div(y).unwrap_or(0));
                } else {
                    gpr.map2(d, a, b, on, |x, y| x.checked_rem(y).unwrap_or(0));
                }
            }
            Op::DivI | Op::ModI => {
                if k == 0 {
                    return self.raise(DIVIDE, at, regs);
                }
                if inst.op == Op::DivI {
                    gpr.map1(d, a, on, |x| x / k);
                } else {
                    gpr.map1(d, a, on, |x| x % k);
                }
            }
            Op::Ld => return self.load(inst, on, regs, bus),
            Op::St => return self.store(inst, on, regs, bus),
            Op::Tid => {
                for lane in bits(on) {
                    gpr.set(d, lane, u64::from(lane) & word);
                }
            }
            Op::RtoP => regs.pred[d] = select(on, regs.gpr.test(a, |x| x != 0), regs.pred[d]),
            Op::IsZero => regs.pred[d] = select(on, regs.gpr.test(a, |x| x == 0), regs.pred[d]),
            Op::IsNeg => {
                let top = self.arch.console();
                regs.pred[d] = select(on, regs.gpr.test(a, |x| x & top != 0), regs.pred[d]);
            }
            Op::AndP => regs.pred[d] = select(on, regs.pred[a] & regs.pred[b], regs.pred[d]),
            Op::OrP => regs.pred[d] = select(on, regs.pred[a] | regs.pred[b], regs.pred[d]),
            Op::XorP => regs.pred[d] = select(on, regs.pred[a] ^ regs.pred[b], regs.pred[d]),
            Op::NotP => regs.pred[d] = select(on, !regs.pred[a], regs.pred[d]),
            Op::IToF => {
                let unused = 64 - self.arch.bits();
                let signed = |x: u64| ((x << unused) as i64) >> unused;
                gpr.map1(d, a, on, |x| self.float.from_f64(signed(x) as f64));
            }
            Op::FToI => gpr.map1(d, a, on, |x| float_to_int(self.float.to_f64(x), &self.arch)),
            Op::FNeg => {
                let top = self.arch.console();
                gpr.map1(d, a, on, |x| x ^ top);
            }
            Op::FAdd => self.float2(inst, on, regs, |x, y| x + y),
            Op::FSub => self.float2(inst, on, regs, |x, y| x - y),
            Op::FMul => self.float2(inst, on, regs, |x, y| x * y),
            Op::FDiv => self.float2(inst, on, regs, |x, y| x / y),
            _ => return self.control(inst, at, on, regs),
        }
        Ok(Flow::Next)
    }

    #[inline]
    fn float2(&self, inst: &Inst, on: Mask, regs: &mut Regs, f: impl Fn(f64, f64) -> f64) {
        let [d, a, b] = inst.r.map(usize::from);
        let float = self.float;
        regs.gpr.map2(d, a, b, on, |x, y| float.from_f64(f(float.to_f64(x), float.to_f64(y))));
    }

    /// Everything that moves the pc, changes modes or concerns other waves.
    fn control(&self, inst: &Inst, at: &At, on: Mask, regs: &mut Regs) -> Result<Flow, Trap> {
        let [d, a, b] = inst.r.map(usize::from);
        let jump = matches!(inst.op, Op::JmpI | Op::JalI | Op::JmpR | Op::JalR);
        if on != at.mask && inst.entry().control && !(jump && at.may_diverge) {
            return self.raise(DIVERGENT, at, regs);
        }
        let first = on.trailing_zeros();
        match inst.op {
            Op::JmpI => self.branch(at, on, self.relative(at.next, inst.imm)),
            Op::JalI => {
                let flow = self.branch(at, on, self.relative(at.next, inst.imm))?;
                self.link(d, at, on, regs);
                Ok(flow)
            }
            Op::JmpR => match self.agreed(d, on, regs) {
                Some(addr) => self.branch(at, on, addr),
                None => self.raise(DIVERGENT, at, regs),
            },
            Op::JalR => match self.agreed(a, on, regs) {
                Some(addr) => {
                    let flow = self.branch(at, on, addr)?;
                    self.link(d, at, on, regs);
                    Ok(flow)
                }
                None => self.raise(DIVERGENT, at, regs),
            },
            // Lanes started by jalis have no link of their own: the first lane knows the way back.
            Op::JmpRt => {
                let pc = self.target(regs.gpr.get(d, first))?;
                Ok(Flow::Enter { pc, mask: 1, why: EnterWhy::Lanes })
            }
            Op::JmpRu => {
                let Some(addr) = self.agreed(d, on, regs) else {
                    return self.raise(DIVERGENT, at, regs);
                };
                let pc = self.target(addr)?;
                regs.supervisor = false;
                Ok(Flow::Jump(pc))
            }
            Op::JalIs | Op::JalRs => {
                let Some(count) = self.agreed(a, on, regs) else {
                    return self.raise(DIVERGENT, at, regs);
                };
                let addr = if inst.op == Op::JalIs {
                    Some(self.relative(at.next, inst.imm))
                } else {
                    self.agreed(b, on, regs)
                };
                let Some(addr) = addr else { return self.raise(DIVERGENT, at, regs) };
                let pc = self.target(addr)?;
                if count == 0 || count > u64::from(regs.lanes()) {
                    return Err(Trap::Other(format!(
                        "`{}` asks for {count} lanes; this machine has 1 to {}",
                        inst.entry().name,
                        regs.lanes()
                    )));
                }
                self.link(d, at, on, regs);
                Ok(Flow::Enter { pc, mask: first_lanes(count as u32), why: EnterWhy::Lanes })
            }
            Op::Clone => self.clone_lanes(d, on, regs),
            Op::Halt => Ok(Flow::Exit { lanes: on }),
            Op::Trap => self.raise(TRAP, at, regs),
            Op::RetI => match regs.restore() {
                Some((pc, mask)) => Ok(Flow::Enter { pc, mask, why: EnterWhy::Return }),
                None => Err(Trap::Other("`reti` without an interrupt to return from".into())),
            },
            Op::Di | Op::Ei => {
                regs.interrupts = inst.op == Op::Ei;
                Ok(Flow::Next)
            }
            Op::Skep => {
                regs.kernel = Some(regs.gpr.get(d, first));
                Ok(Flow::Next)
            }
            Op::WSpawn => {
                let pc = self.target(regs.gpr.get(a, first))?;
                Ok(Flow::Spawn { pc, reg: d as u16, value: regs.gpr.get(b, first) })
            }
            Op::Bar => Ok(Flow::Barrier { id: regs.gpr.get(d, first), count: regs.gpr.get(a, first) }),
            Op::Split => Ok(Flow::Split { taken: at.mask & regs.pred[usize::from(inst.pred.unwrap_or(0))] }),
            Op::Join => Ok(Flow::Join),
            _ => unreachable!("`{}` is executed with the lane operations", inst.entry().name),
        }
    }

    /// Raises interrupt `number`: enters the kernel with one lane, or ends the run without a handler.
    pub(super) fn raise(&self, number: u32, at: &At, regs: &mut Regs) -> Result<Flow, Trap> {
        let Some(entry) = regs.kernel.filter(|_| regs.interrupts) else {
            return Err(match number {
                DIVERGENT => Trap::Divergent,
                _ => Trap::Interrupt { number, name: interrupt_name(number) },
            });
        };
        let pc = self.target(entry)?;
        let back = if number == DIVERGENT { at.pc } else { at.next };
        regs.save(at.mask, back, self.arch.gprs as usize);
        regs.interrupts = false;
        regs.supervisor = true;
        regs.gpr.set(0, 0, u64::from(number));
        Ok(Flow::Enter { pc, mask: 1, why: EnterWhy::Interrupt })
    }

    /// A jump when every active lane goes, a branch otherwise.
    fn branch(&self, at: &At, on: Mask, addr: u64) -> Result<Flow, Trap> {
        let target = self.target(addr)?;
        Ok(if on == at.mask { Flow::Jump(target) } else { Flow::Branch { taken: on, target } })
    }

    fn target(&self, addr: u64) -> Result<Pc, Trap> {
        self.pc_of(addr).ok_or(Trap::BadTarget { addr })
    }

    fn link(&self, d: usize, at: &At, on: Mask, regs: &mut Regs) {
        let back = self.addr_of(at.next) & self.arch.word_mask();
        regs.gpr.map1(d, d, on, |_| back);
    }

    /// The value register `r` has in all lanes of `on`, if it is one value.
    fn agreed(&self, r: usize, on: Mask, regs: &Regs) -> Option<u64> {
        let value = regs.gpr.get(r, on.trailing_zeros());
        (regs.gpr.test(r, |x| x != value) & on == 0).then_some(value)
    }

    /// Lanes in order, like the original: a lane may copy what it has just received.
    fn clone_lanes(&self, r: usize, on: Mask, regs: &mut Regs) -> Result<Flow, Trap> {
        for lane in bits(on) {
            let to = regs.gpr.get(r, lane);
            if to >= u64::from(regs.lanes()) {
                return Err(Trap::Other(format!(
                    "`clone` to lane {to}; this machine has lanes 0 to {}",
                    regs.lanes() - 1
                )));
            }
            for row in 0..self.arch.gprs as usize {
                let value = regs.gpr.get(row, lane);
                regs.gpr.set(row, to as u32, value);
            }
        }
        Ok(Flow::Next)
    }

    /// Bytes an access at `addr` covers: up to the end of its aligned word.
    #[inline]
    fn extent(&self, addr: u64) -> u32 {
        let (_, into) = divide(addr, self.arch.bytes);
        self.arch.bytes - into as u32
    }

    fn load<B: Bus>(&self, inst: &Inst, on: Mask, regs: &mut Regs, bus: &mut B) -> Result<Flow, Trap> {
        let (word, console) = (self.arch.word_mask(), self.arch.console());
        let mut out = [0; 64];
        for lane in bits(on) {
            let addr = regs.gpr.get(inst.r[1].into(), lane).wrapping_add(inst.imm as u64) & word;
            if addr == console {
                return Err(Trap::Other("load from the console port: no console input".into()));
            }
            bus.lane(lane);
            out[lane as usize] = bus.load(addr, self.extent(addr))? & word;
        }
        regs.gpr.blend(inst.r[0].into(), on, &out);
        Ok(Flow::Next)
    }

    fn store<B: Bus>(&self, inst: &Inst, on: Mask, regs: &mut Regs, bus: &mut B) -> Result<Flow, Trap> {
        let (word, console) = (self.arch.word_mask(), self.arch.console());
        for lane in bits(on) {
            let value = regs.gpr.get(inst.r[0].into(), lane);
            let addr = regs.gpr.get(inst.r[1].into(), lane).wrapping_add(inst.imm as u64) & word;
            if addr == console {
                bus.console(value as u8);
            } else {
                let bytes = self.extent(addr);
                bus.lane(lane);
                bus.store(addr, bytes, value & word >> (8 * (self.arch.bytes - bytes)))?;
            }
        }
        Ok(Flow::Next)
    }
}

#[inline(always)]
fn select(on: Mask, new: Mask, old: Mask) -> Mask {
    old & !on | new & on
}

#[inline(always)]
fn shift_left(x: u64, count: u64) -> u64 {
    if count < 64 { x << count } else { 0 }
}

#[inline(always)]
fn logical_right(x: u64, count: u64) -> u64 {
    if count < 64 { x >> count } else { 0 }
}

#[inline(always)]
fn arithmetic_right(x: u64, count: u64) -> u64 {
    ((x as i64) >> count.min(63)) as u64
}

/// Toward zero; out of range saturates to the word's limits and NaN gives 0.
fn float_to_int(value: f64, arch: &Arch) -> u64 {
    let top = (arch.word_mask() >> 1) as i64;
    (value as i64).clamp(-top - 1, top) as u64 & arch.word_mask()
}
