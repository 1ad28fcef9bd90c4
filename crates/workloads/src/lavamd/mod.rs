//! lavaMD: potential and forces of particles from their own and the neighbouring boxes (Rodinia; not run by THESIS).

use crate::{Input, Noise, Run, Size, Within, Workload};

pub const WORKLOAD: Workload = Workload {
    name: "lavaMD",
    about: "forces between particles within a cut-off, box by box",
    page: include_str!("../../../../docs/workloads/lavamd.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: ["2x1x1 boxes of 20 particles", "2x2x2 boxes of 100", "4x4x4 boxes of 100", "8x8x8 boxes of 100"],
    build,
};

const ALPHA: f32 = 0.5;
const GROUP: u32 = 128;

/// Numbers of the boxes around each box, its own first.
fn neighbours(sides: [i32; 3]) -> Vec<Vec<i32>> {
    let number = |x: i32, y: i32, z: i32| (z * sides[1] + y) * sides[0] + x;
    let mut lists = Vec::new();
    for z in 0..sides[2] {
        for y in 0..sides[1] {
            for x in 0..sides[0] {
                let own = number(x, y, z);
                let mut list = vec![own];
                for (dz, dy, dx) in (0..27).map(|i| (i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1)) {
                    let (x, y, z) = (x + dx, y + dy, z + dz);
                    let inside = [(x, sides[0]), (y, sides[1]), (z, sides[2])];
                    if inside.iter().all(|&(c, n)| c >= 0 && c < n) && number(x, y, z) != own {
                        list.push(number(x, y, z));
                    }
                }
                lists.push(list);
            }
        }
    }
    lists
}

fn reference(lists: &[Vec<i32>], places: &[f32], charges: &[f32], per_box: usize) -> Vec<f32> {
    let a2 = 2.0 * ALPHA * ALPHA;
    let mut forces = vec![0.0f32; places.len()];
    for (b, list) in lists.iter().enumerate() {
        for &other in list {
            for i in b * per_box..(b + 1) * per_box {
                let p = &places[4 * i..4 * i + 4];
                for j in other as usize * per_box..(other as usize + 1) * per_box {
                    let q = &places[4 * j..4 * j + 4];
                    let r2 = p[3] + q[3] - (p[0] * q[0] + p[1] * q[1] + p[2] * q[2]);
                    let v = (-a2 * r2).exp();
                    for axis in 0..3 {
                        forces[4 * i + axis] += charges[j] * (2.0 * v * (p[axis] - q[axis]));
                    }
                    forces[4 * i + 3] += charges[j] * v;
                }
            }
        }
    }
    forces
}

fn build(size: Size, input: Input) -> Run {
    let sides = size.pick([[2, 1, 1], [2, 2, 2], [4, 4, 4], [8, 8, 8]]);
    let per_box: usize = size.pick([20, 100, 100, 100]);
    let lists = neighbours(sides);
    let boxes = lists.len();
    let mut noise = input.noise(16);
    // Coordinates of a tenth, as in the original; v is large enough that r2 is positive.
    let tenth = |noise: &mut Noise| (1 + noise.below(10)) as f32 / 10.0;
    let places: Vec<f32> = noise.many(4 * boxes * per_box, tenth);
    let charges: Vec<f32> = noise.many(boxes * per_box, tenth);
    let want = reference(&lists, &places, &charges, per_box);
    let mut flat = vec![0i32; 27 * boxes];
    for (b, list) in lists.iter().enumerate() {
        flat[27 * b..27 * b + list.len()].copy_from_slice(list);
    }
    let counts: Vec<i32> = lists.iter().map(|l| l.len() as i32).collect();
    let most = counts.iter().copied().max().unwrap_or(1) as u64;
    let mut run = Run::new();
    let counts = run.buffer("counts", counts);
    let flat = run.buffer("neighbours", flat);
    let places = run.buffer("places", places);
    let charges = run.buffer("charges", charges);
    let forces = run.buffer("forces", vec![0.0f32; 4 * boxes * per_box]);
    let buffers = [counts, flat, places, charges, forces].map(Into::into).into_iter();
    let args = buffers.chain([(per_box as i32).into(), ALPHA.into()]).collect();
    run.line("lavamd", boxes as u32 * GROUP, GROUP, args);
    run.want(forces, want, Within::Near { abs: 1e-3, rel: 1e-4 });
    let why = format!("a box has at most {most} neighbours, itself included; the loop is tested at its end");
    run.limit("lavamd", "boxes", most - 1, why);
    run
}
