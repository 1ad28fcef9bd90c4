//! What the checker keeps of a program: what its instructions do to memory, where they were written, and its arrays.

use crate::report::Place;
use wb_isa::marks::Watch;

/// An array of local or private memory, as debug information tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    pub name: String,
    /// From the start of the group's local memory, or of the lane's private memory.
    pub offset: u64,
    pub bytes: u64,
}

/// What who launches a kernel knows of it.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    pub local: Vec<Array>,
    /// Local memory has nothing but these arrays.
    pub local_whole: bool,
    pub private: Vec<Array>,
    /// An access of a dword that is not aligned is an error of the program: the compiler was told to make none.
    pub aligned: bool,
    /// The compiler has taken barriers out, because a group is one wave: its lanes go in step.
    pub in_step: bool,
}

/// A program that ran, by the pcs of its instructions.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// Tells programs apart.
    pub key: (String, u64, usize),
    pub watch: Vec<Watch>,
    pub places: Vec<Place>,
    /// Somebody learns of others by atomics.
    pub learns: bool,
    /// Functions of the compiler's device library, by pc. They choose a lane with `readfirstlane` on purpose, and read lanes
    /// that are off.
    pub library: Vec<bool>,
}

/// The array an offset lies in.
pub fn array_at(arrays: &[Array], offset: u64) -> Option<usize> {
    arrays.iter().position(|a| offset >= a.offset && offset - a.offset < a.bytes)
}
