//! Trace files and statistics. One binary, so that everything is linked once.

mod files;
mod statistics;
