//! Times from the rows of a trace file (docs/wcet-traces.md). Rows with a point at every block say as much as the run
//! itself, for any choice of points among theirs; of fewer points, ways between the same two cannot be told apart.

use super::meter::{Clock, Meter, NONE};
use super::plan::{END, Plan, START};
use super::row::{At, Row};
use super::times::Times;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;
use wb_isa::Pc;

/// What is wrong with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Wrong {
    #[error("it leaves in cycle {leave}, before it arrives in cycle {cycle}")]
    Leaves { cycle: u64, leave: u64 },
    #[error("it is there in cycle {cycle}, but left the point before in cycle {before}")]
    Backwards { before: u64, cycle: u64 },
    #[error("`start` must be the first row of a path, and of one path only")]
    SecondStart,
    #[error("the path has ended before")]
    AfterEnd,
    #[error("the path begins here, but no path of its wave leaves this point in cycle {cycle}")]
    NoStart { cycle: u64 },
    #[error("the path stops here in cycle {cycle}, and no path of its wave goes on from there")]
    Unfinished { cycle: u64 },
    #[error("the control-flow graph has no way to this point that passes no other")]
    Step { from: At, to: At },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("row {row}: {wrong}")]
pub struct RowError {
    /// From 0.
    pub row: usize,
    pub wrong: Wrong,
}

/// Time of each run, from its first start to its last end.
pub fn run_times(rows: &[Row]) -> BTreeMap<u32, u64> {
    let mut spans: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for row in rows {
        let span = spans.entry(row.run).or_insert((u64::MAX, 0));
        match row.at {
            At::Start => span.0 = span.0.min(row.cycle),
            At::End => span.1 = span.1.max(row.cycle),
            At::Pc(_) => {}
        }
    }
    spans.into_iter().map(|(run, (first, last))| (run, last.saturating_sub(first))).collect()
}

impl Times {
    /// Times of the plan's edges. `exact`: there is a row for the first instruction of every piece of the plan that was
    /// passed (and maybe for others); otherwise the points of the plan are those of the rows, and an edge stands for
    /// all ways between its two points.
    pub fn from_rows(plan: &Plan, rows: &[Row], exact: bool) -> Result<Times, RowError> {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&i| (rows[i].run, rows[i].group, rows[i].wave, rows[i].path));
        let mut ways: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (e, edge) in plan.edges.iter().enumerate() {
            ways.entry((edge.from, edge.to)).or_default().push(e);
        }
        let entry = plan.edges.iter().find(|e| e.from == START).and_then(|e| e.via);
        let first = entry.map(|p| At::Pc(plan.pieces[p].first));
        let mut starts: BTreeMap<u32, u64> = BTreeMap::new();
        for row in rows.iter().filter(|r| r.at == At::Start) {
            let start = starts.entry(row.run).or_insert(row.cycle);
            *start = (*start).min(row.cycle);
        }
        let mut reader = Reader {
            plan,
            rows,
            exact,
            meter: Meter::new(plan),
            ways,
            steps: BTreeMap::new(),
            entry: entry.filter(|_| !rows.iter().any(|r| Some(r.at) == first)),
            starts,
            last_of: plan.pieces.iter().map(|p| (p.block, p.last)).collect(),
        };
        let wave = |i: &usize| (rows[*i].run, rows[*i].group, rows[*i].wave);
        for wave in order.chunk_by(|a, b| wave(a) == wave(b)) {
            reader.wave(wave)?;
        }
        let runs = run_times(rows);
        let mut times = reader.meter.times;
        let branching = |steps: &Steps| steps.windows(2).any(|s| s[0].0 == s[1].0);
        times.alike = reader.steps.values().filter(|s| branching(s)).count();
        times.runs = runs.len() as u32;
        times.longest_run = runs.values().copied().max().unwrap_or(0);
        Ok(times)
    }
}

/// Steps from piece to piece (number of the successor), in order.
type Steps = Vec<(usize, usize)>;

struct Reader<'a> {
    plan: &'a Plan,
    rows: &'a [Row],
    exact: bool,
    meter: Meter<'a>,
    /// Edges by the points they join.
    ways: BTreeMap<(usize, usize), Vec<usize>>,
    /// Steps on the ways between two points, of those that were asked for.
    steps: BTreeMap<(usize, usize), Steps>,
    /// The entry, if the rows do not have it: its time is that of the start.
    entry: Option<usize>,
    /// First start of each run.
    starts: BTreeMap<u32, u64>,
    /// Last instruction of each block.
    last_of: BTreeMap<usize, Pc>,
}

