//! Lines and bank passes that an access can take, from its addresses as functions of the lane. Lines: fewer lanes touch no
//! more of them. Bank passes: as many dwords as there are banks go together, in the order of the lanes, so that fewer lanes
//! can meet others than they did; which lanes are on then matters.

use super::linear::{Dims, Lin, low};
use super::pattern::{Pattern, lanes_of};
use super::value::{Wide, any};
use std::collections::BTreeMap;
use wb_isa::Mask;

/// Bytes of a lane's access from its address: where they begin, and how many.
pub type Piece = (u64, u32);

/// Lines that a run of bytes can lie in, if its address is `residue` modulo two to the `bits`.
fn straddled(residue: u64, bits: u32, bytes: u32, line: u64) -> u64 {
    let place = match 1u64.checked_shl(bits).filter(|&unit| unit < line) {
        Some(unit) => line - unit + low(residue, bits),
        None => residue & (line - 1),
    };
    (place + u64::from(bytes.max(1)) - 1) / line + 1
}

/// Lines that one lane can touch.
fn of_lane(lin: &Lin, pieces: &[Piece], line: u64) -> u64 {
    let (residue, bits) = lin.alignment();
    pieces.iter().map(|&(at, bytes)| straddled(residue.wrapping_add(at), bits, bytes, line)).sum()
}

/// Lines of all lanes together, for the worst base there can be.
fn together(lin: &Lin, pieces: &[Piece], line: u64, dims: Dims, on: Mask) -> Option<u64> {
    let own = match lin.spread? {
        0 => 0,
        w => i128::from(w).checked_mul(1i128.checked_shl(lin.grain)?)?,
    };
    let offsets: Vec<i128> = lanes_of(on).map(|l| dims.offset(lin.steps, l)).collect();
    worst(&offsets, own, lin, pieces, line)
}

/// Lines of numbers known lane by lane.
fn by_lane(pattern: &Pattern, pieces: &[Piece], line: u64, on: Mask) -> u64 {
    let offsets: Vec<i128> = lanes_of(on).map(|l| pattern.offset(l).into()).collect();
    worst(&offsets, 0, pattern.base(), pieces, line).unwrap_or(u64::MAX)
}

/// Lines of bytes at offsets from a base, with `own` bytes more.
fn worst(offsets: &[i128], own: i128, base: &Lin, pieces: &[Piece], line: u64) -> Option<u64> {
    let bits = base.known.min(line.trailing_zeros());
    let bases = (0..line >> bits).map(|j| low(base.residue, bits) + (j << bits));
    let line = i128::from(line);
    let lines = |base: u64| {
        let mut spans: Vec<(i128, i128)> = Vec::new();
        for offset in offsets {
            for &(at, bytes) in pieces {
                let first = i128::from(base) + offset + i128::from(at);
                let last = first + own + i128::from(bytes.max(1)) - 1;
                spans.push((first.div_euclid(line), last.div_euclid(line)));
            }
        }
        spans.sort_unstable();
        let (mut count, mut end) = (0, i128::MIN);
        for (first, last) in spans {
            count += (last + 1 - first.max(end)).max(0);
            end = end.max(last + 1);
        }
        u64::try_from(count).unwrap_or(u64::MAX)
    };
    bases.map(lines).max()
}

/// Lines at most, of lanes that can be `on`. `line` is a power of two.
pub fn lines(wide: &Wide, pieces: &[Piece], line: u32, dims: Dims, on: Mask) -> u32 {
    let line = u64::from(line.max(1));
    let lanes = u64::from(on.count_ones());
    let apart = wide.alts.iter().map(|l| of_lane(l, pieces, line)).max().unwrap_or(0).saturating_mul(lanes);
    let each = wide.alts.iter().map(|l| together(l, pieces, line, dims, on));
    let sum = each.reduce(|a, b| Some(a?.saturating_add(b?))).flatten().unwrap_or(u64::MAX);
    let within = wide.bounds(dims).map_or(u64::MAX, |(lo, hi)| {
        let reach = pieces.iter().map(|&(at, bytes)| at + u64::from(bytes.max(1)) - 1).max().unwrap_or(0);
        let least = pieces.iter().map(|p| p.0).min().unwrap_or(0);
        (hi.saturating_add(reach) / line).saturating_sub(lo.saturating_add(least) / line).saturating_add(1)
    });
    let known = wide.pattern.as_ref().map_or(u64::MAX, |p| by_lane(p, pieces, line, on));
    u32::try_from(apart.min(sum).min(within).min(known)).unwrap_or(u32::MAX)
}

