//! Cards and tables of the page: numbers first, then the worst way, loops, branches, launches and what it all rests on.

use crate::escape;
use crate::pages as html;
use crate::pages::digits::number;
use std::fmt::Write;
use wb_bound::{CodePlace, KernelBound, Status, count};

/// A table; cells are finished HTML, columns whose title begins with `#` are numbers.
fn table(titles: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let numeric: Vec<bool> = titles.iter().map(|t| t.starts_with('#')).collect();
    let mut out = String::from("<div class=\"scroll\"><table><thead><tr>");
    for (title, numeric) in titles.iter().zip(&numeric) {
        let class = if *numeric { " class=\"n\"" } else { "" };
        let _ = write!(out, "<th{class}>{}</th>", escape(title.trim_start_matches('#')));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (cell, numeric) in row.iter().zip(&numeric) {
            let class = if *numeric { " class=\"n\"" } else { "" };
            let _ = write!(out, "<td{class}>{cell}</td>");
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    out
}

fn place(p: &CodePlace) -> String {
    format!("<code>{}</code>", escape(&p.to_string()))
}

fn end(p: &Option<CodePlace>, otherwise: &str) -> String {
    p.as_ref().map_or_else(|| escape(otherwise), place)
}

/// What was observed, if anything ran.
pub fn seen(cycles: u64) -> String {
    if cycles == 0 { "–".to_owned() } else { number(cycles) }
}

/// Bound over observed, if anything ran.
pub fn ratio(bound: u64, observed: u64) -> String {
    if observed == 0 { "–".to_owned() } else { format!("{:.3}", bound as f64 / observed as f64) }
}

/// Numbers of the cards, of one kernel or of all.
pub struct Cards<'a> {
    pub bound: u64,
    pub observed: u64,
    pub mhz: u32,
    pub status: Status,
    /// What the status means.
    pub meaning: &'a str,
    /// Runs and inputs behind the ratio.
    pub behind: &'a str,
    pub deadline: Option<u64>,
}

/// What a reader must know first.
pub fn warnings<'a>(list: impl Iterator<Item = &'a String>) -> String {
    list.fold(String::new(), |mut out, w| {
        let _ = writeln!(out, "<p class=\"bad\"><strong>Warning.</strong> {}</p>", escape(w));
        out
    })
}

/// Bound, observed, ratio, status, deadline.
pub fn cards(of: &Cards) -> String {
    let Cards { bound, observed, mhz, status, meaning, behind, deadline } = *of;
    let mut out = String::from("<div class=\"cards\">\n");
    let mut card = |what: &str, value: &str, class: &str, more: &str| {
        html::card(&mut out, what, value, class, more);
    };
    let time = |cycles: u64| format!("cycles = {:.2} µs at {mhz} MHz", cycles as f64 / f64::from(mhz.max(1)));
    card("Bound", &number(bound), "", &time(bound));
    if observed > 0 {
        card("Observed", &number(observed), "", &time(observed));
        let more = format!("{behind}; 1 is exact for them, below 1 would be a mistake");
        card("Bound / observed", &ratio(bound, observed), "", &more);
    } else {
        card("Observed", "nothing", "", "times of blocks are given, nothing ran");
    }
    card("Status", status.name(), "", meaning);
    if let Some(deadline) = deadline {
        let (word, class) = if bound <= deadline { ("met", "good") } else { ("MISSED", "bad") };
        let slack = format!(
            "{} of {} cycles {}",
            number(bound.abs_diff(deadline)),
            number(deadline),
            if bound <= deadline { "to spare" } else { "over" }
        );
        card("Deadline", word, class, &slack);
    }
    out.push_str("</div>\n");
    out
}

pub fn worst(k: &KernelBound) -> String {
    let rows = k.worst.iter().map(|s| {
        let blocks: Vec<String> = s.blocks.iter().map(usize::to_string).collect();
        vec![
            number(s.count),
            number(s.cycles),
            format!("{:.0}", s.mean),
            number(s.samples),
            number(s.total),
            format!("{:.1}%", 100.0 * s.total as f64 / k.wave_bound.max(1) as f64),
            end(&s.from, "start"),
            end(&s.to, "end"),
            escape(&blocks.join(" ")),
        ]
    });
    let titles =
        ["#times", "#longest", "#mean", "#samples", "#total", "#share", "from", "to", "blocks it can pass"];
    format!(
        "<p class=\"note\">Segments of the worst way: how often it takes each, and the longest and mean time the runs \
         measured for it, in cycles.</p>\n{}",
        table(&titles, rows)
    )
}

