//! streamcluster: centres for a stream of points by local search; the device weighs each candidate, the host decides
//! (Rodinia; not run by THESIS).

use crate::data::{to_f32, to_i32};
use crate::{Arg, Data, Input, Run, Size, Within, Workload};

pub const WORKLOAD: Workload = Workload {
    name: "streamcluster",
    about: "clusters a stream of points: is it worth to open another centre?",
    page: include_str!("../../../../docs/workloads/streamcluster.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: [
        "200 points of 8 dimensions, 3 candidates",
        "256 points of 32, 8 candidates",
        "4096 points of 32, 16 candidates",
        "65536 points of 64, 16 candidates",
    ],
    build,
};

/// What a new centre costs.
const OPEN: f32 = 30.0;
/// Columns of the table of savings: no more centres than this.
const CENTRES: usize = 8;

/// The state of the search, by which the host decides.
struct Search {
    costs: Vec<f32>,
    assigned: Vec<i32>,
    /// Column of a point that is a centre, else -1.
    table: Vec<i32>,
}

fn distance(points: &[f32], n: usize, a: usize, b: usize) -> f32 {
    (0..points.len() / n).fold(0.0, |s, d| {
        let apart = points[d * n + a] - points[d * n + b];
        s + apart * apart
    })
}

impl Search {
    /// All points belong to point 0.
    fn start(points: &[f32], n: usize) -> Search {
        let costs = (0..n).map(|i| distance(points, n, i, 0)).collect();
        let mut table = vec![-1; n];
        table[0] = 0;
        Search { costs, assigned: vec![0; n], table }
    }

    /// Opens a centre at x if that saves more than it costs, closing those that lose less than they cost.
    fn decide(&mut self, points: &[f32], x: usize, moves: &[u8], lower: &[f32]) {
        let n = self.costs.len();
        let width = CENTRES + 1;
        let mut column = [0.0f32; CENTRES + 1];
        for row in lower.chunks(width) {
            row.iter().zip(&mut column).for_each(|(v, sum)| *sum += v);
        }
        // A centre may go if moving all its points to x costs less than keeping it open.
        let closes = |c: usize| column[c] - OPEN < 0.0;
        let closing: Vec<bool> = (0..n)
            .map(|i| {
                self.table[i] >= 0
                    && i != x
                    && column[self.table[i] as usize] != 0.0
                    && closes(self.table[i] as usize)
            })
            .collect();
        let saved: f32 = (0..n).filter(|&i| closing[i]).map(|i| OPEN - column[self.table[i] as usize]).sum();
        let gain = saved - column[CENTRES] - OPEN;
        let free = (0..CENTRES as i32).find(|c| !self.table.contains(c));
        let (Some(free), true) = (free, gain > 0.0 && self.table[x] < 0) else { return };
        for i in 0..n {
            if moves[i] == 1 || closing[self.assigned[i] as usize] {
                self.assigned[i] = x as i32;
                self.costs[i] = distance(points, n, i, x);
            }
        }
        for i in 0..n {
            if closing[i] {
                self.table[i] = -1;
            }
        }
        self.table[x] = free;
    }
}

fn reference(points: &[f32], n: usize, candidates: &[usize]) -> Search {
    let mut search = Search::start(points, n);
    for &x in candidates {
        let width = CENTRES + 1;
        let (mut moves, mut lower) = (vec![0u8; n], vec![0.0f32; n * width]);
        for i in 0..n {
            let change = distance(points, n, i, x) - search.costs[i];
            if change < 0.0 {
                moves[i] = 1;
                lower[i * width + CENTRES] += change;
            } else {
                lower[i * width + search.table[search.assigned[i] as usize] as usize] -= change;
            }
        }
        search.decide(points, x, &moves, &lower);
    }
    search
}

fn build(size: Size, input: Input) -> Run {
    let (n, dimensions, tried) =
        size.pick([(200usize, 8usize, 3usize), (256, 32, 8), (4096, 32, 16), (65536, 64, 16)]);
    let mut noise = input.noise(20);
    // Five clouds, a feature after the other.
    let middles = noise.many(5 * dimensions, |n| n.between(0.0, 1.0));
    let cloud = noise.many(n, |noise| noise.below(5) as usize);
    let points: Vec<f32> = (0..n * dimensions)
        .map(|k| middles[cloud[k % n] * dimensions + k / n] + noise.between(-0.2, 0.2))
        .collect();
    let candidates = noise.many(tried, |noise| 1 + noise.below(n as u32 - 1) as usize);
    let want = reference(&points, n, &candidates);
    let start = Search::start(&points, n);
    let mut run = Run::new();
    let given = run.buffer("points", points.clone());
    let weights = run.buffer("weights", vec![1.0f32; n]);
    let costs = run.buffer("costs", start.costs);
    let assigned = run.buffer("assigned", start.assigned);
    let table = run.buffer("table", start.table);
    let moves = run.buffer("moves", vec![0u8; n]);
    let lower = run.buffer("lower", vec![0.0f32; n * (CENTRES + 1)]);
    let points = std::rc::Rc::new(points);
    for x in candidates {
        run.host(move |memory| {
            memory.write(moves.0, &vec![0; n])?;
            memory.write(lower.0, &vec![0; 4 * n * (CENTRES + 1)])
        });
        let buffers = [given, weights, costs, assigned, table, moves, lower].map(Into::into).into_iter();
        let numbers: [Arg; 4] = [n as i32, dimensions as i32, x as i32, CENTRES as i32].map(Into::into);
        run.line("streamcluster_gain", n as u32, 256, buffers.chain(numbers).collect());
        let points = points.clone();
        run.host(move |memory| {
            let mut search = Search {
                costs: to_f32(&memory.read(costs.0)?),
                assigned: to_i32(&memory.read(assigned.0)?),
                table: to_i32(&memory.read(table.0)?),
            };
            let (moved, saved) = (memory.read(moves.0)?, to_f32(&memory.read(lower.0)?));
            search.decide(&points, x, &moved, &saved);
            memory.write(costs.0, &Data::F32(search.costs).bytes())?;
            memory.write(assigned.0, &Data::I32(search.assigned).bytes())?;
            memory.write(table.0, &Data::I32(search.table).bytes())
        });
    }
    run.want(assigned, want.assigned, Within::Exact);
    run.want(costs, want.costs, Within::Exact);
    run.want(table, want.table, Within::Exact);
    run
}
