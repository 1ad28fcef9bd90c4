//! gaussian: elimination column by column, two launches each; the host substitutes back (Rodinia; THESIS Table 6.1).

use crate::data::to_f32;
use crate::{Data, Input, Run, Size, Within, Workload};

pub const WORKLOAD: Workload = Workload {
    name: "gaussian",
    about: "Gaussian elimination of a system of linear equations, column by column",
    page: include_str!("../../../../docs/workloads/gaussian.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: ["12 unknowns", "16 unknowns", "64 unknowns", "256 unknowns"],
    build,
};

fn back_substitution(a: &[f32], b: &[f32], n: usize) -> Vec<f32> {
    let mut x = vec![0.0f32; n];
    for i in (0..n).rev() {
        let sum = (i + 1..n).fold(b[i], |s, j| s - a[n * i + j] * x[j]);
        x[i] = sum / a[n * i + i];
    }
    x
}

fn reference(a: &[f32], b: &[f32], n: usize) -> Vec<f32> {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    for k in 0..n {
        for r in k + 1..n {
            let factor = a[n * r + k] / a[n * k + k];
            for c in k..n {
                a[n * r + c] -= factor * a[n * k + c];
            }
            b[r] -= factor * b[k];
        }
    }
    back_substitution(&a, &b, n)
}

fn build(size: Size, input: Input) -> Run {
    let n: usize = size.pick([12, 16, 64, 256]);
    let mut noise = input.noise(3);
    // A matrix that gets smaller away from a heavy diagonal needs no pivoting.
    let a: Vec<f32> = (0..n * n)
        .map(|i| {
            let apart = (i / n).abs_diff(i % n) as f32;
            let noise = noise.between(0.9, 1.1);
            if apart == 0.0 { 12.0 * noise } else { 4.0 * noise * (-0.2 * apart).exp() }
        })
        .collect();
    let b = noise.many(n, |noise| noise.between(0.5, 1.5));
    let want = reference(&a, &b, n);
    let mut run = Run::new();
    let factor = run.buffer("factor", vec![0.0f32; n * n]);
    let a = run.buffer("a", a);
    let b = run.buffer("b", b);
    let x = run.buffer("x", vec![0.0f32; n]);
    for k in 0..n as u32 - 1 {
        let (rows, columns) = (n as u32 - 1 - k, n as u32 - k);
        let tail = [(n as i32).into(), (k as i32).into()];
        let args = [factor.into(), a.into()].into_iter().chain(tail.clone()).collect();
        run.line("gaussian_factors", rows, 64, args);
        let args = [factor.into(), a.into(), b.into()].into_iter().chain(tail).collect();
        run.plane("gaussian_subtract", [rows, columns], [16, 16], args);
    }
    run.host(move |memory| {
        let (a_now, b_now) = (to_f32(&memory.read(a.0)?), to_f32(&memory.read(b.0)?));
        memory.write(x.0, &Data::F32(back_substitution(&a_now, &b_now, n)).bytes())
    });
    run.want(x, want, Within::Near { abs: 1e-5, rel: 1e-4 });
    run
}
