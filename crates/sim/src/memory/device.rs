//! Contents of memory: one flat, bounds-checked space, or windows of one.

use super::copies::{Copies, Written};
use super::guard::Guard;
use super::hostcall::HostCalls;
use super::windows::Windows;
use std::ops::Range;
use std::sync::Arc;
use wb_isa::MemFault;
use wb_program::Segment;
use wb_sanitize::Checker;

/// Device memory. Addresses start at `origin` and everything outside is a fault, or only some windows exist.
#[derive(Clone, Debug)]
pub struct DeviceMemory {
    pub(super) bytes: Vec<u8>,
    /// Instead of the bytes: what a thread sees that runs beside others.
    pub(super) copies: Option<Box<Copies>>,
    /// Address of the first byte of memory, and of the first one of `bytes`: the same, but for threads beside others.
    pub(super) origin: u64,
    pub(super) start: u64,
    /// Loads and stores of programs below this address fault, so that null pointers show up.
    pub(super) floor: u64,
    /// What programs may touch above it.
    pub(super) guard: Arc<Guard>,
    /// Instructions in memory: stores there fault, because decoded code would not follow.
    pub(super) text: Vec<Range<u64>>,
    pub(super) text_start: u64,
    pub(super) text_end: u64,
    pub(super) windows: Windows,
    /// Who serves calls of kernels to the host.
    pub hostcalls: Option<Box<HostCalls>>,
    /// Who checks what programs do; runs are untimed then.
    pub checker: Option<Box<Checker>>,
}

/// Where the accesses of programs can go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touchable {
    /// Timing counts addresses from here.
    pub origin: u64,
    /// First byte and the byte behind, in order; everything else is a fault.
    pub ranges: Vec<(u64, u64)>,
}

/// Whether the host could give that much memory. Taking it without asking ends the program where it cannot.
pub fn affordable(bytes: u64) -> bool {
    usize::try_from(bytes).is_ok_and(|n| Vec::<u8>::new().try_reserve_exact(n).is_ok())
}

/// Mapped memory is used from a multiple of this on.
pub const MAPPED_ALIGN: u64 = 1 << 16;

impl DeviceMemory {
    pub fn new(size: u64) -> Self {
        DeviceMemory {
            bytes: vec![0; size as usize],
            copies: None,
            origin: 0,
            start: 0,
            floor: 0,
            guard: Arc::default(),
            text: Vec::new(),
            text_start: 0,
            text_end: 0,
            windows: Windows::default(),
            hostcalls: None,
            checker: None,
        }
    }

    /// What memory of that size takes of the host, if it is closed.
    pub fn host_bytes(size: u64) -> u64 {
        size.saturating_add(Guard::host_bytes(size))
    }

    /// Memory whose device addresses are the host's own addresses of its bytes, so that a host program can use the
    /// pointers it is given. Pages nobody touches cost nothing.
    pub fn mapped(size: u64) -> Self {
        let memory = DeviceMemory::new(size);
        let origin = memory.bytes.as_ptr() as u64;
        DeviceMemory { origin, start: origin, ..memory }
    }

    /// Memory that stands for the one at `origin`, to run again what ran there.
    pub fn placed(origin: u64, size: u64) -> Self {
        DeviceMemory { origin, start: origin, ..DeviceMemory::new(size) }
    }

    /// Memory that exists only in the given ranges of addresses.
    pub fn sparse(ranges: &[Range<u64>]) -> Self {
        let (windows, size) = Windows::new(ranges);
        DeviceMemory { windows, ..DeviceMemory::new(size) }
    }

    /// Programs may not touch addresses below `floor`.
    pub fn forbid_below(&mut self, floor: u64) {
        self.floor = floor;
    }

    /// From now on programs may touch only what the host opens with [`DeviceMemory::open`].
    pub fn close(&mut self) {
        self.guard = Arc::new(Guard::new(self.origin, self.size()));
    }

    /// Programs may touch these bytes, up to the next multiple of 256.
    pub fn open(&mut self, addr: u64, bytes: u64) {
        Arc::make_mut(&mut self.guard).set(addr, bytes, true);
    }

    /// Programs may touch these bytes no longer.
    pub fn close_again(&mut self, addr: u64, bytes: u64) {
        Arc::make_mut(&mut self.guard).set(addr, bytes, false);
    }

