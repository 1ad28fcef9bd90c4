//! Exports, read back by readers that are not ours. What needs Python is in scripts/test-exports.sh.

mod fst;
