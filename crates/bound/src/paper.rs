//! Paper mode: what the documents' formulas give with the times of these runs, to the letter. They are not repaired;
//! some are below what a kernel can take (docs/wcet.md).

use crate::kernel::AnalysedKernel;
use crate::result::{LaunchRow, PaperRow};
use wb_wcet::Region;
use wb_wcet::kernel::{Composition, Launch, compose};
use wb_wcet::measure::{Measured, START, Times};
use wb_wcet::paper::{self, thesis::PathTime};
use wb_wcet::split;

/// One row for every published rule that can be computed; a rule that cannot says why.
pub fn rows(
    launch: &LaunchRow,
    kernel: &AnalysedKernel,
    measured: &Measured,
    times: &Times,
) -> Vec<PaperRow> {
    let machine = &kernel.machine;
    let contexts = u64::from(machine.split.contexts);
    let costs = (u64::from(machine.split.split_cycles), u64::from(machine.split.merge_cycles));
    let is_marked = |r: usize| kernel.splitting.sure.contains(&kernel.plan.regions[r].branch);
    // Branches that cannot be marked have no part in the formulas, and need not be nested in the others. The documents know no
    // region that ends with the kernel.
    let known = |r: usize| !kernel.plan.regions[r].ends && (kernel.plan.regions[r].markable || is_marked(r));
    let kept: Vec<&(usize, Region)> = measured.regions.iter().filter(|(r, _)| known(*r)).collect();
    let regions: Vec<Region> = kept.iter().map(|r| r.1.clone()).collect();
    let marked: Vec<bool> = kept.iter().map(|r| is_marked(r.0)).collect();
    // The start delay is a term of its own in the documents.
    let graph = &measured.model.graph;
    let delay = graph.edges.iter().filter(|e| e.from == START).map(|e| e.cost).max().unwrap_or(0);
    let base = Launch {
        groups: launch.groups,
        group_lanes: u64::from(launch.group_threads),
        wave_lanes: u64::from(machine.core.lanes),
        cores: u64::from(machine.cores),
        partitions: u64::from(machine.core.partitions),
        slots: u64::from(machine.core.waves / machine.core.partitions.max(1)),
        contexts,
        selected: None,
        delay,
        wave: 0,
        waves: Vec::new(),
    };
    let serial = split::longest(&measured.model).map(|l| l.saturating_sub(delay)).map_err(|e| e.to_string());
    let pws = paper::pws_wave(&measured.model, &regions, &marked, contexts, costs.0, costs.1)
        .map(|w| w.cycles.saturating_sub(delay))
        .map_err(|e| e.to_string());
    let dws = serial.clone().and_then(|l| {
        paper::lemmas::wave_dws(l, contexts, costs.0, costs.1)
            .ok_or_else(|| "more than 2^64 cycles".to_owned())
    });
    let paths =
        paper::thesis::thesis_paths(&measured.model, &regions, &marked, contexts).map_err(|e| e.to_string());
    let paths: Result<Vec<PathTime>, String> = paths.map(|paths| {
        let path = |p: &paper::thesis::ThesisPath| match p.from {
            None => PathTime { start: delay, cycles: p.cycles.saturating_sub(delay) },
            Some(region) => {
                let branch = kernel.plan.regions[kept[region].0].branch;
                PathTime { start: times.child_start.get(&branch).copied().unwrap_or(delay), cycles: p.cycles }
            }
        };
        paths.iter().map(path).collect()
    });
    let longest = |paths: &[PathTime]| paths.iter().map(|p| p.cycles).max().unwrap_or(0);
    let last = PathTime { start: times.last_start, cycles: serial.clone().unwrap_or(0) };
    let wave = |w: Result<u64, String>| w.map(|wave| (wave, Launch { wave, ..base.clone() }));
    let waves = |w: Result<Vec<PathTime>, String>| {
        w.map(|w| (longest(&w), Launch { waves: vec![w], ..base.clone() }))
    };
    let rules = [
        (Composition::None, "no splitting", "PWS section 5", wave(serial.clone())),
        (Composition::Pws, "PWS", "PWS lemmas 5.1 and 5.5", wave(pws)),
        (Composition::Dws, "DWS", "PWS lemma 5.7", wave(dws)),
        (Composition::ThesisParallel, "THESIS, parallel", "THESIS equation 5.4", waves(paths.clone())),
        (Composition::ThesisSerial, "THESIS, serialised", "THESIS equation 5.5", waves(paths)),
        (
            Composition::BettsDynamic,
            "Betts, dynamic",
            "THESIS 3.3.2",
            serial.clone().map(|l| (l, Launch { waves: vec![vec![last]], ..base.clone() })),
        ),
        (Composition::BettsHybrid, "Betts, hybrid", "THESIS 3.3.2", wave(serial)),
    ];
    rules
        .into_iter()
        .map(|(kind, rule, source, numbers)| {
            let found =
                numbers.and_then(|(wave, n)| Ok((wave, compose(kind, &n).map_err(|e| e.to_string())?)));
            let (wave, kernel, note) = match found {
                Ok((wave, bound)) => (wave, bound.cycles, String::new()),
                Err(why) => (0, 0, why),
            };
            PaperRow { rule: rule.into(), source: source.into(), wave, kernel, note }
        })
        .collect()
}
