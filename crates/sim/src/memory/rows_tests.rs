//! Numbers in rows of many lanes are what single accesses leave: rows, memory, lines, faults. Places at random, of all shapes that
//! have a way of their own.

use super::bus::MemBus;
use super::device::DeviceMemory;
use super::lines::Lines;
use crate::console::Console;
use wb_isa::lanes::{Row, bits};
use wb_isa::{Bus, Mask, MemFault, Use, numbers_to_rows, one_by_one, rows_to_numbers};

struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) % u64::from(n)) as u32
    }

    fn lanes(&mut self) -> Mask {
        match self.below(4) {
            0 | 1 => Mask::MAX,
            2 => Mask::MAX << self.below(60),
            _ => u64::from(self.below(u32::MAX)) << 32 | u64::from(self.below(u32::MAX)),
        }
    }

    /// Offsets of all lanes: in steps, in tiles, or anywhere; mostly aligned, seldom outside what may be touched.
    fn offsets(&mut self) -> Row<u32> {
        let unit = [1, 2, 4, 4, 4, 8][self.below(6) as usize];
        let first = [100, 128, 1000, 90, 7900][[0, 1, 2, 2, 2, 2, 3, 4][self.below(8) as usize]];
        let first = first / unit * unit;
        let step = self.below(6) * unit;
        match self.below(6) {
            0 | 1 => std::array::from_fn(|l| first + l as u32 * step),
            2 => std::array::from_fn(|l| (first + 64 * step).wrapping_sub(l as u32 * step)),
            3 => {
                let tiles: [(u32, u32); 4] =
                    std::array::from_fn(|_| (self.below(300) * unit, self.below(3) * unit));
                std::array::from_fn(|l| first + tiles[l / 16].0 + (l as u32 % 16) * tiles[l / 16].1)
            }
            4 => std::array::from_fn(|_| first + self.below(400) * unit),
            _ => {
                // In steps, but for one lane.
                let (other, by) = (self.below(64), self.below(40) * unit);
                std::array::from_fn(|l| first + l as u32 * step + if l as u32 == other { by } else { 0 })
            }
        }
    }
}

/// What an access leaves behind: rows of the active lanes, memory, lines, whether something was written.
type After = (Vec<u32>, Vec<u8>, Vec<u64>, bool);

fn run(
    banked: bool,
    lanes: Mask,
    access: impl FnOnce(&mut MemBus) -> Result<Vec<Row<u32>>, MemFault>,
) -> Result<After, MemFault> {
    let mut memory = DeviceMemory::new(8192);
    memory.bytes.iter_mut().enumerate().for_each(|(i, b)| *b = (i * 7 + i / 256) as u8);
    (memory.text, memory.text_end) = (std::iter::once(64..112).collect(), 112);
    memory.forbid_below(40);
    let mut lines = Lines::default();
    if banked {
        lines.start_banked()
    } else {
        lines.start(64)
    }
    let mut console = Console::default();
    let mut bus =
        MemBus { memory: &mut memory, console: &mut console, lines: &mut lines, note: true, wrote: false };
    let rows = access(&mut bus)?;
    let wrote = bus.wrote;
    let seen = rows.iter().flat_map(|row| bits(lanes).map(|lane| row[lane as usize])).collect();
    Ok((seen, memory.bytes, lines.list.iter().collect(), wrote))
}

fn check<const D: usize, const P: usize, const N: usize>(random: &mut Random, add: [u32; P]) {
    let (offset, lanes, banked) = (random.offsets(), random.lanes(), random.below(2) == 0);
    let text = format!("{D} numbers of {} at {add:?}, lanes {lanes:x}, {offset:?}", N / D);
    let places = (&offset, add);
    let one = run(banked, lanes, |bus| {
        let mut out = [[[0; 64]; D]; P];
        one_by_one(bus, 16, places, lanes, Use::Load, |lane, p, bytes: &mut [u8; N]| {
            numbers_to_rows(bytes, lane, &mut out[p]);
        })?;
        Ok(out.as_flattened().to_vec())
    });
    let all = run(banked, lanes, |bus| {
        let mut out = [[[0; 64]; D]; P];
        bus.load_rows::<D, P, N>(16, places, lanes, &mut out)?;
        Ok(out.as_flattened().to_vec())
    });
    assert!(one == all, "loads: {text}");
    let data: [[Row<u32>; D]; P] = std::array::from_fn(|p| {
        std::array::from_fn(|d| std::array::from_fn(|lane| (lane * 0x0101_0107 + p * 31 + d * 77) as u32))
    });
    let data = data.each_ref().map(|rows| rows.each_ref());
    let one = run(banked, lanes, |bus| {
        one_by_one(bus, 16, places, lanes, Use::Store, |lane, p, bytes: &mut [u8; N]| {
            rows_to_numbers(&data[p], lane, bytes);
        })?;
        Ok(Vec::new())
    });
    let all = run(banked, lanes, |bus| {
        bus.store_rows::<D, P, N>(16, places, lanes, &data)?;
        Ok(Vec::new())
    });
    assert!(one == all, "stores: {text}");
}

