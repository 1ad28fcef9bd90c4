//! The nine things that are wrong in the documents (specification, "What is wrong"): for each a small example with the
//! number of paper mode, that of sound mode and, where one exists, an execution written out that lies between them.

use std::collections::BTreeMap;
use wb_wcet::kernel::{ComposeError, Composition, Launch, Seats, compose, sound_kernel};
use wb_wcet::paper::thesis::PathTime;
use wb_wcet::paper::{
    Block, Cfg, Kind, figure8, lemmas, prune, prune_like_figure_8, pws_wave, select, thesis_paths,
};
use wb_wcet::split::{Guarantee, Reconvergence, Tree, contexts_used, expand, longest, sound};
use wb_wcet::{Count, Fact, Graph, LoopBound, Model, NodeId, Region};

/// Builds graphs of named blocks.
#[derive(Default)]
struct Draw {
    graph: Graph,
    at: BTreeMap<&'static str, NodeId>,
}

impl Draw {
    fn new(blocks: &[(&'static str, u64)]) -> Draw {
        let mut draw = Draw::default();
        for &(name, cost) in blocks {
            let id = draw.graph.node(name, cost);
            draw.at.insert(name, id);
        }
        draw.graph.exit = blocks.len() - 1;
        draw
    }

    fn edges(&mut self, edges: &[(&str, &str)]) {
        for (from, to) in edges {
            self.graph.edge(self.at[from], self.at[to], 0);
        }
    }

    fn edge(&self, from: &str, to: &str) -> usize {
        let ends = (self.at[from], self.at[to]);
        self.graph.edges.iter().position(|e| (e.from, e.to) == ends).expect("an edge")
    }

    /// A region with first side `x`, serialisation block `s`, second side `y`.
    fn region(&self, [b, x, s, y, j]: [&str; 5], costs: (u64, u64)) -> Region {
        Region {
            branch: self.at[b],
            join: self.at[j],
            first: vec![self.edge(b, x)],
            second: vec![self.edge(s, y)],
            split_cost: costs.0,
            merge_cost: costs.1,
        }
    }
}

/// if b { x } else { y }, blocks b x s y j in a row.
const DIAMOND: [(&str, &str); 6] = [("b", "x"), ("b", "s"), ("x", "s"), ("s", "y"), ("s", "j"), ("y", "j")];

fn model(draw: &Draw) -> Model {
    Model { graph: draw.graph.clone(), bounds: Vec::new(), facts: Vec::new() }
}

fn sound_cycles(model: &Model, regions: &[Region], slots: u32) -> u64 {
    sound(model, regions, slots, Reconvergence::AtJoin).expect("a bound").cycles
}

/// The longest way that respects loop bounds and facts, by walking all of them. Blocks are numbered in the order of the
/// program, so an edge leads back if it does not lead forward; `rank` is that order.
fn brute(model: &Model, rank: &dyn Fn(NodeId) -> usize) -> u64 {
    struct Walk<'a> {
        model: &'a Model,
        rank: &'a dyn Fn(NodeId) -> usize,
        nodes: Vec<i64>,
        edges: Vec<i64>,
        rounds: BTreeMap<NodeId, u64>,
        best: u64,
    }
    impl Walk<'_> {
        fn allowed(&self) -> bool {
            self.model.facts.iter().all(|f| {
                let count = |c| match c {
                    Count::Node(v) => self.nodes[v],
                    Count::Edge(e) => self.edges[e],
                };
                f.terms.iter().map(|&(factor, c)| factor * count(c)).sum::<i64>() <= f.limit
            })
        }

        fn visit(&mut self, v: NodeId, sum: u64) {
            let graph = &self.model.graph;
            let sum = sum + graph.nodes[v].cost;
            self.nodes[v] += 1;
            // All factors are positive in these examples, so counts that are too large stay so.
            if self.allowed() {
                if v == graph.exit {
                    self.best = self.best.max(sum);
                }
                for e in (0..graph.edges.len()).filter(|&e| graph.edges[e].from == v) {
                    let to = graph.edges[e].to;
                    let back = (self.rank)(to) <= (self.rank)(v);
                    let before = self.rounds.get(&to).copied().unwrap_or(0);
                    let max = self.model.bounds.iter().find(|b| b.header == to).map_or(0, |b| b.max);
                    if back && before >= max {
                        continue;
                    }
                    self.rounds.insert(to, if back { before + 1 } else { 0 });
                    self.edges[e] += 1;
                    self.visit(to, sum + graph.edges[e].cost);
                    self.edges[e] -= 1;
                    self.rounds.insert(to, before);
                }
            }
            self.nodes[v] -= 1;
        }
    }
    let mut walk = Walk {
        model,
        rank,
        nodes: vec![0; model.graph.nodes.len()],
        edges: vec![0; model.graph.edges.len()],
        rounds: BTreeMap::new(),
        best: 0,
    };
    walk.visit(model.graph.entry, 0);
    walk.best
}

