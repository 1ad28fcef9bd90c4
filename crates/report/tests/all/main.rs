//! Pictures, charts and graphs. One binary, so that everything is linked once.

mod charts;
mod common;
mod graphs;
mod pictures;
mod run_page;
