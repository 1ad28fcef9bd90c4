//! All findings as one HTML page: what was reproduced, published beside ours, notes, plots and data. It names files
//! relative to its folder, so that the folder can be moved or served as it is.

use super::finding::{Finding, Row};
use super::verdict::Verdict;
use miette::{IntoDiagnostic, Report, WrapErr, miette};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use wb_report::escape;
use wb_report::pages as html;

/// What the page says besides the findings.
#[derive(Clone, Debug, Default)]
pub struct About {
    pub title: String,
    /// Label, short value and what there is to say about it, shown at the top.
    pub lines: Vec<(String, String, String)>,
}

const CSS: &str = "\
html { scroll-padding-top: 1rem; }
header, main, footer { max-width: 90rem; }
.group h3 { margin: 1rem 0 .2rem; font-size: 1rem; }
.toc { columns: 22rem; column-gap: 2.5rem; list-style: none; margin: 0; padding: 0; font-size: .95rem; }
.toc li { break-inside: avoid; padding: .1rem 0 .1rem 1.4rem; text-indent: -1.4rem; }
.toc a { text-decoration: none; } .toc a:hover { text-decoration: underline; }
.mark { display: inline-block; width: 1.4rem; text-indent: 0; font-weight: 700; }
h2.document { margin: 3rem 0 1rem; padding-bottom: .4rem; border-bottom: 2px solid var(--line); }
article { margin: 0 0 1.5rem; padding: 1rem 1.25rem; border: 1px solid var(--line); border-radius: .5rem; }
article.failed { border-color: var(--bad); border-left-width: .4rem; }
article h3 { margin: 0; font-size: 1.15rem; overflow-wrap: anywhere; }
article h4 { margin: 1rem 0 .2rem; font-size: .95rem; }
article .where { margin: 0 0 .6rem; font-size: .9rem; }
.badge { float: right; margin-left: 1rem; padding: .05rem .6rem; border: 1px solid currentColor; border-radius: 1rem; font-size: .85rem; font-weight: 600; }
article td { max-width: 34rem; min-width: 4rem; overflow-wrap: break-word; white-space: pre-line; }
article th.m, article td.m { min-width: 1.6rem; width: 1.6rem; font-weight: 700; }
tr.failed td { background: color-mix(in srgb, var(--bad) 12%, transparent); }
article details { border: 0; padding: .3rem 0; } article summary { font-size: .95rem; font-weight: 500; }
.notes { margin: .2rem 0; padding-left: 1.2rem; max-width: 60rem; font-size: .92rem; } .notes li { margin: .15rem 0; white-space: pre-line; }
.plots { display: flex; flex-wrap: wrap; gap: 1rem; margin: .8rem 0; }
figure { margin: 0; flex: 1 1 36rem; max-width: 100%; min-width: 0; }
figure img { display: block; max-width: 100%; height: auto; margin: 0 auto; background: #fff; border: 1px solid var(--line); border-radius: .3rem; }
figcaption { color: var(--soft); font-size: .85rem; text-align: center; overflow-wrap: anywhere; }
.files { font-size: .9rem; overflow-wrap: anywhere; } .files a { margin-right: .9rem; white-space: nowrap; }
@media print {
  .toc { columns: 2; } article { border: 0; padding: 0 0 1rem; } article.failed { border-left: .3rem solid var(--bad); padding-left: .6rem; }
  .files { display: none; } figure { flex-basis: 45%; } figure img { max-height: 20cm; } a { color: inherit; text-decoration: none; }
}
";

/// Writes `dir/index.html` about the findings and says where it is.
pub fn page(findings: &[Finding], about: &About, dir: &Path) -> Result<PathBuf, Report> {
    if findings.is_empty() {
        return Err(miette!(
            help = "name experiments, or `all` of them: `wavebound reproduce` lists them",
            "there is no finding to write a page about"
        ));
    }
    std::fs::create_dir_all(dir)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot make the folder {}", dir.display()))?;
    let path = dir.join("index.html");
    wb_files::write(&path, text(findings, about, dir))?;
    Ok(path)
}

fn text(findings: &[Finding], about: &About, dir: &Path) -> String {
    let mut out = html::open(&about.title, CSS);
    let documents = documents(findings);
    summary(&mut out, findings, about);
    for (title, members) in &documents {
        let _ = writeln!(out, "<div class=\"group\"><h3>{}</h3>\n<ul class=\"toc\">", escape(title));
        for f in members {
            let _ = writeln!(
                out,
                "<li>{}<a href=\"#{}\">{}</a> {}</li>",
                mark(Some(f.verdict())),
                link(&f.name),
                escape(&f.name),
                escape(&f.title)
            );
        }
        out.push_str("</ul></div>\n");
    }
    for (title, members) in &documents {
        let _ = writeln!(out, "<section>\n<h2 class=\"document\">{}</h2>", escape(title));
        for f in members {
            article(&mut out, f, dir);
        }
        out.push_str("</section>\n");
    }
    html::close(&mut out);
    out
}

/// How many there are, which failed, and what the caller has to say.
fn summary(out: &mut String, findings: &[Finding], about: &About) {
    let of = |verdict: Verdict| findings.iter().filter(move |f| f.verdict() == verdict);
    out.push_str("<div class=\"cards\">\n");
    for verdict in Verdict::ALL {
        let all = || findings.iter().flat_map(|f| &f.rows);
        let (rows, judged) = (
            all().filter(|r| r.verdict == Some(verdict)).count(),
            all().filter(|r| r.verdict.is_some()).count(),
        );
        let value = format!("{} of {}", of(verdict).count(), findings.len());
        let class = if of(verdict).next().is_some() { class(verdict) } else { "" };
        html::card(out, verdict.name(), &value, class, &format!("{rows} of {judged} published values"));
    }
    for (label, value, note) in &about.lines {
        html::card(out, label, value, "", note);
    }
    out.push_str("</div>\n");
    let links = |which: &mut dyn Iterator<Item = &Finding>| {
        let one = |f: &Finding| format!("<a href=\"#{}\">{}</a>", link(&f.name), escape(&f.name));
        which.map(one).collect::<Vec<_>>().join(", ")
    };
    let lists = [
        ("Shape only", "warn", links(&mut of(Verdict::ShapeOnly))),
        ("Differs", "bad", links(&mut of(Verdict::Differs))),
        ("No reason known", "bad", links(&mut findings.iter().filter(|f| !f.passed()))),
    ];
    for (title, class, links) in lists.iter().filter(|l| !l.2.is_empty()) {
        let _ = writeln!(out, "<p><strong class=\"{class}\">{title}:</strong> {links}</p>");
    }
}

/// Findings by document, in the order in which the documents come first.
fn documents(findings: &[Finding]) -> Vec<(&str, Vec<&Finding>)> {
    let mut list: Vec<(&str, Vec<&Finding>)> = Vec::new();
    for f in findings {
        let title = split_source(&f.source).0;
        match list.iter_mut().find(|d| d.0 == title) {
            Some(document) => document.1.push(f),
            None => list.push((title, vec![f])),
        }
    }
    list
}

/// Title of the document, and the place in it: `"Title" (HANDLE), figure 1`.
fn split_source(source: &str) -> (&str, &str) {
    let title_end = match source.strip_prefix('"').and_then(|rest| rest.find('"')) {
        Some(quote) => quote + 2,
        None => 0,
    };
    match source[title_end..].find(", ") {
        Some(comma) => (&source[..title_end + comma], &source[title_end + comma + 2..]),
        None => (source, ""),
    }
}

fn article(out: &mut String, f: &Finding, dir: &Path) {
    let verdict = f.verdict();
    let badge =
        format!("<span class=\"badge {}\">{} {}</span>", class(verdict), verdict.mark(), escape(&f.badge()));
    let class = if f.passed() { "" } else { " class=\"failed\"" };
    let _ = writeln!(
        out,
        "<article id=\"{}\"{class}>\n{badge}<h3>{}: {}</h3>",
        link(&f.name),
        escape(&f.name),
        escape(&f.title)
    );
    let place = split_source(&f.source).1;
    let time = if f.seconds >= 0.05 { format!("{:.1} s", f.seconds) } else { String::new() };
    let about: Vec<&str> = [place, &time].into_iter().filter(|t| !t.is_empty()).collect();
    if !about.is_empty() {
        let _ = writeln!(out, "<p class=\"where\">{}</p>", escape(&about.join(", ")));
    }
    let (published, more): (Vec<&Row>, Vec<&Row>) =
        f.rows.iter().partition(|r| r.verdict.is_some() || r.published != "–");
    if published.is_empty() {
        out.push_str("<p class=\"bad\">Nothing was judged.</p>\n");
    } else {
        out.push_str(&table(&published));
    }
    if !more.is_empty() {
        let title = format!("also measured: {}", more.len());
        html::section(out, &title, false, &table(&more));
    }
    if !f.notes.is_empty() {
        out.push_str(
            "<h4>Decisions where the source is silent, and inconsistencies</h4>\n<ul class=\"notes\">\n",
        );
        for note in &f.notes {
            let _ = writeln!(out, "<li>{}</li>", escape(note));
        }
        out.push_str("</ul>\n");
    }
    files(out, f, dir);
    out.push_str("</article>\n");
}

fn table(rows: &[&Row]) -> String {
    let mut out = String::from(
        "<div class=\"scroll\"><table><thead><tr><th class=\"m\"></th><th>quantity</th><th>published</th><th>ours</th></tr></thead><tbody>\n",
    );
    for r in rows {
        let class = if r.unexplained() { " class=\"failed\"" } else { "" };
        let why = match r.why.as_str() {
            "" => String::new(),
            why => format!("<br/><small>{}</small>", escape(why)),
        };
        let _ = writeln!(
            out,
            "<tr{class}><td class=\"m\">{}</td><td>{}</td><td>{}</td><td>{}{why}</td></tr>",
            mark(r.verdict),
            escape(&r.quantity),
            escape(&r.published),
            escape(&r.ours)
        );
    }
    out.push_str("</tbody></table></div>\n");
    out
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "good",
        Verdict::ShapeOnly => "warn",
        Verdict::Differs => "bad",
    }
}