#[test]
fn repair_1_the_f_column_counts_double_and_cuts_the_longer_side() {
    // 1 splits; its first side is an if that does not, with sides of 1 and 10; its second side takes 15.
    let block = |time, kind, successors: &[usize]| Block { time, kind, successors: successors.to_vec() };
    use Kind::{Branch, Plain, Serialise};
    let cfg = Cfg::new(vec![
        block(0, Branch, &[2, 7]),
        block(0, Branch, &[3, 4]),
        block(1, Plain, &[4]),
        block(0, Serialise, &[5, 6]),
        block(10, Plain, &[6]),
        block(0, Plain, &[7]),
        block(0, Serialise, &[8, 9]),
        block(15, Plain, &[9]),
        block(0, Plain, &[]),
    ])
    .expect("a graph");
    let selected = select(&cfg, &[1], 1).expect("a branch");
    let variant = prune_like_figure_8(&cfg, &selected);
    assert_eq!(variant.removed, [(7, 8)], "21 > 15: the first side looks longer");
    let paper = variant.longest(&cfg);
    assert_eq!(paper, 11);
    // As printed, the algorithm is right.
    assert_eq!((prune(&cfg, &selected).removed, prune(&cfg, &selected).longest(&cfg)), (vec![(1, 2)], 15));
    let (model, regions) = cfg.to_model(0, 0);
    let sound = sound_cycles(&model, &regions[..1], 1);
    // Execution: lanes of the second side pass 1, 7, 8, 9.
    let execution: u64 = [1, 7, 8, 9].iter().map(|&u| cfg.block(u).time).sum();
    assert!(paper < execution && execution <= sound, "{paper} {execution} {sound}");
    assert_eq!(sound, 15);
}

#[test]
fn repair_2_facts_may_make_the_kept_side_the_shorter_one() {
    // First side: a loop of up to 9 more rounds of 10, but a fact says that x runs once. Second side: 50.
    let mut draw = Draw::new(&[("b", 1), ("x", 10), ("s", 0), ("y", 50), ("j", 1)]);
    draw.edges(&DIAMOND);
    draw.edges(&[("x", "x")]);
    let region = draw.region(["b", "x", "s", "y", "j"], (0, 0));
    let mut model = model(&draw);
    model.bounds.push(LoopBound { header: draw.at["x"], max: 9 });
    model.facts.push(Fact { name: "x once".into(), terms: vec![(1, Count::Node(draw.at["x"]))], limit: 1 });
    let regions = [region];
    // Prune sees 100 against 50 and keeps the first side; IPET then applies the fact.
    let wave = pws_wave(&model, &regions, &[true], 1, 0, 0).expect("a wave");
    assert_eq!(wave.pruned.removed, regions[0].second);
    let paper = brute(&wave.pruned.model, &|v| v);
    assert_eq!(paper, 1 + 10 + 1);
    // Sound mode keeps both sides until the bound is computed, under the fact.
    let expanded = expand(&model, &regions).expect("a region");
    assert_eq!(expanded.model.facts.len(), 1);
    let sound = brute(&expanded.model, &|v| expanded.node_origin[v]);
    let execution = 1 + 50 + 1;
    assert!(paper < execution && execution <= sound, "{paper} {execution} {sound}");
    assert_eq!(sound, 52);
    assert_eq!(longest(&expanded.model), Ok(102), "without the fact, still safe");
}

