//! `libwavebound_cl.so`: the OpenCL runtime of crate `cl`, with its C functions, as a shared library (docs/opencl.md).

pub use wb_cl::ffi;
