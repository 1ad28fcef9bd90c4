//! bfs: breadth-first search, two kernels per level and a flag that the host looks at (Rodinia; THESIS Table 6.1).

use crate::{Input, Run, Size, Within, Workload};
use std::collections::VecDeque;

pub const WORKLOAD: Workload = Workload {
    name: "bfs",
    about: "breadth-first search of a random graph, level by level",
    page: include_str!("../../../../docs/workloads/bfs.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    sizes: ["256 vertices", "4096 vertices", "16384 vertices", "65536 vertices"],
    build,
};

const GROUP: u32 = 256;

struct Graph {
    first: Vec<i32>,
    count: Vec<i32>,
    edges: Vec<i32>,
}

/// Every node has up to 5 edges to random nodes, most of them in both directions; the last 64 nodes lead nowhere.
fn graph(nodes: usize, input: Input) -> Graph {
    let mut noise = input.noise(1);
    let connected = nodes - 64;
    let mut lists: Vec<Vec<i32>> = vec![Vec::new(); nodes];
    for v in 0..nodes {
        for _ in 0..if v < connected { noise.below(6) } else { 0 } {
            let to = noise.below(nodes as u32) as usize;
            lists[v].push(to as i32);
            if to < connected && lists[to].len() < 16 && noise.below(3) > 0 {
                lists[to].push(v as i32);
            }
        }
    }
    let mut graph = Graph { first: Vec::new(), count: Vec::new(), edges: Vec::new() };
    for list in lists {
        graph.first.push(graph.edges.len() as i32);
        graph.count.push(list.len() as i32);
        graph.edges.extend(list);
    }
    graph
}

/// Distance of every node from node 0; -1 where there is no way.
fn reference(graph: &Graph) -> Vec<i32> {
    let mut cost = vec![-1; graph.first.len()];
    cost[0] = 0;
    let mut queue = VecDeque::from([0usize]);
    while let Some(v) = queue.pop_front() {
        let first = graph.first[v] as usize;
        for &to in &graph.edges[first..first + graph.count[v] as usize] {
            if cost[to as usize] < 0 {
                cost[to as usize] = cost[v] + 1;
                queue.push_back(to as usize);
            }
        }
    }
    cost
}

fn build(size: Size, input: Input) -> Run {
    let nodes = size.pick([256, 4096, 16384, 65536]);
    let graph = graph(nodes, input);
    let want = reference(&graph);
    let most = graph.count.iter().copied().max().unwrap_or(0) as u64;
    let start = |v: usize| u8::from(v == 0);
    let mut cost = vec![-1i32; nodes];
    cost[0] = 0;
    let mut run = Run::new();
    let first = run.buffer("first", graph.first);
    let count = run.buffer("count", graph.count);
    let edges = run.buffer("edges", graph.edges);
    let frontier = run.buffer("frontier", (0..nodes).map(start).collect::<Vec<_>>());
    let reached = run.buffer("reached", vec![0u8; nodes]);
    let visited = run.buffer("visited", (0..nodes).map(start).collect::<Vec<_>>());
    let cost = run.buffer("cost", cost);
    let more = run.buffer("more", vec![0i32]);
    let n = nodes as i32;
    run.repeat_while(more, nodes as u32, |run| {
        let args = [first, count, edges, frontier, reached, visited, cost].map(Into::into);
        run.line("bfs_expand", nodes as u32, GROUP, args.into_iter().chain([n.into()]).collect());
        let args = [frontier, reached, visited, more].map(Into::into);
        run.line("bfs_settle", nodes as u32, GROUP, args.into_iter().chain([n.into()]).collect());
    });
    run.want(cost, want, Within::Exact);
    let why = format!("no node of this graph has more than {most} edges, and the loop is tested at its end");
    run.limit("bfs_expand", "edges", most - 1, why);
    run
}