#[test]
fn repair_3_splits_cost_each_time_they_are_passed_and_only_then() {
    // Ten rounds of: h, then if b { x: 5 } else { y: 5 } with a split of 2 and a merge of 1.
    let mut draw = Draw::new(&[("h", 1), ("b", 0), ("x", 5), ("s", 0), ("y", 5), ("j", 0), ("end", 0)]);
    draw.edges(&[("h", "b")]);
    draw.edges(&DIAMOND);
    draw.edges(&[("j", "h"), ("j", "end")]);
    let region = draw.region(["b", "x", "s", "y", "j"], (2, 1));
    let mut looped = model(&draw);
    looped.bounds.push(LoopBound { header: draw.at["h"], max: 9 });
    let paper = pws_wave(&looped, std::slice::from_ref(&region), &[true], 1, 2, 1).expect("a wave").cycles;
    let sound = sound_cycles(&looped, &[region], 1);
    let execution: u64 = (0..10).map(|_| 1 + 2 + 5 + 1).sum();
    assert_eq!((paper, execution, sound), (63, 90, 90));
    assert!(paper < execution && execution <= sound);

    // And where no chain passes both of two splits, one in each side of a third, the paper charges all three.
    let mut draw = Draw::new(&[
        ("b", 0),
        ("b1", 0),
        ("x1", 4),
        ("s1", 0),
        ("y1", 4),
        ("j1", 0),
        ("s", 0),
        ("b2", 0),
        ("x2", 4),
        ("s2", 0),
        ("y2", 4),
        ("j2", 0),
        ("j", 0),
    ]);
    draw.edges(&[("b", "b1"), ("b", "s"), ("j1", "s"), ("s", "b2"), ("s", "j"), ("j2", "j")]);
    draw.edges(&[("b1", "x1"), ("b1", "s1"), ("x1", "s1"), ("s1", "y1"), ("s1", "j1"), ("y1", "j1")]);
    draw.edges(&[("b2", "x2"), ("b2", "s2"), ("x2", "s2"), ("s2", "y2"), ("s2", "j2"), ("y2", "j2")]);
    let regions = [
        draw.region(["b", "b1", "s", "b2", "j"], (2, 1)),
        draw.region(["b1", "x1", "s1", "y1", "j1"], (2, 1)),
        draw.region(["b2", "x2", "s2", "y2", "j2"], (2, 1)),
    ];
    let nested = model(&draw);
    let paper = pws_wave(&nested, &regions, &[true; 3], 3, 2, 1).expect("a wave").cycles;
    let sound = sound_cycles(&nested, &regions, 3);
    let execution = 2 + (2 + 4 + 1) + 1;
    assert_eq!((paper, execution, sound), (13, 10, 10));
}

/// Times of x and y from a table, the rest takes nothing.
fn diamond_with(x: u64, y: u64) -> (Model, Region) {
    let mut draw = Draw::new(&[("b", 0), ("x", x), ("s", 0), ("y", y), ("j", 0)]);
    draw.edges(&DIAMOND);
    (model(&draw), draw.region(["b", "x", "s", "y", "j"], (0, 0)))
}

#[test]
fn repair_4_blocks_take_longer_with_another_path_beside_them() {
    // A made-up table, as a measurement would give it: cycles of the two sides, both bound by memory, alone and with the
    // other path's requests in between (the port played through below).
    let alone = [("x", 40), ("y", 36)];
    let beside = [("x", 76), ("y", 72)];
    let bound = |times: [(&str, u64); 2]| {
        let (model, region) = diamond_with(times[0].1, times[1].1);
        sound_cycles(&model, &[region], 1)
    };
    // The documents take the times of the run without splitting; sound mode those of blocks under S + 1 requesters.
    let (model, region) = diamond_with(alone[0].1, alone[1].1);
    let paper = pws_wave(&model, &[region], &[true], 1, 0, 0).expect("a wave").cycles;
    let sound = bound(beside);
    // Execution: one port, a request of each path in turn, until one of them has no more: x makes 20, y 18, each 2 cycles.
    let (mut left, mut now, mut turn, mut end) = ([20u64, 18], 0u64, 0, [0u64; 2]);
    while left != [0, 0] {
        if left[turn] > 0 {
            left[turn] -= 1;
            now += 2;
            end[turn] = now;
        }
        turn = 1 - turn;
    }
    let execution = end[0].max(end[1]);
    assert_eq!(end, [beside[0].1, beside[1].1], "the table is that of the port");
    assert!(paper < execution && execution <= sound, "{paper} {execution} {sound}");
    assert_eq!((paper, execution, sound), (40, 76, 76));
}

