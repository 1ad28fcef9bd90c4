//! The report of a bound as one HTML file: style and drawings are inside, nothing is loaded, nothing is scripted. What
//! a user asked for comes first, what it rests on last; parts fold. All text is escaped.

mod heat;
mod style;
mod tables;

use crate::escape;
use crate::pages::digits::number;
use crate::pages::{close, open, section};
use std::fmt::Write;
use wb_bound::{KernelBound, Status, behind_all};
use wb_jobs::last_part;

/// What the page says besides the bounds.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The command that wrote the page, as [`shown_command`] gives it.
    pub command: String,
    /// Cycles that all kernels together may take.
    pub deadline: Option<u64>,
}

/// A command line without folders, so that the page is the same wherever it was made.
pub fn shown_command(args: impl Iterator<Item = String>) -> String {
    let mut words = vec!["wavebound".to_owned()];
    let mut before = String::new();
    for arg in args {
        // An architecture has slashes that separate numbers.
        let plain = before == "--arch" || arg.starts_with("--arch=");
        let word = if plain { arg.clone() } else { without_folders(&arg) };
        let quote = word.is_empty()
            || word.contains(|c: char| !c.is_ascii_alphanumeric() && !"-_=:.,+@%/µ".contains(c));
        words.push(if quote { format!("'{}'", word.replace('\'', "'\\''")) } else { word });
        before = arg;
    }
    words.join(" ")
}

/// `--html=out/a.html` becomes `--html=a.html`.
fn without_folders(arg: &str) -> String {
    match arg.rsplit_once('=') {
        Some((option, path)) if path.contains('/') => {
            format!("{}={}", without_folders(option), last_part(path))
        }
        _ if arg.contains('/') => last_part(arg).to_owned(),
        _ => arg.to_owned(),
    }
}

/// The report as one HTML page.
pub fn html(kernels: &[KernelBound], about: &About) -> String {
    let names: Vec<&str> = kernels.iter().map(|k| k.kernel.as_str()).collect();
    let title = format!("Worst case of {}", names.join(", "));
    let mut out = open(&title, style::CSS);
    if kernels.len() > 1 {
        out.push_str(&summary(kernels, about));
    }
    for (i, k) in kernels.iter().enumerate() {
        let deadline = about.deadline.filter(|_| kernels.len() == 1);
        kernel(&mut out, i, k, deadline);
    }
    let mut body = String::new();
    let _ = writeln!(body, "<pre class=\"command\">{}</pre>", escape(&about.command));
    body.push_str(
        "<p>File names stand without their folders. The same version with the same inputs gives the same numbers; the \
         hashes under Inputs tell whether they are the same. Without --html it prints the report as text, with --json \
         for programs, and --certificate writes what wavebound check-bound checks.</p>\n",
    );
    section(&mut out, "How to reproduce", true, &body);
    close(&mut out);
    out
}

/// All kernels together, where there are several.
fn summary(kernels: &[KernelBound], about: &About) -> String {
    let (bound, observed): (u64, u64) =
        (kernels.iter().map(|k| k.bound).sum(), kernels.iter().map(|k| k.observed).sum());
    let mhz = kernels.first().map_or(1, |k| k.clock_mhz);
    let weakest = kernels.iter().max_by_key(|k| k.status);
    let mut out = String::from("<section>\n<h2>All kernels</h2>\n");
    let mut warnings: Vec<&String> = kernels.iter().flat_map(|k| &k.warnings).collect();
    warnings.dedup();
    out.push_str(&tables::warnings(warnings.into_iter()));
    out.push_str(&tables::cards(&tables::Cards {
        bound,
        observed,
        mhz,
        status: weakest.map_or(Status::Observed, |k| k.status),
        meaning: &weakest.map_or(String::new(), KernelBound::meaning),
        behind: &behind_all(kernels),
        deadline: about.deadline,
    }));
    out.push_str("<div class=\"scroll\"><table><thead><tr><th>kernel</th><th>launches</th><th>bound</th><th>observed</th><th>ratio</th><th>status</th></tr></thead><tbody>\n");
    for (i, k) in kernels.iter().enumerate() {
        let _ = writeln!(
            out,
            "<tr><td><a href=\"#kernel-{i}\">{}</a></td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{} ({})</td><td>{}</td></tr>",
            escape(&k.kernel),
            k.launches.len(),
            number(k.bound),
            tables::seen(k.observed),
            tables::ratio(k.bound, k.observed),
            k.behind(),
            k.status.name()
        );
    }
    out.push_str("</tbody></table></div>\n</section>\n");
    out
}

fn kernel(out: &mut String, i: usize, k: &KernelBound, deadline: Option<u64>) {
    let contexts = if k.contexts > 0 { format!(", S = {}", k.contexts) } else { String::new() };
    let _ = writeln!(out, "<section id=\"kernel-{i}\">\n<h2>{}</h2>", escape(&k.kernel));
    let _ = writeln!(
        out,
        "<p class=\"where\">of {} on {}, mechanism {}{}</p>",
        escape(last_part(&k.file)),
        escape(&k.machine),
        escape(&k.mechanism),
        escape(&contexts)
    );
    out.push_str(&tables::warnings(k.warnings.iter()));
    out.push_str(&tables::cards(&tables::Cards {
        bound: k.bound,
        observed: k.observed,
        mhz: k.clock_mhz,
        status: k.status,
        meaning: &k.meaning(),
        behind: &k.behind(),
        deadline,
    }));
    out.push_str(&heat::bars(k, deadline));
    if k.composed.bound.is_some() {
        section(out, "Own time and waits", k.hybrid_bound.is_none(), &tables::composed(k));
    }
    section(out, "What is proved", k.proved.bound.is_some(), &tables::proved(k));
    section(out, "What contents of buffers decide", !k.exact.holds, &tables::contents(k));
    if !k.blocks.is_empty() {
        section(out, "Control flow", true, &heat::graph(k));
        section(out, "Worst way of a wave", true, &tables::worst(k));
        section(out, "Source", true, &heat::sources(k));
        section(out, "Assembly", false, &heat::assembly(k));
        section(out, "Loops", true, &tables::loops(k));
    }
    section(out, "Divergent branches and what splitting does", true, &tables::branches(k));
    section(out, "Launches", true, &tables::launches(k));
    section(out, "Published formulas", false, &tables::paper(k));
    section(out, "Coverage", true, &tables::coverage(k));
    section(out, "Assumptions", true, &tables::assumptions(k));
    section(out, "Inputs", true, &tables::inputs(k));
    section(out, "Certificate", true, &tables::certificate(k));
    out.push_str("</section>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_lose_their_folders_and_nothing_else() {
        let shown = |args: &[&str]| shown_command(args.iter().map(|a| (*a).to_owned()));
        assert_eq!(
            shown(&["wcet", "/a/b/k.co", "--html=x/y.html", "--arg", "buf:u32:8:random=7"]),
            "wavebound wcet k.co --html=y.html --arg buf:u32:8:random=7"
        );
        assert_eq!(
            shown(&["--arch", "4w8/1", "--deadline", "3 us"]),
            "wavebound --arch 4w8/1 --deadline '3 us'"
        );
    }
}
