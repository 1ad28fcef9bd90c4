//! Memory: contents (one flat, bounds-checked space) and, apart from them, timing (caches, DRAM).
//! An instruction takes effect when it issues; timing only decides when its results may be used.

mod cache;
mod dram;
mod hierarchy;

pub use hierarchy::Hierarchy;

use std::ops::Range;
use wb_isa::{Bus, MemFault};
use wb_program::Segment;

/// Device memory. Addresses start at 0; everything beyond the size is a fault.
#[derive(Clone, Debug)]
pub struct DeviceMemory {
    bytes: Vec<u8>,
    /// Loads and stores of programs below this address fault, so that null pointers show up.
    floor: u64,
    /// Instructions in memory: stores there fault, because decoded code would not follow.
    text: Vec<Range<u64>>,
    text_end: u64,
}

impl DeviceMemory {
    pub fn new(size: u64) -> Self {
        DeviceMemory { bytes: vec![0; size as usize], floor: 0, text: Vec::new(), text_end: 0 }
    }

    /// Programs may not touch addresses below `floor`.
    pub fn forbid_below(&mut self, floor: u64) {
        self.floor = floor;
    }

    /// Places a program's segments and protects its text.
    pub fn load(&mut self, segments: &[Segment], text: &[Range<u64>]) -> Result<(), MemFault> {
        for s in segments {
            self.write(s.addr, &s.bytes)?;
        }
        self.text = text.to_vec();
        self.text_end = text.iter().map(|t| t.end).max().unwrap_or(0);
        Ok(())
    }

    pub fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn range(&self, what: &'static str, addr: u64, len: u64) -> Result<Range<usize>, MemFault> {
        match addr.checked_add(len) {
            Some(end) if end <= self.size() => Ok(addr as usize..end as usize),
            _ => Err(self.fault(what, addr, len as u32)),
        }
    }

    #[cold]
    fn fault(&self, what: &'static str, addr: u64, bytes: u32) -> MemFault {
        let why = match addr {
            addr if addr < self.floor => format!("nothing is below {:#x}: a null pointer?", self.floor),
            _ if self.floor == 0 => format!("outside device memory (0 to {:#x})", self.size()),
            _ => format!("outside device memory ({:#x} to {:#x})", self.floor, self.size()),
        };
        MemFault { what, addr, bytes, why }
    }

    /// Host access: copies bytes in.
    pub fn write(&mut self, addr: u64, data: &[u8]) -> Result<(), MemFault> {
        let range = self.range("host write", addr, data.len() as u64)?;
        self.bytes[range].copy_from_slice(data);
        Ok(())
    }

    /// Zeroes a range, as far as it exists.
    pub(crate) fn clear(&mut self, addr: u64, len: u64) {
        if let Ok(range) = self.range("clear", addr, len) {
            self.bytes[range].fill(0);
        }
    }

    /// Host access: looks at bytes.
    pub fn read(&self, addr: u64, len: u64) -> Result<&[u8], MemFault> {
        Ok(&self.bytes[self.range("host read", addr, len)?])
    }

    pub fn all(&self) -> &[u8] {
        &self.bytes
    }

    #[inline(always)]
    fn load_word(&self, addr: u64, bytes: u32) -> Result<u64, MemFault> {
        if addr < self.floor {
            return Err(self.fault("load", addr, bytes));
        }
        let a = addr as usize;
        let got = match bytes {
            4 => self
                .bytes
                .get(a..a.wrapping_add(4))
                .map(|b| u64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            n => self.bytes.get(a..a.wrapping_add(n as usize)).map(|b| {
                let mut word = [0; 8];
                word[..b.len()].copy_from_slice(b);
                u64::from_le_bytes(word)
            }),
        };
        got.ok_or_else(|| self.fault("load", addr, bytes))
    }

    #[inline(always)]
    fn store_word(&mut self, addr: u64, bytes: u32, value: u64) -> Result<(), MemFault> {
        if addr < self.text_end && self.text.iter().any(|t| addr < t.end && addr + u64::from(bytes) > t.start)
        {
            let why = "there are instructions; self-modifying code is not supported".to_owned();
            return Err(MemFault { what: "store", addr, bytes, why });
        }
        if addr < self.floor {
            return Err(self.fault("store", addr, bytes));
        }
        let a = addr as usize;
        match self.bytes.get_mut(a..a.wrapping_add(bytes as usize)) {
            Some(b) => {
                b.copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
                Ok(())
            }
            None => Err(self.fault("store", addr, bytes)),
        }
    }
}

/// The lines one memory instruction touches, each once, in the order of its lanes (coalescing).
#[derive(Clone, Debug, Default)]
pub struct Lines {
    pub list: Vec<u64>,
    shift: u32,
}

impl Lines {
    pub fn start(&mut self, line_bytes: u32) {
        self.list.clear();
        self.shift = line_bytes.trailing_zeros();
    }

    #[inline]
    fn touch(&mut self, addr: u64) {
        let line = addr >> self.shift;
        if self.list.last() != Some(&line) && !self.list.contains(&line) {
            self.list.push(line);
        }
    }

    /// First byte of each line.
    pub fn addresses(&self) -> impl ExactSizeIterator<Item = u64> {
        self.list.iter().map(|l| l << self.shift)
    }
}

/// What instructions see of memory. `NOTE`: also record the lines touched, for a timed run.
pub struct MemBus<'a, const NOTE: bool> {
    pub memory: &'a mut DeviceMemory,
    pub console: &'a mut Vec<u8>,
    pub lines: &'a mut Lines,
    pub wrote: bool,
}

impl<const NOTE: bool> MemBus<'_, NOTE> {
    #[inline(always)]
    fn note(&mut self, addr: u64, bytes: u32) {
        if NOTE {
            self.lines.touch(addr);
            if bytes > 1 {
                self.lines.touch(addr + u64::from(bytes) - 1);
            }
        }
    }
}

/// Text a program may print before the run is stopped as runaway.
const CONSOLE_LIMIT: usize = 16 << 20;

impl<const NOTE: bool> Bus for MemBus<'_, NOTE> {
    #[inline(always)]
    fn load(&mut self, addr: u64, bytes: u32) -> Result<u64, MemFault> {
        let value = self.memory.load_word(addr, bytes)?;
        self.note(addr, bytes);
        Ok(value)
    }

    #[inline(always)]
    fn store(&mut self, addr: u64, bytes: u32, value: u64) -> Result<(), MemFault> {
        self.memory.store_word(addr, bytes, value)?;
        self.note(addr, bytes);
        self.wrote = true;
        Ok(())
    }

    fn console(&mut self, byte: u8) {
        if self.console.len() < CONSOLE_LIMIT {
            self.console.push(byte);
        }
    }
}
