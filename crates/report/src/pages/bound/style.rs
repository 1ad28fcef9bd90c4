//! How the page of a bound looks, beside the style of all pages: bars, code, graph, and heat in nine steps, `h0` to `h8`.

pub const CSS: &str = "\
:root { --bar1: #1f5fbf; --bar2: #7aa7e6; --bar3: #9aa4af; --worst: #b3261e;
  --h0: #f7f7f7; --h1: #fff3e0; --h2: #ffe7c7; --h3: #ffd9ab; --h4: #ffc890; --h5: #ffb576; --h6: #ffa060; --h7: #ff8b50; --h8: #ff7443; }
@media (prefers-color-scheme: dark) {
  :root { --bar1: #5b93e6; --bar2: #365e99; --bar3: #6b7580; --worst: #ff8a80;
    --h0: #20242a; --h1: #2c2620; --h2: #3a2b1f; --h3: #49301d; --h4: #59351c; --h5: #69391b; --h6: #7a3d1b; --h7: #8c411c; --h8: #a0451f; } }
.code td { font-family: 'DejaVu Sans Mono', Menlo, Consolas, monospace; font-size: .85rem; padding: 0 .8rem 0 .3rem; border: 0; line-height: 1.45; }
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
  :root { --worst: #b3261e; --bar1: #1f5fbf; --bar2: #7aa7e6; --bar3: #9aa4af;
    --h0: #fff; --h1: #fff3e0; --h2: #ffe7c7; --h3: #ffd9ab; --h4: #ffc890; --h5: #ffb576; --h6: #ffa060; --h7: #ff8b50; --h8: #ff7443; }
  .graph { max-height: none; overflow: visible; border: 0; } .graph svg { max-width: 100%; max-height: 24cm; }
  section + section { break-before: page; }
}
";
