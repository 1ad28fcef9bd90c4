//! What a job knows that a checker should, if its run is checked.

/// What a job knows that a checker should.
#[derive(Clone, Debug, Default)]
pub struct Known {
    pub kernel: wb_sanitize::Kernel,
    /// Memory is made of blocks; nothing else may be touched.
    pub blocks: bool,
    /// Addresses of buffers that nobody fills.
    pub unwritten: Vec<u64>,
}