/// The hybrid bound by own time and waits, beside that by segments.
pub fn composed(k: &KernelBound) -> String {
    let (row, bound) = (&k.composed, k.composed.bound.unwrap_or(0));
    let share = |cycles: u64| format!("{:.1}%", 100.0 * cycles as f64 / bound.max(1) as f64);
    let rows = row.terms.iter().map(|t| vec![escape(t.name), number(t.cycles), share(t.cycles)]);
    let heaviest = row.heaviest.map_or(String::new(), |h| {
        format!(" If each wave took its heaviest way it would be {} cycles.", number(h))
    });
    format!(
        "<p>Own time of the longest way, and waits as measured, are {} cycles; the longest measured times of segments add up to \
         {}.{heaviest}</p>\n{}",
        number(bound),
        number(k.segment_bound),
        table(&["part", "cycles", "share"], rows)
    )
}

/// Whether contents of buffers can change the time, and where.
pub fn contents(k: &KernelBound) -> String {
    let fixed: Vec<String> = k.exact.fixed.iter().map(|(name, hash)| format!("{name} ({hash})")).collect();
    let fixed = match fixed.is_empty() {
        true => String::new(),
        false => {
            format!("<p>Buffers whose contents are part of the launch: {}.</p>\n", escape(&fixed.join(", ")))
        }
    };
    let said = match (&k.exact.why_not, k.exact.holds, k.hybrid_bound) {
        (Some(why), ..) => format!("<p>Not shown: {}.</p>\n", escape(why)),
        (None, true, Some(hybrid)) => format!(
            "<p>No contents of buffers can change the time: nothing that decides time depends on them. Measured times alone \
             would add up to {} cycles.</p>\n",
            number(hybrid)
        ),
        (None, true, None) => {
            "<p>No contents of buffers can change the time: nothing that decides time depends on them.</p>\n"
                .into()
        }
        (None, false, _) if k.exact.uses.is_empty() => "<p>Not examined: nothing ran.</p>\n".into(),
        (None, false, _) => {
            let rows = k.exact.uses.iter().map(|u| {
                let from = u.from.as_ref().map_or(String::new(), place);
                vec![place(&u.place), escape(&u.text), escape(u.what), from]
            });
            format!(
                "<p class=\"note\">Contents of buffers decide the following, so other contents can take longer. Make a branch a \
                 select, take an index from the work-item instead of from memory, or declare a buffer that never changes with \
                 --fixed: then the bound is the time itself.</p>\n{}",
                table(&["at", "instruction", "contents decide", "from the load at"], rows)
            )
        }
    };
    said + &fixed
}

/// Colours of the parts of a proved bound.
const PARTS: [&str; 6] = ["#4878a8", "#c98b3c", "#7a9a4f", "#a05a7d", "#6b6b8f", "#b0a47a"];

