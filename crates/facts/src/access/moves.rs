//! Pointers that loops move on: in every round by a constant, and rounds are limited, so the pointer lies between where it
//! was when the loop was entered and as many steps further.

use super::state::{Pending, State};
use super::step::Step;
use super::value::{Id, Tag, Value, Wide};
use std::collections::BTreeMap;
use std::rc::Rc;
use wb_isa::gcn3::Op;

/// Where pointers lie at the beginning of a block, by the block and the lower half's register.
pub type Moves = BTreeMap<(usize, u8), (i128, i128)>;

/// The name of a pair of scalars at the beginning of a block.
fn name(block: usize, n: u8) -> Id {
    Id::Met(block, 256 + u16::from(n))
}

/// Pairs of scalars that a block has a name for, moved only by constants on every way back to it, at most `rounds` times.
/// `at`: what holds there; states that enter the loop, and states that go back.
pub fn found(block: usize, at: &State, enter: &[State], back: &[State], rounds: u64) -> Moves {
    let pair = |s: &State, n: u8| (s.scalars[usize::from(n)].clone(), s.scalars[usize::from(n) + 1].clone());
    let one = |n: u8| {
        let (lo, hi) = pair(at, n);
        let named = |v: &Value, high: bool| v.tags.iter().any(|t| t.id == name(block, n) && t.high == high);
        if !named(&lo, false) || !named(&hi, true) || enter.is_empty() {
            return None;
        }
        let mut range: Option<(i128, i128)> = None;
        for state in enter {
            let (lo, hi) = pair(state, n);
            let (a, b) = Wide::pair(&lo, &hi, at.dims).bounds(at.dims)?;
            let (a, b) = (i128::from(a), i128::from(b));
            range = Some(range.map_or((a, b), |(c, d)| (a.min(c), b.max(d))));
        }
        let (mut first, mut last) = range?;
        let (mut down, mut up) = (0, 0);
        for state in back {
            let (lo, hi) = pair(state, n);
            let (id, more) = Value::origin(&lo, &hi)?;
            if id != name(block, n) {
                return None;
            }
            (down, up) = (more.min(down), more.max(up));
        }
        first += i128::from(down) * i128::from(rounds);
        last += i128::from(up) * i128::from(rounds);
        // Nothing wraps around.
        (first >= 0 && last < 1 << 63).then_some(((block, n), (first, last)))
    };
    (0..101).filter_map(one).collect()
}

/// Cuts what holds at the beginning of a block.
pub fn cut(moves: &Moves, block: usize, state: &mut State) {
    for (&(_, n), &range) in moves.range((block, 0)..=(block, u8::MAX)) {
        for half in state.scalars.iter_mut().skip(n.into()).take(2) {
            let half = Rc::make_mut(half);
            for tag in half.tags.iter_mut().filter(|t| t.id == name(block, n)) {
                let wide = Rc::new(Wide { range: Some(range), ..(*tag.wide).clone() });
                *tag = Tag { wide, ..tag.clone() };
            }
        }
    }
}

impl Step<'_> {
    /// A sum of a number and a constant is told from what the number was.
    pub fn moved(&self, carry: &Pending, x: &Value, y: &Value) -> Option<(Id, i64)> {
        let constant = |lo: &Value, hi: &Value| {
            let (lo, hi) = (lo.range.constant()?, hi.range.constant()?);
            Some((u64::from(lo) | u64::from(hi) << 32) as i64)
        };
        let sum = |(a, x): (&Value, &Value), (b, y): (&Value, &Value)| {
            let (id, more) = Value::origin(a, x)?;
            Some((id, more.checked_add(constant(b, y)?)?))
        };
        let (a, b) = (&carry.a, &carry.b);
        match self.inst.op {
            Op::SAddcU32 => {
                let straight = sum((a, x), (b, y)).or_else(|| sum((b, y), (a, x)));
                straight.or_else(|| sum((a, y), (b, x))).or_else(|| sum((b, x), (a, y)))
            }
            _ => None,
        }
    }
}
