//! Scheduling policies as data: names, rules and what the front end, the issue stage and the analyser ask about them. The
//! implementations are in `sim/src/sched`.

use crate::listed::listed;
use serde::{Deserialize, Serialize};

/// What there is to know about a policy.
#[derive(Clone, Copy, Debug)]
pub struct PolicyInfo {
    pub name: &'static str,
    /// Short names that machine files may use as well.
    pub also: &'static [&'static str],
    pub rule: &'static str,
    /// Issue can use it.
    pub issue: bool,
    /// The fetch of a decoupled front end can use it.
    pub fetch: bool,
    /// Keeps a wave while it is ready.
    pub greedy: bool,
    /// Whoever is selected has the cycle, whether it can use it or not (SWAS section II-B): cycles pass while others are ready.
    pub strict: bool,
}

const PLAIN: PolicyInfo =
    PolicyInfo { name: "", also: &[], rule: "", issue: true, fetch: true, greedy: false, strict: false };

listed! {
    /// Who is served next.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(try_from = "String", into = "&'static str")]
    pub enum Policy: PolicyInfo {
        RoundRobin = PolicyInfo {
            name: "round-robin",
            also: &["rr"],
            rule: "every slot has its turn, ready or not",
            strict: true,
            ..PLAIN
        },
        #[default]
        LooseRoundRobin = PolicyInfo {
            name: "loose-round-robin",
            also: &["lrr"],
            rule: "the next ready slot after the last one",
            ..PLAIN
        },
        GreedyThenOldest = PolicyInfo {
            name: "greedy-then-oldest",
            also: &["gtlo", "gto"],
            rule: "the same wave while ready, then the oldest ready one",
            greedy: true,
            ..PLAIN
        },
        GreedyThenRoundRobin = PolicyInfo {
            name: "greedy-then-round-robin",
            also: &["gtlrr"],
            rule: "the same wave while ready, then the next ready slot",
            greedy: true,
            ..PLAIN
        },
        OldestFirst = PolicyInfo {
            name: "oldest-first",
            rule: "the ready wave that was launched first",
            ..PLAIN
        },
        OwnerDispatch = PolicyInfo {
            name: "owner-dispatch",
            rule: "GUPPY: the current wave until it stalls or ends; switching costs the cycle; issue only",
            fetch: false,
            greedy: true,
            ..PLAIN
        },
        FixedPriority = PolicyInfo {
            name: "fixed-priority",
            rule: "the ready slot with the smallest number",
            ..PLAIN
        },
        StrictOldest = PolicyInfo {
            name: "strict-oldest",
            also: &["so"],
            rule: "the wave launched first that waits at no barrier, ready or not; issue only",
            fetch: false,
            strict: true,
            ..PLAIN
        },
        StrictGreedy = PolicyInfo {
            name: "strict-greedy",
            also: &["gtsrr"],
            rule: "the same wave while ready, then every slot has its turn, ready or not; issue only",
            fetch: false,
            greedy: true,
            strict: true,
            ..PLAIN
        },
        Adaptive = PolicyInfo {
            name: "adaptive",
            rule: "the same wave while ready and at most 16 instructions ahead of the slowest ready one, then that one",
            greedy: true,
            ..PLAIN
        },
        Icount = PolicyInfo {
            name: "icount",
            rule: "the wave with the fewest instructions fetched and not issued; fetch only",
            issue: false,
            ..PLAIN
        },
    }
}

impl Policy {
    /// Policies that issue can use.
    pub const ISSUE: [Policy; Self::count(true)] = Self::chosen(true);

    /// Policies that the fetch of a decoupled front end can use.
    pub const FETCH: [Policy; Self::count(false)] = Self::chosen(false);

    const fn serves(self, issue: bool) -> bool {
        if issue { self.info().issue } else { self.info().fetch }
    }

    const fn count(issue: bool) -> usize {
        let (mut i, mut n) = (0, 0);
        while i < Self::ALL.len() {
            n += Self::ALL[i].serves(issue) as usize;
            i += 1;
        }
        n
    }

    const fn chosen<const N: usize>(issue: bool) -> [Policy; N] {
        let mut list = [Policy::RoundRobin; N];
        let (mut i, mut n) = (0, 0);
        while i < Self::ALL.len() {
            if Self::ALL[i].serves(issue) {
                list[n] = Self::ALL[i];
                n += 1;
            }
            i += 1;
        }
        list
    }

    /// Names and short names, as machine files may have them.
    pub(crate) const WORDS: [&'static str; Self::words()] = {
        let mut list = [""; Self::words()];
        let (mut i, mut n) = (0, Self::ALL.len());
        while i < Self::ALL.len() {
            let info = Self::ALL[i].info();
            list[i] = info.name;
            let mut k = 0;
            while k < info.also.len() {
                list[n] = info.also[k];
                n += 1;
                k += 1;
            }
            i += 1;
        }
        list
    };

    const fn words() -> usize {
        let (mut i, mut n) = (0, Self::ALL.len());
        while i < Self::ALL.len() {
            n += Self::ALL[i].info().also.len();
            i += 1;
        }
        n
    }

    pub fn parse(name: &str) -> Option<Policy> {
        Self::ALL.into_iter().find(|p| p.name() == name || p.info().also.contains(&name))
    }
}

impl TryFrom<String> for Policy {
    type Error = String;

    fn try_from(name: String) -> Result<Policy, String> {
        Policy::parse(&name).ok_or_else(|| format!("there is no policy {name}"))
    }
}

impl From<Policy> for &'static str {
    fn from(policy: Policy) -> &'static str {
        policy.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_whole_and_every_policy_serves_something() {
        for (i, p) in Policy::ALL.into_iter().enumerate() {
            assert_eq!(p as usize, i);
            assert!(p.info().issue || p.info().fetch);
            assert_eq!(Policy::parse(p.name()), Some(p));
        }
        assert!(Policy::WORDS.iter().all(|w| Policy::parse(w).is_some()));
    }
}
