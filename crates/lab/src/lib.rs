//! The laboratory: published experiments, benches, the synthetic benchmark and campaigns. It uses the product; the product
//! does not know it.

pub mod bench;
pub mod campaign;
pub mod exact;
pub use wb_testgen::random::loops;
pub mod kernels;
pub mod planted;
pub mod proved;
pub mod reproduce;
mod search;
pub mod synthetic;
