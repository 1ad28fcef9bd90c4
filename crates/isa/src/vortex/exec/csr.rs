//! Control and status registers (docs/vortex.md, table of CSRs). What a register does not have is an error by name.

use crate::vortex::Vortex;
use crate::vortex::inst::Inst;
use crate::vortex::regs::{FFLAGS, FRM, MSCRATCH, Regs};
use crate::vortex::table::Op;
use crate::{At, Flow, Trap};

/// What a CSR is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Csr {
    Flags,
    Rounding,
    FlagsAndRounding,
    Scratch,
    Cycle,
    CycleHigh,
    Retired,
    RetiredHigh,
    Hart,
    Lane,
    Wave,
    Core,
    ActiveWaves,
    ActiveLanes,
    Lanes,
    Waves,
    Cores,
    LocalBase,
}

/// Number, name as the assembler and listings write it, meaning, writable.
#[rustfmt::skip]
pub const CSRS: &[(u32, &str, Csr, bool)] = &[
    (0x001, "fflags",            Csr::Flags,            true),
    (0x002, "frm",               Csr::Rounding,         true),
    (0x003, "fcsr",              Csr::FlagsAndRounding, true),
    (0x340, "mscratch",          Csr::Scratch,          true),
    (0xb00, "mcycle",            Csr::Cycle,            false),
    (0xb80, "mcycleh",           Csr::CycleHigh,        false),
    (0xb02, "minstret",          Csr::Retired,          false),
    (0xb82, "minstreth",         Csr::RetiredHigh,      false),
    (0xc00, "cycle",             Csr::Cycle,            false),
    (0xc80, "cycleh",            Csr::CycleHigh,        false),
    (0xc02, "instret",           Csr::Retired,          false),
    (0xc82, "instreth",          Csr::RetiredHigh,      false),
    (0xf14, "mhartid",           Csr::Hart,             false),
    (0xcc0, "vx_thread_id",      Csr::Lane,             false),
    (0xcc1, "vx_wave_id",        Csr::Wave,             false),
    (0xcc2, "vx_core_id",        Csr::Core,             false),
    (0xcc3, "vx_active_waves",   Csr::ActiveWaves,      false),
    (0xcc4, "vx_active_threads", Csr::ActiveLanes,      false),
    (0xfc0, "vx_num_threads",    Csr::Lanes,            false),
    (0xfc1, "vx_num_waves",      Csr::Waves,            false),
    (0xfc2, "vx_num_cores",      Csr::Cores,            false),
    (0xfc3, "vx_local_base",     Csr::LocalBase,        false),
];

pub fn csr_name(number: u32) -> Option<&'static str> {
    CSRS.iter().find(|c| c.0 == number).map(|c| c.1)
}

pub fn csr_number(name: &str) -> Option<u32> {
    CSRS.iter().find(|c| c.1 == name).map(|c| c.0)
}

impl Vortex {
    pub(super) fn csr(&self, inst: &Inst, at: &At, regs: &mut Regs) -> Result<Flow, Trap> {
        let number = inst.imm as u32;
        let Some(&(_, name, csr, writable)) = CSRS.iter().find(|c| c.0 == number) else {
            return Err(Trap::Other(format!("there is no CSR {number:#x} (docs/vortex.md lists them)")));
        };
        let immediate = matches!(inst.op, Op::Csrrwi | Op::Csrrsi | Op::Csrrci);
        let writes = matches!(inst.op, Op::Csrrw | Op::Csrrwi) || inst.rs1 != 0;
        if writes && !writable {
            return Err(Trap::Other(format!("the CSR {name} can only be read")));
        }
        let old = self.read_csr(csr, at, regs);
        if writes {
            let mut new = [0; 64];
            for (lane, new) in new.iter_mut().enumerate().take(regs.lanes() as usize) {
                let operand =
                    if immediate { inst.rs1.into() } else { regs.get(inst.rs1.into(), lane as u32) };
                *new = match inst.op {
                    Op::Csrrw | Op::Csrrwi => operand,
                    Op::Csrrs | Op::Csrrsi => old[lane] | operand,
                    _ => old[lane] & !operand,
                };
            }
            write_csr(csr, at, regs, &new);
        }
        if inst.rd != 0 {
            regs.rows.blend(inst.rd.into(), at.mask, &old);
        }
        Ok(Flow::Next)
    }

    fn read_csr(&self, csr: Csr, at: &At, regs: &Regs) -> [u32; 64] {
        let row = |r: usize| {
            let mut out = [0; 64];
            let row = regs.rows.row(r);
            out[..row.len()].copy_from_slice(row);
            out
        };
        let first_hart = (regs.core * self.waves + regs.wave) * regs.lanes();
        let same = match csr {
            Csr::Flags => return row(FFLAGS),
            Csr::Rounding => return row(FRM),
            Csr::FlagsAndRounding => {
                let (flags, mode) = (row(FFLAGS), row(FRM));
                return std::array::from_fn(|l| mode[l] << 5 | flags[l]);
            }
            Csr::Scratch => return row(MSCRATCH),
            Csr::Hart => return std::array::from_fn(|lane| first_hart + lane as u32),
            Csr::Lane => return std::array::from_fn(|lane| lane as u32),
            Csr::Cycle => at.clock as u32,
            Csr::CycleHigh => (at.clock >> 32) as u32,
            Csr::Retired => regs.retired as u32,
            Csr::RetiredHigh => (regs.retired >> 32) as u32,
            Csr::Wave => regs.wave,
            Csr::Core => regs.core,
            Csr::ActiveWaves => at.waves as u32,
            Csr::ActiveLanes => at.mask as u32,
            Csr::Lanes => regs.lanes(),
            Csr::Waves => self.waves,
            Csr::Cores => self.cores,
            Csr::LocalBase => super::LOCAL,
        };
        [same; 64]
    }
}

fn write_csr(csr: Csr, at: &At, regs: &mut Regs, new: &[u32; 64]) {
    match csr {
        Csr::Flags => regs.rows.blend(FFLAGS, at.mask, &new.map(|v| v & 0x1f)),
        Csr::Rounding => {
            regs.modes = true;
            regs.rows.blend(FRM, at.mask, &new.map(|v| v & 7));
        }
        Csr::FlagsAndRounding => {
            regs.modes = true;
            regs.rows.blend(FFLAGS, at.mask, &new.map(|v| v & 0x1f));
            regs.rows.blend(FRM, at.mask, &new.map(|v| v >> 5 & 7));
        }
        // One register for all lanes: the last active one decides.
        _ => {
            let last = at.mask.checked_ilog2().map_or(0, |lane| new[lane as usize]);
            regs.rows.row_mut(MSCRATCH).fill(last);
        }
    }
}
