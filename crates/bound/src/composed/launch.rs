//! One run of a launch: own time of the longest way, what the run took beyond the own time of the ways it took, and what longer ways
//! of all other waves could add (docs/wcet.md, "Own time and waits").

use super::ways::Ways;
use crate::error::{BoundError, refused};
use crate::launched::Launched;
use crate::launches::groups;
use crate::proved::{Asked, refusal};
use crate::result::TermRow;
use crate::shape::Shape;
use std::collections::BTreeMap;
use wb_facts::LoopFact;
use wb_proved::{MeasuredTerms, measured_terms};

/// What a run showed, in parts of a cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Own times of all groups together: of each that of its longest wave.
    pub own: u128,
    /// The longest that a group ended later than its own time.
    pub waits: u128,
    /// Waves of one partition, of the rest of its core and of other cores, and their demand on the partition: where the sum over
    /// heaviest ways is most above it.
    pub waves: [u64; 3],
    pub demand: [u128; 3],
    pub cycles: u64,
}

/// The bound of a launch that one run gives.
#[derive(Clone, Debug)]
pub(crate) struct ComposedLaunch {
    pub shape: Shape,
    pub terms: MeasuredTerms,
    pub shown: Shown,
    pub limits: Vec<LoopFact>,
    /// Steps from block to block: that a wave took, all.
    pub taken: (usize, usize),
    pub parts: Parts,
    pub cycles: u64,
    /// The bound if every wave asks for as much as on its heaviest way.
    pub heaviest: u64,
}

/// What a bound is made of, in parts of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    pub own: u128,
    pub waits: u128,
    /// Own time that groups before the last can have more than measured.
    pub before: u128,
    /// Demand that other waves can have more than measured.
    pub demand: [u128; 3],
}

impl Parts {
    fn bound(&self) -> Option<u128> {
        self.own.checked_add(self.waits)?.checked_add(self.before)
    }
}

/// The bound that a run gives, of which `ways` were observed.
pub(crate) fn compose_launch(
    launched: &Launched,
    asked: &Asked,
    ways: &Ways,
    cycles: u64,
) -> Result<ComposedLaunch, BoundError> {
    let terms = measured_terms(&asked.question(None), &ways.measurements())
        .map_err(|e| refusal(asked.program, launched, &e))?;
    if ways.lost {
        return Err(refused!(Contradiction, "a wave left the graph of the kernel"));
    }
    let shown = shown(launched, &terms, ways, cycles);
    let parts = parts(&terms, &shown);
    let sums = parts.and_then(|p| {
        let (bound, more) = (p.bound()?, p.demand.iter().try_fold(0u128, |sum, d| sum.checked_add(*d))?);
        let cycles = |parts: u128| u64::try_from(parts.div_ceil(terms.scale.into())).ok();
        Some((p, cycles(bound)?, cycles(bound.checked_add(more)?)?))
    });
    let Some((parts, cycles, heaviest)) = sums else {
        return Err(refused!(Program, "the bound is more than 2^64 - 1 cycles"));
    };
    let limits = asked.limits().to_vec();
    let (shape, taken) = (Shape::of(launched), ways.taken());
    Ok(ComposedLaunch { shape, terms, shown, limits, taken, parts, cycles, heaviest })
}

impl ComposedLaunch {
    fn term(&self, name: &'static str, parts: u128, waves: u64) -> TermRow {
        let cycles = parts.div_ceil(self.terms.scale.into());
        TermRow { name, cycles: u64::try_from(cycles).unwrap_or(u64::MAX), waves }
    }

    /// The parts of the bound.
    pub fn terms(&self) -> [TermRow; 3] {
        [
            self.term("own time of the longest way", self.parts.own, 0),
            self.term("waits, as measured", self.parts.waits, 0),
            self.term("groups before on the longest way", self.parts.before, 0),
        ]
    }

    /// What heavier ways of all waves would add.
    pub fn demand(&self) -> [TermRow; 3] {
        let ([partition, core, machine], waves) = (self.parts.demand, self.shown.waves);
        [
            self.term("waves of the partition on heavier ways", partition, waves[0]),
            self.term("waves of other partitions of the core on heavier ways", core, waves[1]),
            self.term("waves of other cores on heavier ways", machine, waves[2]),
        ]
    }
}

