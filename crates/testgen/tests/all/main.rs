//! Random programs under every mechanism, and the fuzz targets on stable Rust. One binary, so that everything is linked once.

mod checked;
mod fuzz_smoke;
mod lists;
mod loops;
mod occupancy;
mod random_gcn3;
mod random_programs;
mod random_riscv;
mod random_times;
mod random_vortex;