/// What a proved bound is made of: a stacked bar, the parts, and accesses that cost much because little is known of them.
pub fn proved(k: &KernelBound) -> String {
    let row = &k.proved;
    let Some(bound) = row.bound else {
        return match (&row.why_not, &row.help) {
            (Some(why), Some(help)) => format!("<p>No proof: {}. {}</p>\n", escape(why), escape(help)),
            (Some(why), None) => format!("<p>No proof: {}.</p>\n", escape(why)),
            (None, _) => "<p>Not looked for.</p>\n".into(),
        };
    };
    let share = |cycles: u64| 100.0 * cycles as f64 / bound.max(1) as f64;
    let parts = || row.terms.iter().zip(PARTS.iter().cycle()).filter(|(t, _)| t.cycles > 0);
    let mut at = 0.0;
    let mut bar = String::new();
    for (t, colour) in parts() {
        let width = 10.0 * share(t.cycles);
        let _ = write!(
            bar,
            "<rect x=\"{at:.1}\" y=\"0\" width=\"{width:.1}\" height=\"24\" fill=\"{colour}\"><title>{}: {} cycles</title></rect>",
            escape(t.name),
            t.cycles
        );
        at += width;
    }
    let rows = parts().map(|(t, colour)| {
        let waves = if t.waves > 0 { number(t.waves) } else { String::new() };
        vec![
            format!("<span style=\"color:{colour}\">&#9632;</span> {}", escape(t.name)),
            number(t.cycles),
            format!("{:.1}%", share(t.cycles)),
            waves,
        ]
    });
    let unknown = row.unknown.iter().map(|u| {
        let what = if u.local { "passes" } else { "lines" };
        vec![place(&u.place), escape(&u.text), format!("{} {what}", u.lines), escape(&u.why)]
    });
    let accesses = match row.unknown.is_empty() {
        true => "<p>The lines of every access are known.</p>\n".to_owned(),
        false => table(&["at", "instruction", "charged each time", "because"], unknown),
    };
    let kept = if row.kept.is_empty() { "none".to_owned() } else { row.kept.join(", ") };
    format!(
        "<p>{} cycles follow from the code, the launch and the machine's latencies, without any measurement. One wave alone takes {} at \
         most. Caches that never evict anything: {}.</p>\n<svg viewBox=\"0 0 1000 24\" width=\"100%\" height=\"24\" \
         preserveAspectRatio=\"none\">{bar}</svg>\n{}<p class=\"note\">Accesses of which the proof knows little, the most expensive \
         first. To make their index a function of the work-item lowers the bound.</p>\n{accesses}",
        number(bound),
        number(row.wave),
        escape(&kept),
        table(&["part", "#cycles", "#share", "#waves in the way"], rows),
    )
}

pub fn loops(k: &KernelBound) -> String {
    if k.loops.is_empty() {
        return "<p>The kernel has no loop that runs.</p>\n".into();
    }
    let rows = k.loops.iter().map(|l| {
        vec![
            place(&l.header),
            number(l.max),
            match l.observed {
                Some(rounds) => number(rounds),
                None if k.nothing_ran() => "–".into(),
                None => "never entered".into(),
            },
            escape(l.origin),
            if l.whole { "as a whole" } else { "round by round" }.to_owned(),
            escape(&l.why),
        ]
    });
    format!(
        "<p class=\"note\">Rounds are times the loop goes back to its header, for each time it is entered.</p>\n{}",
        table(&["header", "#most rounds", "#seen", "known", "measured", "why"], rows)
    )
}

pub fn branches(k: &KernelBound) -> String {
    if k.branches.is_empty() {
        return "<p>The kernel has no divergent branch with a place where its lanes meet again.</p>\n".into();
    }
    let rows = k.branches.iter().map(|b| {
        let change = match (b.with, b.without) {
            (Some(with), Some(without)) if without > 0 => {
                format!("{:+.1}%", 100.0 * (with as f64 / without as f64 - 1.0))
            }
            _ => String::new(),
        };
        let cycles = |c: Option<u64>| c.map_or(String::new(), number);
        vec![place(&b.branch), b.state().into(), cycles(b.without), cycles(b.with), change, escape(&b.note)]
    });
    let splits = match k.splits + k.refused {
        0 => String::new(),
        _ => format!(
            "<p>{} splits in the runs, {} refused, up to {} paths of a wave at once.</p>\n",
            number(k.splits),
            number(k.refused),
            k.most_paths
        ),
    };
    format!(
        "<p class=\"note\">Bound of a wave with a segment for every block, {} cycles now, if only the split at this branch \
         were not there or were added.</p>\n{splits}{}",
        number(k.wave_bound_by_blocks),
        table(&["branch", "state", "#without its split", "#with it", "#change", "note"], rows)
    )
}

