//! What the host says about a launch: kernel, sizes, arguments.

/// A launch as the host describes it; sizes in work-items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    pub kernel: String,
    pub grid: [u32; 3],
    pub group: [u32; 3],
    pub args: Vec<Arg>,
    /// Local memory beyond what kernel and arguments ask for (HIP's third launch parameter).
    pub dynamic_lds: u32,
    pub opencl: OpenCl,
}

/// What only OpenCL's launches say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenCl {
    /// What is added to every work-item's global number.
    pub offset: [u64; 3],
    /// Dimensions of the range, 1 to 3; 0: those in which the grid has more than one work-item.
    pub dimensions: u32,
}

impl Dispatch {
    pub fn dimensions(&self) -> u32 {
        if self.opencl.dimensions > 0 {
            self.opencl.dimensions
        } else if self.grid[2] > 1 {
            3
        } else if self.grid[1] > 1 {
            2
        } else {
            1
        }
    }
}

/// A kernel argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// Address of a buffer.
    Buffer(u64),
    /// Bytes passed by value.
    Value(Vec<u8>),
    /// Bytes of local memory for this argument (OpenCL `__local`).
    Local(u32),
}
