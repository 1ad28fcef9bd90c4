//! Generators for tests: random programs with what they must compute, loops whose limits are known by running them, and the
//! entry points of fuzz targets. Nothing that a user's run needs is here.

pub mod fuzzing;
pub mod parallel;
pub mod random;
