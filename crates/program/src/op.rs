//! Decoded instructions.

use wb_isa::{Pc, Waits};

/// One decoded instruction with what the pipeline asks about it.
#[derive(Clone, Debug)]
pub struct Op<T> {
    /// `None` where the program has data or nothing decodable: executing it is an error.
    pub inst: Option<T>,
    pub next: Pc,
    pub class: u8,
    pub waits_for_all: bool,
    pub waits: Waits,
    /// Locks of the registers read and written: `pool[start..split]` and `pool[split..end]`.
    pub(crate) start: u32,
    pub(crate) split: u32,
    pub(crate) end: u32,
}

/// Registers that a step has room for: what most instructions read and write.
const ROOM: usize = 12;

/// An instruction as it is executed: [bound](wb_isa::Isa::bind), beside what comes next and what an issue port asks about it.
/// In this order: an issue port reads one line of the host's cache.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Step<B> {
    pub next: Pc,
    pub class: u8,
    /// It raises counters.
    pub raises: bool,
    /// It waits for more than registers.
    pub waits: bool,
    /// The next instruction in program order reads or writes a register that this one writes.
    pub feeds: bool,
    /// Locks of the registers that it only reads, then of those it writes; none if there are too many.
    reads: u8,
    all: u8,
    locks: [u16; ROOM],
    /// The same as bits of their lowest digits.
    bits: u64,
    /// `None` where there is no instruction.
    pub bound: Option<B>,
}

impl<B> Step<B> {
    /// `reads`, `writes`: locks of the registers that the instruction reads and writes.
    pub(crate) fn new<T>(op: &Op<T>, bound: Option<B>, reads: &[u16], writes: &[u16]) -> Step<B> {
        let only_read = || reads.iter().filter(|r| !writes.contains(r));
        let (read, all) = (only_read().count(), only_read().count() + writes.len());
        let mut locks = [0; ROOM];
        if all <= ROOM {
            locks.iter_mut().zip(only_read().chain(writes)).for_each(|(lock, &register)| *lock = register);
        }
        Step {
            bound,
            next: op.next,
            class: op.class,
            raises: op.waits.raises.contains(&true),
            waits: op.waits_for_all || op.waits.until.is_some(),
            feeds: true,
            reads: if all <= ROOM { read as u8 } else { u8::MAX },
            all: if all <= ROOM { all as u8 } else { 0 },
            locks,
            bits: if all <= ROOM {
                locks[..all].iter().fold(0, |bits, lock| bits | 1 << (lock % 64))
            } else {
                u64::MAX
            },
        }
    }

    /// Whether [`Step::touches`] and [`Step::writes`] know the registers.
    #[inline(always)]
    pub fn knows_registers(&self) -> bool {
        self.reads != u8::MAX
    }

    /// Registers that it reads and writes.
    #[inline(always)]
    pub fn touches(&self) -> &[u16] {
        self.locks.get(..usize::from(self.all)).unwrap_or(&[])
    }

    /// The registers that it reads and writes, each as the bit of its lowest digits: two instructions that share one share a bit.
    #[inline(always)]
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// Registers that it writes.
    #[inline(always)]
    pub fn writes(&self) -> &[u16] {
        self.locks.get(usize::from(self.reads)..usize::from(self.all)).unwrap_or(&[])
    }
}