#[test]
fn repair_5_a_mixed_mask_is_not_always_the_worst() {
    // Each lane of x loads from a line of its own: one cycle per lane that is on. y computes: 8 cycles.
    let lanes_x = |lanes: u64| lanes;
    let mixed = [("x", lanes_x(32)), ("y", 8)];
    let worst_of_any_mask = [("x", lanes_x(64)), ("y", 8)];
    // Lemma 5.2.1: without splitting, a mixed mask, so both sides, with the times seen then.
    let (model, _) = diamond_with(mixed[0].1, mixed[1].1);
    let paper = longest(&model).expect("a bound");
    let (model, _) = diamond_with(worst_of_any_mask[0].1, worst_of_any_mask[1].1);
    let sound = longest(&model).expect("a bound");
    let execution = lanes_x(64);
    assert_eq!((paper, execution, sound), (40, 64, 72));
    assert!(paper < execution && execution <= sound);
}

/// Gives groups in order to the first core with `need` free slots; when the last one ends.
fn play(times: &[u64], cores: usize, slots: u64, need: u64) -> u64 {
    let mut running: Vec<(u64, usize)> = Vec::new();
    let mut free = vec![slots; cores];
    let (mut now, mut last) = (0, 0);
    for &time in times {
        let core = loop {
            if let Some(core) = free.iter().position(|&f| f >= need) {
                break core;
            }
            running.sort_unstable();
            let (end, core) = running.remove(0);
            now = end;
            free[core] += need;
        };
        free[core] -= need;
        running.push((now + time, core));
        last = last.max(now + time);
    }
    last
}

#[test]
fn repair_6_groups_cannot_span_cores() {
    // 4 cores of 4 slots, groups of 3 waves: 16 / 3 = 5 says the formula, 4 fit.
    let launch = Launch {
        groups: 5,
        group_lanes: 3 * 64,
        wave_lanes: 64,
        cores: 4,
        partitions: 1,
        slots: 4,
        wave: 100,
        waves: vec![vec![PathTime { start: 0, cycles: 100 }]],
        ..Launch::default()
    };
    let pws = compose(Composition::Pws, &launch).expect("a bound");
    let thesis = compose(Composition::ThesisParallel, &launch).expect("a bound");
    assert_eq!((pws.groups_at_once, pws.cycles), (5, 100));
    assert_eq!((thesis.groups_at_once, thesis.cycles), (5, 100));
    let sets =
        ["cores=4", "core.waves=4", "core.partitions=1"].map(|s| wb_hw::parse_set(s).expect("a setting"));
    let machine = wb_hw::preset("harp").expect("a preset").with_overrides(&sets).expect("a machine");
    let needs = wb_hw::Needs { waves_per_group: 3, ..wb_hw::Needs::default() };
    let sound =
        sound_kernel(5, Seats::of(&machine, needs), &[PathTime { start: 0, cycles: 100 }]).expect("a bound");
    assert_eq!(sound.groups_at_once, 4);
    let execution = play(&[100; 5], 4, 4, 3);
    assert!(pws.cycles < execution && execution <= sound.cycles);
    assert_eq!((execution, sound.cycles), (200, 200));
    // Half a wave is a wave: groups of 96 lanes take two slots, not one and a half.
    let half = Launch { group_lanes: 96, groups: 10, ..launch };
    assert_eq!(compose(Composition::Pws, &half).expect("a bound").groups_at_once, 10);
    let seats = Seats { cores: 4, groups_per_core: 4 / 96u64.div_ceil(64) };
    assert_eq!(
        sound_kernel(10, seats, &[PathTime { start: 0, cycles: 100 }]).expect("a bound").groups_at_once,
        8
    );
}

#[test]
fn repair_7_the_wave_bound_must_hold_beside_others() {
    // A wave takes 100 alone and 140 when the other seats are busy; four seats, eight groups.
    let (alone, beside) = (100, 140);
    let seats = Seats { cores: 4, groups_per_core: 1 };
    let bound = |cycles| sound_kernel(8, seats, &[PathTime { start: 2, cycles }]).expect("a bound");
    let paper = lemmas::kernel_pws(2, 2, alone).expect("a bound");
    assert_eq!(bound(alone).cycles, paper, "the rule is the same, what it is given is not");
    let sound = bound(beside).cycles;
    let execution = play(&[2 + beside; 8], 4, 1, 1);
    assert!(paper < execution && execution <= sound, "{paper} {execution} {sound}");
    assert_eq!((paper, execution, sound), (204, 284, 284));
    assert!(bound(beside).assumptions.iter().any(|a| a.contains("whatever runs beside it")));
}

