//! Bounds, certificates and facts of kernels, on fixtures and random programs. One binary, so that everything is linked once.

#[path = "../../../device/tests/fixtures/case.rs"]
#[allow(dead_code)] // comparing results is the business of the fixtures' own tests
mod case;
#[path = "../../../device/tests/fixtures/cases/mod.rs"]
mod cases;

mod accesses;
mod analysis_time;
mod bound_traces;
mod branches;
mod certificates;
mod composed;
mod counted;
mod exact;
mod facts;
mod homogeneous;
mod placements;
mod proved;
mod skipped;
mod worst;
