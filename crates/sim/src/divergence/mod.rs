//! Divergence mechanisms: which paths a wave has now. One file per mechanism; a mechanism sees control
//! flow, never an instruction, and knows nothing of the pipeline. This file is the list of them.

mod dws;
mod exec_mask;
mod groups;
mod harptool;
mod mask_stack;
mod mechanism;
mod meng;
mod pdom;
mod pws;
mod simt_stack;
mod split_masks;
mod thesis;
mod vortex;

pub use mechanism::{Change, Context, Divergence, Merge, Notes, PathView, Refusal};

use wb_hw::{Machine, Mechanism, Reconverge};

/// The list: the mechanism of a machine, for one wave. What there is to know about a mechanism is in [`wb_hw::MechanismInfo`],
/// because the analyser asks and must not depend on the simulator.
pub fn of(machine: &Machine) -> Box<dyn Divergence> {
    match machine.divergence.mechanism {
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
    }
}
