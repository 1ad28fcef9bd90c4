//! An interface between programs and devices, as data.

use std::path::Path;

/// What a file holds, if the library is there.
pub type Contents = fn(&Path) -> Vec<u8>;

/// An interface between programs and devices, as its command needs it.
pub struct Api {
    pub command: &'static str,
    /// The variable that tells the library its options.
    pub environment: &'static str,
    /// The library, its package and where that is in a checkout.
    pub library: &'static str,
    pub package: &'static str,
    pub manifest: &'static str,
    /// Files in front of the library: their names, and their contents if the library is there.
    pub front: &'static [(&'static str, Contents)],
    /// The variable by which programs find the folder, and whether what it had before comes behind.
    pub path: (&'static str, bool),
    /// Lanes of a wave run in step unless told otherwise (`--sanitize`): compilers leave no trace of what orders them.
    pub lanes_in_step: bool,
    /// What to say if no process of the run used the library.
    pub unused: &'static str,
}