/// Whether the lanes went together, and whether two of them met.
fn check_modified<const D: usize, const N: usize>(random: &mut Random) -> (bool, bool) {
    let (offset, lanes, banked) = (random.offsets(), random.lanes(), random.below(2) == 0);
    let willing = random.below(8) != 0;
    let new = |lane: usize, d: usize, old: u32| old.wrapping_mul(3).wrapping_add((lane * 5 + d) as u32);
    let change = |lane: usize, bytes: &mut [u8; N], old: &mut [Row<u32>; D]| {
        numbers_to_rows(bytes, lane, old);
        let changed: [Row<u32>; D] = std::array::from_fn(|d| old[d].map(|v| new(lane, d, v)));
        rows_to_numbers(&changed.each_ref(), lane, bytes);
    };
    let together = run(banked, lanes, |bus| {
        let mut old = [[0; 64]; D];
        let done = bus.modify_rows(16, &offset, lanes, N as u32, |bytes, at| {
            assert!(at.lanes == lanes && *at.offset == offset);
            if willing {
                for lane in bits(lanes) {
                    let first = (at.offset[lane as usize] - at.low) as usize;
                    let bytes = bytes[first..].first_chunk_mut().expect("the piece has all lanes");
                    change(lane as usize, bytes, &mut old);
                }
            }
            willing
        });
        Ok(if done { old.to_vec() } else { Vec::new() })
    });
    let one = run(banked, lanes, |bus| {
        let mut old = [[0; 64]; D];
        one_by_one(bus, 16, (&offset, [0]), lanes, Use::Modify, |lane, _, bytes: &mut [u8; N]| {
            change(lane, bytes, &mut old);
        })?;
        Ok(old.to_vec())
    });
    let Ok((seen, memory, lines, wrote)) = together else { panic!("it never faults") };
    if seen.is_empty() {
        assert!(lines.is_empty() && !wrote, "nothing was done");
        return (false, false);
    }
    assert!(willing && one == Ok((seen, memory, lines, wrote)), "modified: lanes {lanes:x}, {offset:?}");
    let mut places: Vec<u32> = bits(lanes).map(|lane| offset[lane as usize]).collect();
    places.sort_unstable();
    (true, places.windows(2).any(|two| two[1] - two[0] < N as u32))
}

#[test]
fn rows_are_what_single_accesses_give() {
    let mut random = Random(5);
    for _ in 0..800 {
        check::<1, 1, 1>(&mut random, [0]);
        check::<1, 1, 2>(&mut random, [0]);
        check::<2, 1, 8>(&mut random, [0]);
        check::<3, 1, 12>(&mut random, [0]);
        check::<4, 1, 16>(&mut random, [0]);
        let add = [random.below(20) * 4, random.below(20) * 4];
        check::<1, 2, 4>(&mut random, add);
        check::<2, 2, 8>(&mut random, add.map(|add| add * 2));
    }
}

#[test]
fn lanes_modify_one_piece_of_memory() {
    let mut random = Random(9);
    for all in [
        (0..3000).map(|_| check_modified::<1, 4>(&mut random)).collect::<Vec<_>>(),
        (0..3000).map(|_| check_modified::<2, 8>(&mut random)).collect(),
    ] {
        let (done, met) = (all.iter().filter(|all| all.0).count(), all.iter().filter(|all| all.1).count());
        assert!(done > 1500 && met > 500, "{done}, {met}");
    }
}
