//! The command as a user runs it. One binary, so that everything is linked once.

mod bad_input;
mod bounds;
mod captured;
mod certificates;
mod circles;
mod cli;
mod common;
mod debug;
mod decided;
mod flow;
mod gcn3;
mod hip;
mod hip6;
mod inputs;
mod mutation;
mod mutations;
mod opencl;
mod pages;
mod split;
mod sweep;
mod synthetic;
mod tidy;
mod vortex;
mod wcet;
mod workloads;
mod worst;