pub fn launches(k: &KernelBound) -> String {
    let rows = k.launches.iter().enumerate().map(|(i, l)| {
        vec![
            (i + 1).to_string(),
            number(l.groups),
            l.waves_per_group.to_string(),
            l.group_threads.to_string(),
            number(l.at_once),
            escape(&l.limit),
            number(l.rounds),
            number(l.bound),
            seen(l.observed),
            format!("{} ({})", ratio(l.bound, l.observed), count(l.runs, "run")),
        ]
    });
    let titles = [
        "#launch",
        "#groups",
        "#waves of a group",
        "#threads of a group",
        "#groups at once",
        "limited by",
        "#rounds",
        "#bound",
        "#observed",
        "#ratio",
    ];
    format!(
        "<p class=\"note\">The bound of a launch is its rounds times the bound of a wave, {} cycles; the longest delay from a \
         wave's slot to its first instruction, {} cycles, is part of that.</p>\n{}",
        number(k.wave_bound),
        number(k.start_delay),
        table(&titles, rows)
    )
}

pub fn paper(k: &KernelBound) -> String {
    let rows = k.paper.iter().map(|p| {
        let computed = p.note.is_empty();
        let cycles = |n: u64| if computed { number(n) } else { "–".into() };
        vec![escape(&p.rule), cycles(p.kernel), cycles(p.wave), escape(&p.source), escape(&p.note)]
    });
    format!(
        "<p><strong>As published, not repaired.</strong> Some of these numbers are below what a kernel can take; they are here \
         to compare, not to rely on (docs/wcet.md says what is wrong with each).</p>\n{}",
        table(&["rule", "#kernel", "#wave", "source", "note"], rows)
    )
}

pub fn coverage(k: &KernelBound) -> String {
    let c = &k.coverage;
    let mut out = format!(
        "<p>{}, {} launches measured, {} waves. {} of {} ways between points measured, {} of {} steps between blocks taken, {} sides of branches never \
         skipped. Of {} points at blocks, {} are needed.</p>\n",
        count(c.runs, "run"),
        c.launches,
        number(c.waves),
        c.ways.0,
        c.ways.1,
        c.steps.0,
        c.steps.1,
        c.never_skipped,
        c.points.0,
        c.points.1
    );
    if !k.never.is_empty() {
        let rows = k.never.iter().map(|n| vec![place(&n.from), place(&n.to), escape(&n.why)]);
        out.push_str("<p>Ways that cannot be taken, by proof; the graph does not have them:</p>\n");
        out.push_str(&table(&["from", "to", "why"], rows));
    }
    if c.gaps.is_empty() {
        out.push_str("<p>No way is missing.</p>\n");
    } else {
        let rows = c.gaps.iter().map(|(from, to)| vec![place(from), end(to, "the end")]);
        out.push_str("<p>Ways that no run took:</p>\n");
        out.push_str(&table(&["from", "to"], rows));
    }
    out
}

pub fn assumptions(k: &KernelBound) -> String {
    let mut out = String::from("<p>The bound holds if:</p>\n<ul>\n");
    for a in &k.assumptions {
        let _ = writeln!(out, "<li>{}</li>", escape(a));
    }
    out.push_str("</ul>\n");
    out
}

pub fn inputs(k: &KernelBound) -> String {
    let rows =
        k.inputs.iter().map(|(name, hash)| vec![escape(name), format!("<code>{}</code>", escape(hash))]);
    table(&["what", "hash"], rows)
}

/// What the independent checker says.
pub fn certificate(k: &KernelBound) -> String {
    let hash = xxhash_rust::xxh3::xxh3_64(k.certificate.as_bytes());
    match wb_check::check(&k.certificate) {
        Ok(r) => {
            let mut out = format!(
                "<p><strong class=\"good\">Valid.</strong> The checker, which shares no code with the analyser, proves that no wave \
                 takes more than {} cycles in a graph of {}, {}, {} and {}, and all launches no more than {}, if:</p>\n<ul>\n",
                number(r.bound),
                count(r.nodes, "node"),
                count(r.edges, "edge"),
                count(r.loops, "loop"),
                count(r.facts, "fact"),
                r.binding
                    .as_ref()
                    .map_or(String::new(), |b| number(u64::try_from(b.total.0).unwrap_or(u64::MAX)))
            );
            for a in &r.assumptions {
                let _ = writeln!(out, "<li>{}</li>", escape(a));
            }
            let _ = writeln!(out, "</ul>\n<p>The certificate's hash is <code>xxh3:{hash:016x}</code>.</p>");
            out
        }
        Err(e) => format!("<p><strong class=\"bad\">NOT VALID:</strong> {}</p>\n", escape(&e.to_string())),
    }
}
