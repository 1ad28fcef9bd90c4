//! First touches of lines in caches that keep everything: a load that is charged a hit is later once for each line
//! (docs/proved-bounds.md, lemma 6).

use crate::access::{Access, Local, Memory};
use crate::caches::{Caches, Kind, kind};
use crate::hardware::{Front, Hardware};
use crate::lines::Lines;
use crate::refusal::Refusal;
use std::collections::{BTreeMap, BTreeSet};
use wb_isa::{Isa, Pc};
use wb_program::Program;

/// By how much first touches of lines are later than hits, once each: data that is charged hits, and code. And the part of it that a
/// timeline on two cores meets twice.
pub fn cold<I: Isa>(
    program: &Program<I>,
    hardware: &Hardware,
    accesses: &BTreeMap<Pc, Access>,
    caches: &Caches,
    memory: &Memory,
    missing: &BTreeSet<Pc>,
) -> Result<(u64, u64), Refusal> {
    let mut once = 0u64;
    let mut again = 0u64;
    let mut lines: BTreeMap<Kind, Vec<(u64, u64)>> = BTreeMap::new();
    let mut late: BTreeMap<Kind, u64> = BTreeMap::new();
    let mut private = false;
    let mut size = hardware.machine.dram.line;
    for (&pc, access) in accesses.iter().filter(|a| a.1.loads && a.1.local != Local::Always) {
        let class = &hardware.classes[usize::from(program.ops[pc as usize].class)];
        let (Some(way), Some(kind)) = (hardware.way(class.port), kind(class.port)) else { continue };
        let Some(level) = caches.found(way).filter(|_| !missing.contains(&pc)) else { continue };
        let ranges = lines.entry(kind).or_default();
        let touched = memory.touched(access);
        ranges.extend(&touched);
        let miss = caches.miss(hardware, way, class.latency, &touched);
        let extra = late.entry(kind).or_default();
        *extra = (*extra).max(miss - caches.hit(hardware, way, class.latency, &touched));
        let cache = hardware.cache(way.levels[level]);
        private |= cache.shared_by != 0 && cache.shared_by < hardware.machine.cores;
        size = size.min(cache.line);
    }
    // A line that several kinds touch is under way once, for the slowest of them.
    let of = |ranges: &[(u64, u64)]| Lines::of(ranges.iter().copied(), memory.origin, size);
    let mut counted = Lines::default();
    let mut kinds: Vec<(Kind, u64)> = late.into_iter().collect();
    kinds.sort_by_key(|k| std::cmp::Reverse(k.1));
    for (kind, extra) in kinds {
        let mine = of(&lines[&kind]);
        let new = mine.count() - mine.common(&counted);
        once = new
            .checked_mul(extra)
            .and_then(|c| c.checked_add(once))
            .ok_or(Refusal::Overflow { what: "the time of first touches" })?;
        counted = counted.union(&mine);
    }
    if private {
        again = again.checked_add(once).ok_or(Refusal::Overflow { what: "the time of first touches" })?;
    }
    let fetch = &hardware.fetch;
    if hardware.front != Front::Perfect && !fetch.ideal && caches.found(fetch) == Some(0) {
        let cache = hardware.cache(fetch.levels[0]);
        let count = caches.lines(memory, Kind::Fetch, cache.line).count();
        let nop = u64::from(matches!(hardware.front, Front::Coordinated { .. }));
        let extra = caches.miss(hardware, fetch, 0, &memory.code)
            - caches.hit(hardware, fetch, 0, &memory.code)
            + nop;
        let code = count.checked_mul(extra).ok_or(Refusal::Overflow { what: "the time of first fetches" })?;
        once += code;
        again += if cache.shared_by != 0 && cache.shared_by < hardware.machine.cores { code } else { 0 };
    }
    Ok((once, again))
}
