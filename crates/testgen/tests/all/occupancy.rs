//! The dispatcher keeps to the rules that the analyser's rounds rest on: never more groups on a core than
//! `hw::Machine::occupancy` says, and as many as that whenever more are waiting.

use wb_testgen::parallel;

use parallel::in_parallel;
use std::collections::{BTreeMap, BTreeSet};
use wb_hw::Needs;
use wb_sim::{Launch, RunOptions};
use wb_testgen::random::gcn3::{Setup, generate, job};
use wb_trace::{Event, Kind, Observer};

/// Groups on each core, over time.
#[derive(Default)]
struct Residents {
    waves_per_group: u32,
    now: BTreeMap<u16, BTreeMap<u32, u32>>,
    most: BTreeMap<u16, usize>,
    started: BTreeSet<u32>,
    /// Fewest groups on all cores at the start of a group that was not among the first.
    at_start: Option<usize>,
    places: usize,
}

impl Observer for Residents {
    fn events(&mut self, batch: &[Event]) {
        for e in batch {
            let group = e.wave / self.waves_per_group;
            match e.kind {
                Kind::WaveStart { .. } => {
                    let others: usize =
                        self.now.values().map(|g| g.keys().filter(|&&k| k != group).count()).sum();
                    if self.started.insert(group) && self.started.len() > self.places {
                        self.at_start = Some(self.at_start.map_or(others, |n| n.min(others)));
                    }
                    let on = self.now.entry(e.core).or_default();
                    *on.entry(group).or_default() += 1;
                    let most = self.most.entry(e.core).or_default();
                    *most = (*most).max(on.len());
                }
                Kind::WaveEnd => {
                    let on = self.now.entry(e.core).or_default();
                    if let Some(waves) = on.get_mut(&group) {
                        *waves -= 1;
                        if *waves == 0 {
                            on.remove(&group);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

#[test]
fn rounds_are_what_the_dispatcher_does() {
    in_parallel(600, |n| {
        let setup = Setup::number(n * 7 + 3);
        let numbers: Vec<u16> = (0..60u64).map(|i| (i * 7919 + n * 104_729) as u16).collect();
        let job = job(&generate(&numbers), &setup, 0)?;
        let Launch::Groups(g) = job.launch else { return Err("not a launch of groups".into()) };
        let waves_per_group = g.waves(job.machine.core.lanes);
        let needs = Needs { waves_per_group, vgprs: g.vgprs, sgprs: g.sgprs, lds_bytes: g.lds_bytes };
        let per_core = job.machine.occupancy(needs).groups_per_core as usize;
        let places = per_core * job.machine.cores as usize;
        let mut seen = Residents { waves_per_group, places, ..Residents::default() };
        job.run(RunOptions::default(), Some(&mut seen)).map_err(|e| format!("{e:?}"))?;
        // Groups whose last waves are still there may share a core with one that already took their slots.
        let fits = seen.most.values().all(|&m| m < per_core + waves_per_group as usize);
        // When a later group starts, at least one place has become free: fewer than all places are taken by others.
        let waits = seen.at_start.is_none_or(|others| others < places + waves_per_group as usize - 1);
        let full = g.count as usize <= places || seen.most.values().sum::<usize>() >= places;
        if fits && waits && full {
            Ok(())
        } else {
            Err(format!(
                "case {n} on {setup}: {per_core} groups per core, seen {:?} of {}",
                seen.most, g.count
            ))
        }
    });
}
