//! The library of `wavebound hip` for the tests: cargo builds examples for them, but not src/hip_library.rs.

pub use wb_hip::ffi;
