//! `libwavebound_hip.so`: the HIP runtime of crate `hip`, with its C functions, as a shared library (docs/hip.md).

pub use wb_hip::ffi;
