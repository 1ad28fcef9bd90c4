//! What was measured: the longest time of every edge over all waves, paths, runs and inputs, how often each way was
//! taken, and how often loops went round. Results of several runs add up.

use super::plan::Plan;
use super::watched::Mixed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wb_isa::Pc;
use wb_trace::RefusedReason;

/// Times of one edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeTime {
    pub max: u64,
    pub count: u64,
    pub sum: u64,
    /// Run and wave of the longest.
    pub run: u32,
    pub wave: u32,
}

/// Control flow that the graph does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stray {
    pub from: Pc,
    pub to: Pc,
    pub wave: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// As [`Plan::edges`].
    pub edges: Vec<EdgeTime>,
    /// How often each successor of each piece was taken.
    pub taken: Vec<Vec<u64>>,
    /// Fewest and most rounds of each loop ([`Plan::loops`]) for one entry; `None` = never entered.
    pub rounds: Vec<Option<(u64, u64)>>,
    pub runs: u32,
    pub waves: u64,
    /// Longest wave, from its slot to its end, and longest launch.
    pub longest_wave: u64,
    pub longest_run: u64,
    /// Longest time from the slot to the first instruction.
    pub start_delay: u64,
    /// Latest first instruction of a wave, counted from the launch.
    pub last_start: u64,
    /// Latest start of a path by the branch it was split off at, counted from the wave's slot.
    pub child_start: BTreeMap<Pc, u64>,
    pub splits: u64,
    /// How often each divergent branch was passed, new paths not counted, and how often the wave split there.
    pub passed: BTreeMap<Pc, u64>,
    pub split_at: BTreeMap<Pc, u64>,
    pub refused: BTreeMap<RefusedReason, u64>,
    /// Branches at which no context was left for a split, and how often.
    pub refused_no_context: BTreeMap<Pc, u64>,
    /// Most paths of a wave at once.
    pub most_paths: u32,
    pub stray: Option<Stray>,
    /// The first path that showed a mask not to be what was said of it.
    pub mixed: Option<Mixed>,
    /// Instructions issued.
    pub instructions: u64,
    /// Pairs of points between which a trace file cannot tell ways apart.
    pub alike: usize,
}

impl Times {
    pub fn new(plan: &Plan) -> Times {
        Times {
            edges: vec![EdgeTime::default(); plan.edges.len()],
            taken: plan.pieces.iter().map(|p| vec![0; p.succs.len()]).collect(),
            rounds: vec![None; plan.loops.len()],
            ..Times::default()
        }
    }

    /// Adds what another run of the same plan measured.
    pub fn add(&mut self, more: &Times) {
        for (a, b) in self.edges.iter_mut().zip(&more.edges) {
            if b.count > 0 && (a.count == 0 || b.max > a.max) {
                (a.max, a.run, a.wave) = (b.max, b.run + self.runs, b.wave);
            }
            a.count += b.count;
            a.sum += b.sum;
        }
        for (a, b) in self.taken.iter_mut().flatten().zip(more.taken.iter().flatten()) {
            *a += b;
        }
        for (a, b) in self.rounds.iter_mut().zip(&more.rounds) {
            if let Some((least, most)) = *b {
                let before = a.unwrap_or((least, most));
                *a = Some((before.0.min(least), before.1.max(most)));
            }
        }
        for (&reason, n) in &more.refused {
            *self.refused.entry(reason).or_default() += n;
        }
        for (&pc, n) in &more.refused_no_context {
            *self.refused_no_context.entry(pc).or_default() += n;
        }
        for (&pc, &start) in &more.child_start {
            let latest = self.child_start.entry(pc).or_default();
            *latest = (*latest).max(start);
        }
        for (own, more) in [(&mut self.passed, &more.passed), (&mut self.split_at, &more.split_at)] {
            for (&pc, n) in more {
                *own.entry(pc).or_default() += n;
            }
        }
        self.last_start = self.last_start.max(more.last_start);
        self.runs += more.runs;
        self.waves += more.waves;
        self.splits += more.splits;
        self.instructions += more.instructions;
        self.longest_wave = self.longest_wave.max(more.longest_wave);
        self.longest_run = self.longest_run.max(more.longest_run);
        self.start_delay = self.start_delay.max(more.start_delay);
        self.most_paths = self.most_paths.max(more.most_paths);
        self.alike = self.alike.max(more.alike);
        self.stray = self.stray.or(more.stray);
        self.mixed = self.mixed.or(more.mixed);
    }

    pub fn record(&mut self, edge: usize, cycles: u64, run: u32, wave: u32) {
        let e = &mut self.edges[edge];
        if e.count == 0 || cycles > e.max {
            (e.max, e.run, e.wave) = (cycles, run, wave);
        }
        e.count += 1;
        e.sum += cycles;
    }
}