/// Which of the lanes that can be on take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// Any of them.
    Some,
    /// The first of them, however many.
    First,
    /// All.
    All,
}

/// Bank passes at most. Offsets in local memory; `pieces` once for every time that a lane's dwords are used.
pub fn passes(wide: &Wide, pieces: &[Piece], banks: u32, dims: Dims, (lanes, on): (Lanes, Mask)) -> u32 {
    let touched = |residue: u64, bits: u32| -> u64 {
        pieces.iter().map(|&(at, bytes)| straddled(residue.wrapping_add(at), bits, bytes, 4)).sum()
    };
    let (residue, bits) = any(&wide.alts).alignment();
    let dwords = u64::from(on.count_ones()).saturating_mul(touched(residue, bits));
    let banks = u64::from(banks);
    if banks == 0 || on == 0 {
        return 1;
    }
    let rows = dwords.div_ceil(banks);
    let mut least = dwords;
    // Numbers close together: a bank has few of them.
    let reach = pieces.iter().map(|&(at, bytes)| at + u64::from(bytes.max(1)) - 1).max().unwrap_or(0);
    let first = pieces.iter().map(|p| p.0).min().unwrap_or(0);
    if let Some((lo, hi)) = wide.bounds(dims) {
        let span =
            (hi.saturating_add(reach) / 4).saturating_sub(lo.saturating_add(first) / 4).saturating_add(1);
        least = least.min(rows.saturating_mul(span.div_ceil(banks)));
    }
    if let [one] = wide.alts.as_slice() {
        let (low_end, high_end) = dims.extent(one.steps);
        let own = one.spread.and_then(|w| i128::from(w).checked_mul(1i128.checked_shl(one.grain.min(100))?));
        let own = if one.spread == Some(0) { Some(0) } else { own };
        if let Some(own) = own {
            let bytes = high_end - low_end + own + i128::from(reach - first) + 1;
            let span = u64::try_from(bytes / 4 + 2).unwrap_or(u64::MAX);
            least = least.min(rows.saturating_mul(span.div_ceil(banks)));
        }
    }
    if wide.alts.iter().all(|l| l.spread == Some(0)) {
        least = least.min(exact(&wide.alts, pieces, banks, dims, (lanes, on)));
    }
    if let Some(pattern) = &wide.pattern {
        let offsets: Vec<i128> = lanes_of(on).map(|l| pattern.offset(l).into()).collect();
        least = least.min(placed(&offsets, pattern.base(), pieces, banks, lanes));
    }
    u32::try_from(least.max(1)).unwrap_or(u32::MAX)
}

/// Bank passes at most of classes of lanes, each with numbers of its own that are known lane by lane but for a base. Dwords that
/// go together are a stretch of each class, and a bank has no more of them than of all classes' stretches.
pub fn passes_of_classes(classes: &[(Wide, Mask)], pieces: &[Piece], banks: u32, dims: Dims) -> Option<u32> {
    let banks = u64::from(banks);
    if banks == 0 {
        return None;
    }
    let dwords = |(wide, on): &(Wide, Mask)| -> Option<(Vec<i128>, Lin)> {
        let found = match (&wide.pattern, wide.alts.as_slice()) {
            (Some(p), _) => (lanes_of(*on).map(|l| p.offset(l).into()).collect(), *p.base()),
            (None, [one]) if one.spread == Some(0) => {
                (lanes_of(*on).map(|l| dims.offset(one.steps, l)).collect(), *one)
            }
            (None, _) => return None,
        };
        Some(found).filter(|(_, base)| base.known >= 2)
    };
    let all: Vec<Vec<i128>> = classes
        .iter()
        .map(|class| {
            let (offsets, base) = dwords(class)?;
            Some(rows(&offsets, low(base.residue, 2), pieces).into_iter().flatten().collect())
        })
        .collect::<Option<_>>()?;
    let count: u64 = all.iter().map(|dwords| dwords.len() as u64).sum();
    let stretches = count.div_ceil(banks);
    let most = all.iter().map(|dwords| in_stretches(dwords, stretches, banks)).sum::<u64>();
    u32::try_from(most.max(1)).ok()
}