/// The paths of a wave while its rows are read.
struct Paths<'a> {
    /// Rows of each path.
    rows: Vec<&'a [usize]>,
    /// Row to be read next of each path, whether it has arrived there, and its clock once it has begun.
    next: Vec<usize>,
    arrived: Vec<bool>,
    clocks: Vec<Option<Clock>>,
    /// Paths that begin with a point and cycle.
    begin: BTreeMap<(At, u64), Vec<usize>>,
    /// Path and row that a path goes on with when it has ended.
    goes_on: BTreeMap<usize, (usize, usize)>,
    /// How many paths end at a row, and the clocks of those that have.
    ending: BTreeMap<usize, usize>,
    ended: BTreeMap<usize, Vec<Clock>>,
    work: Vec<usize>,
}

impl<'a> Reader<'a> {
    fn wrong(&self, row: usize, wrong: Wrong) -> RowError {
        RowError { row, wrong }
    }

    /// Reads the rows of one wave: its paths as far as they can go without the others, until all have ended.
    fn wave(&mut self, list: &[usize]) -> Result<(), RowError> {
        self.meter.run = self.rows[list[0]].run;
        let mut paths = self.paths(list)?;
        while let Some(p) = paths.work.pop() {
            if let Some(clock) = paths.clocks[p].take() {
                self.follow(&mut paths, p, clock)?;
            }
        }
        // Whoever could not begin or end waits for something that never comes.
        if let Some(&path) = paths.begin.values().flatten().min() {
            let row = paths.rows[path][0];
            return Err(self.wrong(row, Wrong::NoStart { cycle: self.rows[row].cycle }));
        }
        if let Some(p) = paths.clocks.iter().position(Option::is_some) {
            let row = paths.rows[p][paths.next[p]];
            return Err(self.wrong(row, Wrong::Unfinished { cycle: self.rows[row].cycle }));
        }
        self.count(&paths);
        Ok(())
    }

