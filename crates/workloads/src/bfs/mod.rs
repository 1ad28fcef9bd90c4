//! bfs: breadth-first search, two kernels per level and a flag that the host looks at (Rodinia; THESIS Table 6.1).

use crate::{Input, Run, Size, Within, Workload};
use std::collections::VecDeque;

pub const WORKLOAD: Workload = Workload {
    name: "bfs",
    about: "breadth-first search of a random graph, level by level",
    page: include_str!("../../../../docs/workloads/bfs.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: ["256 vertices", "4096 vertices", "16384 vertices", "65536 vertices"],
    build,
};

/// Work-items of a group, as in Rodinia.
const GROUP: u32 = 512;

struct Graph {
    /// Of each node, where its edges begin and how many it has.
    nodes: Vec<[i32; 2]>,
    edges: Vec<i32>,
}

/// Two to four edges of every node to random nodes, each with one back: six for each node in the mean, as in the graphs that
/// come with Rodinia. The last 64 nodes lead nowhere, so that a wave takes the way past the edges, too.
fn graph(nodes: usize, input: Input) -> Graph {
    let mut noise = input.noise(1);
    let connected = nodes - 64;
    let mut lists: Vec<Vec<i32>> = vec![Vec::new(); nodes];
    for v in 0..connected {
        for _ in 0..2 + noise.below(3) {
            let to = noise.below(nodes as u32) as usize;
            lists[v].push(to as i32);
            if to < connected {
                lists[to].push(v as i32);
            }
        }
    }
    let mut graph = Graph { nodes: Vec::new(), edges: Vec::new() };
    for list in lists {
        graph.nodes.push([graph.edges.len() as i32, list.len() as i32]);
        graph.edges.extend(list);
    }
    graph
}

/// Distance of every node from node 0; -1 where there is no way.
fn reference(graph: &Graph) -> Vec<i32> {
    let mut cost = vec![-1; graph.nodes.len()];
    cost[0] = 0;
    let mut queue = VecDeque::from([0usize]);
    while let Some(v) = queue.pop_front() {
        let [first, count] = graph.nodes[v].map(|n| n as usize);
        for &to in &graph.edges[first..first + count] {
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
    let most = graph.nodes.iter().map(|n| n[1]).max().unwrap_or(0) as u64;
    let start = |v: usize| u8::from(v == 0);
    let mut cost = vec![-1i32; nodes];
    cost[0] = 0;
    let mut run = Run::new();
    let graph_nodes = run.buffer("graph", graph.nodes.concat());
    let edges = run.buffer("edges", graph.edges);
    let frontier = run.buffer("frontier", (0..nodes).map(start).collect::<Vec<_>>());
    let reached = run.buffer("reached", vec![0u8; nodes]);
    let visited = run.buffer("visited", (0..nodes).map(start).collect::<Vec<_>>());
    let cost = run.buffer("cost", cost);
    let more = run.buffer("more", vec![0i32]);
    let (n, group) = (nodes as i32, GROUP.min(nodes as u32));
    run.repeat_while(more, nodes as u32, |run| {
        let args = [graph_nodes, edges, frontier, reached, visited, cost].map(Into::into);
        run.line("bfs_expand", nodes as u32, group, args.into_iter().chain([n.into()]).collect());
        let args = [frontier, reached, visited, more].map(Into::into);
        run.line("bfs_settle", nodes as u32, group, args.into_iter().chain([n.into()]).collect());
    });
    run.want(cost, want, Within::Exact);
    let why = format!("no node of this graph has more than {most} edges, and the loop is tested at its end");
    run.limit("bfs_expand", "edges", most - 1, why);
    run
}
