//! One ALU instruction, executed again and again on one full wave without a machine around it: what it costs the host.
//! Bound as in a loaded program. The loop is here because `exec` is compiled where it is called: a caller that is not optimised
//! would measure itself.

use super::exec::Bound;
use super::isa::Gcn3;
use super::state::Regs;
use super::{Format, Inst, Op, Operand, Ty, assemble_line, decode, sreg};
use crate::{At, Bus, Isa, Mask, MemFault, Quick, Trap};

/// An instruction, and a wave of 64 lanes to execute it on. Sources are in v0 to v5, s4 to s7 and vcc.
pub struct Repeated {
    isa: Gcn3,
    inst: Inst,
    bound: Bound,
    regs: Regs,
}

/// These instructions have no business with memory.
struct NoMemory;

impl Bus for NoMemory {
    fn load(&mut self, addr: u64, bytes: u32) -> Result<u64, MemFault> {
        Err(MemFault { what: "load", addr, bytes, why: "there is no memory".into() })
    }

    fn store(&mut self, addr: u64, bytes: u32, _value: u64) -> Result<(), MemFault> {
        Err(MemFault { what: "store", addr, bytes, why: "there is no memory".into() })
    }

    fn console(&mut self, _byte: u8) {}
}

impl Repeated {
    /// Reads a line of assembly; the error says what is wrong with it.
    pub fn new(text: &str) -> Result<Repeated, String> {
        let words = assemble_line(text).map_err(|e| e.to_string())?;
        let inst = decode(&words).map_err(|e| e.to_string())?;
        let mut isa = Gcn3::default();
        isa.setup.vgprs = 16;
        let mut regs = isa.registers(64);
        // As compiled kernels have it: f32 denormals flushed, f64 kept, IEEE and DX10_CLAMP on.
        regs.mode = 0x3c0;
        regs.set_pair(126, Mask::MAX);
        regs.set_pair(106, 0x0f0f_3333_5555_00ff);
        for row in 0..6u32 {
            for lane in 0..64 {
                let value = 1.0 + f64::from(lane) * 0.37 + f64::from(row);
                let bits =
                    if row % 2 == 0 { (value as f32).to_bits() } else { (value.to_bits() >> 32) as u32 };
                regs.v.set(row as usize, lane, bits);
            }
        }
        let bound = isa.bind(&inst, 1);
        Ok(Repeated { isa, inst, bound, regs })
    }

    /// Executes it `rounds` times.
    pub fn run(&mut self, rounds: u64) -> Result<(), Trap> {
        let at = At {
            pc: 0,
            next: 1,
            mask: Mask::MAX,
            live: Mask::MAX,
            clock: 0,
            core: 0,
            depth: 0,
            waves: 1,
            may_diverge: false,
            whole: true,
        };
        for _ in 0..rounds {
            let bound = std::hint::black_box(&self.bound);
            if self.isa.quick(bound, at.mask, at.whole, &mut self.regs) == Quick::No {
                self.isa.exec(std::hint::black_box(&self.inst), &at, &mut self.regs, &mut NoMemory)?;
            }
        }
        Ok(())
    }
}

/// An instruction of a vector operation that computes lane by lane: sources in v0, v4 and v8 (a mask in vcc), the result in v12.
/// None for other operations, and for comparisons that write EXEC.
pub fn sample(op: Op) -> Option<Inst> {
    let entry = op.entry();
    let vector = matches!(entry.format, Format::Vop1 | Format::Vop2 | Format::Vop3 | Format::Vopc);
    let compare = entry.compare();
    if !vector || compare.is_some_and(|c| c.exec) || Bound::new(&lanes(op), 1).is_general() {
        return None;
    }
    Some(lanes(op))
}

fn lanes(op: Op) -> Inst {
    let entry = op.entry();
    let mut inst = Inst::new(op, entry.format);
    for (i, first) in [0, 4, 8].into_iter().enumerate() {
        inst.src[i] = match entry.src[i] {
            Ty::None => Operand::None,
            Ty::Mask => Operand::VCC,
            _ => Operand::Vgpr(first),
        };
    }
    match op {
        Op::VMadmkF32 | Op::VMadmkF16 => inst.src[1] = Operand::Literal(0x4020_0000),
        Op::VMadakF32 | Op::VMadakF16 => inst.src[2] = Operand::Literal(0x4020_0000),
        _ => {}
    }
    inst.dst = if entry.compare().is_some() { Operand::VCC } else { Operand::Vgpr(12) };
    if entry.carry {
        inst.sdst = sreg::VCC;
    }
    inst
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executes_alu_instructions_and_refuses_memory() {
        let mut add = Repeated::new("v_add_u32 v8, vcc, v0, v2").expect("an instruction");
        add.run(3).expect("no memory needed");
        let sum = |lane| add.regs.v.get(0, lane).wrapping_add(add.regs.v.get(2, lane));
        assert!((0..64).all(|lane| add.regs.v.get(8, lane) == sum(lane)));
        let mut load = Repeated::new("flat_load_dword v8, v[0:1]").expect("an instruction");
        assert!(load.run(1).is_err());
        assert!(Repeated::new("v_no_such_thing v0").is_err());
    }
}
