//! Damaged binaries and the list of names. One binary, so that everything is linked once.

mod damaged;
mod names;
