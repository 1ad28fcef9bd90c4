//! How the page looks: light or dark as the reader's system, readable on paper. Heat has nine steps, `h0` to `h8`.

pub const CSS: &str = "\
:root { color-scheme: light dark; --fg: #1b1f24; --soft: #5b6570; --bg: #ffffff; --card: #f5f6f8; --line: #d5dae0;
  --accent: #1f5fbf; --good: #1a7f4b; --bad: #b3261e; --bar1: #1f5fbf; --bar2: #7aa7e6; --bar3: #9aa4af; --worst: #b3261e;
  --h0: #f7f7f7; --h1: #fff3e0; --h2: #ffe7c7; --h3: #ffd9ab; --h4: #ffc890; --h5: #ffb576; --h6: #ffa060; --h7: #ff8b50; --h8: #ff7443; }
@media (prefers-color-scheme: dark) {
  :root { --fg: #e6e9ee; --soft: #9aa5b1; --bg: #14171b; --card: #1d2126; --line: #363c44;
    --accent: #7fb0ff; --good: #5fd39a; --bad: #ff8a80; --bar1: #5b93e6; --bar2: #365e99; --bar3: #6b7580; --worst: #ff8a80;
    --h0: #20242a; --h1: #2c2620; --h2: #3a2b1f; --h3: #49301d; --h4: #59351c; --h5: #69391b; --h6: #7a3d1b; --h7: #8c411c; --h8: #a0451f; } }
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
.card .value { font-size: 1.5rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.card .more { font-size: .85rem; color: var(--soft); }
.good { color: var(--good); } .bad { color: var(--bad); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; margin: .5rem 0; }
th, td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 500; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code, pre, .code td { font-family: 'DejaVu Sans Mono', Menlo, Consolas, monospace; font-size: .85rem; }
pre.command { background: var(--card); border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .8rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.code td { padding: 0 .8rem 0 .3rem; border: 0; line-height: 1.45; }
.code td.text { white-space: pre; }
.code td.n { color: var(--soft); }
.code tr.head td { padding-top: .6rem; color: var(--soft); }
.code tr.gap td { color: var(--soft); text-align: center; }
.h0 > td.text { background: transparent; } .h1 > td.text { background: var(--h1); } .h2 > td.text { background: var(--h2); }
.h3 > td.text { background: var(--h3); } .h4 > td.text { background: var(--h4); } .h5 > td.text { background: var(--h5); }
.h6 > td.text { background: var(--h6); } .h7 > td.text { background: var(--h7); } .h8 > td.text { background: var(--h8); }
svg { max-width: 100%; height: auto; }
.graph { overflow: auto; max-height: 90vh; border: 1px solid var(--line); border-radius: .4rem; }
.graph svg { max-width: none; display: block; }
svg text { fill: var(--fg); } svg .soft { fill: var(--soft); }
svg .page { fill: var(--bg); }
svg .node > rect { stroke: var(--soft); } svg .node.worst > rect { stroke: var(--worst); }
svg .edge > path { stroke: var(--soft); } svg .edge > path.tip { fill: var(--soft); stroke: none; }
svg .edge.worst > path { stroke: var(--worst); } svg .edge.worst > path.tip { fill: var(--worst); stroke: none; }
svg .h0 > rect { fill: var(--h0); } svg .h1 > rect { fill: var(--h1); } svg .h2 > rect { fill: var(--h2); }
svg .h3 > rect { fill: var(--h3); } svg .h4 > rect { fill: var(--h4); } svg .h5 > rect { fill: var(--h5); }
svg .h6 > rect { fill: var(--h6); } svg .h7 > rect { fill: var(--h7); } svg .h8 > rect { fill: var(--h8); }
svg .bar1 { fill: var(--bar1); } svg .bar2 { fill: var(--bar2); } svg .bar3 { fill: var(--bar3); }
svg .limit { stroke: var(--bad); stroke-width: 2; stroke-dasharray: 5 3; }
@media print {
  :root { --fg: #000; --soft: #444; --bg: #fff; --card: #fff; --line: #bbb; --worst: #b3261e; --bar1: #1f5fbf; --bar2: #7aa7e6; --bar3: #9aa4af;
    --h0: #fff; --h1: #fff3e0; --h2: #ffe7c7; --h3: #ffd9ab; --h4: #ffc890; --h5: #ffb576; --h6: #ffa060; --h7: #ff8b50; --h8: #ff7443; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  details::details-content { content-visibility: visible; display: block; height: auto; }
  body { font-size: 10pt; } header, main, footer { max-width: none; padding: 0; }
  .graph { max-height: none; overflow: visible; border: 0; } .graph svg { max-width: 100%; max-height: 24cm; }
  .scroll { overflow: visible; } tr, .card, figure { break-inside: avoid; } h2, summary { break-after: avoid; }
  section + section { break-before: page; }
}
";
