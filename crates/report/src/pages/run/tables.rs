//! Tables of the page of a run: branches by what they cost, memory by instruction, units and ports, and what the cards say.

use super::heat::{place, share};
use super::part::{Launch, Part};
use super::sources::{File, files};
use crate::escape;
use crate::pages::card;
use crate::pages::digits::number;
use std::fmt::Write;
use wb_trace::{PcStats, PortKind, Stats};

/// Rows of a table of branches or of memory; the most expensive ones.
const MOST_ROWS: usize = 40;
/// Rows of the overview.
const MOST_LAUNCHES: usize = 2000;

/// What a run, or all launches together, cost.
pub fn cards(stats: &Stats) -> String {
    let mut out = String::from("<div class=\"cards\">\n");
    let cycles = if stats.timed { "cycles" } else { "steps (untimed)" };
    card(&mut out, cycles, &number(stats.cycles), "", "");
    card(&mut out, "waves", &number(stats.waves), "", &format!("of {} lanes", stats.lanes));
    let lanes = format!("{} lane-instructions", number(stats.lane_instructions));
    card(&mut out, "wave-instructions", &number(stats.wave_instructions), "", &lanes);
    if stats.timed {
        card(&mut out, "IPC", &format!("{:.3}", stats.ipc), "", "wave-instructions per cycle, all cores");
    }
    let used = format!("{:.1}%", 100.0 * stats.lane_utilisation);
    card(&mut out, "lane use", &used, "", "lanes on when instructions issue");
    let slots = stats.lane_cycles_lost + stats.lane_instructions;
    let lost = format!("{} of live lanes", share_of(stats.lane_cycles_lost, slots));
    card(&mut out, "lost lane-cycles", &number(stats.lane_cycles_lost), "", &lost);
    let stalls = stats.stall_cycles.total();
    if stats.timed {
        let of = share_of(stalls, stalls + stats.wave_instructions);
        card(&mut out, "stall cycles", &number(stalls), "", &format!("{of} of path-cycles"));
    }
    if stats.contexts.started > 0 {
        let most = format!("at most {} contexts at once", stats.contexts.most);
        card(&mut out, "splits", &number(stats.contexts.started), "", &most);
    }
    out.push_str("</div>\n");
    out
}

fn share_of(part: u64, whole: u64) -> String {
    if part == 0 { "0%".into() } else { share(part, whole) }
}

/// One row for each launch.
pub fn launches(rows: &[Launch], timed: bool, anchors: &[String]) -> String {
    let cycles: u64 = rows.iter().map(|r| r.cycles).sum();
    let cost = |r: &Launch| if timed { r.cycles } else { r.wave_instructions };
    let most = rows.iter().map(cost).max().unwrap_or(0).max(1);
    let mut out = String::from(
        "<div class=\"scroll\"><table class=\"bars\"><thead><tr><th class=\"n\">#</th><th>kernel</th><th>grid</th><th>group</th>",
    );
    out.push_str(if timed { "<th class=\"n\">cycles</th><th class=\"n\">share</th>" } else { "" });
    out.push_str("<th></th><th class=\"n\">wave-instructions</th><th class=\"n\">waves</th><th class=\"n\">lane use</th><th class=\"n\">splits</th></tr></thead><tbody>\n");
    for r in rows.iter().take(MOST_LAUNCHES) {
        let anchor = r.part.and_then(|p| anchors.get(p));
        let name = match anchor {
            Some(anchor) => format!("<a href=\"#{anchor}\">{}</a>", escape(&r.kernel)),
            None => escape(&r.kernel),
        };
        let time = match timed {
            true => format!(
                "<td class=\"n\">{}</td><td class=\"n\">{}</td>",
                number(r.cycles),
                share(r.cycles, cycles)
            ),
            false => String::new(),
        };
        let _ = writeln!(
            out,
            "<tr><td class=\"n\">{}</td><td>{name}</td><td>{}</td><td>{}</td>{time}<td class=\"bar\"><div class=\"k0\" style=\"width:{:.2}%\"></div></td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            escape(&r.number),
            escape(&r.grid),
            escape(&r.group),
            100.0 * cost(r) as f64 / most as f64,
            number(r.wave_instructions),
            number(r.waves),
            r.lane_use.map_or("–".into(), |u| format!("{:.1}%", 100.0 * u)),
            r.splits.map_or("–".into(), number)
        );
    }
    out.push_str("</tbody></table></div>\n");
    if rows.len() > MOST_LAUNCHES {
        let _ =
            writeln!(out, "<p class=\"note\">And {} more.</p>", number((rows.len() - MOST_LAUNCHES) as u64));
    }
    out
}

