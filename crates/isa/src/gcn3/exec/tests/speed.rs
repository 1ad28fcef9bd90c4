//! Time per wave-instruction: `cargo test --release -p wb-isa --lib gcn3::exec::tests::speed -- --ignored --nocapture`.

use super::{asm, machine};
use crate::{Bus, Isa, MemFault};
use std::hint::black_box;
use std::time::Instant;

/// Memory without notes, as an untimed run has it.
struct Plain(Vec<u8>);

impl Bus for Plain {
    #[inline(always)]
    fn load(&mut self, addr: u64, bytes: u32) -> Result<u64, MemFault> {
        let a = addr as usize;
        let got = match bytes {
            4 => self.0.get(a..a + 4).map(|b| u64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            _ => self.0.get(a..a + bytes as usize).map(|b| {
                let mut word = [0; 8];
                word[..b.len()].copy_from_slice(b);
                u64::from_le_bytes(word)
            }),
        };
        got.ok_or_else(|| MemFault { what: "load", addr, bytes, why: String::new() })
    }

    #[inline(always)]
    fn store(&mut self, addr: u64, bytes: u32, value: u64) -> Result<(), MemFault> {
        let a = addr as usize;
        match self.0.get_mut(a..a + bytes as usize) {
            Some(b) => {
                b.copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
                Ok(())
            }
            None => Err(MemFault { what: "store", addr, bytes, why: String::new() }),
        }
    }

    fn console(&mut self, _byte: u8) {}
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    let mut m = machine();
    let mut bus = Plain(m.bus.bytes.clone());
    m.fill64(2, |lane| u64::from(0x2000 + lane * 16));
    m.fill(4, |lane| lane * 4);
    m.regs.s[0..4].copy_from_slice(&[super::SCRATCH as u32, 1 << 31, u32::MAX, super::super::SCRATCH_WORD3]);
    m.regs.set_pair(6, u64::MAX);
    m.regs.set_pair(20, 0x2000);
    for text in [
        "s_add_u32 s8, s9, s10",
        "s_and_saveexec_b64 s[8:9], s[6:7]",
        "s_cmp_lg_u32 s8, 0",
        "s_cbranch_scc1 4",
        "s_waitcnt lgkmcnt(0)",
        "s_load_dwordx4 s[12:15], s[20:21], 0x10",
        "v_add_f32 v8, v9, v10",
        "flat_load_dword v8, v[2:3]",
        "flat_load_dwordx4 v[8:11], v[2:3]",
        "flat_store_dword v[2:3], v8",
        "ds_read_b32 v8, v4",
        "ds_read2_b32 v[8:9], v4 offset1:1",
        "ds_write_b32 v4, v8",
        "ds_bpermute_b32 v8, v4, v9",
        "buffer_load_dword v8, off, s[0:3], 0 offset:4",
        "buffer_store_dword v8, v12, s[0:3], 0 offen offset:4",
        "flat_atomic_add v[2:3], v8",
    ] {
        let inst = black_box(asm(text));
        let rounds = 5_000u32;
        let mut best = f64::MAX;
        for _ in 0..100 {
            let begin = Instant::now();
            for _ in 0..rounds {
                black_box(m.isa.exec(black_box(&inst), &m.at, &mut m.regs, &mut bus)).unwrap();
            }
            best = best.min(begin.elapsed().as_secs_f64() * 1e9 / f64::from(rounds));
        }
        println!("{best:8.1} ns  {text}");
    }
}
