//! myocyte: heart muscle cells as differential equations, a work-item per cell and an adaptive step (Rodinia; not run by
//! THESIS).

use crate::{Input, Run, Size, Within, Workload};

pub const WORKLOAD: Workload = Workload {
    name: "myocyte",
    about: "heart muscle cells: differential equations with an adaptive step, one cell per work-item",
    page: include_str!("../../../../docs/workloads/myocyte.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: ["20 cells, 0.4 ms", "100 cells, 2 ms", "1000 cells, 5 ms", "4000 cells, 5 ms"],
    build,
};

const MEMBRANE: usize = 6;
const BINDING: usize = 4;
const STATES: usize = MEMBRANE + 3 * BINDING;
const TOLERANCE: f32 = 1e-5;

fn rate(v: f64, scale: f64, middle: f64, width: f64) -> f64 {
    scale / (1.0 + ((middle - v) / width).exp())
}

fn derivatives(time: f64, y: &[f64; STATES], strength: f64) -> [f64; STATES] {
    let mut d = [0.0; STATES];
    let v = y[0];
    let stimulus = if time < 1.0 { strength } else { 0.0 };
    let (alpha_h, beta_h) = if v >= -40.0 {
        (0.0, 1.0 / (0.13 * (1.0 + ((v + 10.66) / -11.1).exp())))
    } else {
        (0.135 * ((80.0 + v) / -6.8).exp(), 3.56 * (0.079 * v).exp() + 3.1 * (0.035 * v).exp())
    };
    let (alpha_m, beta_m) = (rate(v, 3.2, -45.0, 6.0), 0.08 * (-v / 22.0).exp());
    let (alpha_n, beta_n) = (rate(v, 0.05, -20.0, 15.0), rate(-v, 0.04, 20.0, 15.0));
    let calcium = 0.3 * y[4] * (v - 60.0);
    d[0] = stimulus
        - 4.0 * y[1].powi(3) * y[2] * (v - 50.0)
        - calcium
        - 0.5 * y[3] * (v + 85.0)
        - 0.05 * (v + 80.0);
    d[1] = alpha_m * (1.0 - y[1]) - beta_m * y[1];
    d[2] = alpha_h * (1.0 - y[2]) - beta_h * y[2];
    d[3] = alpha_n * (1.0 - y[3]) - beta_n * y[3];
    d[4] = rate(v, 0.06, -15.0, 7.0) * (1.0 - y[4]) - 0.05 * y[4];
    d[5] = -0.002 * calcium - 0.1 * (y[5] - 0.1);
    for (part, (share, speed)) in [(1.0, 1.0), (0.5, 0.7), (0.2, 0.4)].into_iter().enumerate() {
        let at = MEMBRANE + part * BINDING;
        let ca = share * y[5];
        let two = speed * ca * ca * y[at] - 0.6 * y[at + 1];
        let four = 0.5 * speed * ca * ca * y[at + 1] - 0.2 * y[at + 2];
        let bound = 0.3 * y[at + 2] * (1.0 - y[at + 3]) - 0.05 * y[at + 3];
        d[at] = -two;
        d[at + 1] = two - four;
        d[at + 2] = four - 0.1 * bound;
        d[at + 3] = bound;
    }
    d
}

/// Another method than the kernel's: classical Runge-Kutta with a fixed small step, in double precision.
fn reference(start: &[f32], strength: f32, end: f32) -> Vec<f32> {
    let mut y: [f64; STATES] = std::array::from_fn(|i| start[i].into());
    let strength = f64::from(strength);
    let steps = (f64::from(end) / 0.002).round() as usize;
    let h = f64::from(end) / steps as f64;
    let mixed = |y: &[f64; STATES], d: &[f64; STATES], h: f64| std::array::from_fn(|i| y[i] + h * d[i]);
    for s in 0..steps {
        let t = s as f64 * h;
        let a = derivatives(t, &y, strength);
        let b = derivatives(t + 0.5 * h, &mixed(&y, &a, 0.5 * h), strength);
        let c = derivatives(t + 0.5 * h, &mixed(&y, &b, 0.5 * h), strength);
        let d = derivatives(t + h, &mixed(&y, &c, h), strength);
        for i in 0..STATES {
            y[i] += h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]);
        }
    }
    y.iter().map(|&v| v as f32).collect()
}

fn build(size: Size, input: Input) -> Run {
    let cells: usize = size.pick([20, 100, 1000, 4000]);
    let end: f32 = size.pick([0.4, 2.0, 5.0, 5.0]);
    // Steps that a cell may try; no cell needs all of them, or it would not reach the reference.
    let most: i32 = size.pick([16, 120, 240, 240]);
    let mut noise = input.noise(18);
    let (mut start, mut strengths) = (Vec::new(), Vec::new());
    for _ in 0..cells {
        let rest = [noise.between(-90.0, -30.0), 0.01, 0.9, 0.05, 0.02, noise.between(0.1, 1.0)];
        start.extend(rest);
        for _ in 0..3 {
            start.extend([noise.between(0.5, 1.0), 0.1, 0.05, 0.01]);
        }
        strengths.push(noise.between(0.0, 60.0));
    }
    let cell = |i: usize| reference(&start[i * STATES..(i + 1) * STATES], strengths[i], end);
    let want: Vec<f32> = (0..cells).flat_map(cell).collect();
    let mut run = Run::new();
    let start = run.buffer("start", start);
    let strengths = run.buffer("strengths", strengths);
    let slopes = run.buffer("slopes", vec![0.0f32; 6 * STATES * cells]);
    let result = run.buffer("result", vec![0.0f32; STATES * cells]);
    let buffers = [start, strengths, slopes, result].map(Into::into).into_iter();
    let numbers = [(cells as i32).into(), end.into(), TOLERANCE.into(), most.into()];
    run.line("myocyte", cells as u32, 64, buffers.chain(numbers).collect());
    run.want(result, want, Within::Near { abs: 5e-2, rel: 1e-2 });
    run.limit("myocyte", "steps", most as u64, "the host passes this limit");
    run
}
