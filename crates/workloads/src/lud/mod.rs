//! lud: LU decomposition by blocks of 16, three kernels per diagonal block (Rodinia; not run by THESIS).

use crate::{Input, Run, Size, Within, Workload};

pub const WORKLOAD: Workload = Workload {
    name: "lud",
    about: "LU decomposition of a matrix, by blocks in local memory",
    page: include_str!("../../../../docs/workloads/lud.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: ["32x32 matrix", "64x64 matrix", "256x256 matrix", "512x512 matrix"],
    build,
};

const BLOCK: u32 = 16;

fn reference(m: &[f32], n: usize) -> Vec<f32> {
    let mut m: Vec<f64> = m.iter().map(|&x| x.into()).collect();
    for i in 0..n {
        for r in i + 1..n {
            let factor = m[r * n + i] / m[i * n + i];
            m[r * n + i] = factor;
            for c in i + 1..n {
                m[r * n + c] -= factor * m[i * n + c];
            }
        }
    }
    m.iter().map(|&x| x as f32).collect()
}

fn build(size: Size, input: Input) -> Run {
    let n: usize = size.pick([32, 64, 256, 512]);
    let mut noise = input.noise(8);
    let m: Vec<f32> = (0..n * n)
        .map(|i| {
            let apart = (i / n).abs_diff(i % n) as f32;
            let noise = noise.between(0.9, 1.1);
            if apart == 0.0 { 12.0 * noise } else { 4.0 * noise * (-0.2 * apart).exp() }
        })
        .collect();
    let want = reference(&m, n);
    let mut run = Run::new();
    let m = run.buffer("matrix", m);
    let size = n as u32;
    let args = |offset: u32| vec![m.into(), (n as i32).into(), offset.into()];
    for offset in (0..size).step_by(BLOCK as usize) {
        run.line("lud_diagonal", BLOCK, BLOCK, args(offset));
        let rest = (size - offset) / BLOCK - 1;
        if rest > 0 {
            run.line("lud_perimeter", rest * 2 * BLOCK, 2 * BLOCK, args(offset));
            run.plane("lud_internal", [rest * BLOCK; 2], [BLOCK; 2], args(offset));
        }
    }
    for (kernel, tag) in [("lud_diagonal", "column"), ("lud_diagonal", "row"), ("lud_perimeter", "right")] {
        run.limit(kernel, tag, 15, "columns of a block before this one");
    }
    run.want(m, want, Within::Near { abs: 2e-4, rel: 2e-4 });
    run
}
