//! Registers as the launch leaves them: work-item ids as functions of the lane, pointers and sizes that the launch fixes.

use super::linear::{Dims, Lin};
use super::state::{EXEC, State};
use super::value::{Id, Tag, Value, Wide};
use crate::infer::Known;
use crate::infer::range::Range;
use crate::infer::state::{Space, State as Ranges};
use std::rc::Rc;
use wb_isa::gcn3::isa::{Gcn3, Setup};
use wb_program::Program;

/// Last dword of the descriptor of private memory: elements of 4 bytes, 64 lanes interleaved, lane added to the index.
pub const PRIVATE_WORD: u32 = 1 << 19 | 3 << 21 | 1 << 23;

/// Whether all groups of a launch have the same size.
fn whole(known: &Known) -> bool {
    (0..3).all(|d| known.group[d] > 0 && known.grid[d] > 0 && known.grid[d].is_multiple_of(known.group[d]))
}

/// Every wave of the launch has all its lanes.
pub fn full_waves(known: &Known, lanes: u32) -> bool {
    whole(known)
        && known.group.iter().map(|&n| u64::from(n)).product::<u64>().is_multiple_of(lanes.max(1).into())
}

/// Digits of the lane's number, as ids of work-items change within a wave.
pub fn dims(known: &Known, lanes: u32) -> Dims {
    let line = Dims { lanes, x: lanes, y: 1 };
    let [x, y, _] = known.group;
    if !whole(known) || x == 0 || x >= lanes || !lanes.is_multiple_of(x) {
        return line;
    }
    let rows = lanes / x;
    match () {
        () if y >= rows && y.is_multiple_of(rows) => Dims { lanes, x, y: rows },
        () if rows.is_multiple_of(y) => Dims { lanes, x, y },
        () => line,
    }
}

/// The ids of work-items; none where they are no function of the lane that is followed.
fn ids(known: &Known, dims: Dims) -> [Option<Lin>; 3] {
    let [x, y, z] = known.group;
    let step = |d: usize| {
        let mut steps = [0; 3];
        steps[d] = 1;
        steps
    };
    // Ids of the first lane: a multiple of a power of two, since waves are.
    let from = |multiple: u32, steps| {
        let known = multiple.trailing_zeros().min(31);
        Some(Lin { known, steps, ..Lin::uniform(true) })
    };
    let lanes = dims.lanes;
    match () {
        () if known.group.contains(&0) => [None; 3],
        // Lanes that do not exist have other ids, but are never on.
        () if y == 1 && z == 1 && dims.x == lanes => {
            [from(lanes, step(0)), Some(Lin::exact(0)), Some(Lin::exact(0))]
        }
        () if !whole(known) => [None; 3],
        () if x.is_multiple_of(lanes) => {
            [from(lanes, step(0)), Some(Lin::uniform(true)), Some(Lin::uniform(true))]
        }
        () if dims.x == x && x < lanes => {
            let within = Some(Lin { steps: step(0), ..Lin::exact(0) });
            let rows = lanes / x;
            match dims.y == rows && y >= rows {
                true => [within, from(rows, step(1)), Some(Lin::uniform(true))],
                false => {
                    [within, Some(Lin { steps: step(1), ..Lin::exact(0) }), from(rows / y.max(1), step(2))]
                }
            }
        }
        () => [None; 3],
    }
}

/// Before the first instruction.
pub fn start(program: &Program<Gcn3>, known: &Known, ranges: &Ranges, dims: Dims) -> State {
    let mut state = State::start();
    let setup = &program.isa.setup;
    let launched = known.kernarg.is_some();
    for (n, scalar) in state.scalars.iter_mut().enumerate() {
        *scalar =
            Value { id: Some(Id::Start(256 + n as u16)), ..Value::uniform(ranges.scalars[n].range, true) };
    }
    for n in 0..127 {
        let pointer = |n: usize| ranges.scalars[n].pointer;
        let Some(low) = pointer(n).filter(|p| !p.high && pointer(n + 1).is_some_and(|h| h.high)) else {
            continue;
        };
        let address = match low.space {
            Space::Arguments => setup.kernarg,
            Space::Packet => setup.packet,
        };
        if launched {
            constants(&mut state, n, &[address as u32, (address >> 32) as u32]);
        } else {
            let wide = Rc::new(Wide { alts: vec![Lin::uniform(true)], range: None });
            for (i, high) in [false, true].into_iter().enumerate() {
                state.scalars[n + i].tag(Tag { id: Id::Start(256 + n as u16), high, wide: wide.clone() });
            }
        }
    }
    if launched {
        private(&mut state, setup);
    }
    let dimensions = setup.work_item_dimensions.clamp(1, 3) as usize;
    if let Some(class) = state.lanes.get_mut(&(1 << EXEC)) {
        for (d, lin) in ids(known, dims).into_iter().enumerate().take(dimensions) {
            let alts = lin.into_iter().collect();
            let mut value = Value::new(alts, ranges.on[d]);
            value.id = Some(Id::Start(d as u16));
            class.put(d as u8, value);
        }
    }
    state
}

fn constants(state: &mut State, first: usize, values: &[u32]) {
    for (i, &v) in values.iter().enumerate() {
        if let Some(scalar) = state.scalars.get_mut(first + i).filter(|_| first + i < 102) {
            *scalar = Value { id: scalar.id, ..Value::constant(v) };
        }
    }
}

/// The descriptor of private memory, and where the wave's part of it begins.
fn private(state: &mut State, setup: &Setup) {
    let user = &setup.user;
    if user.private_segment_buffer {
        let base = setup.scratch_region;
        constants(state, 0, &[base as u32, (base >> 32) as u32 & 0xffff | 1 << 31, u32::MAX, PRIVATE_WORD]);
    }
    let sizes = [
        (user.private_segment_buffer, 4),
        (user.dispatch_ptr, 2),
        (user.queue_ptr, 2),
        (user.kernarg_ptr, 2),
        (user.dispatch_id, 2),
        (user.flat_scratch_init, 2),
        (user.private_segment_size, 1),
    ];
    let used: u32 = sizes.iter().filter(|s| s.0).map(|s| s.1).sum();
    let system = setup.workgroup.iter().filter(|&&w| w).count() as u32;
    let at = (used.max(setup.user_sgprs) + system) as usize;
    if let Some(scalar) = state.scalars.get_mut(at).filter(|_| setup.scratch_wave_offset && at < 102) {
        // A wave's part is 64 times a lane's.
        let known = (u64::from(setup.scratch_per_lane.next_multiple_of(4)) * 64).trailing_zeros().min(31);
        let alts = vec![Lin { known, ..Lin::uniform(true) }];
        *scalar = Value { id: scalar.id, ..Value::new(alts, Range::FULL) };
    }
}
