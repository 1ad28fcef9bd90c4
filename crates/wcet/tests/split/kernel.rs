//! Kernels: the formulas on hand-made numbers, and the sound rule against a dispatcher played through.

use crate::support::Random;
use wb_hw::Needs;
use wb_wcet::kernel::{ComposeError, Composition, Launch, Seats, compose, sound_kernel};
use wb_wcet::paper::thesis::PathTime;

fn path(start: u64, cycles: u64) -> PathTime {
    PathTime { start, cycles }
}

/// 2 cores × 4 partitions × 1 slot, groups of two waves: 4 at once.
fn launch() -> Launch {
    Launch {
        groups: 9,
        group_lanes: 128,
        wave_lanes: 64,
        cores: 2,
        partitions: 4,
        slots: 1,
        contexts: 2,
        selected: None,
        delay: 5,
        wave: 100,
        // A wave with a child that starts late, and one with a child that runs long.
        waves: vec![vec![path(5, 100), path(80, 30)], vec![path(6, 90), path(20, 95)]],
    }
}

#[test]
fn the_formulas_of_the_documents() {
    let of = |kind| {
        let found = compose(kind, &launch()).expect("a bound");
        assert!(!found.assumptions.is_empty());
        (found.rounds, found.groups_at_once, found.cycles)
    };
    assert_eq!(of(Composition::None), (3, 4, 3 * 105));
    assert_eq!(of(Composition::Pws), (3, 4, 3 * 105));
    assert_eq!(of(Composition::Dws), (3, 4, 3 * (5 + 3 * 100)));
    assert_eq!(of(Composition::ThesisParallel), (3, 4, 3 * 115));
    // max(80 + 130, 20 + 185).
    assert_eq!(of(Composition::ThesisSerial), (3, 4, 3 * 210));
    assert_eq!(of(Composition::BettsDynamic), (1, 4, 80 + 100));
    assert_eq!(of(Composition::BettsHybrid), (3, 4, 3 * (100 + 8 * 5)));
}

#[test]
fn re_provisioning_changes_the_rounds() {
    let with = |selected| compose(Composition::Pws, &Launch { selected: Some(selected), ..launch() });
    // S = 2, none used: 12 units of a core; one used: 6; three in sequence: 3, fewer than there are.
    assert_eq!(with(0).map(|b| b.groups_at_once), Ok(12));
    assert_eq!(with(1).map(|b| b.groups_at_once), Ok(6));
    assert_eq!(with(3).map(|b| b.groups_at_once), Ok(3));
    assert_eq!(with(40), Err(ComposeError::NoRoom));
}

#[test]
fn bad_numbers_are_errors() {
    let of = |kind, change: &dyn Fn(&mut Launch)| {
        let mut l = launch();
        change(&mut l);
        compose(kind, &l).map(|b| b.cycles)
    };
    for kind in [Composition::Pws, Composition::ThesisParallel, Composition::BettsHybrid] {
        assert_eq!(of(kind, &|l| l.group_lanes = 0), Err(ComposeError::NoRoom));
        assert_eq!(of(kind, &|l| l.group_lanes = 10_000), Err(ComposeError::NoRoom), "{kind:?}");
        assert_eq!(of(kind, &|l| l.groups = 0), Ok(0), "{kind:?}");
    }
    assert_eq!(of(Composition::ThesisSerial, &|l| l.waves.clear()), Err(ComposeError::NoWaves));
    assert_eq!(of(Composition::Dws, &|l| l.wave = u64::MAX), Err(ComposeError::TooLong));
    let seats = Seats { cores: 4, groups_per_core: 0 };
    assert_eq!(sound_kernel(1, seats, &[path(0, 1)]), Err(ComposeError::NoRoom));
    let seats = Seats { cores: 4, groups_per_core: 1 };
    assert_eq!(sound_kernel(1, seats, &[]), Err(ComposeError::NoWaves));
    assert_eq!(sound_kernel(5, seats, &[path(u64::MAX / 2, 1)]), Err(ComposeError::TooLong));
}

#[test]
fn seats_are_those_of_the_dispatcher() {
    let machine = wb_hw::preset("gcn3").expect("a preset");
    let needs = Needs { waves_per_group: 3, vgprs: 64, sgprs: 16, lds_bytes: 0 };
    let seats = Seats::of(&machine, needs);
    assert_eq!(seats.cores, u64::from(machine.cores));
    assert_eq!(seats.groups_per_core, u64::from(machine.occupancy(needs).groups_per_core));
}

/// Gives groups in order to the first core with a free seat; when the last one ends.
fn play(times: &[u64], cores: usize, per_core: usize) -> u64 {
    let mut free = vec![0u64; cores * per_core];
    for &time in times {
        let seat = free.iter_mut().min().expect("a seat");
        *seat += time;
    }
    free.into_iter().max().unwrap_or(0)
}

#[test]
fn no_order_of_short_and_long_groups_beats_the_rounds() {
    let mut random = Random(4);
    let mut tight = 0;
    for _ in 0..5000 {
        let (cores, per_core) = (1 + random.below(4), 1 + random.below(3));
        let groups = random.below(20);
        let waves: Vec<PathTime> = (0..3).map(|_| path(random.below(10), random.below(100))).collect();
        let seats = Seats { cores, groups_per_core: per_core };
        let bound = sound_kernel(groups, seats, &waves).expect("a bound").cycles;
        let worst = waves.iter().map(|w| w.start + w.cycles).max().unwrap_or(0);
        let times: Vec<u64> =
            (0..groups).map(|_| if random.chance(70) { worst } else { random.below(worst + 1) }).collect();
        let end = play(&times, cores as usize, per_core as usize);
        assert!(end <= bound, "{end} > {bound}");
        tight += usize::from(end == bound);
    }
    assert!(tight > 1000, "the bound is reached {tight} times");
}
