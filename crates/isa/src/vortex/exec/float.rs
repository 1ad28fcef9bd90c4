//! Floating-point instructions over rows: the rounding mode is chosen once per instruction, not per lane.

use crate::vortex::float::{self, RDN, RMM, RNE, RTZ, RUP};
use crate::vortex::inst::{DYNAMIC, Inst};
use crate::vortex::regs::{F0, FRM, Regs};
use crate::vortex::table::{File, Op};
use crate::{Mask, Trap};

/// Executes `inst` in the lanes of `on`; not for loads and stores.
pub(super) fn execute(inst: &Inst, on: Mask, regs: &mut Regs) -> Result<(), Trap> {
    if inst.rm != DYNAMIC {
        return with_mode(inst, inst.rm.into(), on, regs);
    }
    if !regs.modes {
        return with_mode(inst, RNE.into(), on, regs);
    }
    // Lanes may have set different modes: one pass for each.
    let mut rest = on;
    while rest != 0 {
        let mode = regs.rows.get(FRM, rest.trailing_zeros());
        let same = rest & regs.rows.test(FRM, |m| m == mode);
        with_mode(inst, mode, same, regs)?;
        rest &= !same;
    }
    Ok(())
}

fn with_mode(inst: &Inst, mode: u32, on: Mask, regs: &mut Regs) -> Result<(), Trap> {
    match mode as u8 {
        RNE => rows::<RNE>(inst, on, regs),
        RTZ => rows::<RTZ>(inst, on, regs),
        RDN => rows::<RDN>(inst, on, regs),
        RUP => rows::<RUP>(inst, on, regs),
        RMM => rows::<RMM>(inst, on, regs),
        _ => {
            let text =
                "`frm` holds a reserved rounding mode; 0 (rne), 1 (rtz), 2 (rdn), 3 (rup) and 4 (rmm) exist";
            return Err(Trap::Other(format!("{text}, not {mode}")));
        }
    }
    Ok(())
}

fn rows<const MODE: u8>(inst: &Inst, on: Mask, regs: &mut Regs) {
    let place = |field: u8, file: File| usize::from(field) + if file == File::F { F0 } else { 0 };
    let files = inst.entry().files;
    let d = place(inst.rd, files[0]);
    let s = [place(inst.rs1, files[1]), place(inst.rs2, files[2]), place(inst.rs3, files[3])];
    match inst.op {
        Op::Fmadd => regs.float(d, s, on, float::fma::<MODE>),
        Op::Fmsub => regs.float(d, s, on, float::fms::<MODE>),
        Op::Fnmsub => regs.float(d, s, on, float::fnms::<MODE>),
        Op::Fnmadd => regs.float(d, s, on, float::fnma::<MODE>),
        Op::Fadd => regs.float(d, s, on, |a, b, _| float::add::<MODE>(a, b)),
        Op::Fsub => regs.float(d, s, on, |a, b, _| float::sub::<MODE>(a, b)),
        Op::Fmul => regs.float(d, s, on, |a, b, _| float::mul::<MODE>(a, b)),
        Op::Fdiv => regs.float(d, s, on, |a, b, _| float::div::<MODE>(a, b)),
        Op::Fsqrt => regs.float(d, s, on, |a, _, _| float::sqrt::<MODE>(a)),
        Op::FcvtWS => regs.float(d, s, on, |a, _, _| float::to_signed::<MODE>(a)),
        Op::FcvtWuS => regs.float(d, s, on, |a, _, _| float::to_unsigned::<MODE>(a)),
        Op::FcvtSW => regs.float(d, s, on, |a, _, _| float::from_signed::<MODE>(a)),
        Op::FcvtSWu => regs.float(d, s, on, |a, _, _| float::from_unsigned::<MODE>(a)),
        _ => {}
    }
}

/// Instructions that do not round.
pub(super) fn exact(inst: &Inst, on: Mask, regs: &mut Regs) {
    let place = |field: u8, file: File| usize::from(field) + if file == File::F { F0 } else { 0 };
    let files = inst.entry().files;
    let d = place(inst.rd, files[0]);
    let s = [place(inst.rs1, files[1]), place(inst.rs2, files[2]), 0];
    const SIGN: u32 = 1 << 31;
    match inst.op {
        Op::Fsgnj => regs.float(d, s, on, |a, b, _| (a & !SIGN | b & SIGN, 0)),
        Op::Fsgnjn => regs.float(d, s, on, |a, b, _| (a & !SIGN | !b & SIGN, 0)),
        Op::Fsgnjx => regs.float(d, s, on, |a, b, _| (a ^ b & SIGN, 0)),
        Op::Fmin => regs.float(d, s, on, |a, b, _| float::min(a, b)),
        Op::Fmax => regs.float(d, s, on, |a, b, _| float::max(a, b)),
        Op::Feq => regs.float(d, s, on, |a, b, _| float::equal(a, b)),
        Op::Flt => regs.float(d, s, on, |a, b, _| float::less(a, b)),
        Op::Fle => regs.float(d, s, on, |a, b, _| float::less_equal(a, b)),
        Op::Fclass => regs.float(d, s, on, |a, _, _| (float::class(a), 0)),
        Op::FmvXW | Op::FmvWX => regs.float(d, s, on, |a, _, _| (a, 0)),
        _ => {}
    }
}
