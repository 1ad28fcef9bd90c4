//! Waves that share one stack (TBC, LWM): entries {pc, rpc, lanes of every wave}. The paths of the top entry run until each of them stands
//! behind a branch or at the reconvergence pc; then the block decides. A side of a branch becomes dense *warps*: a lane of a wave goes to
//! the first warp whose lane of the same number is free, so the k-th active work-item of a lane is in warp k. A wave has one path for each
//! warp that it has lanes in; registers do not move. The waves take their new paths over when their machine asks for them
//! ([`Divergence::take_over`](super::Divergence::take_over)).

use super::mechanism::{Context, Refusal, TakeOver};
use wb_hw::FirstSide;
use wb_isa::{Mask, NO_PC, Pc};
use wb_program::FlowMap;

/// Where a path of the top entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Runs,
    /// Behind a branch: where its lanes go, at most two places.
    Branched([(Pc, Mask); 2]),
    /// At the reconvergence pc.
    Arrived,
    /// No lane is left.
    Gone,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    lanes: Mask,
    warp: u32,
    state: State,
}

/// One wave of the block.
#[derive(Clone, Debug)]
struct Row {
    live: Mask,
    /// Waves of different partitions never share a warp.
    partition: usize,
    /// Its paths by number; none: all its lanes are set aside.
    pieces: Vec<Piece>,
    /// Where its only path stands while all its lanes are set aside.
    idle_at: Pc,
}

#[derive(Clone, Debug)]
struct Entry {
    pc: Pc,
    rpc: Pc,
    /// By row.
    lanes: Vec<Mask>,
    /// The other side of a branch rather than the lanes to continue with after both.
    side: bool,
}

#[derive(Debug)]
pub(super) struct Block {
    /// Different for every block of a run.
    pub number: u64,
    rows: Vec<Row>,
    /// The last one is what runs.
    stack: Vec<Entry>,
    /// Decisions so far.
    pub serial: u64,
    /// What the last one was: all paths go on at this pc, or ([`NO_PC`]) the waves have new paths.
    same: Pc,
    limit: usize,
    /// Paths that a wave can have.
    contexts: u32,
    first: FirstSide,
    /// The pc of the branch that was decided last.
    pub origin: Pc,
}

impl Block {
    pub fn new(number: u64, limit: u32, contexts: u32, first: FirstSide) -> Block {
        let bottom = Entry { pc: NO_PC, rpc: NO_PC, lanes: Vec::new(), side: false };
        Block {
            number,
            rows: Vec::new(),
            stack: vec![bottom],
            serial: 0,
            same: NO_PC,
            limit: limit as usize,
            contexts,
            first,
            origin: NO_PC,
        }
    }

    /// A wave joins before anybody runs; returns its row.
    pub fn join(&mut self, live: Mask, partition: usize) -> usize {
        let warp = self.rows.iter().filter(|r| r.partition == partition).count() as u32;
        let piece = Piece { lanes: live, warp, state: State::Runs };
        self.rows.push(Row { live, partition, pieces: vec![piece], idle_at: NO_PC });
        if let Some(bottom) = self.stack.first_mut() {
            bottom.lanes.push(live);
        }
        self.rows.len() - 1
    }

    pub fn depth(&self) -> usize {
        self.stack.len() - 1
    }

    pub fn watch(&self, row: usize) -> Pc {
        let r = &self.rows[row];
        if r.pieces.is_empty() { r.idle_at } else { self.stack.last().map_or(NO_PC, |top| top.rpc) }
    }

    pub fn is_idle(&self, row: usize) -> bool {
        self.rows[row].pieces.is_empty()
    }

    pub fn warp(&self, row: usize, id: usize) -> u64 {
        let warp = self.rows[row].pieces.get(id).map_or(0, |p| p.warp);
        self.number << 8 | u64::from(warp)
    }

    /// Masks of the row's lanes that run later, and that will be restored.
    pub fn set_aside(&self, row: usize, side: bool, each: &mut dyn FnMut(Mask)) {
        let below = &self.stack[..self.stack.len() - 1];
        below.iter().filter(|e| e.side == side).for_each(|e| each(e.lanes[row]));
    }

    /// The path stands at the reconvergence pc.
    pub fn arrive(&mut self, row: usize, id: usize, cx: &Context) -> Result<(), Refusal> {
        if let Some(piece) = self.rows[row].pieces.get_mut(id) {
            piece.state = State::Arrived;
        }
        self.perhaps_decide(cx.map)
    }