    /// Sorts out the rows of a wave: who begins and who ends where.
    fn paths<'b>(&self, list: &'b [usize]) -> Result<Paths<'b>, RowError> {
        let rows: Vec<&[usize]> = list.chunk_by(|a, b| self.rows[*a].path == self.rows[*b].path).collect();
        let n = rows.len();
        let mut paths = Paths {
            next: vec![0; n],
            arrived: vec![false; n],
            clocks: vec![None; n],
            begin: BTreeMap::new(),
            goes_on: BTreeMap::new(),
            ending: BTreeMap::new(),
            ended: BTreeMap::new(),
            work: Vec::new(),
            rows,
        };
        for (p, list) in paths.rows.iter().enumerate() {
            self.in_order(list)?;
            let first = self.rows[list[0]];
            match first.at {
                At::Start if paths.work.is_empty() => {
                    paths.clocks[p] = Some(Clock::start(self.plan, first.cycle));
                    paths.work.push(p);
                }
                At::Start => return Err(self.wrong(list[0], Wrong::SecondStart)),
                At::End => return Err(self.wrong(list[0], Wrong::NoStart { cycle: first.cycle })),
                At::Pc(_) => paths.begin.entry((first.at, first.cycle)).or_default().push(p),
            }
        }
        self.match_ends(&mut paths)?;
        Ok(paths)
    }

    fn in_order(&self, list: &[usize]) -> Result<(), RowError> {
        for (i, &at) in list.iter().enumerate() {
            let row = self.rows[at];
            if row.leave < row.cycle {
                let Row { cycle, leave, .. } = row;
                return Err(self.wrong(at, Wrong::Leaves { cycle, leave }));
            }
            let Some(before) = i.checked_sub(1).map(|b| self.rows[list[b]]) else { continue };
            if before.at == At::End {
                return Err(self.wrong(at, Wrong::AfterEnd));
            }
            if row.at == At::Start {
                return Err(self.wrong(at, Wrong::SecondStart));
            }
            if row.cycle < before.leave {
                return Err(self.wrong(at, Wrong::Backwards { before: before.leave, cycle: row.cycle }));
            }
        }
        Ok(())
    }

    /// A path that does not come to the end goes on as another one, which leaves the same point no earlier.
    fn match_ends(&self, paths: &mut Paths) -> Result<(), RowError> {
        let last = |list: &[usize]| list[list.len() - 1];
        let ends = |list: &[usize]| self.rows[last(list)].at == At::End;
        if paths.rows.iter().all(|list| ends(list)) {
            return Ok(());
        }
        // By point, in the order in which paths leave it. Where one ends it may become part of another, too, at once.
        let mut left: BTreeMap<At, Vec<(u64, usize, usize)>> = BTreeMap::new();
        for (p, list) in paths.rows.iter().enumerate() {
            for &row in *list {
                left.entry(self.rows[row].at).or_default().push((self.rows[row].leave, p, row));
            }
        }
        left.values_mut().for_each(|rows| rows.sort_unstable());
        for p in 0..paths.rows.len() {
            let list = paths.rows[p];
            if ends(list) {
                continue;
            }
            let row = self.rows[last(list)];
            let there = left.get(&row.at).map_or(&[][..], |rows| {
                let from = rows.partition_point(|r| r.0 < row.cycle);
                &rows[from..]
            });
            let fits = |&&(_, q, r): &&(u64, usize, usize)| {
                q != p
                    && match row.into {
                        Some(into) => self.rows[r].path == into,
                        None => last(paths.rows[q]) != r,
                    }
            };
            match there.iter().find(fits) {
                Some(&(_, q, at)) => {
                    paths.goes_on.insert(p, (q, at));
                    *paths.ending.entry(at).or_default() += 1;
                }
                None => return Err(self.wrong(last(list), Wrong::Unfinished { cycle: row.cycle })),
            }
        }
        Ok(())
    }

    /// Reads rows of a path until it ends or has to wait for one that ends here.
    fn follow(&mut self, paths: &mut Paths, p: usize, mut clock: Clock) -> Result<(), RowError> {
        loop {
            let at = paths.rows[p][paths.next[p]];
            let row = self.rows[at];
            if !paths.arrived[p] {
                self.arrive(paths, p, &mut clock, at)?;
                paths.arrived[p] = true;
                if row.leave > row.cycle {
                    self.begin(paths, (row.at, row.cycle), &clock);
                }
            }
            let ended = paths.ended.get(&at).map_or(0, Vec::len);
            if paths.ending.get(&at).is_some_and(|&n| ended < n) {
                paths.clocks[p] = Some(clock);
                return Ok(());
            }
            for other in paths.ended.remove(&at).unwrap_or_default() {
                clock = clock.join(other);
                clock.fresh = false;
            }
            paths.ending.remove(&at);
            if self.node(row.at) == Some(clock.node) {
                clock.stamp = clock.stamp.max(row.leave);
            }
            self.begin(paths, (row.at, row.leave), &clock);
            paths.next[p] += 1;
            paths.arrived[p] = false;
            if paths.next[p] < paths.rows[p].len() {
                continue;
            }
            if let Some(&(q, at)) = paths.goes_on.get(&p) {
                paths.ended.entry(at).or_default().push(clock);
                paths.work.push(q);
            }
            return Ok(());
        }
    }

    /// Paths that were split off here.
    fn begin(&mut self, paths: &mut Paths, at: (At, u64), clock: &Clock) {
        for child in paths.begin.remove(&at).unwrap_or_default() {
            let clock = paths.clocks[child].insert(clock.clone());
            clock.fresh = true;
            paths.arrived[child] = true;
            paths.work.push(child);
        }
    }

    fn node(&self, at: At) -> Option<usize> {
        match at {
            At::Start => Some(START),
            At::End => Some(END),
            At::Pc(pc) => self.plan.node_at(pc),
        }
    }

    /// The path is at the point of a row.
    fn arrive(&mut self, paths: &Paths, p: usize, clock: &mut Clock, at: usize) -> Result<(), RowError> {
        let row = self.rows[at];
        let fresh = std::mem::replace(&mut clock.fresh, false);
        clock.last_issue = row.cycle;
        match row.at {
            At::Start => {
                if let Some(entry) = self.entry {
                    self.meter.enter(clock, entry as u32, row.leave, row.wave);
                }
            }
            At::End if self.exact => self.meter.finish(clock.clone(), row.cycle, row.wave),
            At::Pc(pc) if self.exact => {
                let piece = self.meter.pieces.get(pc as usize).copied().unwrap_or(NONE);
                if piece != NONE {
                    self.meter.enter(clock, piece, row.cycle, row.wave);
                }
            }
            _ => self.step(clock, at)?,
        }
        if let (Some(_), Some(before)) = (self.meter.times.stray, paths.next[p].checked_sub(1)) {
            let from = self.rows[paths.rows[p][before]].at;
            return Err(self.wrong(at, Wrong::Step { from, to: row.at }));
        }
        if let At::Pc(pc) = row.at {
            // A path that was split off before a branch passes it once more.
            let block = |at: At| match at {
                At::Pc(pc) => self.plan.piece_of(pc).map(|p| self.plan.pieces[p].block),
                _ => None,
            };
            let again = fresh && block(self.rows[paths.rows[p][0]].at) == block(row.at);
            if !again && self.meter.branches.contains(&pc) {
                *self.meter.times.passed.entry(pc).or_default() += 1;
            }
        }
        Ok(())
    }

    /// From one point to the next, whichever way it was.
    fn step(&mut self, clock: &mut Clock, at: usize) -> Result<(), RowError> {
        let row = self.rows[at];
        let from = clock.node;
        let step = |node: usize| match node {
            START => At::Start,
            END => At::End,
            _ => At::Pc(self.plan.nodes[node]),
        };
        let wrong = RowError { row: at, wrong: Wrong::Step { from: step(from), to: row.at } };
        let to = self.node(row.at).ok_or(wrong)?;
        for &e in self.ways.get(&(from, to)).ok_or(wrong)? {
            self.meter.times.record(e, row.cycle - clock.stamp, row.run, row.wave);
        }
        if !self.steps.contains_key(&(from, to)) {
            let steps = self.steps_between(from, to);
            self.steps.insert((from, to), steps);
        }
        for &(p, s) in &self.steps[&(from, to)] {
            self.meter.times.taken[p][s] += 1;
        }
        let before = self.plan.piece_at(self.plan.nodes[from]);
        let piece = self.plan.piece_at(self.plan.nodes[to]);
        if let Some(before) = before {
            self.meter.leave(clock, before, piece);
        }
        if let Some(piece) = piece {
            // Who goes from inside a loop to its header has not left it: else it would have passed another header.
            for &l in &self.meter.headers[piece] {
                let again = before.is_some_and(|b| self.meter.around[b].contains(&l));
                let rounds = &mut clock.rounds[l as usize];
                *rounds = if again { *rounds + 1 } else { 0 };
            }
            clock.piece = piece as u32;
        }
        (clock.node, clock.stamp) = (to, row.cycle);
        Ok(())
    }

    /// All steps on ways from one point to another that pass no third.
    fn steps_between(&self, from: usize, to: usize) -> Steps {
        let pieces = &self.plan.pieces;
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        let first = self.plan.piece_at(self.plan.nodes[from]);
        let mut work: Vec<usize> = match first {
            Some(p) => pieces[p].succs.clone(),
            None => Vec::new(),
        };
        while let Some(p) = work.pop() {
            if pieces[p].node.is_none() && seen.insert(p) {
                work.extend(&pieces[p].succs);
            }
        }
        // What leads to the other end.
        let mut before: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &p in &seen {
            pieces[p].succs.iter().for_each(|&s| before.entry(s).or_default().push(p));
        }
        let mut useful: BTreeSet<usize> = BTreeSet::new();
        let mut work: Vec<usize> = match self.plan.piece_at(self.plan.nodes[to]) {
            Some(p) => before.get(&p).cloned().unwrap_or_default(),
            None => seen.iter().copied().filter(|&p| pieces[p].ends).collect(),
        };
        while let Some(p) = work.pop() {
            if useful.insert(p) {
                work.extend(before.get(&p).into_iter().flatten());
            }
        }
        let leads = |s: usize| useful.contains(&s) || pieces[s].node == Some(to);
        let mut steps = Vec::new();
        for p in first.into_iter().chain(useful.iter().copied()) {
            steps.extend((0..pieces[p].succs.len()).filter(|&i| leads(pieces[p].succs[i])).map(|i| (p, i)));
        }
        steps.sort_unstable();
        steps.dedup();
        steps
    }

    /// Adds up what is known of a wave beside its edges.
    fn count(&mut self, paths: &Paths) {
        let times = &mut self.meter.times;
        times.waves += 1;
        let row = |i: usize| self.rows[i];
        let Some(main) = paths.rows.iter().find(|list| row(list[0]).at == At::Start) else { return };
        let start = row(main[0]).cycle;
        let ends = paths.rows.iter().map(|list| row(list[list.len() - 1]).cycle);
        times.longest_wave = times.longest_wave.max(ends.max().unwrap_or(start) - start);
        if let Some(&first) = main.get(1).filter(|_| self.entry.is_none()) {
            times.start_delay = times.start_delay.max(row(first).cycle - start);
            let launch = self.starts.get(&row(first).run).copied().unwrap_or(0);
            times.last_start = times.last_start.max(row(first).cycle - launch);
        }
        // Who comes and goes when; who goes in a cycle goes first.
        let mut changes: Vec<(u64, bool)> = Vec::new();
        for list in &paths.rows {
            let (first, last) = (row(list[0]), row(list[list.len() - 1]));
            changes.extend([(first.cycle, true), (last.cycle, false)]);
            let At::Pc(pc) = first.at else { continue };
            times.splits += 1;
            // The branch stands at the end of the block in which the path was split off.
            let block = self.plan.piece_of(pc).map(|p| self.plan.pieces[p].block);
            let branch = block.and_then(|b| self.last_of.get(&b)).copied().unwrap_or(pc);
            *times.split_at.entry(branch).or_default() += 1;
            let latest = times.child_start.entry(branch).or_default();
            *latest = (*latest).max(first.cycle - start);
        }
        if paths.rows.len() == 1 {
            return;
        }
        changes.sort_unstable();
        let mut now = 0u32;
        for (_, comes) in changes {
            now = if comes { now + 1 } else { now.saturating_sub(1) };
            times.most_paths = times.most_paths.max(now);
        }
    }
}