/// The most that banks have of so many stretches of dwords, one after the other.
fn in_stretches(dwords: &[i128], stretches: u64, banks: u64) -> u64 {
    let count = dwords.len();
    let mut last: BTreeMap<i128, usize> = BTreeMap::new();
    // Where the same dword stands before, from one.
    let before: Vec<usize> =
        dwords.iter().enumerate().map(|(i, &d)| last.insert(d, i + 1).unwrap_or(0)).collect();
    let mut names: BTreeMap<i128, usize> = BTreeMap::new();
    let bank: Vec<usize> = dwords
        .iter()
        .map(|d| {
            let fresh = names.len();
            *names.entry(d.rem_euclid(i128::from(banks))).or_insert(fresh)
        })
        .collect();
    // The most of dwords up to each one.
    let mut best = vec![0u64; count + 1];
    let mut loads = vec![0u64; names.len()];
    for _ in 0..stretches.min(count as u64) {
        let mut next = best.clone();
        for (from, so_far) in best.iter().enumerate().take(count) {
            loads.fill(0);
            let mut most = 0;
            for (to, (&bank, &before)) in bank.iter().zip(&before).enumerate().skip(from) {
                loads[bank] += u64::from(before <= from);
                most = most.max(loads[bank]).min(banks);
                next[to + 1] = next[to + 1].max(so_far + most);
            }
        }
        best = next;
    }
    best[count]
}

/// Dwords of every lane.
type Rows = Vec<Vec<i128>>;

/// Dwords of lanes at offsets from a base.
fn rows(offsets: &[i128], base: u64, pieces: &[Piece]) -> Rows {
    let of = |offset: &i128| {
        let start = i128::from(base) + offset;
        let dwords = |&(at, bytes): &Piece| {
            let first = start + i128::from(at);
            (first.div_euclid(4))..=((first + i128::from(bytes.max(1)) - 1).div_euclid(4))
        };
        pieces.iter().flat_map(dwords).collect()
    };
    offsets.iter().map(of).collect()
}

/// Passes of lanes at offsets from a base that is known but for a multiple of four: which banks they are in does not matter.
fn placed(offsets: &[i128], base: &Lin, pieces: &[Piece], banks: u64, lanes: Lanes) -> u64 {
    let bits = base.known.min(2);
    let residue = low(base.residue, bits);
    let of = |base: u64| {
        let all = rows(offsets, base, pieces);
        match lanes {
            Lanes::All => in_order(&all, banks),
            // Waves at the end of a group have the first lanes only.
            Lanes::First => (1..=all.len()).map(|n| in_order(&all[..n], banks)).max().unwrap_or(1),
            Lanes::Some => any_lanes(&[all], banks),
        }
    };
    (0..4u64 >> bits).map(|j| of(residue + (j << bits))).max().unwrap_or(u64::MAX)
}

/// The same of linear functions of the lane.
fn exact(alts: &[Lin], pieces: &[Piece], banks: u64, dims: Dims, (lanes, on): (Lanes, Mask)) -> u64 {
    let offsets = |lin: &Lin| -> Vec<i128> { lanes_of(on).map(|l| dims.offset(lin.steps, l)).collect() };
    match alts {
        [one] => placed(&offsets(one), one, pieces, banks, lanes),
        // Lanes have one or the other: banks have no more than of all.
        _ if alts.iter().all(|l| l.alignment().1 >= 2) => {
            let all: Vec<Rows> = alts.iter().map(|l| rows(&offsets(l), low(l.residue, 2), pieces)).collect();
            let same = all.iter().all(|r| r.iter().map(Vec::len).eq(all[0].iter().map(Vec::len)));
            if same { any_lanes(&all, banks) } else { u64::MAX }
        }
        _ => u64::MAX,
    }
}

/// The most different dwords that a bank has.
fn load<'a>(dwords: impl Iterator<Item = &'a i128>, banks: u64) -> u64 {
    let mut all: Vec<(i128, i128)> = dwords.map(|&d| (d.rem_euclid(i128::from(banks)), d)).collect();
    all.sort_unstable();
    all.dedup();
    let mut most = 0;
    for bank in all.chunk_by(|a, b| a.0 == b.0) {
        most = most.max(bank.len() as u64);
    }
    most
}

fn in_order(lanes: &[Vec<i128>], banks: u64) -> u64 {
    let all: Vec<i128> = lanes.iter().flatten().copied().collect();
    all.chunks(banks as usize).map(|c| load(c.iter(), banks)).sum::<u64>().max(1)
}

