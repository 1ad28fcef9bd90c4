//! cfd: Euler's equations on an unstructured mesh, three Runge-Kutta stages per step (Rodinia's euler3d; THESIS
//! Table 6.1).

use crate::{Arg, Input, Run, Size, Within, Workload};

pub const WORKLOAD: Workload = Workload {
    name: "cfd",
    about: "flow of a gas: Euler's equations on an unstructured mesh",
    page: include_str!("../../../../docs/workloads/cfd.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: [
        "150 elements, 1 step",
        "16 elements, 2 steps",
        "1024 elements, 2 steps",
        "65536 elements, 2 steps",
    ],
    build,
};

const GAMMA: f32 = 1.4;
const FACES: usize = 4;
const STAGES: usize = 3;
const GROUP: u32 = 192;

struct Mesh {
    n: usize,
    neighbours: Vec<i32>,
    normals: Vec<f32>,
    areas: Vec<f32>,
}

/// Elements in a row of rows: neighbours left, right, above and below; the body is in the middle, the far field around.
fn mesh(n: usize, input: Input) -> Mesh {
    let mut noise = input.noise(12);
    let width = (n as f64).sqrt().ceil() as usize;
    let body = |x: usize, y: usize| {
        let (x, y) = (x as f64 / width as f64 - 0.5, y as f64 / width as f64 - 0.5);
        x * x + y * y < 0.02
    };
    let mut mesh =
        Mesh { n, neighbours: vec![0; FACES * n], normals: vec![0.0; FACES * 3 * n], areas: vec![] };
    for i in 0..n {
        let (x, y) = ((i % width) as i64, (i / width) as i64);
        let around = [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)];
        for (f, (ax, ay)) in around.into_iter().enumerate() {
            let to = ay * width as i64 + ax;
            let inside = ax >= 0 && ax < width as i64 && to >= 0 && to < n as i64;
            // Every eighth element touches the body somewhere, wherever it lies.
            let touches = noise.below(8) == 0 && f == 0;
            mesh.neighbours[f * n + i] = match inside {
                false => -2,
                true if touches || body(ax as usize, ay as usize) => -1,
                true => to as i32,
            };
            let (dx, dy) = ((ax - x) as f32, (ay - y) as f32);
            let normal = [dx, dy, 0.0].map(|d| d + noise.between(-0.05, 0.05));
            for (axis, d) in normal.into_iter().enumerate() {
                mesh.normals[(f * 3 + axis) * n + i] = d;
            }
        }
        mesh.areas.push(noise.between(0.8, 1.2));
    }
    mesh
}

/// Density, momentum, energy and pressure far away: Mach 1.2, at a small angle.
fn far_field() -> Vec<f32> {
    let speed = 1.2 * GAMMA.sqrt();
    let angle = 2.0f32.to_radians();
    let (u, v) = (speed * angle.cos(), speed * angle.sin());
    vec![GAMMA, GAMMA * u, GAMMA * v, 0.0, GAMMA * 0.5 * speed * speed + GAMMA / (GAMMA - 1.0), GAMMA]
}

/// Density, momentum, energy, velocity, speed, pressure of an element.
struct State {
    u: [f32; 5],
    velocity: [f32; 3],
    speed: f32,
    pressure: f32,
}

