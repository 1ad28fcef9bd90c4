//! Experiments, campaigns, schedules, the synthetic benchmark. One binary, so that everything is linked once.

mod campaign;
mod planted;
mod reproduce;
mod resume;
mod schedule;
mod speedups;
mod synthetic;
mod threads;
mod vortex_kernels;
