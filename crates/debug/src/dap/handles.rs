//! What an editor has unfolded.

use wb_jobs::data::Buffer;

/// Something that can be unfolded.
#[derive(Clone, Debug)]
pub(super) enum Handle {
    /// Registers of one lane, of all lanes, and of the path.
    Lane(u32, usize, u32),
    Vectors(u32, usize),
    Vector(u32, usize, String),
    Scalars(u32, usize),
    Masks(u32, usize),
    Arguments,
    Buffers,
    Buffer(Buffer),
    Local(u32),
}

/// What was unfolded since the run stands still; numbers of it count from 1.
#[derive(Default)]
pub(super) struct Handles {
    pub list: Vec<Handle>,
}

impl Handles {
    pub fn number(&mut self, handle: Handle) -> usize {
        self.list.push(handle);
        self.list.len()
    }

    /// The name of a buffer that is unfolded.
    pub fn buffer(&self, number: u64) -> Option<&str> {
        match self.list.get(usize::try_from(number).ok()?.checked_sub(1)?)? {
            Handle::Buffer(buffer) => Some(&buffer.name),
            _ => None,
        }
    }
}
