//! Bounds of one wave: the solvers agree with each other, with brute force and with the checker, say what is wrong
//! with a model, and are fast enough (design "Worst-case execution time analysis", pipeline step 4).

mod errors;
mod graphs;
mod hand;
mod large;
mod mutate;
mod random;
