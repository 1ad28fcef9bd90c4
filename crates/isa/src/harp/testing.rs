//! Helpers of the HARP tests: a deterministic random source and a memory that is a vector.

use super::encode::Codec;
use super::{Arch, Inst, Op, Slot};
use crate::{Bus, MemFault};

/// A linear congruential generator: small, seeded, the same on every machine.
pub struct Lcg(pub u64);

impl Lcg {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = self.0;
        (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ x >> 32
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// A random instruction of `op` that `codec` can encode, in canonical form.
    pub fn inst(&mut self, arch: &Arch, codec: &Codec, op: Op) -> Inst {
        let mut inst = Inst::new(op);
        if self.below(2) == 0 {
            inst.pred = Some(self.below(arch.preds.into()) as u8);
        }
        for (i, slot) in op.entry().slots.iter().enumerate() {
            match slot {
                Slot::Imm => {
                    let (width, _) = codec.immediate_field(op).unwrap();
                    inst.imm = (self.next() as i64) >> (64 - width) >> self.below(width.into());
                }
                Slot::Dest | Slot::Src => inst.r[i] = self.below(arch.gprs.into()) as u8,
                Slot::PredDest | Slot::PredSrc => inst.r[i] = self.below(arch.preds.into()) as u8,
            }
        }
        inst
    }
}

/// A flat memory with a console.
pub struct TestBus {
    pub bytes: Vec<u8>,
    pub console: String,
}

impl TestBus {
    pub fn new(size: usize) -> Self {
        TestBus { bytes: vec![0; size], console: String::new() }
    }

    fn range(&self, what: &'static str, addr: u64, bytes: u32) -> Result<std::ops::Range<usize>, MemFault> {
        let end = addr.saturating_add(bytes.into());
        if end > self.bytes.len() as u64 {
            return Err(MemFault {
                what,
                addr,
                bytes,
                why: format!("memory ends at {:#x}", self.bytes.len()),
            });
        }
        Ok(addr as usize..end as usize)
    }
}

impl Bus for TestBus {
    fn load(&mut self, addr: u64, bytes: u32) -> Result<u64, MemFault> {
        let range = self.range("load", addr, bytes)?;
        Ok(self.bytes[range].iter().rev().fold(0, |word, &b| word << 8 | u64::from(b)))
    }

    fn store(&mut self, addr: u64, bytes: u32, value: u64) -> Result<(), MemFault> {
        let range = self.range("store", addr, bytes)?;
        self.bytes[range].copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
        Ok(())
    }

    fn console(&mut self, byte: u8) {
        self.console.push(byte as char);
    }
}
