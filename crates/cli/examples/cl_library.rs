//! The library of `wavebound cl` for the tests: cargo builds examples for them, but not package wavebound-cl.

pub use wb_cl::ffi;
