//! Policies of random machines. A case has a number that decides everything about it, and searches, tests and notes name cases by
//! it: a policy that is added must not change the others.

use super::loops::Noise;
use wb_hw::Policy;

/// Those that came later; every sixteenth case has one of them instead.
const LATER: [Policy; 3] = [Policy::StrictOldest, Policy::StrictGreedy, Policy::Adaptive];

/// One of `all`, for a case of a search.
pub fn policy(all: &[Policy], case: u64, noise: &mut Noise) -> Policy {
    let (later, first): (Vec<Policy>, Vec<Policy>) = all.iter().partition(|p| LATER.contains(p));
    let policy = noise.pick(&first);
    match case % 16 == 3 && !later.is_empty() {
        true => later[(case / 16) as usize % later.len()],
        false => policy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_has_cases() {
        for all in [&Policy::ISSUE[..], &Policy::FETCH[..]] {
            for wanted in all {
                let has = |case: u64| policy(all, case, &mut Noise::new(case)) == *wanted;
                assert!((0..400).any(has), "{wanted:?}");
            }
        }
    }
}
