//! What buffers hold: element types, fills with and without seeds, arrays from files.

mod array;
mod buffer;
mod element;
mod fills;
mod npy;

pub use array::{Array, is_npy};
pub use buffer::{Buffer, Extent};
pub use element::Element;
pub(crate) use element::MAX_BYTES;
pub use fills::{FILLS, SEEDED, UNINITIALISED, fill_buffer, reseed, reseed_argument, splitmix};
