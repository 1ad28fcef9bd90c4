//! Divergence mechanisms: which paths a wave has now. One file per mechanism; a mechanism sees control
//! flow, never an instruction, and knows nothing of the pipeline. This file is the list of them.

mod dws;
mod exec_mask;
mod groups;
mod harptool;
mod mask_stack;
mod mechanism;
mod pdom;
mod pws;
mod simt_stack;
mod thesis;
mod vortex;

pub use mechanism::{Change, Context, Divergence, Merge, Notes, PathView, Refusal};

use wb_hw::Mechanism;

/// What is done with a mechanism, whichever it is.
pub trait Use {
    type Result;

    fn with<D: Divergence>(self) -> Self::Result;
}

/// The list: where each mechanism is. What is known about it is in [`wb_hw::MechanismInfo`], because the analyser asks and
/// must not depend on the simulator.
pub fn with_mechanism<U: Use>(mechanism: Mechanism, user: U) -> U::Result {
    match mechanism {
        Mechanism::ExecMask => user.with::<exec_mask::ExecMask>(),
        Mechanism::Pdom => user.with::<pdom::Pdom>(),
        Mechanism::Harptool => user.with::<harptool::Harptool>(),
        Mechanism::MaskStack => user.with::<mask_stack::MaskStack>(),
        Mechanism::SimtStack => user.with::<simt_stack::SimtStack>(),
        Mechanism::VortexV2 => user.with::<vortex::VortexStack<true>>(),
        Mechanism::Vortex => user.with::<vortex::VortexStack<false>>(),
        Mechanism::Thesis => user.with::<thesis::Thesis>(),
        Mechanism::Pws => user.with::<pws::Pws>(),
        Mechanism::Dws => user.with::<dws::Dws>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Name;

    impl Use for Name {
        type Result = Mechanism;

        fn with<D: Divergence>(self) -> Mechanism {
            D::MECHANISM
        }
    }

    #[test]
    fn the_list_leads_to_the_mechanism_it_names() {
        for mechanism in Mechanism::ALL {
            assert_eq!(with_mechanism(mechanism, Name), mechanism);
        }
    }
}