/// One execution without reconvergence: marked branches in sequence, sides of `time`. The parent is always first to ask
/// for a context; a path without one runs both sides. When the last path ends.
fn play_splits(branches: usize, contexts: usize, time: u64) -> u64 {
    let mut free = contexts;
    // (next branch, time so far); the parent is in front, children queue behind it.
    let mut paths = std::collections::VecDeque::from([(0, 0u64)]);
    let mut last = 0;
    while let Some((mut next, mut now)) = paths.pop_front() {
        while next < branches {
            next += 1;
            if free > 0 {
                free -= 1;
                paths.push_back((next, now + time));
                now += time;
            } else {
                now += 2 * time;
            }
        }
        last = last.max(now);
    }
    last
}

#[test]
fn repair_8_without_reconvergence_three_branches_need_seven_contexts() {
    let mut draw = Draw::new(&[
        ("b", 0),
        ("x", 10),
        ("s", 0),
        ("y", 10),
        ("j", 0),
        ("x1", 10),
        ("s1", 0),
        ("y1", 10),
        ("j1", 0),
        ("x2", 10),
        ("s2", 0),
        ("y2", 10),
        ("j2", 0),
    ]);
    draw.edges(&DIAMOND);
    draw.edges(&[("j", "x1"), ("j", "s1"), ("x1", "s1"), ("s1", "y1"), ("s1", "j1"), ("y1", "j1")]);
    draw.edges(&[("j1", "x2"), ("j1", "s2"), ("x2", "s2"), ("s2", "y2"), ("s2", "j2"), ("y2", "j2")]);
    let regions = [
        draw.region(["b", "x", "s", "y", "j"], (0, 0)),
        draw.region(["j", "x1", "s1", "y1", "j1"], (0, 0)),
        draw.region(["j1", "x2", "s2", "y2", "j2"], (0, 0)),
    ];
    let model = model(&draw);
    // Theorem 5.2.2: three contexts, three branches, all split; no path takes more than three sides.
    let paths = thesis_paths(&model, &regions, &[true; 3], 3).expect("paths");
    let paper = paths.iter().map(|p| p.cycles).max().expect("a path");
    assert_eq!((paths.len(), paper), (4, 30));
    let bound = |slots| sound(&model, &regions, slots, Reconvergence::Never).expect("a bound");
    let three = bound(3);
    use Guarantee::{Always, Maybe};
    assert_eq!(three.contexts.guarantee, [Always, Maybe, Maybe]);
    let execution = play_splits(3, 3, 10);
    assert!(paper < execution && execution <= three.cycles, "{paper} {execution} {}", three.cycles);
    assert_eq!((execution, three.cycles), (50, 50));
    assert_eq!(bound(6).cycles, 50);
    assert_eq!((bound(7).contexts.need, bound(7).cycles, play_splits(3, 7, 10)), (7, 30, 30));
    assert!(play_splits(3, 6, 10) > 30, "six are too few");
}

#[test]
fn repair_9_contexts_in_use_not_branches_selected() {
    // Figure 8 with S = 2 selects three branches: equation 2 takes units away although both contexts are in use.
    let cfg = figure8::cfg().expect("a graph");
    let selected = select(&cfg, &figure8::MARKED, 2).expect("branches").len() as u64;
    assert_eq!((selected, lemmas::simd_units(4, 2, selected)), (3, Some(3)));
    let (model, regions) = cfg.to_model(1, 1);
    let tree = Tree::new(&model, &regions).expect("regions");
    let used = contexts_used(&tree, &[true, true, true, false], 2, Reconvergence::AtJoin).expect("contexts");
    assert_eq!((used, lemmas::simd_units(4, 2, used)), (2, Some(4)));
    // Twenty splits in sequence share one context; the formula leaves no unit at all.
    assert_eq!(lemmas::simd_units(4, 1, 20), Some(0));
    let launch = Launch {
        groups: 1,
        group_lanes: 64,
        wave_lanes: 64,
        cores: 1,
        partitions: 4,
        slots: 1,
        contexts: 1,
        selected: Some(20),
        wave: 100,
        ..Launch::default()
    };
    assert_eq!(compose(Composition::Pws, &launch), Err(ComposeError::NoRoom));
    let mut machine = wb_hw::preset("pws").expect("a preset");
    machine.split.contexts = 1;
    assert_eq!(machine.reprovisioned(1).core.partitions, machine.core.partitions);
}
