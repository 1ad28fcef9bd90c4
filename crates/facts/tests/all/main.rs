//! Flow facts, proofs of loop limits, and what accesses can touch. One binary, so that everything is linked once.

mod accesses;
mod facts;
mod proofs;
