//! Plans, identities, the store and data sets, with the points run in threads of the test.

mod common;
mod identities;
mod plans;
mod stores;