    /// The path has executed a branch: its lanes go to these places.
    pub fn branch(
        &mut self,
        row: usize,
        id: usize,
        to: [(Pc, Mask); 2],
        cx: &Context,
    ) -> Result<(), Refusal> {
        self.origin = cx.at.pc;
        if let Some(piece) = self.rows[row].pieces.get_mut(id) {
            piece.state = State::Branched(to);
        }
        self.perhaps_decide(cx.map)
    }

    /// Lanes of a path end. Returns the lanes that the path has left, those of its wave, and whether other paths of the wave run or wait.
    pub fn exit(
        &mut self,
        row: usize,
        id: usize,
        lanes: Mask,
        cx: &Context,
    ) -> Result<(Mask, Mask, bool), Refusal> {
        let r = &mut self.rows[row];
        r.live &= !lanes;
        let live = r.live;
        let Some(piece) = r.pieces.get_mut(id) else { return Ok((0, live, false)) };
        piece.lanes &= !lanes;
        let left = piece.lanes;
        let mut others = true;
        if left == 0 {
            piece.state = State::Gone;
            others = r.pieces.iter().any(|p| p.state != State::Gone);
            if !others {
                r.pieces.clear();
                r.idle_at = cx.at.pc;
            }
            self.perhaps_decide(cx.map)?;
        }
        Ok((left, live, others))
    }

    /// What the waves do after the last decision.
    pub fn take_over(&self, row: usize) -> TakeOver {
        let r = &self.rows[row];
        if self.same != NO_PC {
            return if r.pieces.is_empty() { TakeOver::Wait } else { TakeOver::GoOn { pc: self.same } };
        }
        let pc = self.stack.last().map_or(NO_PC, |top| top.pc);
        if r.pieces.is_empty() {
            TakeOver::Wait
        } else {
            TakeOver::New { pc, lanes: r.pieces.iter().map(|p| p.lanes).collect(), origin: self.origin }
        }
    }

    fn perhaps_decide(&mut self, map: &FlowMap) -> Result<(), Refusal> {
        let waits = self.rows.iter().flat_map(|r| &r.pieces).all(|p| p.state != State::Runs);
        if waits { self.decide(map) } else { Ok(()) }
    }

    /// No path of the top entry runs.
    fn decide(&mut self, map: &FlowMap) -> Result<(), Refusal> {
        let places = self.places();
        let Some(top) = self.stack.last_mut() else { return Ok(()) };
        let around = top.rpc;
        if let [(pc, _)] = places[..]
            && pc != around
        {
            // Everybody goes the same way.
            self.same = pc;
            self.serial += 1;
            let pieces = self.rows.iter_mut().flat_map(|r| &mut r.pieces);
            pieces.filter(|p| p.state != State::Gone).for_each(|p| p.state = State::Runs);
            return Ok(());
        }
        if places.iter().any(|p| p.0 != around) {
            let rpc = match map.rpc[self.origin as usize] {
                NO_PC => around,
                rpc => rpc,
            };
            if rpc == around {
                // Its sides meet where it would have ended itself.
                self.stack.pop();
            } else {
                (top.pc, top.side) = (rpc, false);
            }
            // The one that runs first comes last.
            for (pc, lanes) in places.into_iter().rev().filter(|p| p.0 != rpc) {
                if self.stack.len() > self.limit {
                    return Err(Refusal::Overflow(self.limit));
                }
                self.stack.push(Entry { pc, rpc, lanes, side: true });
            }
        } else if self.stack.len() > 1 {
            self.stack.pop();
        }
        self.next();
        Ok(())
    }

    /// Where lanes of the top entry go, the place that runs first before the others.
    fn places(&self) -> Vec<(Pc, Vec<Mask>)> {
        let around = self.stack.last().map_or(NO_PC, |top| top.rpc);
        let mut places: Vec<(Pc, Vec<Mask>)> = Vec::new();
        let mut add = |pc: Pc, row: usize, lanes: Mask| {
            let at = match places.iter().position(|p| p.0 == pc) {
                Some(at) => at,
                None => {
                    places.push((pc, vec![0; self.rows.len()]));
                    places.len() - 1
                }
            };
            places[at].1[row] |= lanes;
        };
        for (row, r) in self.rows.iter().enumerate() {
            for piece in &r.pieces {
                match piece.state {
                    State::Branched(to) => {
                        let some = to.into_iter().filter(|t| t.1 & r.live != 0);
                        some.for_each(|(pc, lanes)| add(pc, row, lanes & r.live));
                    }
                    State::Arrived => add(around, row, piece.lanes),
                    State::Runs | State::Gone => {}
                }
            }
        }
        let next = self.next_of_origin(&places);
        let many = |p: &(Pc, Vec<Mask>)| p.1.iter().map(|m| m.count_ones()).sum::<u32>();
        match self.first {
            FirstSide::Taken => places.sort_by_key(|p| p.0 == next),
            FirstSide::NotTaken => places.sort_by_key(|p| p.0 != next),
            FirstSide::Larger => places.sort_by_key(|p| (std::cmp::Reverse(many(p)), p.0 == next)),
            FirstSide::Smaller => places.sort_by_key(|p| (many(p), p.0 == next)),
        }
        places
    }