    /// Places a program's segments and protects its text.
    pub fn load(&mut self, segments: &[Segment], text: &[Range<u64>]) -> Result<(), MemFault> {
        for s in segments {
            self.write(s.addr, &s.bytes)?;
        }
        self.text = text.to_vec();
        self.text_start = text.iter().map(|t| t.start).min().unwrap_or(0);
        self.text_end = text.iter().map(|t| t.end).max().unwrap_or(0);
        Ok(())
    }

    pub fn size(&self) -> u64 {
        self.copies.as_ref().map_or(self.bytes.len(), |c| c.size()) as u64
    }

    /// Whether threads may each have a copy of it for a while.
    pub(crate) fn can_be_copied(&self) -> bool {
        self.windows.is_empty()
    }

    /// The contents go elsewhere, until [`DeviceMemory::give_bytes`] brings them back.
    pub(crate) fn take_bytes(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    pub(crate) fn give_bytes(&mut self, bytes: Arc<Vec<u8>>) {
        self.bytes = Arc::unwrap_or_clone(bytes);
    }

    /// The same memory for one of several threads: it sees `base` and what it writes itself. What is `local` is its own.
    pub(crate) fn copied(&self, base: Arc<Vec<u8>>, local: Range<u64>) -> DeviceMemory {
        let place = local.start.saturating_sub(self.origin) as usize;
        let size = local.end.saturating_sub(local.start) as usize;
        let bytes = base.get(place..place.saturating_add(size)).unwrap_or_default().to_vec();
        DeviceMemory {
            bytes,
            start: self.origin.wrapping_add(place as u64),
            copies: Some(Box::new(Copies::new(base, place))),
            hostcalls: None,
            checker: None,
            ..self.clone()
        }
    }

    /// What was written to a copy.
    pub(crate) fn into_written(self) -> Written {
        self.copies.map_or_else(Written::default, |copies| copies.into_written())
    }

    /// Takes over what threads wrote, but for the ranges of addresses that each had for itself. False, and nothing is changed, if
    /// they disagree.
    pub(crate) fn join(&mut self, all: &[Written], private: &[Range<u64>]) -> bool {
        let place = |addr: u64| addr.saturating_sub(self.origin) as usize;
        let private: Vec<Range<usize>> = private.iter().map(|r| place(r.start)..place(r.end)).collect();
        Written::join(all, &private, &mut self.bytes)
    }

    /// Address of the first byte.
    pub fn origin(&self) -> u64 {
        self.origin
    }

    /// Where timing counts addresses from: mapped memory behaves alike wherever the host has put it.
    pub fn first_line(&self) -> u64 {
        self.origin.next_multiple_of(MAPPED_ALIGN)
    }

    /// Where accesses of programs can go, as the host has opened it so far.
    pub fn touchable(&self) -> Touchable {
        let all = || vec![(self.floor.max(self.origin), self.origin.saturating_add(self.size()))];
        Touchable { origin: self.first_line(), ranges: self.guard.ranges().unwrap_or_else(all) }
    }

    fn range(&self, what: &'static str, addr: u64, len: u64) -> Result<Range<usize>, MemFault> {
        if !self.windows.is_empty() && len > 0 {
            let place = self.windows.place(addr, len).ok_or_else(|| self.fault(what, addr, len as u32))?;
            return Ok(place as usize..(place + len) as usize);
        }
        let from = addr.checked_sub(self.origin);
        match from.and_then(|from| Some((from, from.checked_add(len)?))) {
            Some((from, end)) if end <= self.size() => Ok(from as usize..end as usize),
            _ => Err(self.fault(what, addr, len as u32)),
        }
    }

    #[cold]
    fn fault(&self, what: &'static str, addr: u64, bytes: u32) -> MemFault {
        let why = match addr {
            addr if addr < self.floor => format!("nothing is below {:#x}: a null pointer?", self.floor),
            addr if addr.checked_sub(self.origin).is_some_and(|at| at < self.size())
                && !self.guard.allows(addr, bytes) =>
            {
                self.outside_buffers(addr)
            }
            _ if !self.windows.is_empty() => format!("memory is at {}", self.windows.describe()),
            _ => {
                let from = self.floor.max(self.origin);
                let from = if from == 0 { "0".to_owned() } else { format!("{from:#x}") };
                format!("outside device memory ({from} to {:#x})", self.origin.saturating_add(self.size()))
            }
        };
        MemFault { what, addr, bytes, why }
    }

    /// Where a wild access went.
    fn outside_buffers(&self, addr: u64) -> String {
        let before = |n: u64| format!("the one before ends {n} bytes earlier");
        let behind = |n: u64| format!("the next one starts {n} bytes later");
        let (end, start) = self.guard.neighbours(addr);
        let near: Vec<String> = end.map(before).into_iter().chain(start.map(behind)).collect();
        format!("outside every buffer ({})", near.join(", "))
    }

    /// Host access: copies bytes in.
    pub fn write(&mut self, addr: u64, data: &[u8]) -> Result<(), MemFault> {
        let range = self.range("host write", addr, data.len() as u64)?;
        self.bytes[range].copy_from_slice(data);
        if let Some(checker) = &mut self.checker {
            checker.written(addr, data.len() as u64);
        }
        Ok(())
    }

    /// Zeroes a range, as far as it exists.
    pub(crate) fn clear(&mut self, addr: u64, len: u64) {
        let Ok(range) = self.range("clear", addr, len) else { return };
        let Some(copies) = &mut self.copies else { return self.bytes[range].fill(0) };
        let at = addr.wrapping_sub(self.start) as usize;
        match self.bytes.get_mut(at..at.wrapping_add(len as usize)) {
            Some(own) => own.fill(0),
            None => copies.fill(at, len as usize, 0),
        }
    }

    /// Host access: looks at bytes.
    pub fn read(&self, addr: u64, len: u64) -> Result<&[u8], MemFault> {
        Ok(&self.bytes[self.range("host read", addr, len)?])
    }

    pub fn all(&self) -> &[u8] {
        &self.bytes
    }

    /// Where an access starts in the bytes; without windows the caller finds out whether it fits.
    #[inline(always)]
    fn place(&self, addr: u64, bytes: u32) -> Option<usize> {
        if self.windows.is_empty() {
            return Some(addr.wrapping_sub(self.start) as usize);
        }
        self.windows.place(addr, bytes.into()).map(|a| a as usize)
    }

    #[inline(always)]
    pub(super) fn load_word(&self, addr: u64, bytes: u32) -> Result<u64, MemFault> {
        if addr < self.floor || !self.guard.allows(addr, bytes) {
            return Err(self.fault("load", addr, bytes));
        }
        let Some(a) = self.place(addr, bytes) else { return Err(self.fault("load", addr, bytes)) };
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
        match got {
            Some(word) => Ok(word),
            None => self.load_copied_word(addr, a, bytes),
        }
    }

    /// A word that is in no bytes: perhaps this thread has copies.
    #[inline(never)]
    fn load_copied_word(&self, addr: u64, at: usize, bytes: u32) -> Result<u64, MemFault> {
        let got = self.copies.as_ref().and_then(|copies| copies.word(at, bytes));
        got.ok_or_else(|| self.fault("load", addr, bytes))
    }

    #[inline(always)]
    pub(super) fn store_word(&mut self, addr: u64, bytes: u32, value: u64) -> Result<(), MemFault> {
        if addr < self.text_end
            && addr + u64::from(bytes) > self.text_start
            && self.text.iter().any(|t| addr < t.end && addr + u64::from(bytes) > t.start)
        {
            let why = "there are instructions; self-modifying code is not supported".to_owned();
            return Err(MemFault { what: "store", addr, bytes, why });
        }
        if addr < self.floor || !self.guard.allows(addr, bytes) {
            return Err(self.fault("store", addr, bytes));
        }
        let Some(a) = self.place(addr, bytes) else { return Err(self.fault("store", addr, bytes)) };
        match self.bytes.get_mut(a..a.wrapping_add(bytes as usize)) {
            Some(b) => {
                b.copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
                Ok(())
            }
            None => {
                let data = &value.to_le_bytes()[..bytes as usize];
                let copied = self.copies.as_mut().and_then(|copies| copies.store(a, data));
                copied.ok_or_else(|| self.fault("store", addr, bytes))
            }
        }
    }
}
