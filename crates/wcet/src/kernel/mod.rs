//! From waves to the kernel: how many rounds of groups, and how long each (PWS section 5, THESIS 5.3).

pub mod compose;

pub use compose::{ComposeError, Composition, KernelBound, Launch, Seats, compose, sound_kernel};