    /// Of the places that lanes go to from a branch, the one right behind it.
    fn next_of_origin(&self, places: &[(Pc, Vec<Mask>)]) -> Pc {
        places.iter().map(|p| p.0).filter(|&pc| pc > self.origin).min().unwrap_or(NO_PC)
    }

    /// The next entry with a live lane that has something to do runs, in dense warps.
    fn next(&mut self) {
        self.same = NO_PC;
        self.serial += 1;
        let live = |e: &Entry, rows: &[Row]| e.lanes.iter().zip(rows).any(|(m, r)| m & r.live != 0);
        while let [.., top] = &self.stack[..] {
            let done = !live(top, &self.rows) || top.pc == top.rpc;
            if !done || self.stack.len() == 1 {
                break;
            }
            self.stack.pop();
        }
        let Some(top) = self.stack.last() else { return };
        let lanes: Vec<Mask> = top.lanes.iter().zip(&self.rows).map(|(m, r)| m & r.live).collect();
        let pieces = compact(&lanes, &self.rows, self.contexts);
        for (r, list) in self.rows.iter_mut().zip(pieces) {
            r.pieces = list;
            r.idle_at = NO_PC;
        }
    }
}

/// Dense warps of the lanes of all waves: for each wave its lanes by warp. If a wave has no paths for that many warps, every wave is a warp
/// of its own (design choice: the papers have no such limit).
fn compact(lanes: &[Mask], rows: &[Row], contexts: u32) -> Vec<Vec<Piece>> {
    let mut warps: Vec<(usize, Vec<Mask>)> = Vec::new();
    let mut all = Vec::with_capacity(rows.len());
    for (row, &mask) in rows.iter().zip(lanes) {
        let at = warps.iter().position(|w| w.0 == row.partition).unwrap_or_else(|| {
            warps.push((row.partition, Vec::new()));
            warps.len() - 1
        });
        let mut left = mask;
        let mut pieces = Vec::new();
        let mut warp = 0;
        while left != 0 {
            let taken = &mut warps[at].1;
            if warp == taken.len() {
                taken.push(0);
            }
            let fits = left & !taken[warp];
            if fits != 0 {
                taken[warp] |= fits;
                left &= !fits;
                pieces.push(Piece { lanes: fits, warp: warp as u32, state: State::Runs });
            }
            warp += 1;
        }
        all.push(pieces);
    }
    if all.iter().any(|pieces| pieces.len() > contexts as usize + 1) {
        let alone = |(warp, &lanes): (usize, &Mask)| match lanes {
            0 => Vec::new(),
            lanes => vec![Piece { lanes, warp: warp as u32, state: State::Runs }],
        };
        return lanes.iter().enumerate().map(alone).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(rows: &[Mask]) -> Block {
        let mut b = Block::new(0, 64, 31, FirstSide::Taken);
        for &live in rows {
            b.join(live, 0);
        }
        b
    }

    fn masks(pieces: &[Vec<Piece>]) -> Vec<Vec<(u32, Mask)>> {
        pieces.iter().map(|p| p.iter().map(|p| (p.warp, p.lanes)).collect()).collect()
    }

    /// Figure 5 of the paper on large warps: a sub-warp takes per lane the first row that has not issued.
    #[test]
    fn a_warp_takes_the_first_row_of_every_lane() {
        let b = block(&[0b1111; 4]);
        let got = masks(&compact(&[0b0101, 0b0011, 0b1000, 0b0001], &b.rows, 31));
        let want = [vec![(0, 0b0101)], vec![(0, 0b0010), (1, 0b0001)], vec![(0, 0b1000)], vec![(2, 0b0001)]];
        assert_eq!(got, want);
        // No contexts for two paths of the second wave.
        let alone = masks(&compact(&[0b0101, 0b0011, 0b1000, 0b0001], &b.rows, 0));
        assert_eq!(alone, [[(0, 0b0101)], [(1, 0b0011)], [(2, 0b1000)], [(3, 0b0001)]]);
    }

    #[test]
    fn full_waves_stay_as_they_are() {
        let b = block(&[0b1111; 3]);
        let got = masks(&compact(&[0b1111; 3], &b.rows, 31));
        assert_eq!(got, [[(0, 0b1111)], [(1, 0b1111)], [(2, 0b1111)]]);
    }
}
