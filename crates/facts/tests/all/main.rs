//! Flow facts and proofs of loop limits. One binary, so that everything is linked once.

mod facts;
mod proofs;
