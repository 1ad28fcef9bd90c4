//! A fingerprint of a run: the hash a trace file of it would carry, without the file.

use xxhash_rust::xxh3::Xxh3;

use crate::codec::{BLOCK_TARGET, Coder};
use crate::{Event, Observer};

/// Encodes events into blocks and hashes them; the writer takes the blocks, the hash observer does not.
pub(crate) struct Packer {
    coder: Coder,
    pub block: Vec<u8>,
    pub in_block: u32,
    pub events: u64,
    after_last: u64,
    hash: Xxh3,
}

impl Packer {
    pub fn new() -> Self {
        Packer {
            coder: Coder::new(),
            block: Vec::new(),
            in_block: 0,
            events: 0,
            after_last: 0,
            hash: Xxh3::new(),
        }
    }

    /// Adds an event; true when the block is full and [`Packer::close`] is due.
    pub fn push(&mut self, event: &Event) -> bool {
        self.coder.encode(event, &mut self.block);
        self.in_block += 1;
        self.events += 1;
        self.after_last = self.after_last.max(event.cycle.saturating_add(1));
        self.block.len() >= BLOCK_TARGET
    }

    /// Ends the block, after its bytes were used.
    pub fn close(&mut self) {
        self.hash.update(&self.block);
        self.block.clear();
        self.in_block = 0;
        self.coder.reset();
    }

    /// Cycles of the run: as told, or up to the last event when it stopped early.
    pub fn cycles(&self, told: Option<u64>) -> u64 {
        told.unwrap_or(self.after_last)
    }

    /// The hash of everything so far including the open block.
    pub fn digest(&self, cycles: u64) -> u64 {
        let mut hash = self.hash.clone();
        hash.update(&self.block);
        finish_hash(hash, self.events, cycles)
    }
}

/// Whole-trace hash from the hash of all block payloads.
pub(crate) fn finish_hash(mut hash: Xxh3, events: u64, cycles: u64) -> u64 {
    hash.update(&events.to_le_bytes());
    hash.update(&cycles.to_le_bytes());
    hash.digest()
}

/// Hashes the event stream and the end cycle; program and machine names do not count.
pub struct HashObserver {
    packer: Packer,
    cycles: Option<u64>,
}

impl Default for HashObserver {
    fn default() -> Self {
        HashObserver { packer: Packer::new(), cycles: None }
    }
}

impl HashObserver {
    pub fn new() -> Self {
        Self::default()
    }

    /// The hash so far; final once the run has ended.
    pub fn hash(&self) -> u64 {
        self.packer.digest(self.packer.cycles(self.cycles))
    }
}

impl Observer for HashObserver {
    fn events(&mut self, batch: &[Event]) {
        for event in batch {
            if self.packer.push(event) {
                self.packer.close();
            }
        }
    }

    fn end(&mut self, cycles: u64) {
        self.cycles = Some(cycles);
    }
}