/// Branches by the lane-cycles that were lost while the mask they narrowed was in force.
pub fn branches(part: &str, p: &Part) -> String {
    let ran: Vec<_> = p.stats.branches.iter().filter(|b| b.executed > 0).collect();
    let mut all: Vec<_> = ran.iter().filter(|b| b.lane_cycles_lost + b.diverged > 0).collect();
    let never = ran.len() - all.len();
    if all.is_empty() {
        return match never {
            0 => "<p>No branch ran at which lanes can part.</p>\n".into(),
            n => format!("<p>{n} branches ran at which lanes can part; they never did.</p>\n"),
        };
    }
    all.sort_by_key(|b| (std::cmp::Reverse(b.lane_cycles_lost), std::cmp::Reverse(b.diverged), b.pc));
    let files = files(p);
    let mut out = String::from(
        "<p class=\"note\">Lost are lanes that were off, at any instruction, because this branch had switched them off.</p>\n\
         <div class=\"scroll\"><table><thead><tr><th class=\"n\">lost lane-cycles</th><th class=\"n\">share</th><th class=\"n\">executed</th><th class=\"n\">parted lanes</th><th class=\"n\">lanes on</th><th>source</th><th>address</th><th>instruction</th></tr></thead><tbody>\n",
    );
    for b in all.iter().take(MOST_ROWS) {
        let known = p.stats.pcs.binary_search_by_key(&b.pc, |p| p.pc).map(|i| &p.stats.pcs[i]);
        let source = known.map_or(String::new(), |pc| place(part, &files, pc));
        let _ = writeln!(
            out,
            "<tr><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{:.1}</td><td>{source}</td><td><a href=\"#{part}-a{}\">{:#x}</a></td><td><code>{}</code></td></tr>",
            number(b.lane_cycles_lost),
            share_of(b.lane_cycles_lost, p.stats.lane_cycles_lost),
            number(b.executed),
            number(b.diverged),
            b.mean_active_lanes,
            b.pc,
            b.addr,
            escape(&b.text)
        );
    }
    out.push_str("</tbody></table></div>\n");
    more(&mut out, all.len());
    if never > 0 {
        let _ = writeln!(out, "<p class=\"note\">{never} more branches ran and never parted lanes.</p>");
    }
    out
}

fn more(out: &mut String, rows: usize) {
    if rows > MOST_ROWS {
        let _ = writeln!(out, "<p class=\"note\">And {} more.</p>", number((rows - MOST_ROWS) as u64));
    }
}

/// Accesses by instruction: lines against the fewest that would do, hits, bank conflicts.
pub fn memory(part: &str, p: &Part) -> String {
    let files = files(p);
    let of = |local: bool| {
        let mut rows: Vec<&PcStats> = p.stats.pcs.iter().filter(|pc| accesses(pc, local) > 0).collect();
        let cost = |pc: &PcStats| {
            pc.memory.as_ref().map_or((0, 0), |m| {
                if local { (m.bank_conflicts, m.local_accesses) } else { (m.lines, m.accesses) }
            })
        };
        rows.sort_by_key(|pc| (std::cmp::Reverse(cost(pc)), pc.pc));
        rows
    };
    let (global, local) = (of(false), of(true));
    if global.is_empty() && local.is_empty() {
        return match p.stats.timed {
            true => "<p>No instruction accessed memory.</p>\n".into(),
            false => "<p>An untimed run has no caches and no banks.</p>\n".into(),
        };
    }
    let mut out = String::new();
    if !global.is_empty() {
        out.push_str(&global_table(part, &files, &global));
    }
    if !local.is_empty() {
        out.push_str(&local_table(part, &files, &local));
    }
    out
}

fn accesses(pc: &PcStats, local: bool) -> u64 {
    pc.memory.as_ref().map_or(0, |m| if local { m.local_accesses } else { m.accesses })
}

fn global_table(part: &str, files: &[File], rows: &[&PcStats]) -> String {
    let mut out = String::from(
        "<p class=\"note\">Ideal: the fewest lines that hold as many bytes as the active lanes access. Hits and misses are those \
         of the first cache on the way.</p>\n\
         <div class=\"scroll\"><table><thead><tr><th class=\"n\">lines</th><th class=\"n\">per access</th><th class=\"n\">ideal</th><th class=\"n\">× ideal</th><th class=\"n\">accesses</th><th class=\"n\">writes</th><th class=\"n\">hit rate</th><th class=\"n\">misses</th><th class=\"n\">evictions</th><th>source</th><th>instruction</th></tr></thead><tbody>\n",
    );
    for pc in rows.iter().take(MOST_ROWS) {
        let Some(m) = &pc.memory else { continue };
        let each = |n: u64| format!("{:.2}", n as f64 / m.accesses.max(1) as f64);
        let times = m.ideal_lines.map(|ideal| m.lines as f64 / ideal.max(1) as f64);
        let class = if times.is_some_and(|t| t >= 2.0) { " warn" } else { "" };
        let _ = writeln!(
            out,
            "<tr><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n{class}\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td><td><a href=\"#{part}-a{}\"><code>{}</code></a></td></tr>",
            number(m.lines),
            each(m.lines),
            m.ideal_lines.map_or("–".into(), each),
            times.map_or("–".into(), |t| format!("{t:.1}")),
            number(m.accesses),
            number(m.writes),
            if m.hits + m.misses == 0 { "–".into() } else { share_of(m.hits, m.hits + m.misses) },
            number(m.misses),
            number(m.evictions),
            place(part, files, pc),
            pc.pc,
            escape(&pc.text)
        );
    }
    out.push_str("</tbody></table></div>\n");
    more(&mut out, rows.len());
    out
}

