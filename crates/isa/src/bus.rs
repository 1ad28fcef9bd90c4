//! What an instruction sees of memory. Generic, so that a lane access costs no dynamic call;
//! the timed run hands in a bus that also notes the lines touched.

use thiserror::Error;

/// An access outside what the launch provides; names the address and what would have been legal.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{what} of {bytes} bytes at address {addr:#x}: {why}")]
pub struct MemFault {
    pub what: &'static str,
    pub addr: u64,
    pub bytes: u32,
    pub why: String,
}

/// Memory as lanes see it: little-endian, byte addressed, bounds checked.
pub trait Bus {
    fn load(&mut self, addr: u64, bytes: u32) -> Result<u64, MemFault>;
    fn store(&mut self, addr: u64, bytes: u32, value: u64) -> Result<(), MemFault>;
    /// Text output of the program (HARP's console port).
    fn console(&mut self, byte: u8);
}
