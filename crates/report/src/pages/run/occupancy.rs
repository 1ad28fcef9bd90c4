//! What fits on a core at a time, which resource is the limit, and what one more group would need.

use super::part::Occupancy;
use crate::pages::digits::number;
use std::fmt::Write;
use wb_hw::{Limit, Room};

/// `64 vector registers of a lane`.
fn unit(resource: Limit) -> &'static str {
    match resource {
        Limit::Slots => "waves of a group",
        Limit::VectorRegisters => "vector registers of a lane",
        Limit::ScalarRegisters => "scalar registers of a wave",
        Limit::LocalMemory => "bytes of local memory of a group",
        Limit::Barriers => "barriers of a group",
    }
}

/// What a group would have to be content with.
fn wish(room: &Room) -> String {
    match room.for_one_more {
        None => "enough".into(),
        Some(0) => format!("the machine has no more: {}", number(room.of.into())),
        Some(most) => format!("at most {} instead of {}", number(most.into()), number(room.used.into())),
    }
}

/// `1 wave`, `2 waves`.
fn count(n: u32, what: &str) -> String {
    format!("{} {what}{}", number(n.into()), if n == 1 { "" } else { "s" })
}

/// What one more group on a core would need, in words.
fn one_more(o: &Occupancy) -> String {
    let short: Vec<&Room> = o.rooms.iter().filter(|r| r.for_one_more.is_some()).collect();
    if let Some(full) = short.iter().find(|r| r.for_one_more == Some(0)) {
        return format!(
            "<p>No kernel gets more on this machine: it has no more {}.</p>\n",
            full.resource.name()
        );
    }
    let wishes: Vec<String> = short
        .iter()
        .map(|r| {
            let most = number(r.for_one_more.unwrap_or(0).into());
            format!("at most {most} {} instead of {}", unit(r.resource), number(r.used.into()))
        })
        .collect();
    if wishes.is_empty() {
        return String::new();
    }
    format!(
        "<p>One more group on a core, which is {} more, needs {}.</p>\n",
        count(o.waves_per_group, "wave"),
        wishes.join(", and ")
    )
}

/// The part of a page about occupancy.
pub fn occupancy(o: &Occupancy) -> String {
    let waves = o.groups_per_core * o.waves_per_group;
    let slots = o.slots * o.partitions;
    let mut out = String::from("<p>");
    let _ = write!(
        out,
        "A core holds {} of {} at a time: {} of its {} wave slots, about {:.1} of {} in each SIMD. ",
        count(o.groups_per_core, "group"),
        count(o.waves_per_group, "wave"),
        waves,
        slots,
        f64::from(waves) / f64::from(o.partitions),
        o.slots
    );
    let room = u64::from(o.groups_per_core) * u64::from(o.cores);
    if u64::from(o.groups) < room {
        let _ = write!(
            out,
            "The launch does not fill the machine: it has {}, and there is room for {} on {}. ",
            count(o.groups, "group"),
            number(room),
            count(o.cores, "core")
        );
    }
    let _ = writeln!(out, "The limit is <strong>{}</strong>.</p>", o.limit.name());
    out.push_str(&one_more(o));
    out.push_str("<div class=\"scroll\"><table class=\"bars\"><thead><tr><th>resource</th><th class=\"n\">used</th><th class=\"n\">of</th><th class=\"n\">groups it allows</th><th></th><th>for one more group</th></tr></thead><tbody>\n");
    let most = o.rooms.iter().filter_map(|r| r.groups).max().unwrap_or(1).max(1);
    for r in &o.rooms {
        let tight = r.groups == Some(o.groups_per_core);
        let bar = r.groups.map_or(String::new(), |g| {
            let width = 100.0 * f64::from(g) / f64::from(most);
            format!("<div class=\"{}\" style=\"width:{width:.2}%\"></div>", if tight { "k2" } else { "k0" })
        });
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"bar\">{bar}</td><td>{}</td></tr>",
            unit(r.resource),
            number(r.used.into()),
            if r.of == 0 { "no limit".into() } else { number(r.of.into()) },
            r.groups.map_or("–".into(), |g| number(g.into())),
            wish(r)
        );
    }
    out.push_str("</tbody></table></div>\n");
    out
}
