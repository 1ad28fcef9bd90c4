//! Follows the waves of a run: which steps from block to block each took, how long they would have taken alone, when the wave ended and
//! where it was, and what its memory instructions found.

use std::collections::BTreeMap;
use wb_isa::Pc;
use wb_isa::gcn3::isa::Gcn3;
use wb_program::Program;
use wb_proved::{Alone, Did, Measurements, Replay, Seen, Used, Weights};
use wb_trace::{Event, Kind, Observer, PortKind};

const NONE: u32 = u32::MAX;

/// A wave of a run.
#[derive(Default)]
pub(super) struct WaveWay {
    /// Block it is in; how often it took each step.
    at: u32,
    counts: Vec<u32>,
    pub core: usize,
    pub slot: usize,
    pub end: u64,
    /// The same wave alone, as long as it runs; when it entered its block; the instruction that it issued last.
    alone: Option<Box<Replay>>,
    entered: u64,
    last: Option<Did>,
}

/// An observer that keeps the ways of all waves.
pub(crate) struct Ways<'a> {
    program: &'a Program<Gcn3>,
    machine: Alone<'a, Gcn3>,
    /// Block that begins at each pc.
    first: Vec<u32>,
    /// Steps out of each block: where they lead (`NONE`: the end), their number.
    out: Vec<Vec<(u32, u32)>>,
    /// Steps by number; own times and how often they were taken.
    steps: Vec<(usize, Option<usize>)>,
    own: Vec<(u64, u64)>,
    pub(super) waves: Vec<WaveWay>,
    seen: Vec<Seen>,
    /// A step was taken that the graph does not have, or a wave split.
    pub(super) lost: bool,
}

impl<'a> Ways<'a> {
    pub fn new(program: &'a Program<Gcn3>, machine: Alone<'a, Gcn3>) -> Ways<'a> {
        let cfg = &program.cfg;
        let mut first = vec![NONE; program.ops.len()];
        let mut out = vec![Vec::new(); cfg.blocks.len()];
        let mut steps = Vec::new();
        for (b, block) in cfg.blocks.iter().enumerate() {
            if let Some(place) = first.get_mut(block.first as usize) {
                *place = b as u32;
            }
            let ways = block.succs.iter().map(|&s| (s as u32, Some(s)));
            let end = block.succs.is_empty().then_some((NONE, None));
            for (to, step) in ways.chain(end) {
                out[b].push((to, steps.len() as u32));
                steps.push((b, step));
            }
        }
        let (seen, own) = (vec![Seen::default(); program.ops.len()], vec![(0, 0); steps.len()]);
        Ways { program, machine, first, out, steps, own, waves: Vec::new(), seen, lost: false }
    }

    /// What the run showed.
    pub fn measurements(&self) -> Measurements {
        let seen = self.seen.iter().enumerate().filter(|s| s.1.executions > 0);
        let own: BTreeMap<_, _> = self.steps.iter().copied().zip(self.own.iter().copied()).collect();
        Measurements { seen: seen.map(|(pc, s)| (pc as Pc, *s)).collect(), own }
    }

    /// Steps that a wave took, and all of blocks that can be reached.
    pub(super) fn taken(&self) -> (usize, usize) {
        let cfg = &self.program.cfg;
        let reached = cfg.reachable(cfg.block_at(self.program.entry));
        let all = self.steps.iter().zip(&self.own).filter(|s| reached.contains(&s.0.0));
        all.fold((0, 0), |sum, s| (sum.0 + usize::from(s.1.1 > 0), sum.1 + 1))
    }

    /// What each step weighs.
    pub(super) fn prices(&self, weights: &Weights) -> Vec<u64> {
        let price = |step: &(usize, Option<usize>)| {
            let block = weights.blocks.get(&step.0).copied().unwrap_or(0);
            block.saturating_add(weights.edges.get(step).copied().unwrap_or(0))
        };
        self.steps.iter().map(price).collect()
    }

    /// The instruction at `pc` issues (none: the wave ends), so it is known where the one before led.
    fn issue(&mut self, wave: u32, pc: Option<Pc>) {
        let Some(way) = self.waves.get_mut(wave as usize) else { return };
        let Some(alone) = &mut way.alone else { return };
        if let Some(did) = way.last.take() {
            let next = self.program.flow.next.get(did.pc as usize).copied();
            self.machine.step(alone, did, pc.is_none() || pc == next);
        }
        way.last = pc.map(|pc| Did { pc, ..Did::default() });
        let to = match pc {
            None => NONE,
            Some(pc) => match self.first.get(pc as usize) {
                None | Some(&NONE) => return,
                Some(&block) => block,
            },
        };
        let now = if pc.is_some() { alone.now() } else { alone.end() };
        let since = std::mem::replace(&mut way.entered, now);
        let from = std::mem::replace(&mut way.at, to);
        if from == NONE {
            return;
        }
        match self.out[from as usize].iter().find(|s| s.0 == to) {
            Some(&(_, step)) => {
                way.counts[step as usize] += 1;
                let own = &mut self.own[step as usize];
                *own = (own.0 + now.saturating_sub(since), own.1 + 1);
            }
            None => self.lost = true,
        }
    }

    fn start(&mut self, event: &Event) {
        let number = event.wave as usize;
        if self.waves.len() <= number {
            self.waves.resize_with(number + 1, WaveWay::default);
        }
        self.waves[number] = WaveWay {
            at: NONE,
            counts: vec![0; self.steps.len()],
            core: event.core.into(),
            slot: event.slot.into(),
            alone: Some(Box::new(self.machine.start())),
            ..WaveWay::default()
        };
    }
}

impl WaveWay {
    /// The weight of its way.
    pub fn weight(&self, prices: &[u64]) -> u128 {
        self.counts.iter().zip(prices).map(|(&n, &p)| u128::from(n) * u128::from(p)).sum()
    }
}

impl Observer for Ways<'_> {
    fn wants_code(&self) -> bool {
        false
    }

    fn events(&mut self, batch: &[Event]) {
        for event in batch {
            match event.kind {
                Kind::WaveStart { .. } => self.start(event),
                Kind::Issue { busy, .. } => {
                    self.issue(event.wave, Some(event.pc));
                    if let Some(did) = self.waves.get_mut(event.wave as usize).and_then(|w| w.last.as_mut()) {
                        did.busy = busy.into();
                    }
                }
                Kind::Memory { port, write, lines, misses, done, .. } => {
                    let last = self.waves.get_mut(event.wave as usize).and_then(|w| w.last.as_mut());
                    let (Some(did), Some(seen)) = (last, self.seen.get_mut(event.pc as usize)) else {
                        continue;
                    };
                    did.used = match (port, write, misses) {
                        (PortKind::Lds, ..) => Used::Local,
                        (_, true, _) => Used::Store,
                        (_, false, 0) => Used::Hit,
                        (_, false, _) => Used::Miss,
                    };
                    did.lines = lines.into();
                    did.took = Some(done.saturating_sub(event.cycle));
                    seen.executions += 1;
                    seen.local += u64::from(did.used == Used::Local);
                    seen.wrote += u64::from(write);
                    seen.missed += u64::from(did.used == Used::Miss);
                    seen.lines += u64::from(lines);
                    seen.busy += did.busy;
                }
                Kind::WaveEnd => {
                    self.issue(event.wave, None);
                    if let Some(way) = self.waves.get_mut(event.wave as usize) {
                        (way.end, way.alone) = (event.cycle, None);
                    }
                }
                Kind::PathStart { .. } => self.lost = true,
                _ => {}
            }
        }
    }
}
