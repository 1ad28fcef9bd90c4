//! Layered drawings of flow graphs: boxes do not overlap, edges lead from box to box and downwards unless they go back, and
//! the same graph gives the same bytes.

use wb_report::graph::{NodeBox, layout};
use wb_report::{GraphEdge, GraphNode, graph_inline, graph_svg};

/// Splitmix64.
fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (*seed ^ *seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

type Flow = (Vec<(f64, f64)>, Vec<(usize, usize)>);

/// A flow graph of `n` blocks: a chain with branches forward and a few back.
fn flow(n: usize, seed: &mut u64) -> Flow {
    let sizes =
        (0..n).map(|_| (60.0 + (next(seed) % 200) as f64, 20.0 + (next(seed) % 150) as f64)).collect();
    let mut edges = Vec::new();
    for i in 0..n - 1 {
        edges.push((i, i + 1));
        match next(seed) % 5 {
            0 => edges.push((i, i + 1 + (next(seed) as usize % 6).min(n - 2 - i))),
            1 => edges.push((i, i - (next(seed) as usize % 9).min(i))),
            _ => {}
        }
    }
    (sizes, edges)
}

fn overlap(a: &NodeBox, b: &NodeBox) -> bool {
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

#[test]
fn boxes_do_not_overlap_and_edges_join_them() {
    let mut seed = 1;
    for n in [1, 2, 3, 7, 20, 100, 300] {
        let (sizes, edges) = flow(n.max(2), &mut seed);
        let plan = layout(&sizes, &edges);
        for (i, a) in plan.places.iter().enumerate() {
            assert!(
                a.x >= -0.01 && a.y >= 0.0 && a.x + a.width <= plan.width && a.y + a.height <= plan.height
            );
            for b in &plan.places[i + 1..] {
                assert!(!overlap(a, b), "{a:?} {b:?}");
            }
        }
        assert_eq!(plan.routes.len(), edges.len());
        for (route, &(from, to)) in plan.routes.iter().zip(&edges) {
            let (a, b) = (plan.places[from], plan.places[to]);
            let (x, y) = route.points[0];
            assert!(x >= a.x && x <= a.x + a.width && (y - a.y - a.height).abs() < 0.01, "leaves its box");
            let (x, y) = route.end();
            assert!(x >= b.x && x <= b.x + b.width && (y - b.y).abs() < 0.01, "arrives at its box");
            assert_eq!(route.back, from >= to, "{from} to {to}");
            let falls = route.points.windows(2).all(|w| w[0].1 <= w[1].1 + 0.01);
            assert_eq!(falls, !route.back, "{from} to {to}: {:?}", route.points);
        }
        assert_eq!(plan, layout(&sizes, &edges));
        let entry = plan.places[0];
        assert!(entry.x + entry.width / 2.0 <= plan.width / 2.0 + 0.01, "the entry is at the right");
    }
    assert_eq!(layout(&[], &[]).places.len(), 0);
}

/// A diamond is symmetric: sides beside each other, join below the branch.
#[test]
fn a_diamond_looks_like_one() {
    let plan = layout(&[(80.0, 30.0); 4], &[(0, 1), (0, 2), (1, 3), (2, 3)]);
    let middle = |i: usize| plan.places[i].x + plan.places[i].width / 2.0;
    assert_eq!(plan.places[1].y, plan.places[2].y);
    assert!((middle(0) - (middle(1) + middle(2)) / 2.0).abs() < 1.0);
    assert!((middle(0) - middle(3)).abs() < 1.0);
    assert!(plan.places[3].y > plan.places[1].y);
}

#[test]
fn documents_are_well_formed() {
    let node = |title: &str| GraphNode {
        title: title.into(),
        lines: vec!["v_cmp_lt_i32 vcc, 0, v1 & <x> \u{1}".into()],
        fill: "#ffe".into(),
        bold: title == "b",
        class: "h3\" onload=\"x".into(),
        tip: "<script>".into(),
    };
    let edge = |from, to| GraphEdge {
        from,
        to,
        label: "taken \"1\"".into(),
        colour: "red\" onload=\"x".into(),
        bold: true,
        dashed: from == 0,
        ..GraphEdge::default()
    };
    let svg = graph_svg(&[node("a<b>"), node("b")], &[edge(0, 1), edge(1, 0), edge(0, 9)]);
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(svg.contains("a&lt;b&gt;") && svg.contains("&amp; &lt;x&gt; \u{25a1}"), "{svg}");
    assert!(!svg.contains("onload=\""), "colours and classes cannot break out");
    assert!(svg.contains("<title>&lt;script&gt;</title>") && svg.contains("class=\"node h3 "));
    assert!(svg.contains("xmlns=") && !graph_inline(&[node("a")], &[]).contains("http"));
    // Every tag that is opened is closed.
    let opened = svg.matches('<').count() - svg.matches("</").count() - svg.matches("/>").count();
    assert_eq!(opened, svg.matches("</").count());
    assert_eq!(svg.matches("stroke-dasharray").count(), 1);
}
