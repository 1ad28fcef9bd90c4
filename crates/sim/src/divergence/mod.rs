//! Divergence mechanisms: which paths a wave has now. One file per mechanism; a mechanism sees control
//! flow, never an instruction, and knows nothing of the pipeline.

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

pub use dws::Dws;
pub use exec_mask::ExecMask;
pub use harptool::Harptool;
pub use mask_stack::MaskStack;
pub use mechanism::{
    Change, Context, Divergence, MechanismInfo, Merge, Notes, PathView, Reconvergence, Refusal,
};
pub use pdom::Pdom;
pub use pws::Pws;
pub use simt_stack::SimtStack;
pub use thesis::Thesis;
pub use vortex::VortexStack;

use wb_program::marks::Style;

/// The marks that a mechanism reads; none: it ignores all of them.
pub fn marks_of(mechanism: &str) -> Option<Style> {
    MECHANISMS.iter().find(|m| m.name == mechanism).and_then(|m| m.marks)
}

/// Every mechanism of this build, in the order of docs/mechanisms.md.
pub const MECHANISMS: &[MechanismInfo] = &[
    ExecMask::INFO,
    Pdom::INFO,
    Harptool::INFO,
    MaskStack::INFO,
    SimtStack::INFO,
    VortexStack::<true>::INFO,
    VortexStack::<false>::INFO,
    Thesis::INFO,
    Pws::INFO,
    Dws::INFO,
];