fn mark(verdict: Option<Verdict>) -> String {
    verdict.map_or(String::new(), |v| {
        format!("<span class=\"mark {}\" title=\"{}\">{}</span>", class(v), v.name(), v.mark())
    })
}

/// Plots as pictures that open when clicked, everything else as links.
fn files(out: &mut String, f: &Finding, dir: &Path) {
    let is_plot = |file: &&PathBuf| file.extension().is_some_and(|e| e == "svg");
    let (mut plots, data): (Vec<&PathBuf>, Vec<&PathBuf>) = f.files.iter().partition(is_plot);
    // The plot that bears the name of the experiment first.
    plots.sort_by_key(|file| file.file_stem().is_none_or(|stem| stem != f.name.as_str()));
    if !plots.is_empty() {
        out.push_str("<div class=\"plots\">\n");
        for file in plots {
            let href = link(&place(file, dir));
            let stem = file.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
            let _ = writeln!(
                out,
                "<figure><a href=\"{href}\"><img src=\"{href}\" alt=\"{}\" loading=\"lazy\"/></a><figcaption>{}</figcaption></figure>",
                escape(&format!("plot {stem}: {}", f.title)),
                escape(&stem)
            );
        }
        out.push_str("</div>\n");
    }
    if !data.is_empty() {
        let link = |file: &&PathBuf| {
            let place = place(file, dir);
            format!("<a href=\"{}\">{}</a>", link(&place), escape(&place))
        };
        let links: Vec<String> = data.iter().map(link).collect();
        let _ = writeln!(out, "<p class=\"files\">Data: {}</p>", links.join("\n"));
    }
}

