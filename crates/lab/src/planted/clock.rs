//! Time that this process and its finished children spent computing. Other processes on the computer do not change it much, as they
//! change the time that passes.

use std::time::Duration;

/// Time of a tick of `/proc`: Linux reports 100 of them a second everywhere.
const TICK: Duration = Duration::from_millis(10);

/// User time.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    pub own: Duration,
    /// Of children that ended and were waited for.
    pub children: Duration,
}

/// So far; none where there is no `/proc`.
pub fn used() -> Option<Used> {
    parse(&std::fs::read_to_string("/proc/self/stat").ok()?)
}

/// The fields `utime` and `cutime` (proc(5)), counted after the name, which may contain anything.
fn parse(stat: &str) -> Option<Used> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |i: usize| fields.get(i)?.parse::<u32>().ok().map(|n| TICK * n);
    Some(Used { own: ticks(11)?, children: ticks(13)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_times_are_found_behind_any_name() {
        let used = parse("7 (a) b) R 1 2 3 4 5 6 7 8 9 10 250 30 400 5 20 0").map(|u| (u.own, u.children));
        assert_eq!(used, Some((Duration::from_millis(2500), Duration::from_secs(4))));
        assert!(parse("nothing").is_none());
    }
}
