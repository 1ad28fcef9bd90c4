//! Wave schedulers: who goes next among the slots of a partition. Asked once per cycle and port, so `dyn`
//! is fine. Slots are numbered within the partition, at most 64 of them.

mod adaptive;
mod ages;
mod greedy;
mod oldest;
mod owner;
mod policy;
mod priority;
mod round_robin;
mod strict;
mod two_level;

pub use adaptive::Adaptive;
pub use ages::Ages;
pub use greedy::{GreedyThenOldest, GreedyThenRoundRobin};
pub use oldest::OldestFirst;
pub use owner::OwnerDispatch;
pub use policy::{Choice, Policy, View, next_behind, oldest};
pub use priority::{FixedPriority, Icount};
pub use round_robin::{LooseRoundRobin, RoundRobin};
pub use strict::{StrictGreedy, StrictOldest};
pub use two_level::TwoLevel;

use wb_hw::Policy as PolicyName;

/// Makes a policy of the caller's own, one for each scheduler ([`crate::RunOptions::issue`]).
pub type MakePolicy<'a> = dyn Fn() -> Box<dyn Policy> + 'a;

/// The list: one line for each policy of [`wb_hw::Policy`].
pub fn policy(name: PolicyName) -> Box<dyn Policy> {
    match name {
        PolicyName::RoundRobin => Box::new(RoundRobin::default()),
        PolicyName::LooseRoundRobin => Box::new(LooseRoundRobin::default()),
        PolicyName::GreedyThenOldest => Box::new(GreedyThenOldest::default()),
        PolicyName::GreedyThenRoundRobin => Box::new(GreedyThenRoundRobin::default()),
        PolicyName::OldestFirst => Box::new(OldestFirst),
        PolicyName::OwnerDispatch => Box::new(OwnerDispatch::default()),
        PolicyName::FixedPriority => Box::new(FixedPriority),
        PolicyName::StrictOldest => Box::new(StrictOldest),
        PolicyName::StrictGreedy => Box::new(StrictGreedy::default()),
        PolicyName::Adaptive => Box::new(Adaptive::default()),
        PolicyName::Icount => Box::new(Icount),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGE: [u64; 4] = [7, 3, 9, 1];
    const QUEUED: [u32; 4] = [2, 4, 1, 1];
    const PROGRESS: [u32; 4] = [40, 24, 23, 30];

    fn view(ready: u64, stalled: u64) -> View<'static> {
        View {
            ready,
            stalled,
            occupied: 0b1111,
            active: 0b1111,
            age: &AGE,
            queued: &QUEUED,
            progress: &PROGRESS,
            slots: 4,
        }
    }

    fn picks(name: PolicyName, views: &[(u64, u64)]) -> Vec<Option<u32>> {
        let mut p = policy(name);
        views.iter().map(|&(r, s)| p.pick(&view(r, s))).collect()
    }

    #[test]
    fn strict_round_robin_wastes_the_turn_of_a_stalled_slot() {
        let all = picks(PolicyName::RoundRobin, &[(0b1101, 0b10); 5]);
        assert_eq!(all, [Some(0), None, Some(2), Some(3), Some(0)]);
    }

    #[test]
    fn loose_round_robin_skips_it() {
        let all = picks(PolicyName::LooseRoundRobin, &[(0b1101, 0b10); 5]);
        assert_eq!(all, [Some(0), Some(2), Some(3), Some(0), Some(2)]);
    }

    #[test]
    fn greedy_stays_then_takes_the_oldest_or_the_next() {
        let seq = [(0b0111, 0), (0b0110, 1), (0b0111, 0), (0b1101, 2), (0b0101, 2)];
        assert_eq!(picks(PolicyName::GreedyThenOldest, &seq), [Some(1), Some(1), Some(1), Some(3), Some(0)]);
        assert_eq!(
            picks(PolicyName::GreedyThenRoundRobin, &seq),
            [Some(0), Some(1), Some(1), Some(2), Some(2)]
        );
    }

    #[test]
    fn oldest_first_ignores_history() {
        assert_eq!(picks(PolicyName::OldestFirst, &[(0b1111, 0), (0b0111, 0)]), [Some(3), Some(1)]);
    }

    #[test]
    fn fixed_priority_takes_the_first_slot_and_icount_the_emptiest() {
        let seq = [(0b1111, 0), (0b1010, 0), (0b1100, 0), (0b0011, 0), (0, 0)];
        assert_eq!(picks(PolicyName::FixedPriority, &seq), [Some(0), Some(1), Some(2), Some(0), None]);
        assert_eq!(picks(PolicyName::Icount, &seq), [Some(2), Some(3), Some(2), Some(0), None]);
    }

    #[test]
    fn strict_oldest_lets_cycles_pass_but_not_for_a_wave_at_a_barrier() {
        // Slot 3 is the oldest, then slot 1.
        let all = picks(PolicyName::StrictOldest, &[(0b1111, 0), (0b0111, 0b1000), (0b1000, 0)]);
        assert_eq!(all, [Some(3), None, Some(3)]);
        let mut p = policy(PolicyName::StrictOldest);
        assert_eq!(p.pick(&View { active: 0b0111, ..view(0b0111, 0b1000) }), Some(1));
        assert_eq!(p.pick(&View { active: 0b0111, ..view(0b0101, 0b1010) }), None);
    }

    #[test]
    fn strict_greedy_stays_and_then_gives_every_slot_a_cycle() {
        let seq = [(0b1001, 0b0110), (0b1001, 0b0110), (0b1000, 0b0111), (0b1000, 0b0111), (0b1000, 0b0111)];
        assert_eq!(picks(PolicyName::StrictGreedy, &seq), [Some(0), Some(0), None, None, Some(3)]);
    }

    #[test]
    fn adaptive_leaves_a_wave_that_is_far_ahead_of_a_ready_one() {
        // Slot 0 has 40 instructions, 16 more than slot 1 and 17 more than slot 2.
        let seq = [(0b0001, 0), (0b0011, 0), (0b0111, 0), (0b1111, 0), (0b1011, 0)];
        assert_eq!(picks(PolicyName::Adaptive, &seq), [Some(0), Some(0), Some(2), Some(2), Some(1)]);
    }

    #[test]
    fn a_policy_goes_on_where_another_one_was() {
        for name in PolicyName::ISSUE {
            let (mut a, mut b) = (policy(name), policy(name));
            for ready in [0b0001, 0b1100, 0b0010, 0, 0b0110] {
                a.pick(&view(ready, !ready & 0b1111));
            }
            b.remember(a.memory());
            for ready in [0b1111, 0b0101, 0b1010, 0b1111] {
                let v = view(ready, !ready & 0b1111);
                assert_eq!(a.pick(&v), b.pick(&v), "{name:?}");
            }
        }
    }

    #[test]
    fn owner_dispatch_pays_a_cycle_to_switch_but_waits_for_a_busy_unit() {
        // Slot 0 stalls: the cycle is lost, slot 1 goes next; a slot blocked by a unit is not left.
        let seq = [(0b11, 0), (0b10, 0b01), (0b10, 0b01), (0b01, 0), (0b11, 0)];
        assert_eq!(picks(PolicyName::OwnerDispatch, &seq), [Some(0), None, Some(1), None, Some(1)]);
    }

    #[test]
    fn idle_cycles_move_the_turn_as_if_they_had_been_picked() {
        for name in [PolicyName::RoundRobin, PolicyName::OwnerDispatch, PolicyName::StrictGreedy] {
            let (mut a, mut b) = (policy(name), policy(name));
            for _ in 0..7 {
                assert_eq!(a.pick(&view(0, 0b1111)), None);
            }
            b.idle(&view(0, 0b1111), 7);
            for _ in 0..4 {
                assert_eq!(a.pick(&view(0b1111, 0)), b.pick(&view(0b1111, 0)));
            }
        }
    }

    /// What a policy says of when it has to be asked holds: in random cycles it chooses as if it had always been asked and told.
    #[test]
    fn nobody_notices_who_is_not_asked() {
        let mut state = 7u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        for name in PolicyName::ISSUE.into_iter().chain(PolicyName::FETCH) {
            let (mut asked, mut spared) = (policy(name), policy(name));
            let choice = asked.choice();
            for _ in 0..2000 {
                let (ready, stalled) = (random(16) & random(16), random(16));
                let whole = view(ready, stalled & !ready);
                if ready == 0 && choice != Choice::Asked && random(2) == 0 {
                    asked.idle(&whole, 1 + random(9));
                    continue;
                }
                let wanted = asked.pick(&whole);
                let got = match choice {
                    Choice::Asked => spared.pick(&whole),
                    _ if ready == 0 => None,
                    Choice::AmongSeveral if ready.is_power_of_two() => Some(ready.trailing_zeros()),
                    Choice::AmongReady | Choice::AmongSeveral => {
                        spared.pick(&View { stalled: 0, active: 0, ..whole })
                    }
                    Choice::Oldest => oldest(ready, &AGE),
                };
                assert_eq!(got, wanted, "{name:?}, {ready:#b}");
            }
        }
    }

    /// Who is asked only if chosen may be asked late: a policy that has its memory put back where its choice may not go comes to the same
    /// choice, now and later, as one that never saw those who may not.
    #[test]
    fn whoever_may_not_go_may_be_found_out_late() {
        let mut state = 11u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        for name in PolicyName::ISSUE {
            let (mut knows, mut finds_out) = (policy(name), policy(name));
            if matches!(knows.choice(), Choice::Asked | Choice::Oldest) {
                continue;
            }
            for _ in 0..2000 {
                let mut crowd = random(16);
                let may = crowd & random(16);
                let wanted = if may == 0 { None } else { knows.pick(&view(may, 0)) };
                let mut got = None;
                while crowd != 0 && got.is_none() {
                    let before = finds_out.memory();
                    let picked = finds_out.pick(&view(crowd, 0)).expect("somebody is there");
                    if may >> picked & 1 == 1 {
                        got = Some(picked);
                    } else {
                        crowd &= !(1 << picked);
                        finds_out.remember(before);
                    }
                }
                assert_eq!(got, wanted, "{name:?}, {may:#b}");
            }
        }
    }
}