/// A file as seen from `dir`; one that is elsewhere by its full path.
fn place(file: &Path, dir: &Path) -> String {
    let full = |p: &Path| std::path::absolute(p).unwrap_or_else(|_| p.to_owned());
    let full_file = full(file);
    let seen = full_file.strip_prefix(full(dir)).unwrap_or(&full_file);
    seen.to_string_lossy().into_owned()
}

/// Text as a part of an address.
fn link(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(name: &str, source: &str, verdict: Verdict, files: Vec<PathBuf>) -> Finding {
        let row = |quantity: &str, published: &str, verdict| Row {
            quantity: quantity.into(),
            published: published.into(),
            ours: "1 < 2 & \"3\"".into(),
            verdict,
            why: if verdict == Some(Verdict::ShapeOnly) { "for <want> of it".into() } else { String::new() },
        };
        Finding {
            name: name.into(),
            title: format!("title of <{name}>"),
            source: source.into(),
            rows: vec![row("a <b>", "x & y", Some(verdict)), row("extra", "–", None)],
            notes: vec!["it says \"a < b\" & nothing else".into()],
            files,
            seconds: 12.34,
        }
    }

    fn about() -> About {
        let lines = vec![("time & place".into(), "12 \"min\"".into(), "2 <at> once".into())];
        About { title: "All <of> it".into(), lines }
    }

    #[test]
    fn two_findings_on_a_page() {
        let dir = tempfile::tempdir().unwrap();
        let inside = |name: &str| dir.path().join(name);
        let files = vec![
            inside("x-1.csv"),
            inside("sub/x-1 a#b.svg"),
            inside("x-1.png"),
            inside("x-1.svg"),
            "/elsewhere/x.parquet".into(),
        ];
        let good = finding("x-1", "\"A, <title>\" (A), figure 1", Verdict::Reproduced, files);
        let bad = finding("y-2", "\"B\", table 2", Verdict::Differs, vec![]);
        let shape = finding("z-3", "\"B\", table 3", Verdict::ShapeOnly, vec![]);
        let path = page(&[good, bad, shape], &about(), dir.path()).unwrap();
        assert_eq!(path, inside("index.html"));
        let text = std::fs::read_to_string(path).unwrap();

        let after_style = text.split_once("</style>").unwrap().1;
        for wrong in ["<title>\"", "<b>", "<of>", "<x-1>", "& ", "&\"", "<script"] {
            assert!(!after_style.contains(wrong), "{wrong} is not escaped");
        }
        for wanted in [
            "<h1>All &lt;of&gt; it</h1>",
            "time &amp; place",
            "12 &quot;min&quot;",
            "2 &lt;at&gt; once",
            "a &lt;b&gt;",
            "1 &lt; 2 &amp; &quot;3&quot;",
            "it says &quot;a &lt; b&quot; &amp; nothing else",
            "<h2 class=\"document\">&quot;A, &lt;title&gt;&quot; (A)</h2>",
            "<p class=\"where\">figure 1, 12.3 s</p>",
            "<h2 class=\"document\">&quot;B&quot;</h2>",
            "<img src=\"sub/x-1%20a%23b.svg\" alt=\"plot x-1 a#b: title of &lt;x-1&gt;\" loading=\"lazy\"/>",
            "<a href=\"x-1.csv\">x-1.csv</a>",
            "<a href=\"x-1.png\">x-1.png</a>",
            "<a href=\"/elsewhere/x.parquet\">",
            "<a href=\"#y-2\">",
            "also measured: 1",
        ] {
            assert!(text.contains(wanted), "{wanted} is missing in {text}");
        }
        let at = |what: &str| text.find(what).unwrap();
        assert!(at("src=\"x-1.svg\"") < at("src=\"sub/x-1%20a%23b.svg\""), "its own plot first");
        assert_eq!(text.matches("✗ differs, and no reason is known").count(), 1);
        assert!(text.contains("~ shape only</span>") && text.contains("for &lt;want&gt; of it"));
        assert!(
            text.contains("<article id=\"y-2\" class=\"failed\">") && text.contains("<tr class=\"failed\">")
        );
        assert!(text.contains("Differs:</strong> <a href=\"#y-2\">y-2</a></p>"));
        assert!(text.contains("<article id=\"x-1\">") && text.contains("1 of 3"));
    }

    #[test]
    fn a_page_where_all_hold_accuses_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let two =
            [1, 2].map(|i| finding(&format!("x-{i}"), &format!("\"A\", {i}"), Verdict::Reproduced, vec![]));
        let text = std::fs::read_to_string(page(&two, &about(), &dir.path().join("new")).unwrap()).unwrap();
        assert!(text.contains("2 of 2") && !text.contains("Differs:"));
        assert_eq!(text.matches("<h2 class=\"document\">").count(), 1, "one document");
        let opened = text.matches("<details").count() + text.matches("<article").count();
        assert_eq!(opened, text.matches("</details>").count() + text.matches("</article>").count());
    }

    #[test]
    fn no_findings_are_an_error_with_a_hint() {
        let dir = tempfile::tempdir().unwrap();
        let error = page(&[], &about(), dir.path()).unwrap_err();
        assert_eq!(error.to_string(), "there is no finding to write a page about");
        assert!(error.help().unwrap().to_string().contains("all"));
        assert!(!dir.path().join("index.html").exists());
    }

    #[test]
    fn sources_are_split_behind_the_title() {
        assert_eq!(split_source("\"A, b\" (C), figure 1, left"), ("\"A, b\" (C)", "figure 1, left"));
        assert_eq!(split_source("A, table 1"), ("A", "table 1"));
        assert_eq!(split_source("\"open, figure"), ("\"open", "figure"));
        assert_eq!((split_source("\"A\""), split_source("")), (("\"A\"", ""), ("", "")));
    }
}
