//! Bars of what paths did: of a whole run, by cause, and over time.

use crate::escape;
use crate::pages::digits::number;
use crate::timeline::{STATES, Timeline, state_name, state_of};
use std::fmt::Write;
use wb_trace::{StallReason, Stats};

/// Path-cycles in each state.
pub fn states(stats: &Stats) -> [u64; STATES] {
    let mut all = [0; STATES];
    all[0] = stats.wave_instructions;
    for reason in StallReason::ALL {
        all[usize::from(state_of(reason))] = stats.stall_cycles.get(reason);
    }
    all
}

/// One bar with all states beside each other.
pub fn stack(states: &[u64; STATES]) -> String {
    let total = states.iter().sum::<u64>().max(1) as f64;
    let mut out = String::from("<div class=\"stack\">");
    for (i, &n) in states.iter().enumerate().filter(|s| *s.1 > 0) {
        let percent = 100.0 * n as f64 / total;
        let _ = write!(
            out,
            "<span class=\"k{i}\" style=\"width:{percent:.3}%\" title=\"{}: {} ({percent:.1}%)\"></span>",
            state_name(i),
            number(n)
        );
    }
    out.push_str("</div>\n");
    out
}

/// Which colour is which state.
pub fn legend(states: &[u64; STATES]) -> String {
    let mut out = String::from("<p class=\"legend\">");
    for (i, _) in states.iter().enumerate().filter(|s| *s.1 > 0) {
        let _ = write!(out, "<span><i class=\"k{i}\"></i>{}</span>", state_name(i));
    }
    out.push_str("</p>\n");
    out
}

/// What a reason means, for readers who do not know our names.
fn meaning(state: usize) -> &'static str {
    match state.checked_sub(1).and_then(|i| StallReason::ALL.get(i)) {
        None => "an instruction issued",
        Some(StallReason::Dependency) => "a register was not ready; an arithmetic unit makes it",
        Some(StallReason::Memory) => "a register was not ready; memory makes it",
        Some(StallReason::Unit) => "the unit was busy",
        Some(StallReason::Fetch) => "the next instruction was not fetched yet",
        Some(StallReason::Barrier) => "waited at a barrier",
        Some(StallReason::NotSelected) => "ready, but the scheduler chose another wave",
        Some(StallReason::Merge) => "waited for another path of its wave",
        Some(StallReason::Divergence) => "paid for the divergence stack",
    }
}

/// A row for each state with its share.
pub fn breakdown(stats: &Stats) -> String {
    let states = states(stats);
    let total = states.iter().sum::<u64>().max(1);
    let most = states.iter().copied().max().unwrap_or(0).max(1);
    let mut out = stack(&states);
    out.push_str("<div class=\"scroll\"><table class=\"bars\"><thead><tr><th>path-cycles</th><th class=\"n\">cycles</th><th class=\"n\">share</th><th></th><th>meaning</th></tr></thead><tbody>\n");
    for (i, &n) in states.iter().enumerate().filter(|s| *s.1 > 0) {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{:.1}%</td><td class=\"bar\"><div class=\"k{i}\" style=\"width:{:.2}%\"></div></td><td>{}</td></tr>",
            state_name(i),
            number(n),
            100.0 * n as f64 / total as f64,
            100.0 * n as f64 / most as f64,
            escape(meaning(i))
        );
    }
    out.push_str("</tbody></table></div>\n");
    out
}

/// How many paths were in each state over the whole run, stacked.
pub fn over_time(t: &Timeline) -> String {
    const WIDE: f64 = 960.0;
    const HIGH: f64 = 136.0;
    /// Room for a line of text above.
    const ABOVE: f64 = 16.0;
    let paths = |n: u64| n as f64 / t.width.max(1) as f64;
    let most = t.buckets.iter().map(|b| paths(b.iter().sum())).fold(0.0, f64::max).max(1e-9);
    let end = t.cycles.max(1) as f64;
    let x = |i: usize| (i as f64 * t.width as f64).min(end) / end * WIDE;
    let mut out = format!(
        "<svg viewBox=\"0 0 {WIDE} {}\" width=\"{WIDE}\" height=\"{}\" font-size=\"12\" role=\"img\" aria-label=\"states of paths over time\">\n",
        HIGH + 18.0,
        HIGH + 18.0
    );
    let mut below = vec![0.0; t.buckets.len()];
    for state in 0..STATES {
        if t.buckets.iter().all(|b| b[state] == 0) {
            continue;
        }
        let before = below.clone();
        for (sum, b) in below.iter_mut().zip(&t.buckets) {
            *sum += paths(b[state]);
        }
        let y = |v: f64| HIGH - v / most * (HIGH - ABOVE);
        let mut path = String::new();
        for (i, &v) in below.iter().enumerate() {
            let _ = write!(path, "{}{:.1} {:.1}H{:.1}", if i == 0 { "M" } else { "L" }, x(i), y(v), x(i + 1));
        }
        for (i, &v) in before.iter().enumerate().rev() {
            let _ = write!(path, "L{:.1} {:.1}H{:.1}", x(i + 1), y(v), x(i));
        }
        let _ = writeln!(
            out,
            "<path class=\"k{state}\" d=\"{path}Z\"><title>{}</title></path>",
            state_name(state)
        );
    }
    let _ = writeln!(
        out,
        "<line class=\"axis\" x1=\"0\" x2=\"{WIDE}\" y1=\"{HIGH}\" y2=\"{HIGH}\"/><text x=\"0\" y=\"{0}\">cycle 0</text><text x=\"{WIDE}\" y=\"{0}\" text-anchor=\"end\">{1}</text><text x=\"0\" y=\"11\">{most:.1} paths</text>\n</svg>",
        HIGH + 14.0,
        number(t.cycles)
    );
    out
}