/// The most passes for any part of the lanes. Dwords that go together belong to lanes of a stretch, stretches follow each
/// other (sharing a lane where its dwords are parted), and all but the last are of as many dwords as there are banks.
fn any_lanes(alts: &[Rows], banks: u64) -> u64 {
    let Some(lanes) = alts.first() else { return u64::MAX };
    let count = lanes.len();
    let total: u64 = lanes.iter().map(|l| l.len() as u64).sum();
    if lanes.iter().any(|l| l.len() as u64 > banks) {
        return total;
    }
    let shared = lanes.iter().any(|l| !banks.is_multiple_of(l.len().max(1) as u64));
    let mut loads = vec![vec![0u64; count + 1]; count];
    for (from, row) in loads.iter_mut().enumerate() {
        for (to, most) in row.iter_mut().enumerate().skip(from + 1) {
            // More than there are banks cannot go together.
            let of = |rows: &Rows| load(rows[from..to].iter().flatten(), banks);
            *most = alts.iter().map(of).sum::<u64>().min(banks);
        }
    }
    // The most passes of lanes from here on.
    let mut best = vec![0u64; count + 1];
    for from in (0..count).rev() {
        let mut most = loads[from][count];
        let mut dwords = 0;
        for to in from + 1..count {
            dwords += lanes[to - 1].len() as u64;
            if dwords >= banks {
                let next = if shared && to - 1 > from { to - 1 } else { to };
                most = most.max(loads[from][to] + best[next]);
            }
        }
        best[from] = most.max(best[from + 1]);
    }
    best[0].min(total).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIMS: Dims = Dims { lanes: 64, x: 64, y: 1, rows: true };

    /// Numbers that look random, the same every time.
    fn noise(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *seed >> 33
    }

    /// Classes of lanes with rows and bases of their own: no part of their lanes takes more passes than is said.
    #[test]
    fn classes_of_lanes_take_no_more_passes_than_said() {
        let (mut seed, mut tight, mut merged_stretches) = (7, 0, 0);
        for _ in 0..400 {
            let banks = [4, 16, 32][(noise(&mut seed) % 3) as usize];
            let pieces: &[Piece] =
                if noise(&mut seed).is_multiple_of(2) { &[(0, 4)] } else { &[(0, 4), (4, 4)] };
            let rows: Vec<[u64; 64]> = (0..3)
                .map(|_| {
                    let (step, wild) = (4 * (noise(&mut seed) % 40), noise(&mut seed).is_multiple_of(2));
                    let mut some = || if wild { 4 * (noise(&mut seed) % 200) } else { 0 };
                    std::array::from_fn(|l| step * l as u64 + some())
                })
                .collect();
            // Every lane is in one of three classes.
            let of: Vec<usize> = (0..64).map(|_| (noise(&mut seed) % 3) as usize).collect();
            let mask = |c: usize| (0..64).filter(|&l| of[l] == c).fold(0, |m: Mask, l| m | 1 << l);
            let class = |c: usize| {
                let base = Lin { known: 2, ..Lin::uniform(false) };
                let pattern = Pattern::same(base).map(|b| Pattern::pure(rows[c]).add(&b));
                (Wide { pattern, ..Wide::of(vec![Lin::unknown()]) }, mask(c))
            };
            let classes: Vec<(Wide, Mask)> = (0..3).map(class).collect();
            let said = passes_of_classes(&classes, pieces, banks, DIMS).expect("rows are known");
            let banks = u64::from(banks);
            let mut most = 0;
            for _ in 0..20 {
                let bases: Vec<i128> = (0..3).map(|_| i128::from(noise(&mut seed) % 64)).collect();
                let all = if noise(&mut seed).is_multiple_of(3) { u64::MAX } else { 0 };
                let on = noise(&mut seed) | noise(&mut seed) << 32 | all;
                let dwords: Vec<i128> = (0..64)
                    .filter(|&l| on >> l & 1 == 1)
                    .flat_map(|l| {
                        let first = bases[of[l]] + i128::from(rows[of[l]][l] / 4);
                        (0..pieces.len() as i128).map(move |i| first + i)
                    })
                    .collect();
                most = most.max(in_order(&[dwords], banks));
            }
            assert!(most <= said.into(), "{most} passes, {said} said");
            tight += u32::from(2 * most >= said.into());
            // Were all dwords of a class to go together, too few would be said.
            let all: u64 = (0..3)
                .map(|c| {
                    let lanes: Vec<i128> =
                        lanes_of(mask(c)).map(|l| i128::from(rows[c][l as usize] / 4)).collect();
                    in_stretches(&lanes, 1, banks)
                })
                .sum();
            merged_stretches += u32::from(all < most);
        }
        assert!(tight > 100, "{tight} of 400 within a factor of two");
        assert!(merged_stretches > 20, "{merged_stretches} faults found");
    }
}
