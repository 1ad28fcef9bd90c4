//! Registers as the launch leaves them: work-item ids as functions of the lane, pointers and sizes that the launch fixes.

use super::linear::{Dims, Lin};
use super::pattern::Pattern;
use super::state::{EXEC, State};
use super::value::{Id, Tag, Value, Wide};
use crate::infer::Known;
use crate::infer::range::Range;
use crate::infer::state::{Space, State as Ranges};
use std::rc::Rc;
use wb_isa::first_lanes;
use wb_isa::gcn3::isa::{Gcn3, Setup};
use wb_program::Program;

/// Last dword of the descriptor of private memory: elements of 4 bytes, 64 lanes interleaved, lane added to the index.
pub const PRIVATE_WORD: u32 = 1 << 19 | 3 << 21 | 1 << 23;

/// More waves than this are not looked at one by one.
const MOST_WAVES: u32 = 16;

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
    let line = Dims { lanes, x: lanes, y: 1, rows: false };
    let [x, y, _] = known.group;
    if !whole(known) || x == 0 || x >= lanes || !lanes.is_multiple_of(x) {
        return line;
    }
    let rows = lanes / x;
    match () {
        () if y >= rows && y.is_multiple_of(rows) => Dims { x, y: rows, ..line },
        () if rows.is_multiple_of(y) => Dims { x, y, ..line },
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

/// Waves of a group, if those have known ids: all groups are alike, or they have one dimension.
pub fn waves(known: &Known, lanes: u32) -> Option<u32> {
    let items = known.group.iter().try_fold(1u32, |n, &d| n.checked_mul(d)).filter(|&n| n > 0)?;
    let line = known.group[1] == 1 && known.group[2] == 1;
    (whole(known) || line).then(|| items.div_ceil(lanes.max(1))).filter(|&n| n <= MOST_WAVES)
}

/// Lanes of one wave of a group, and whether it has all of them for certain.
pub fn of_wave(known: &Known, lanes: u32, wave: u32) -> (u32, bool) {
    let items = known.group.iter().fold(1u32, |n, &d| n.saturating_mul(d));
    (items.saturating_sub(wave * lanes).min(lanes), whole(known))
}

/// The ids of work-items of one wave.
fn ids_of_wave(known: &Known, lanes: u32, wave: u32) -> [Pattern; 3] {
    let [x, y, _] = known.group.map(|n| u64::from(n.max(1)));
    let item = |lane: usize| u64::from(wave * lanes) + lane as u64;
    let row = |f: &dyn Fn(u64) -> u64| Pattern::pure(std::array::from_fn(|lane| f(item(lane)))).register();
    match y == 1 && known.group[2] <= 1 {
        // Groups at the end of the grid have fewer.
        true => [row(&|i| i), row(&|_| 0), row(&|_| 0)],
        false => [row(&|i| i % x), row(&|i| i / x % y), row(&|i| i / x / y)],
    }
}

/// Before the first instruction; of one wave of a group, or of any.
pub fn start(
    program: &Program<Gcn3>,
    known: &Known,
    ranges: &Ranges,
    dims: Dims,
    wave: Option<u32>,
) -> State {
    let mut state = State::start(dims);
    let setup = &program.isa.setup;
    let launched = known.kernarg.is_some();
    for (n, scalar) in state.scalars.iter_mut().enumerate() {
        let id = Some(Id::Start(256 + n as u16));
        *scalar = Rc::new(Value { id, ..Value::uniform(ranges.scalars[n].range, true) });
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
            let wide = Rc::new(Wide::of(vec![Lin::uniform(true)]));
            for (i, high) in [false, true].into_iter().enumerate() {
                Rc::make_mut(&mut state.scalars[n + i]).tag(Tag {
                    id: Id::Start(256 + n as u16),
                    high,
                    wide: wide.clone(),
                    from: None,
                });
            }
        }
    }
    if launched {
        private(&mut state, setup);
    }
    // Later machines have all work-item ids in one register: the first one if the others are zero, else nothing is said of it.
    let dimensions = match setup.packed_ids() {
        true if known.group[1] == 1 && known.group[2] == 1 && known.group[0] <= 1024 => 1,
        true if setup.work_item_dimensions <= 1 && (1..=1024).contains(&known.group[0]) => 1,
        true => 0,
        false => setup.work_item_dimensions.clamp(1, 3) as usize,
    };
    if let Some(class) = state.lanes.get_mut(&(1 << EXEC)) {
        let rows = wave.map(|w| ids_of_wave(known, dims.lanes, w));
        if let Some(w) = wave {
            class.lanes = first_lanes(of_wave(known, dims.lanes, w).0);
        }
        for (d, lin) in ids(known, dims).into_iter().enumerate().take(dimensions) {
            let alts = lin.into_iter().collect();
            let row = rows.as_ref().map(|r| r[d].clone());
            let mut value = Value::new(alts, ranges.on[d]).with_row(row).narrowed(class.lanes, dims);
            value.id = Some(Id::Start(d as u16));
            class.put(d as u8, value);
        }
    }
    state
}

fn constants(state: &mut State, first: usize, values: &[u32]) {
    for (i, &v) in values.iter().enumerate() {
        if let Some(scalar) = state.scalars.get_mut(first + i).filter(|_| first + i < 102) {
            *scalar = Rc::new(Value { id: scalar.id, ..Value::constant(v) });
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
    if let Some(scalar) = state.scalars.get_mut(at).filter(|_| setup.has_scratch_offset() && at < 102) {
        // A wave's part is 64 times a lane's.
        let known = (u64::from(setup.scratch_per_lane.next_multiple_of(4)) * 64).trailing_zeros().min(31);
        let alts = vec![Lin { known, ..Lin::uniform(true) }];
        *scalar = Rc::new(Value { id: scalar.id, ..Value::new(alts, Range::FULL) });
    }
}
