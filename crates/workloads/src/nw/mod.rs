//! nw: Needleman-Wunsch alignment by blocks along diagonals, with local memory and barriers (Rodinia; THESIS 6.2).

use crate::{Input, Run, Size, Within, Workload};

pub const WORKLOAD: Workload = Workload {
    name: "nw",
    about: "Needleman-Wunsch: best alignment of two sequences, by diagonals of blocks",
    page: include_str!("../../../../docs/workloads/nw.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: ["32x32 matrix", "16x16 matrix", "64x64 matrix", "256x256 matrix"],
    build,
};

const BLOCK: u32 = 16;
const PENALTY: i32 = 10;

fn reference(table: &[i32], similar: &[i32], n: usize) -> Vec<i32> {
    let mut t = table.to_vec();
    let w = n + 1;
    for y in 1..w {
        for x in 1..w {
            let diagonal = t[(y - 1) * w + x - 1] + similar[y * w + x];
            t[y * w + x] = diagonal.max(t[y * w + x - 1] - PENALTY).max(t[(y - 1) * w + x] - PENALTY);
        }
    }
    t
}

fn build(size: Size, input: Input) -> Run {
    let n: usize = size.pick([32, 16, 64, 256]);
    let w = n + 1;
    let mut noise = input.noise(2);
    // What a pair of 24 letters is worth, as in a substitution matrix: symmetric, positive on the diagonal.
    let mut worth = [[0i32; 24]; 24];
    for i in 0..24 {
        for j in 0..=i {
            let value = if i == j { 4 + noise.below(6) as i32 } else { noise.below(6) as i32 - 4 };
            (worth[i][j], worth[j][i]) = (value, value);
        }
    }
    let a = noise.many(w, |n| n.below(24) as usize);
    let b = noise.many(w, |n| n.below(24) as usize);
    let mut similar = vec![0i32; w * w];
    let mut table = vec![0i32; w * w];
    for y in 1..w {
        table[y * w] = -PENALTY * y as i32;
        table[y] = -PENALTY * y as i32;
        for x in 1..w {
            similar[y * w + x] = worth[a[y]][b[x]];
        }
    }
    let want = reference(&table, &similar, n);
    let mut run = Run::new();
    let table = run.buffer("table", table);
    let similar = run.buffer("similar", similar);
    let blocks = n as u32 / BLOCK;
    let args = |step: u32| vec![table.into(), similar.into(), (w as i32).into(), PENALTY.into(), step.into()];
    for step in 0..blocks {
        run.line("nw_upper", (step + 1) * BLOCK, BLOCK, args(step));
    }
    for step in (0..blocks - 1).rev() {
        let mut args = args(step);
        args.push(blocks.into());
        run.line("nw_lower", (step + 1) * BLOCK, BLOCK, args);
    }
    run.want(table, want, Within::Exact);
    run
}
