//! What the pages of the lab have in common (bounds, experiments): frame, style, cards and parts that fold. Light or dark as
//! the reader's system, readable on paper; nothing is loaded, nothing is scripted.

use crate::escape;
use std::fmt::Write;

/// Style of every page; a page's own rules follow it.
const CSS: &str = "\
:root { color-scheme: light dark; --fg: #1b1f24; --soft: #5b6570; --bg: #ffffff; --card: #f5f6f8; --line: #d5dae0;
  --accent: #1f5fbf; --good: #1a7f4b; --warn: #8a5a00; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --fg: #e6e9ee; --soft: #9aa5b1; --bg: #14171b; --card: #1d2126; --line: #363c44;
    --accent: #7fb0ff; --good: #5fd39a; --warn: #f0c060; --bad: #ff8a80; } }
@media print {
  :root { --fg: #000; --soft: #444; --bg: #fff; --card: #fff; --line: #bbb; --accent: #1f5fbf; --good: #1a7f4b; --warn: #8a5a00; --bad: #b3261e; } }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: var(--fg); background: var(--bg); }
header, main, footer { max-width: 72rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 1.5rem; }
.brand { margin: 0; color: var(--soft); letter-spacing: .08em; text-transform: uppercase; font-size: .8rem; }
h1 { margin: .1rem 0 1rem; font-size: 1.7rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 2rem 0 0; font-size: 1.35rem; overflow-wrap: anywhere; }
.where, .note, footer { color: var(--soft); }
.where { margin: 0 0 1rem; }
.note { font-size: .9rem; max-width: 60rem; }
footer { padding: 2rem 1.25rem; font-size: .85rem; }
a { color: var(--accent); }
details { border-top: 1px solid var(--line); padding: .6rem 0; }
summary { cursor: pointer; font-weight: 600; font-size: 1.05rem; }
details details { border: 0; padding: .2rem 0; }
details details summary { font-weight: 400; font-size: .95rem; }
.cards { display: flex; flex-wrap: wrap; gap: .75rem; margin: .75rem 0 1rem; }
.card { flex: 1 1 10rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .7rem .9rem; }
.card .what { color: var(--soft); font-size: .85rem; }
.card .value { font-size: 1.5rem; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.card .more { font-size: .85rem; color: var(--soft); }
.good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; margin: .5rem 0; }
th, td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 500; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code, pre { font-family: 'DejaVu Sans Mono', Menlo, Consolas, monospace; font-size: .85rem; }
pre.command { background: var(--card); border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .8rem; white-space: pre-wrap; overflow-wrap: anywhere; }
@media print {
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  details::details-content { content-visibility: visible; display: block; height: auto; }
  body { font-size: 10pt; } header, main, footer { max-width: none; padding: 0; }
  .scroll { overflow: visible; } tr, .card, figure { break-inside: avoid; } h2, h3, summary { break-after: avoid; }
}
";

/// A page up to its content; `style` comes after the common one.
pub fn open(title: &str, style: &str) -> String {
    let mut out = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n");
    let title = escape(title);
    let _ = writeln!(out, "<title>{title}</title>\n<style>\n{CSS}{style}</style>\n</head>\n<body>");
    let _ = writeln!(out, "<header><p class=\"brand\">Wavebound</p><h1>{title}</h1></header>\n<main>");
    out
}

/// The end of a page.
pub fn close(out: &mut String) {
    let version = env!("CARGO_PKG_VERSION");
    let _ = writeln!(out, "</main>\n<footer>wavebound {version}</footer>\n</body>\n</html>");
}

/// A part of a page that folds; `body` is finished HTML.
pub fn section(out: &mut String, title: &str, open: bool, body: &str) {
    let open = if open { " open=\"open\"" } else { "" };
    let _ = writeln!(out, "<details{open}><summary>{}</summary>\n{body}</details>", escape(title));
}

/// A value with what it is above it and something to say below it.
pub fn card(out: &mut String, what: &str, value: &str, class: &str, more: &str) {
    let _ = writeln!(
        out,
        "<div class=\"card\"><div class=\"what\">{}</div><div class=\"value {class}\">{}</div><div class=\"more\">{}</div></div>",
        escape(what),
        escape(value),
        escape(more)
    );
}
