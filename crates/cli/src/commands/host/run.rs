//! A run of a program: its interface, what the user asked for, and the program.

use super::api::Api;
use super::args::HostArgs;
use std::ffi::OsString;
use std::path::Path;

/// A run of a program.
pub struct Run<'a> {
    pub api: &'a Api,
    pub args: &'a HostArgs,
    pub library: Option<&'a Path>,
    /// The program and its arguments.
    pub program: &'a [OsString],
}
