//! Accesses of many lanes together leave what single accesses leave: bytes, lines, banks, faults.

use super::bus::MemBus;
use super::device::DeviceMemory;
use super::lines::Lines;
use crate::console::Console;
use wb_isa::lanes::Row;
use wb_isa::{Bus, Mask, MemFault, Use, one_by_one};

/// What an access leaves behind: what lanes saw, memory, lines, lanes of each line, whether something was written.
type After = (Vec<(usize, usize, Vec<u8>)>, Vec<u8>, Vec<u64>, Option<Mask>, bool);

struct Case<const P: usize> {
    offset: Row<u32>,
    add: [u32; P],
    lanes: Mask,
    how: Use,
    banked: bool,
}

impl<const P: usize> Case<P> {
    fn run<const N: usize>(&self, together: bool) -> Result<After, MemFault> {
        let mut memory = DeviceMemory::new(8192);
        memory.bytes.iter_mut().enumerate().for_each(|(i, b)| *b = (i * 7 + i / 256) as u8);
        (memory.text, memory.text_end) = (std::iter::once(64..96).collect(), 96);
        memory.forbid_below(40);
        let mut lines = Lines::default();
        lines.by_lane = true;
        if self.banked {
            lines.start_banked()
        } else {
            lines.start(64)
        }
        let mut console = Console::default();
        let mut bus = MemBus {
            memory: &mut memory,
            console: &mut console,
            lines: &mut lines,
            note: true,
            wrote: false,
        };
        let mut seen = Vec::new();
        let f = |lane: usize, p: usize, bytes: &mut [u8; N]| {
            // What stands there before a store means nothing.
            if self.how != Use::Store {
                seen.push((lane, p, bytes.to_vec()));
            }
            if self.how == Use::Modify {
                bytes.iter_mut().for_each(|b| *b = b.wrapping_mul(3).wrapping_add((lane + p) as u8));
            } else {
                *bytes = std::array::from_fn(|k| (lane * 5 + p * 31 + k) as u8);
            }
        };
        let places = (&self.offset, self.add);
        match together {
            true => bus.each(16, places, self.lanes, self.how, f)?,
            false => one_by_one(&mut bus, 16, places, self.lanes, self.how, f)?,
        }
        let wrote = bus.wrote;
        // Only loads of whole dwords say which lanes wait for which line, and only if lanes go together.
        let touched =
            (together && self.how == Use::Load && N >= 4).then(|| lines.lanes_of(|_| true)).flatten();
        Ok((seen, memory.bytes, lines.list.iter().collect(), touched, wrote))
    }

    fn check<const N: usize>(&self, text: &str) {
        let (one, all) = (self.run::<N>(false), self.run::<N>(true));
        match (one, all) {
            (Ok(one), Ok(all)) => {
                assert!(one.0 == all.0, "{text}, {N} bytes: lanes saw something else");
                assert!(one.1 == all.1, "{text}, {N} bytes: memory");
                assert_eq!(one.2, all.2, "{text}, {N} bytes: lines");
                assert_eq!(one.4, all.4, "{text}, {N} bytes: wrote");
                if let Some(touched) = all.3 {
                    assert_eq!(touched, self.lanes, "{text}, {N} bytes: lanes of lines");
                }
            }
            (one, all) => assert_eq!(one.err(), all.err(), "{text}, {N} bytes: fault"),
        }
    }
}

#[test]
fn together_is_the_same_as_one_by_one() {
    type Place = fn(u32, u32) -> u32;
    let places: [Place; 12] = [
        |l, n| 100 + l * n,
        |l, n| 104 + l * n * 2,
        |_, _| 200,
        |_, _| 203,
        |l, _| 128 + l / 16 * 4,
        |l, _| 1000 + l * 37 % 64 * 8,
        |l, n| 2000 - l * n,
        |l, n| 301 + l * n + l / 9 % 2 * 2,
        // Into what is forbidden and the instructions, into the instructions, past the end, and round 32 bits.
        |l, n| l * n,
        |l, n| 32 + l * n,
        |l, n| 7900 + l * n,
        |l, n| 0xffff_fff0u32.wrapping_add(l * n),
    ];
    for (i, place) in places.into_iter().enumerate() {
        for lanes in [Mask::MAX, 0xff00_ffff_0f0f_8001, 1 << 63, 0] {
            for how in [Use::Load, Use::Store, Use::Modify] {
                for banked in [false, true] {
                    let text = format!("places {i}, lanes {lanes:x}, {how:?}, banked {banked}");
                    let row = |n: u32| -> Row<u32> { std::array::from_fn(|l| place(l as u32, n)) };
                    let one = |n: u32| Case { offset: row(n), add: [0], lanes, how, banked };
                    let two = |n: u32| Case { offset: row(n), add: [256, 8], lanes, how, banked };
                    one(1).check::<1>(&text);
                    one(2).check::<2>(&text);
                    one(4).check::<4>(&text);
                    one(8).check::<8>(&text);
                    two(4).check::<4>(&text);
                    two(8).check::<8>(&text);
                    if how != Use::Modify {
                        one(12).check::<12>(&text);
                        one(16).check::<16>(&text);
                    }
                }
            }
        }
    }
}