fn local_table(part: &str, files: &[File], rows: &[&PcStats]) -> String {
    let mut out = String::from(
        "<h3>Local memory</h3>\n<p class=\"note\">Bank conflicts: cycles for which the unit was kept beyond those that the banks \
         need for so many dwords.</p>\n\
         <div class=\"scroll\"><table><thead><tr><th class=\"n\">bank conflicts</th><th class=\"n\">per access</th><th class=\"n\">accesses</th><th class=\"n\">dwords</th><th>source</th><th>instruction</th></tr></thead><tbody>\n",
    );
    for pc in rows.iter().take(MOST_ROWS) {
        let Some(m) = &pc.memory else { continue };
        let _ = writeln!(
            out,
            "<tr><td class=\"n\">{}</td><td class=\"n\">{:.2}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td><td><a href=\"#{part}-a{}\"><code>{}</code></a></td></tr>",
            number(m.bank_conflicts),
            m.bank_conflicts as f64 / m.local_accesses.max(1) as f64,
            number(m.local_accesses),
            number(m.local_dwords),
            place(part, files, pc),
            pc.pc,
            escape(&pc.text)
        );
    }
    out.push_str("</tbody></table></div>\n");
    more(&mut out, rows.len());
    out
}

/// Units of all cores together, and ports to memory.
pub fn units(stats: &Stats) -> String {
    struct Unit<'a> {
        name: &'a str,
        copies: u64,
        instructions: u64,
        busy: u64,
        lanes: f64,
        most: f64,
    }
    let mut all: Vec<Unit> = Vec::new();
    for u in &stats.units {
        let at = all.iter().position(|a| a.name == u.unit).unwrap_or_else(|| {
            all.push(Unit { name: &u.unit, copies: 0, instructions: 0, busy: 0, lanes: 0.0, most: 0.0 });
            all.len() - 1
        });
        let a = &mut all[at];
        a.copies += 1;
        a.instructions += u.instructions;
        a.busy += u.busy_cycles;
        a.lanes += u.mean_active_lanes * u.instructions as f64;
        a.most = a.most.max(u.utilisation);
    }
    all.retain(|u| u.instructions > 0);
    let mut out = String::new();
    if !all.is_empty() {
        out.push_str("<div class=\"scroll\"><table class=\"bars\"><thead><tr><th>unit</th><th class=\"n\">copies</th><th class=\"n\">instructions</th><th class=\"n\">busy cycles</th><th class=\"n\">use</th><th></th><th class=\"n\">busiest copy</th><th class=\"n\">lanes</th></tr></thead><tbody>\n");
    }
    for u in &all {
        let used = u.busy as f64 / (u.copies * stats.cycles).max(1) as f64;
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{:.1}%</td><td class=\"bar\"><div class=\"k0\" style=\"width:{:.2}%\"></div></td><td class=\"n\">{:.1}%</td><td class=\"n\">{:.1}</td></tr>",
            escape(u.name),
            number(u.copies),
            number(u.instructions),
            number(u.busy),
            100.0 * used,
            (100.0 * used).min(100.0),
            100.0 * u.most,
            u.lanes / u.instructions.max(1) as f64
        );
    }
    if !all.is_empty() {
        out.push_str("</tbody></table></div>\n");
    }
    out.push_str(&ports(stats));
    if out.is_empty() { "<p>Nothing is known: the run was untimed.</p>\n".into() } else { out }
}

fn ports(stats: &Stats) -> String {
    let used: Vec<_> = stats.memory.iter().filter(|p| p.accesses > 0).collect();
    if used.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<div class=\"scroll\"><table class=\"bars\"><thead><tr><th>port</th><th class=\"n\">accesses</th><th class=\"n\">writes</th><th class=\"n\">lines</th><th class=\"n\">hit rate</th><th></th><th class=\"n\">misses</th><th class=\"n\">evictions</th></tr></thead><tbody>\n",
    );
    for p in used {
        let known = p.hits + p.misses > 0;
        let rate = 100.0 * p.hits as f64 / (p.hits + p.misses).max(1) as f64;
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"bar\"><div class=\"k4\" style=\"width:{rate:.2}%\"></div></td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            port_name(p.port),
            number(p.accesses),
            number(p.writes),
            number(p.lines),
            if known { format!("{rate:.1}%") } else { "–".into() },
            number(p.misses),
            number(p.evictions)
        );
    }
    out.push_str("</tbody></table></div>\n");
    out
}

fn port_name(port: PortKind) -> &'static str {
    match port {
        PortKind::Data => "data",
        PortKind::Sampler => "sampler",
        PortKind::Scalar => "scalar",
        PortKind::Lds => "local memory (lines are dwords)",
        PortKind::Fetch => "instructions",
    }
}
