//! Takes the times of a run. Every path of a wave has a clock that never stops: its time at a point is the end of one
//! edge and the start of the next, a new path goes on with its parent's clock, and where paths merge the later one's
//! is kept. So a wave's time is exactly a sum of edges, along the path that was last each time.

use super::plan::{END, Plan, START};
use super::row::{At, Row};
use super::times::{Stray, Times};
use super::watched::{Mixed, Seen};
use std::collections::BTreeSet;
use wb_isa::{NO_PC, Pc};
use wb_trace::{Event, Kind, NO_PATH, Observer, RefusedReason, TraceInfo};

pub(super) const NONE: u32 = u32::MAX;

/// One path of a wave.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    /// The point it passed last, when it left it, and the piece it entered next.
    pub node: usize,
    pub stamp: u64,
    pub via: u32,
    pub piece: u32,
    pub last_issue: u64,
    last_pc: Pc,
    /// Has not issued anything since it was born.
    pub fresh: bool,
    /// The branch it was split off at, until it enters a piece: its parent has passed that for both.
    born: Pc,
    /// Rounds of each loop since it was entered.
    pub rounds: Vec<u64>,
    /// Points that lanes of this path passed before they merged into it between two points, with time and next piece:
    /// their way goes on here, too, and is measured.
    others: Vec<(usize, u64, u32)>,
    /// What it did at each branch with a homogeneous mask.
    pub(super) masks: Vec<Seen>,
    /// Its number in trace files, where none is used twice in a wave, and its last row.
    name: u32,
    row: usize,
}

impl Clock {
    /// The wave took its slot.
    pub fn start(plan: &Plan, cycle: u64) -> Clock {
        Clock {
            node: START,
            stamp: cycle,
            via: NONE,
            piece: NONE,
            last_issue: cycle,
            last_pc: NO_PC,
            fresh: false,
            born: NO_PC,
            rounds: vec![0; plan.loops.len()],
            others: Vec::new(),
            masks: vec![Seen::default(); plan.watched.len()],
            name: 0,
            row: 0,
        }
    }

    /// Both go on as one, under the name of this: what either passed last is measured to the next point.
    pub fn join(self, from: Clock) -> Clock {
        let (name, row) = (self.name, self.row);
        let last_issue = self.last_issue.max(from.last_issue);
        let (mut kept, earlier) = match (from.stamp, from.last_issue) > (self.stamp, self.last_issue) {
            true => (from, self),
            false => (self, from),
        };
        // Both ways go on here: the limit of a loop must hold for the one that went round more often.
        for (rounds, other) in kept.rounds.iter_mut().zip(&earlier.rounds) {
            *rounds = (*rounds).max(*other);
        }
        for (seen, other) in kept.masks.iter_mut().zip(&earlier.masks) {
            seen.ran_first |= other.ran_first;
        }
        let own = (earlier.node, earlier.stamp, earlier.via);
        for (node, stamp, via) in std::iter::once(own).chain(earlier.others) {
            let same = |o: &&mut (usize, u64, u32)| o.0 == node && o.2 == via;
            if (node, via) == (kept.node, kept.via) {
                kept.stamp = kept.stamp.max(stamp);
            } else if let Some(other) = kept.others.iter_mut().find(same) {
                other.1 = other.1.max(stamp);
            } else {
                kept.others.push((node, stamp, via));
            }
        }
        // It has passed the point it stands at.
        Clock { name, row, last_issue, fresh: true, ..kept }
    }
}

#[derive(Default)]
struct Wave {
    start: u64,
    issued: bool,
    paths: Vec<Option<Clock>>,
    /// The path that issued last: the parent of one that is born.
    last: u16,
    /// Paths that ended without merging; the wave ends later.
    ended: Vec<(u16, Clock)>,
    /// Paths it has had.
    names: u32,
}