/// What the run showed, with the weights of the terms.
fn shown(launched: &Launched, terms: &MeasuredTerms, ways: &Ways, cycles: u64) -> Shown {
    let prices = terms.weights.each_ref().map(|w| ways.prices(w));
    let lead_in = u128::from(terms.lead_in) * u128::from(terms.scale);
    let of_group = groups(launched);
    let partitions = launched.machine.core.partitions.max(1) as usize;
    let cores = launched.machine.cores as usize;
    let mut own: BTreeMap<u32, (u128, u64)> = BTreeMap::new();
    // Waves and their demand, by core and partition: on the same partition, core, machine.
    let mut asked = vec![vec![(0u64, [0u128; 3]); partitions]; cores];
    for (i, way) in ways.waves.iter().enumerate() {
        let group = own.entry(of_group.get(i).copied().unwrap_or(0)).or_default();
        group.0 = group.0.max(way.weight(&prices[0]) + lead_in);
        group.1 = group.1.max(way.end);
        if let Some(place) = asked.get_mut(way.core).and_then(|c| c.get_mut(way.slot % partitions)) {
            place.0 += 1;
            for (sum, prices) in place.1.iter_mut().zip(&prices[1..]) {
                *sum += way.weight(prices);
            }
        }
    }
    let scale = i128::from(terms.scale);
    let last = own.values().map(|g| g.1).max().unwrap_or(0);
    let late = own.values().map(|g| i128::from(g.1) * scale - g.0 as i128).max().unwrap_or(0);
    let (waves, demand) = busiest(terms, &asked);
    Shown {
        own: own.values().map(|g| g.0).sum(),
        // Means of own times can make a way longer than it was.
        waits: u128::try_from(late + i128::from(cycles.saturating_sub(last)) * scale).unwrap_or(0),
        waves,
        demand,
        cycles,
    }
}

/// The partition whose waves, with the others of the core and the machine, could ask for most beyond what they asked for.
fn busiest(terms: &MeasuredTerms, asked: &[Vec<(u64, [u128; 3])>]) -> ([u64; 3], [u128; 3]) {
    let most = [terms.wave.partition, terms.wave.core, terms.wave.machine];
    let all = asked.iter().flatten();
    let total = all.fold((0, 0u128), |sum, p| (sum.0 + p.0, sum.1 + p.1[2]));
    let mut found = None;
    for core in asked {
        let here = core.iter().fold((0, 0u128, 0u128), |s, p| (s.0 + p.0, s.1 + p.1[1], s.2 + p.1[2]));
        for place in core.iter().filter(|p| p.0 > 0) {
            let waves = [place.0, here.0 - place.0, total.0 - here.0];
            let demand = [place.1[0], here.1 - place.1[1], total.1 - here.2];
            let more: u128 = (0..3).map(|i| (u128::from(waves[i]) * most[i]).saturating_sub(demand[i])).sum();
            if found.is_none_or(|f: (u128, _, _)| f.0 < more) {
                found = Some((more, waves, demand));
            }
        }
    }
    found.map_or(([0; 3], [0; 3]), |f| (f.1, f.2))
}

/// The parts of the bound.
fn parts(terms: &MeasuredTerms, shown: &Shown) -> Option<Parts> {
    let own = terms.wave.pieces.unwrap_or(terms.wave.own);
    let seats = u128::from(terms.geometry.cores) * u128::from(terms.geometry.groups_per_core);
    let before = match terms.geometry.at_once() {
        true => 0,
        false => own.checked_mul(terms.geometry.groups.into())?.checked_sub(shown.own)?.div_ceil(seats),
    };
    let most = [terms.wave.partition, terms.wave.core, terms.wave.machine];
    let mut demand = [0; 3];
    for i in 0..3 {
        demand[i] = most[i].checked_mul(shown.waves[i].into())?.checked_sub(shown.demand[i])?;
    }
    Some(Parts { own, waits: shown.waits, before, demand })
}
