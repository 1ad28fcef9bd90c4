//! Every file that a user names is read and written here. Inputs are regular files of a stated size, so that a device, a pipe
//! or a file that never ends is refused by name; outputs appear whole or not at all; no output replaces an input.

mod error;
mod journal;
mod read;
mod scratch;
mod write;

pub use error::{FileError, size, words};
pub use journal::{Journal, make_folder, replace_folder};
pub use read::{Kind, open, read, read_text};
pub use scratch::{random, scratch};
pub use write::{Output, check_output, check_outputs, write, write_by};