/// An observer that fills [`Times`].
pub struct Meter<'a> {
    pub(super) plan: &'a Plan,
    /// Piece that begins at each pc.
    pub(super) pieces: Vec<u32>,
    /// Edges by node they leave: (via, to, edge).
    edges: Vec<Vec<(u32, u32, u32)>>,
    /// Loops by header piece, and by every piece in them.
    pub(super) headers: Vec<Vec<u32>>,
    pub(super) around: Vec<Vec<u32>>,
    /// Divergent branches that are points.
    pub(super) branches: BTreeSet<Pc>,
    waves: Vec<Option<Box<Wave>>>,
    pub times: Times,
    /// Filled when rows are kept.
    pub rows: Option<Vec<Row>>,
    /// Number of the first run in the rows.
    first_run: u32,
    /// The run that is measured, counted from the first of [`Meter::times`].
    pub(super) run: u32,
}

impl<'a> Meter<'a> {
    pub fn new(plan: &'a Plan) -> Meter<'a> {
        let size = plan.pieces.iter().map(|p| p.first as usize + 1).max().unwrap_or(0);
        let mut pieces = vec![NONE; size];
        for (i, p) in plan.pieces.iter().enumerate() {
            pieces[p.first as usize] = i as u32;
        }
        let mut edges = vec![Vec::new(); plan.nodes.len()];
        for (i, e) in plan.edges.iter().enumerate() {
            edges[e.from].push((e.via.map_or(NONE, |v| v as u32), e.to as u32, i as u32));
        }
        let mut headers = vec![Vec::new(); plan.pieces.len()];
        let mut around = vec![Vec::new(); plan.pieces.len()];
        for (i, l) in plan.loops.iter().enumerate() {
            for &p in &l.pieces {
                around[p].push(i as u32);
            }
            if let Some(p) = plan.piece_at(l.header) {
                headers[p].push(i as u32);
            }
        }
        let branches = plan.regions.iter().map(|r| r.branch).collect();
        Meter {
            branches,
            plan,
            pieces,
            edges,
            headers,
            around,
            waves: Vec::new(),
            times: Times::new(plan),
            rows: None,
            first_run: 0,
            run: 0,
        }
    }

    /// Keeps a row for every point a path passes; runs are numbered from `first_run`. With a point at every block, the
    /// rows say all there is to know ([`Times::from_rows`]).
    pub fn with_rows(mut self, first_run: u32) -> Self {
        self.rows = Some(Vec::new());
        self.first_run = first_run;
        self
    }

    /// The path is at `node`: an edge ends at `cycle`.
    fn pass(&mut self, clock: &mut Clock, node: usize, cycle: u64, wave: u32) {
        self.record(clock.node, clock.via, node, cycle, clock.stamp, wave);
        for (from, stamp, via) in std::mem::take(&mut clock.others) {
            self.record(from, via, node, cycle, stamp, wave);
        }
        (clock.node, clock.stamp, clock.via) = (node, cycle, NONE);
        self.row(clock, wave);
    }

    fn record(&mut self, from: usize, via: u32, to: usize, cycle: u64, stamp: u64, wave: u32) {
        match self.edges[from].iter().find(|e| e.0 == via && e.1 == to as u32) {
            Some(&(_, _, edge)) => {
                let cycles = cycle.saturating_sub(stamp);
                self.times.record(edge as usize, cycles, self.run, wave)
            }
            None => self.stray(self.plan.nodes[from], self.plan.nodes[to], wave),
        }
    }

    /// Notes the point that the path passed last.
    fn row(&mut self, clock: &mut Clock, wave: u32) {
        let Some(rows) = &mut self.rows else { return };
        let at = match clock.node {
            START => At::Start,
            END => At::End,
            node => At::Pc(self.plan.nodes[node]),
        };
        let (run, cycle) = (self.first_run + self.times.runs.saturating_sub(1), clock.stamp);
        clock.row = rows.len();
        rows.push(Row { run, group: 0, wave, path: clock.name, at, cycle, leave: cycle, into: None });
    }

    fn stray(&mut self, from: Pc, to: Pc, wave: u32) {
        self.times.stray.get_or_insert(Stray { from, to, wave });
    }

    /// The path issues the first instruction of a piece.
    pub(super) fn enter(&mut self, clock: &mut Clock, piece: u32, cycle: u64, wave: u32) {
        let before = std::mem::replace(&mut clock.piece, piece);
        if before != NONE {
            let from = &self.plan.pieces[before as usize];
            match from.succs.iter().position(|&s| s == piece as usize) {
                Some(i) => self.times.taken[before as usize][i] += 1,
                None => self.stray(from.last, self.plan.pieces[piece as usize].first, wave),
            }
            self.leave(clock, before as usize, Some(piece as usize));
            self.watch_step(clock, (before as usize, piece as usize), cycle, wave);
        }
        if clock.via == NONE {
            clock.via = piece;
        }
        for other in clock.others.iter_mut().filter(|o| o.2 == NONE) {
            other.2 = piece;
        }
        for &l in &self.headers[piece as usize] {
            let l = l as usize;
            let again = before != NONE && self.plan.loops[l].pieces.contains(&(before as usize));
            clock.rounds[l] = if again { clock.rounds[l] + 1 } else { 0 };
        }
        if let Some(node) = self.plan.pieces[piece as usize].node {
            self.pass(clock, node, cycle, wave);
        }
    }

    /// Notes how often the loops that end with this step went round.
    pub(super) fn leave(&mut self, clock: &Clock, from: usize, to: Option<usize>) {
        for &l in &self.around[from] {
            let l = l as usize;
            if to.is_none_or(|to| !self.plan.loops[l].pieces.contains(&to)) {
                let rounds = clock.rounds[l];
                let (least, most) = self.times.rounds[l].unwrap_or((rounds, rounds));
                self.times.rounds[l] = Some((least.min(rounds), most.max(rounds)));
            }
        }
    }

    /// The path ends.
    pub(super) fn finish(&mut self, mut clock: Clock, cycle: u64, wave: u32) {
        if clock.piece != NONE {
            self.leave(&clock, clock.piece as usize, None);
        }
        self.pass(&mut clock, END, cycle, wave);
    }

    fn issue(&mut self, event: &Event) {
        self.times.instructions += 1;
        let Some(Some(wave)) = self.waves.get_mut(event.wave as usize) else { return };
        if !wave.issued {
            wave.issued = true;
            self.times.start_delay = self.times.start_delay.max(event.cycle - wave.start);
            self.times.last_start = self.times.last_start.max(event.cycle);
        }
        wave.last = event.path;
        let Some(Some(clock)) = wave.paths.get_mut(usize::from(event.path)) else { return };
        (clock.last_issue, clock.last_pc) = (event.cycle, event.pc);
        if !self.plan.watched.is_empty() {
            let mixed = self.plan.watch_mask(clock, event);
            self.times.mixed = self.times.mixed.or(mixed);
        }
        let fresh = std::mem::replace(&mut clock.fresh, false);
        let piece = self.pieces.get(event.pc as usize).copied().unwrap_or(NONE);
        // A new path may begin with the very branch its parent has passed.
        if piece == NONE || fresh && clock.piece == piece {
            return;
        }
        let again = std::mem::replace(&mut clock.born, NO_PC) == event.pc;
        if !fresh && !again && self.branches.contains(&event.pc) {
            *self.times.passed.entry(event.pc).or_default() += 1;
        }
        if let Some(mut clock) = self.take(event.wave, event.path) {
            self.enter(&mut clock, piece, event.cycle, event.wave);
            self.put(event.wave, event.path, clock);
        }
    }

    fn put(&mut self, wave: u32, path: u16, clock: Clock) {
        if let Some(Some(wave)) = self.waves.get_mut(wave as usize) {
            let path = usize::from(path);
            if wave.paths.len() <= path {
                wave.paths.resize(path + 1, None);
            }
            wave.paths[path] = Some(clock);
        }
    }

    fn take(&mut self, wave: u32, path: u16) -> Option<Clock> {
        self.waves.get_mut(wave as usize)?.as_mut()?.paths.get_mut(usize::from(path))?.take()
    }

    /// A path is born of the one that issued last in its wave.
    fn born(&mut self, event: &Event) {
        let Some(Some(wave)) = self.waves.get_mut(event.wave as usize) else { return };
        let Some(Some(parent)) = wave.paths.get(usize::from(wave.last)) else { return };
        wave.names += 1;
        let branch = self.plan.branch_at(parent.last_pc);
        let mut clock = Clock { fresh: true, born: branch, name: wave.names, ..parent.clone() };
        let paths = wave.paths.iter().flatten().count() as u32 + 1;
        let start = event.cycle - wave.start;
        let latest = self.times.child_start.entry(branch).or_default();
        *latest = (*latest).max(start);
        *self.times.split_at.entry(branch).or_default() += 1;
        if self.plan.watched.iter().any(|w| w.branch == branch) {
            self.times.mixed.get_or_insert(Mixed {
                branch,
                wave: event.wave,
                cycle: event.cycle,
                side: None,
            });
        }
        self.times.splits += 1;
        self.times.most_paths = self.times.most_paths.max(paths);
        self.row(&mut clock, event.wave);
        self.put(event.wave, event.path, clock);
    }

    /// Path `event.path` goes on as part of `into`, at `event.pc`.
    fn merge(&mut self, event: &Event, into: u16) {
        let (Some(mut from), Some(mut to)) = (self.take(event.wave, event.path), self.take(event.wave, into))
        else {
            return;
        };
        let piece = self.pieces.get(event.pc as usize).copied().unwrap_or(NONE);
        if piece != NONE {
            for clock in [&mut from, &mut to] {
                let there = clock.fresh && clock.piece == piece || clock.last_pc == event.pc;
                if !there {
                    self.enter(clock, piece, clock.last_issue, event.wave);
                }
            }
        }
        let (ended, same) = (from.row, from.node == to.node);
        let kept = to.join(from);
        if let Some(rows) = &mut self.rows {
            rows[ended].into = Some(kept.name);
            if same {
                rows[kept.row].leave = kept.stamp;
            }
        }
        self.put(event.wave, into, kept);
    }

    fn end(&mut self, event: &Event) {
        let Some(mut wave) = self.waves.get_mut(event.wave as usize).and_then(Option::take) else { return };
        self.times.waves += 1;
        self.times.longest_wave = self.times.longest_wave.max(event.cycle - wave.start);
        let last = wave.paths.get_mut(usize::from(event.path)).and_then(Option::take);
        let last = last.or_else(|| {
            let at = wave.ended.iter().rposition(|(p, _)| *p == event.path)?;
            Some(wave.ended.remove(at).1)
        });
        if let Some(clock) = last {
            self.finish(clock, event.cycle, event.wave);
        }
        for (_, clock) in wave.ended {
            let cycle = clock.last_issue;
            self.finish(clock, cycle, event.wave);
        }
    }
}

impl Observer for Meter<'_> {
    fn begin(&mut self, _info: &TraceInfo) {
        self.times.runs += 1;
    }

