//! The table of functions and what handles mean. One binary, so that everything is linked once.

mod table;
