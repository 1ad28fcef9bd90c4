//! How the page of a run looks, beside the style of all pages: colours of states, heat in nine steps for each of the views of
//! a table of code, bars, and the timeline.

use super::heat::VIEWS;
use std::fmt::Write;

const CSS: &str = "\
:root { --h0: #f7f7f7; --h1: #fff3e0; --h2: #ffe7c7; --h3: #ffd9ab; --h4: #ffc890; --h5: #ffb576; --h6: #ffa060; --h7: #ff8b50; --h8: #ff7443;
  --s0: #1f5fbf; --s1: #e0a100; --s2: #c4502e; --s3: #8659b5; --s4: #2a9d8f; --s5: #6b7785; --s6: #b9c1ca; --s7: #d46a9f; --s8: #5e4b3c; }
@media (prefers-color-scheme: dark) {
  :root { --h0: #20242a; --h1: #2c2620; --h2: #3a2b1f; --h3: #49301d; --h4: #59351c; --h5: #69391b; --h6: #7a3d1b; --h7: #8c411c; --h8: #a0451f;
    --s0: #5b93e6; --s1: #d9a520; --s2: #e0714f; --s3: #a985d6; --s4: #46b8a9; --s5: #8a96a3; --s6: #4d5661; --s7: #e08bb8; --s8: #a08a78; } }
@media print {
  :root { --h0: #fff; --h1: #fff3e0; --h2: #ffe7c7; --h3: #ffd9ab; --h4: #ffc890; --h5: #ffb576; --h6: #ffa060; --h7: #ff8b50; --h8: #ff7443;
    --s0: #1f5fbf; --s1: #e0a100; --s2: #c4502e; --s3: #8659b5; --s4: #2a9d8f; --s5: #6b7785; --s6: #b9c1ca; --s7: #d46a9f; --s8: #5e4b3c; }
  .heat > input, .heat > label, .timeline .keys { display: none; }
  section + section { break-before: page; } }
.k0 { background: var(--s0); } .k1 { background: var(--s1); } .k2 { background: var(--s2); } .k3 { background: var(--s3); }
.k4 { background: var(--s4); } .k5 { background: var(--s5); } .k6 { background: var(--s6); } .k7 { background: var(--s7); } .k8 { background: var(--s8); }
svg .k0 { fill: var(--s0); } svg .k1 { fill: var(--s1); } svg .k2 { fill: var(--s2); } svg .k3 { fill: var(--s3); }
svg .k4 { fill: var(--s4); } svg .k5 { fill: var(--s5); } svg .k6 { fill: var(--s6); } svg .k7 { fill: var(--s7); } svg .k8 { fill: var(--s8); }
svg { max-width: 100%; height: auto; } svg text { fill: var(--soft); } svg .axis { stroke: var(--line); }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; font-size: .85rem; color: var(--soft); margin: .4rem 0; }
.legend i { display: inline-block; width: .8em; height: .8em; border-radius: .15em; margin-right: .35em; vertical-align: -.05em; }
.card { flex-basis: 8.2rem; }
.stack { display: flex; height: 1.4rem; margin: .6rem 0 .4rem; border-radius: .3rem; overflow: hidden; background: var(--card); border: 1px solid var(--line); }
.stack > span { display: block; min-width: 1px; }
.bars td.bar { width: 22rem; min-width: 8rem; } .bars td.bar > div { height: .8rem; border-radius: .2rem; min-width: 1px; margin-top: .3rem; }
.code td, .code th { font-family: 'DejaVu Sans Mono', Menlo, Consolas, monospace; font-size: .85rem; padding: 0 .8rem 0 .3rem; line-height: 1.45; }
.code td { border: 0; } .code th { vertical-align: bottom; }
.code td.text { white-space: pre; } .code td.n { color: var(--soft); } .code td.n a { color: inherit; text-decoration: none; }
.code td.from { color: var(--soft); white-space: nowrap; }
.code tr.head td { padding-top: .6rem; color: var(--fg); font-weight: 600; } .code tr.gap td { color: var(--soft); text-align: center; }
.code tr.idle td.text { color: var(--soft); }
.code tr:target td { outline: 2px solid var(--accent); outline-offset: -2px; }
.heat > input { position: absolute; opacity: 0; }
.heat > label { display: inline-block; padding: .15rem .7rem; margin: .3rem .3rem .3rem 0; border: 1px solid var(--line); border-radius: 1rem; font-size: .88rem; cursor: pointer; }
.heat > input:checked + label { background: var(--accent); border-color: var(--accent); color: var(--bg); }
.heat > input:focus-visible + label { outline: 2px solid var(--accent); outline-offset: 2px; }
.heat .col { display: none; }
.timeline { margin: .5rem 0; position: relative; }
.timeline canvas { display: block; width: 100%; border: 1px solid var(--line); border-radius: .4rem; touch-action: none; cursor: grab; }
.timeline canvas:focus { outline: 2px solid var(--accent); }
.timeline .keys { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; margin: .4rem 0; font-size: .88rem; color: var(--soft); }
.timeline button { font: inherit; min-width: 2rem; padding: .1rem .6rem; border: 1px solid var(--line); border-radius: .4rem; background: var(--card); color: var(--fg); cursor: pointer; }
.timeline .tip { position: absolute; display: none; pointer-events: none; z-index: 2; max-width: 26rem; padding: .4rem .6rem; font-size: .82rem; line-height: 1.35; white-space: pre-wrap;
  background: var(--bg); color: var(--fg); border: 1px solid var(--line); border-radius: .4rem; box-shadow: 0 2px 8px rgb(0 0 0 / .25); }
";

/// The style of pages of runs.
pub fn css() -> String {
    let mut css = CSS.to_owned();
    for view in VIEWS {
        let v = view.name;
        let _ = writeln!(css, ".heat > .v-{v}:checked ~ .scroll .c-{v} {{ display: table-cell; }}");
        for step in 1..=8 {
            let _ = writeln!(
                css,
                ".heat > .v-{v}:checked ~ .scroll .{v}{step} > td.text {{ background: var(--h{step}); }}"
            );
        }
    }
    css
}