    fn events(&mut self, batch: &[Event]) {
        for event in batch {
            match event.kind {
                Kind::Issue { .. } => self.issue(event),
                Kind::WaveStart { .. } => {
                    let mut clock = Clock::start(self.plan, event.cycle);
                    self.row(&mut clock, event.wave);
                    let wave = Wave { start: event.cycle, paths: vec![Some(clock)], ..Wave::default() };
                    let at = event.wave as usize;
                    if self.waves.len() <= at {
                        self.waves.resize_with(at + 1, || None);
                    }
                    self.waves[at] = Some(Box::new(wave));
                }
                Kind::PathStart { .. } => self.born(event),
                Kind::PathEnd { into: NO_PATH } => {
                    let clock = self.take(event.wave, event.path);
                    if let (Some(Some(wave)), Some(clock)) = (self.waves.get_mut(event.wave as usize), clock)
                    {
                        wave.ended.push((event.path, clock));
                    }
                }
                Kind::PathEnd { into } => self.merge(event, into),
                Kind::SplitRefused { reason, .. } => {
                    *self.times.refused.entry(reason).or_default() += 1;
                    // A `split` stands right before its branch.
                    if reason == RefusedReason::NoContext {
                        let branch = self.plan.branch_at(event.pc);
                        *self.times.refused_no_context.entry(branch).or_default() += 1;
                    }
                }
                Kind::WaveEnd => self.end(event),
                _ => {}
            }
        }
    }

    fn end(&mut self, cycles: u64) {
        self.times.longest_run = self.times.longest_run.max(cycles);
    }
}
