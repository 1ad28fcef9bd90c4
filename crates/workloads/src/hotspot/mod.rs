//! hotspot: temperature of a chip from its power, tiles that go two steps in local memory (Rodinia; THESIS Table 6.1).

use crate::{Input, Run, Size, Within, Workload};

pub const WORKLOAD: Workload = Workload {
    name: "hotspot",
    about: "heat in a chip: a five-point stencil, two steps per launch in local memory",
    page: include_str!("../../../../docs/workloads/hotspot.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: ["20x20 matrix", "64x64 matrix", "512x512 matrix", "1024x1024 matrix"],
    build,
};

const BLOCK: u32 = 16;
/// Steps of a launch (Rodinia's pyramid height).
const STEPS: usize = 2;
const AMBIENT: f32 = 80.0;

/// Step over capacity, and inverse resistances in both directions and to the surroundings.
struct Chip {
    per_cap: f32,
    rx: f32,
    ry: f32,
    rz: f32,
}

/// The constants of a chip of 16 mm × 16 mm × 0.5 mm, as Rodinia has them.
fn chip(n: usize) -> Chip {
    let (height, width, thick) = (0.016f64 / n as f64, 0.016 / n as f64, 0.0005);
    let cap = 0.5 * 1.75e6 * thick * width * height;
    let rx = width / (2.0 * 100.0 * thick * height);
    let ry = height / (2.0 * 100.0 * thick * width);
    let rz = thick / (100.0 * height * width);
    let slope = 3.0e6 / (0.5 * thick * 1.75e6);
    let step = 0.001 / slope;
    Chip { per_cap: (step / cap) as f32, rx: (1.0 / rx) as f32, ry: (1.0 / ry) as f32, rz: (1.0 / rz) as f32 }
}

fn reference(power: &[f32], heat: &[f32], n: usize, chip: &Chip, steps: usize) -> Vec<f32> {
    let mut now = heat.to_vec();
    for _ in 0..steps {
        let mut next = now.clone();
        for y in 0..n {
            for x in 0..n {
                let at = |y: usize, x: usize| now[y * n + x];
                let here = at(y, x);
                let (south, north) = (at((y + 1).min(n - 1), x), at(y.saturating_sub(1), x));
                let (east, west) = (at(y, (x + 1).min(n - 1)), at(y, x.saturating_sub(1)));
                let vertical = (south + north - 2.0 * here) * chip.ry;
                let horizontal = (east + west - 2.0 * here) * chip.rx;
                next[y * n + x] = here
                    + chip.per_cap * (power[y * n + x] + vertical + horizontal + (AMBIENT - here) * chip.rz);
            }
        }
        now = next;
    }
    now
}

fn build(size: Size, input: Input) -> Run {
    let n: usize = size.pick([20, 64, 512, 1024]);
    let launches = 2;
    let chip = chip(n);
    let mut noise = input.noise(4);
    let heat = noise.many(n * n, |noise| noise.between(323.0, 343.0));
    let power = noise.many(n * n, |noise| noise.between(0.0, 0.01));
    let want = reference(&power, &heat, n, &chip, launches * STEPS);
    let mut run = Run::new();
    let power = run.buffer("power", power);
    let heat = [run.buffer("heat", heat), run.buffer("spare", vec![0.0f32; n * n])];
    let small = BLOCK - 2 * STEPS as u32;
    let groups = (n as u32).div_ceil(small);
    for i in 0..launches {
        let (from, to) = (heat[i % 2], heat[(i + 1) % 2]);
        let numbers = [n as i32, n as i32, STEPS as i32, STEPS as i32].map(Into::into);
        let floats = [chip.per_cap, chip.rx, chip.ry, chip.rz].map(Into::into);
        let args = [power, from, to].map(Into::into).into_iter().chain(numbers).chain(floats).collect();
        run.plane("hotspot", [groups * BLOCK; 2], [BLOCK; 2], args);
    }
    run.limit(
        "hotspot",
        "steps",
        STEPS as u64 - 1,
        "the host passes the number of steps; tested at the loop's end",
    );
    run.want(heat[launches % 2], want, Within::Exact);
    run
}
