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
pub use mechanism::{Change, Context, Divergence, Merge, Notes, PathView, Refusal};
pub use pdom::Pdom;
pub use pws::Pws;
pub use simt_stack::SimtStack;
pub use thesis::Thesis;
pub use vortex::VortexStack;
