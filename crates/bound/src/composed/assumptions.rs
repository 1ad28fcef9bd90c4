//! What a hybrid bound by own time and waits rests on, in words.

use super::launch::ComposedLaunch;
use crate::kernel::AnalysedKernel;
use wb_facts::Origin;

/// `behind`: the runs; `heaviest`: the bound if every wave took its heaviest way.
pub(super) fn list<'a>(
    kernel: &AnalysedKernel,
    behind: &str,
    heaviest: Option<u64>,
    launches: impl Iterator<Item = &'a ComposedLaunch>,
) -> Vec<String> {
    let mut taken = (0, 0);
    let mut limits = Vec::new();
    for launch in launches {
        taken = (taken.0.max(launch.taken.0), taken.1.max(launch.taken.1));
        for l in launch.limits.iter().filter(|l| l.origin != Origin::Proved) {
            let said =
                if l.origin == Origin::Observed { "observed, not proven" } else { "said by the facts file" };
            let place = kernel.place(l.header);
            let line = format!("the loop at {place} goes round at most {} times: {said}", l.max);
            if !limits.contains(&line) {
                limits.push(line);
            }
        }
    }
    let heaviest =
        heaviest.map_or(String::new(), |h| format!(" ({h} cycles if each takes its heaviest way)"));
    let mut list = vec![
        "own times and waits are MEASURED: the mean own time of each step from block to block, and the longest wait of a group, are the longest there are (hybrid analysis); every way is covered, each group may take the longest. That is:".to_owned(),
        format!(
            "inputs: no other data make a step take longer alone, on average, than in {behind}; latencies are the machine's. {} of {} steps were taken; the others cost what the latencies give, with every load missing and every lane in a line of its own",
            taken.0, taken.1
        ),
        "addresses: no other accesses of a step touch more cache lines, miss more often or meet more in a bank, on average, than in the runs".to_owned(),
        format!(
            "co-runners: no other waves make a group wait longer (for issue, units, ports, memory, first touches of lines, barriers) than the one that waited longest in the runs; all waves together ask for no more than in them{heaviest}"
        ),
        "a group starts as soon as a core has room for it; caches are empty and nothing is under way when a launch begins".to_owned(),
    ];
    list.extend(limits);
    list
}
