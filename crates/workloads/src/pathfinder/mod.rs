//! pathfinder: cheapest way through a grid, row by row, several rows per launch in local memory (Rodinia).

use crate::{Input, Run, Size, Within, Workload};

pub const WORKLOAD: Workload = Workload {
    name: "pathfinder",
    about: "cheapest way down a grid by dynamic programming, several rows per launch",
    page: include_str!("../../../../docs/workloads/pathfinder.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: [
        "500 columns x 12 rows",
        "2048 columns x 20 rows",
        "16384 columns x 60 rows",
        "100000 columns x 100 rows",
    ],
    build,
};

const BLOCK: u32 = 256;

fn reference(costs: &[i32], columns: usize) -> Vec<i32> {
    let mut rows = costs.chunks(columns);
    let mut best = rows.next().map(<[i32]>::to_vec).unwrap_or_default();
    for row in rows {
        let around = |x: usize| best[x].min(best[x.saturating_sub(1)]).min(best[(x + 1).min(columns - 1)]);
        best = (0..columns).map(|x| row[x] + around(x)).collect();
    }
    best
}

fn build(size: Size, input: Input) -> Run {
    let (columns, rows) = size.pick([(500usize, 12usize), (2048, 20), (16384, 60), (100_000, 100)]);
    // Rows of a launch (Rodinia's pyramid height).
    let most = size.pick([5usize, 10, 20, 20]);
    let costs = input.noise(5).many(columns * rows, |noise| noise.below(10) as i32);
    let want = reference(&costs, columns);
    let mut run = Run::new();
    let first = run.buffer("first", costs[..columns].to_vec());
    let costs = run.buffer("costs", costs);
    let ways = [first, run.buffer("spare", vec![0i32; columns])];
    let (mut row, mut i) = (1, 0);
    while row < rows {
        let steps = most.min(rows - row);
        let small = BLOCK - 2 * steps as u32;
        let groups = (columns as u32).div_ceil(small);
        let numbers = [columns as i32, row as i32, steps as i32, steps as i32].map(Into::into);
        let buffers = [costs, ways[i % 2], ways[(i + 1) % 2]].map(Into::into);
        run.line("pathfinder", groups * BLOCK, BLOCK, buffers.into_iter().chain(numbers).collect());
        row += steps;
        i += 1;
    }
    let why = format!("the host passes at most {most} steps; tested at the loop's end");
    run.limit("pathfinder", "steps", most as u64 - 1, why);
    run.want(ways[i % 2], want, Within::Exact);
    run
}
