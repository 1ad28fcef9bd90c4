//! Splitting in the analysis against trees of costs, brute force and the numbers of the documents.

mod contexts;
mod expand;
mod homogeneous;
mod kernel;
mod optimal;
mod paper;
mod strange;
mod support;
