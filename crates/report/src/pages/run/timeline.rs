//! The timeline of a page: its data as JSON inside the page, and the script that draws it. Without scripts there is the drawing
//! of states over time.

use super::bars::over_time;
use super::part::Part;
use crate::pages::digits::number;
use crate::timeline::{STATES, Timeline, state_name};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Draws all timelines of a page.
const SCRIPT: &str = include_str!("timeline.js");

/// JSON as it may stand in a script element of HTML and of XML, whatever its strings say.
pub fn embed(value: &Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        match c {
            '<' | '>' | '&' | '\'' | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}

/// The timeline of a part, if it has one.
pub fn timeline(part: &str, p: &Part) -> Option<String> {
    let t = p.timeline.as_ref()?;
    let mut out = String::new();
    if !p.timeline_of.is_empty() {
        let _ = writeln!(out, "<p>{}</p>", crate::escape(&p.timeline_of));
    }
    let _ = writeln!(
        out,
        "<p class=\"note\">Paths in each state over the whole run, averages of {} cycles:</p>",
        number(t.width)
    );
    out.push_str(&over_time(t));
    let mut sums = [0; STATES];
    for b in &t.buckets {
        sums.iter_mut().zip(b).for_each(|(a, n)| *a += n);
    }
    out.push_str(&super::bars::legend(&sums));
    if t.is_cut() {
        let _ = writeln!(
            out,
            "<p class=\"note warn\">The timeline below is cut: it has the first {} of {} cycles. More would make the page too large; \
             <code>--trace</code> keeps everything, and <code>wavebound picture</code> draws any part of it.</p>",
            number(t.to),
            number(t.cycles)
        );
    }
    let _ = writeln!(
        out,
        "<div class=\"timeline\" data-of=\"{part}-t\" data-part=\"{part}\"><noscript><p>The timeline needs scripts; everything else \
         on this page does not.</p></noscript></div>\n<script type=\"application/json\" id=\"{part}-t\">{}</script>",
        embed(&data(t, p))
    );
    Some(out)
}

fn data(t: &Timeline, p: &Part) -> Value {
    let used: BTreeSet<u32> = t.slots.iter().flat_map(|s| s.moments.iter().map(|m| m.3)).collect();
    let place = |pc: &wb_trace::PcStats| match pc.line {
        0 => String::new(),
        line => format!("{}:{line}", wb_jobs::last_part(&pc.file)),
    };
    let code: serde_json::Map<String, Value> = p
        .stats
        .pcs
        .iter()
        .filter(|pc| used.contains(&pc.pc))
        .map(|pc| (pc.pc.to_string(), json!([format!("{:#x}", pc.addr), pc.text, place(pc)])))
        .collect();
    let slots: Vec<Value> = t
        .slots
        .iter()
        .map(|s| {
            let mut moments = s.moments.clone();
            moments.sort_by_key(|m| m.0);
            let mut last = 0;
            let mut flat: Vec<u64> = Vec::with_capacity(moments.len() * 6);
            for m in &moments {
                flat.extend([m.0 - last, m.1.into(), m.2.into(), m.3.into(), m.4.into(), m.5.into()]);
                last = m.0;
            }
            let waves: Vec<u64> = s.waves.iter().flat_map(|w| [w.0, w.1, w.2.into()]).collect();
            json!({ "core": s.core, "slot": s.slot, "waves": waves, "moments": flat })
        })
        .collect();
    let masks: Vec<[u64; 2]> = t.masks.iter().map(|m| [m & 0xffff_ffff, m >> 32]).collect();
    let states: Vec<&str> = (0..STATES).map(state_name).collect();
    json!({
        "cycles": t.cycles, "to": t.to, "lanes": t.lanes, "states": states, "masks": masks, "code": code, "slots": slots,
    })
}

/// The script, once for a page with timelines. Readers of XML see characters, browsers code.
pub fn script() -> String {
    format!("<script>//<![CDATA[\n{SCRIPT}//]]>\n</script>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_cannot_end_the_script() {
        let hostile = json!(["</script><script>alert(1)</script>", "]]>", "<!--", "&amp;", "\u{2028}"]);
        let text = embed(&hostile);
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), hostile);
    }
}
