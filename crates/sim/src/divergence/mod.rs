//! Divergence mechanisms: which paths a wave has now. One file per mechanism; a mechanism sees control
//! flow, never an instruction, and knows nothing of the pipeline. This file is the list of them.

mod block;
mod compaction;
mod conv_barrier;
mod dpe;
mod dwf;
mod dws;
mod exec_mask;
mod forking;
mod forks;
mod groups;
mod harptool;
mod mask_stack;
mod mechanism;
mod meng;
mod min_pc;
mod multi_path;
mod pdom;
mod plain_splits;
mod pws;
mod sbi;
mod si;
mod simt_stack;
mod split_masks;
mod stack;
mod swi;
mod thesis;
mod vortex;
mod vws;

pub use compaction::Blocks;
pub use mechanism::{
    Change, Context, Divergence, Merge, Notes, PathView, Refusal, Standing, TakeOver, Together, Waves,
};

use forking::Forking;
use wb_hw::{InstructionSet, Machine, Mechanism, Reconverge};

/// The list: the mechanism of a machine, for one wave. What there is to know about a mechanism is in [`wb_hw::MechanismInfo`],
/// because the analyser asks and must not depend on the simulator.
pub fn of(machine: &Machine) -> Box<dyn Divergence> {
    let plain = machine.isa == InstructionSet::Riscv;
    match machine.divergence.mechanism {
        Mechanism::Thesis if plain => {
            Box::new(Forking::new(machine, plain_splits::PlainThesis::new(machine)))
        }
        Mechanism::Pws if plain => Box::new(Forking::new(machine, plain_splits::PlainPws)),
        Mechanism::Dws | Mechanism::DwsMeng if plain => {
            Box::new(Forking::new(machine, plain_splits::PlainDws::new(machine)))
        }
        Mechanism::ExecMask => Box::new(exec_mask::ExecMask),
        Mechanism::Pdom => Box::new(pdom::Pdom::new(machine)),
        Mechanism::Harptool => Box::new(harptool::Harptool::new(machine)),
        Mechanism::MaskStack => Box::new(mask_stack::MaskStack::new(machine)),
        Mechanism::SimtStack => Box::new(simt_stack::SimtStack::new(machine)),
        Mechanism::VortexV2 => Box::new(vortex::VortexStack::v2(machine)),
        Mechanism::Vortex => Box::new(vortex::VortexStack::new(machine)),
        Mechanism::Thesis if machine.divergence.reconverge == Reconverge::MaskStack => {
            Box::new(split_masks::SplitMasks::new(machine))
        }
        Mechanism::Thesis => Box::new(thesis::Thesis::new(machine)),
        Mechanism::Pws => Box::new(pws::Pws::default()),
        Mechanism::Dws => Box::new(dws::Dws::new(machine)),
        Mechanism::DwsMeng => Box::new(meng::Meng::new(machine)),
        Mechanism::Dpe => Box::new(Forking::new(machine, dpe::Dpe)),
        Mechanism::MultiPath => Box::new(Forking::new(machine, multi_path::MultiPath)),
        mechanism @ (Mechanism::Sbi | Mechanism::SbiSwi) => {
            Box::new(Forking::new(machine, sbi::Sbi { mechanism }))
        }
        Mechanism::Swi => Box::new(Forking::new(machine, swi::Swi)),
        Mechanism::Si => Box::new(Forking::new(machine, si::Si)),
        Mechanism::Dwf => Box::new(Forking::new(machine, dwf::Dwf)),
        Mechanism::Lwm | Mechanism::Tbc => Box::new(compaction::Compaction::alone(machine)),
        Mechanism::Vws => Box::new(vws::Vws::new(machine)),
        Mechanism::MinPc => Box::new(Forking::new(machine, min_pc::MinPc)),
        Mechanism::ConvBarrier => Box::new(Forking::new(machine, conv_barrier::ConvBarrier::new(machine))),
    }
}
