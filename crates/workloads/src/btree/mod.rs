//! b+tree: many searches for keys and ranges in a B+ tree, a group each (Rodinia; THESIS Table 6.1).

use crate::{Input, Noise, Run, Size, Within, Workload};

pub const WORKLOAD: Workload = Workload {
    name: "b+tree",
    about: "searches for keys and ranges in a B+ tree, a group for each",
    page: include_str!("../../../../docs/workloads/btree.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: ["100 elements", "100 elements", "1000 elements", "10000 elements"],
    build,
};

const ORDER: usize = 64;
/// Keys that a node is given when the tree is built.
const FILL: usize = 48;

struct Tree {
    keys: Vec<i32>,
    children: Vec<i32>,
    /// Levels above the leaves.
    height: usize,
}

/// A tree of sorted keys; record i belongs to key i.
fn tree(sorted: &[i32]) -> Tree {
    // Levels from the leaves up: for each node its entries (key, child or record).
    let entries = |keys: Vec<(i32, i32)>| keys.chunks(FILL).map(<[_]>::to_vec).collect::<Vec<_>>();
    let mut levels = vec![entries(sorted.iter().copied().zip(0..).collect())];
    while let Some(last) = levels.last().filter(|l| l.len() > 1) {
        let up = last.iter().zip(0..).map(|(node, i)| (node[0].0, i)).collect();
        levels.push(entries(up));
    }
    levels.reverse();
    let mut tree = Tree { keys: Vec::new(), children: Vec::new(), height: levels.len() - 1 };
    let mut base = 0;
    for (depth, level) in levels.iter().enumerate() {
        let below = base + level.len() as i32;
        for (i, node) in level.iter().enumerate() {
            for t in 0..ORDER {
                // The first key of a level is the least there is, so that every query finds its way.
                let key = node.get(t).map_or(i32::MAX, |e| e.0);
                let inner = depth < tree.height;
                tree.keys.push(if inner && i == 0 && t == 0 { i32::MIN } else { key });
                tree.children.push(node.get(t).map_or(-1, |e| if inner { below + e.1 } else { e.1 }));
            }
        }
        base = below;
    }
    tree
}

fn build(size: Size, input: Input) -> Run {
    let n: usize = size.pick([100, 100, 1000, 10_000]);
    let queries: usize = size.pick([12, 100, 1000, 10_000]);
    let mut noise = input.noise(11);
    let mut key = 0;
    let sorted = noise.many(n, |noise| {
        key += 1 + noise.below(5) as i32;
        key
    });
    let tree = tree(&sorted);
    // Four of five queries are for a key that is there.
    let query = |noise: &mut Noise| {
        let hit = sorted[noise.below(n as u32) as usize];
        if noise.below(5) == 0 { noise.below(key as u32 + 9) as i32 } else { hit }
    };
    let asked = noise.many(queries, query);
    let find = |k: &i32| sorted.binary_search(k).map_or(-1, |i| i as i32);
    let answers: Vec<i32> = asked.iter().map(find).collect();
    let start = noise.many(queries, |noise| noise.below(n as u32) as usize);
    let low: Vec<i32> = start.iter().map(|&i| sorted[i]).collect();
    let high: Vec<i32> = start.iter().map(|&i| sorted[(i + 1 + i % 90).min(n - 1)]).collect();
    let first: Vec<i32> = low.iter().map(find).collect();
    let length: Vec<i32> = low.iter().zip(&high).map(|(a, b)| find(b) - find(a) + 1).collect();
    let height: i32 = tree.height as i32;
    let mut run = Run::new();
    let keys = run.buffer("keys", tree.keys);
    let children = run.buffer("children", tree.children);
    let asked = run.buffer("queries", asked);
    let answer = run.buffer("answers", vec![-1i32; queries]);
    let (low, high) = (run.buffer("low", low), run.buffer("high", high));
    let (begin, count) =
        (run.buffer("first", vec![0i32; queries]), run.buffer("length", vec![0i32; queries]));
    let grid = (queries * ORDER) as u32;
    let args = vec![keys.into(), children.into(), asked.into(), answer.into(), height.into()];
    run.line("btree_find", grid, ORDER as u32, args);
    let buffers = [keys, children, low, high, begin, count].map(Into::into);
    run.line("btree_range", grid, ORDER as u32, buffers.into_iter().chain([height.into()]).collect());
    run.want(answer, answers, Within::Exact);
    run.want(begin, first, Within::Exact);
    run.want(count, length, Within::Exact);
    run
}