fn state(variables: &[f32], n: usize, i: usize) -> State {
    let u: [f32; 5] = std::array::from_fn(|v| variables[v * n + i]);
    let velocity = [u[1] / u[0], u[2] / u[0], u[3] / u[0]];
    let speed2 = velocity[0] * velocity[0] + velocity[1] * velocity[1] + velocity[2] * velocity[2];
    State { u, velocity, speed: speed2.sqrt(), pressure: (GAMMA - 1.0) * (u[4] - 0.5 * u[0] * speed2) }
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn flux(mesh: &Mesh, variables: &[f32], far: &[f32], i: usize) -> [f32; 5] {
    let n = mesh.n;
    let here = state(variables, n, i);
    let sound = (GAMMA * here.pressure / here.u[0]).sqrt();
    let mut flux = [0.0f32; 5];
    for f in 0..FACES {
        let to = mesh.neighbours[f * n + i];
        let normal: [f32; 3] = std::array::from_fn(|a| mesh.normals[(f * 3 + a) * n + i]);
        let momentum = |m: [f32; 3]| [here.u[1] + m[0], here.u[2] + m[1], here.u[3] + m[2]];
        if to >= 0 {
            let there = state(variables, n, to as usize);
            let theirs = (GAMMA * there.pressure / there.u[0]).sqrt();
            let factor =
                -dot(normal, normal).sqrt() * 0.2 * 0.5 * (here.speed + there.speed + sound + theirs);
            for v in 0..5 {
                flux[v] += factor * (here.u[v] - there.u[v]);
            }
            let out = 0.5 * dot(normal, momentum([there.u[1], there.u[2], there.u[3]]));
            let p = 0.5 * (here.pressure + there.pressure);
            let u: [f32; 3] = std::array::from_fn(|a| 0.5 * (here.velocity[a] + there.velocity[a]));
            let e = 0.5 * (here.u[4] + there.u[4] + here.pressure + there.pressure);
            flux[0] += out;
            for a in 0..3 {
                flux[1 + a] += out * u[a] + p * normal[a];
            }
            flux[4] += e * dot(normal, u);
        } else if to == -1 {
            for a in 0..3 {
                flux[1 + a] += normal[a] * here.pressure;
            }
        } else {
            let out = 0.5 * dot(normal, momentum([far[1], far[2], far[3]]));
            let p = 0.5 * (here.pressure + far[5]);
            flux[0] += out;
            for a in 0..3 {
                flux[1 + a] += out * here.velocity[a] + p * normal[a];
            }
            flux[4] += out * (here.u[4] + here.pressure) / here.u[0];
        }
    }
    flux
}

fn reference(mesh: &Mesh, far: &[f32], steps: usize) -> Vec<f32> {
    let n = mesh.n;
    let mut variables: Vec<f32> = (0..5 * n).map(|k| far[k / n]).collect();
    for _ in 0..steps {
        let old = variables.clone();
        let factor = |i: usize| {
            let s = state(&old, n, i);
            0.5 / (mesh.areas[i].sqrt() * (s.speed + (GAMMA * s.pressure / s.u[0]).sqrt()))
        };
        let factors: Vec<f32> = (0..n).map(factor).collect();
        for stage in 1..=STAGES {
            let fluxes: Vec<[f32; 5]> = (0..n).map(|i| flux(mesh, &variables, far, i)).collect();
            for i in 0..n {
                for v in 0..5 {
                    variables[v * n + i] = old[v * n + i] - factors[i] / (4 - stage) as f32 * fluxes[i][v];
                }
            }
        }
    }
    variables
}

fn build(size: Size, input: Input) -> Run {
    let n: usize = size.pick([150, 16, 1024, 65536]);
    let steps: usize = size.pick([1, 2, 2, 2]);
    let (mesh, far) = (mesh(n, input), far_field());
    let want = reference(&mesh, &far, steps);
    let mut run = Run::new();
    let neighbours = run.buffer("neighbours", mesh.neighbours);
    let normals = run.buffer("normals", mesh.normals);
    let areas = run.buffer("areas", mesh.areas);
    let far = run.buffer("far", far);
    let variables = run.buffer("variables", vec![0.0f32; 5 * n]);
    let old = run.buffer("old", vec![0.0f32; 5 * n]);
    let factors = run.buffer("factors", vec![0.0f32; n]);
    let fluxes = run.buffer("fluxes", vec![0.0f32; 5 * n]);
    let count: Arg = (n as i32).into();
    let grid = n as u32;
    run.line("cfd_initialise", grid, GROUP, vec![variables.into(), far.into(), count.clone()]);
    for _ in 0..steps {
        let all: Arg = (5 * n as i32).into();
        run.line("cfd_copy", 5 * grid, GROUP, vec![variables.into(), old.into(), all]);
        let args = vec![variables.into(), areas.into(), factors.into(), count.clone()];
        run.line("cfd_step_factor", grid, GROUP, args);
        for stage in 1..=STAGES as i32 {
            let args = [neighbours, normals, variables, far, fluxes].map(Into::into);
            run.line("cfd_flux", grid, GROUP, args.into_iter().chain([count.clone()]).collect());
            let args = [old, variables, factors, fluxes].map(Into::into).into_iter();
            run.line("cfd_time_step", grid, GROUP, args.chain([stage.into(), count.clone()]).collect());
        }
    }
    run.want(variables, want, Within::Near { abs: 1e-4, rel: 1e-4 });
    run
}
