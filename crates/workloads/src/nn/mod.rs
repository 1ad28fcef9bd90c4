//! nn: distances of all records from a place, the nearest found by the host (Rodinia; THESIS Table 6.1).

use crate::data::to_f32;
use crate::{Data, Input, Run, Size, Within, Workload};

pub const WORKLOAD: Workload = Workload {
    name: "nn",
    about: "nearest neighbours: distances from a place, the host picks the nearest",
    page: include_str!("../../../../docs/workloads/nn.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: ["70 entries", "100 entries", "1000 entries", "10000 entries"],
    build,
};

const NEAREST: usize = 10;
const HERE: (f32, f32) = (30.0, 90.0);

/// Numbers of the nearest records, nearest first.
fn nearest(distances: &[f32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..distances.len() as u32).collect();
    order.sort_by(|&a, &b| distances[a as usize].total_cmp(&distances[b as usize]).then(a.cmp(&b)));
    order.truncate(NEAREST);
    order
}

fn build(size: Size, input: Input) -> Run {
    let n: usize = size.pick([70, 100, 1000, 10_000]);
    let mut noise = input.noise(6);
    // Tracks of storms: latitude 7 to 70, longitude 0 to 360, a tenth of a degree each.
    let places: Vec<f32> = (0..n)
        .flat_map(|_| [70 + noise.below(630), noise.below(3600)])
        .map(|tenths| tenths as f32 / 10.0)
        .collect();
    let distance = |p: &[f32]| {
        let (north, east) = (HERE.0 - p[0], HERE.1 - p[1]);
        (north * north + east * east).sqrt()
    };
    let want: Vec<f32> = places.chunks(2).map(distance).collect();
    let near = nearest(&want);
    let mut run = Run::new();
    let places = run.buffer("places", places);
    let distances = run.buffer("distances", vec![0.0f32; n]);
    let found = run.buffer("nearest", vec![0u32; NEAREST]);
    let args = vec![places.into(), distances.into(), (n as i32).into(), HERE.0.into(), HERE.1.into()];
    run.line("nn", n as u32, 256, args);
    run.host(move |memory| {
        let near = nearest(&to_f32(&memory.read(distances.0)?));
        memory.write(found.0, &Data::U32(near).bytes())
    });
    run.want(distances, want, Within::Near { abs: 0.0, rel: 1e-6 });
    run.want(found, near, Within::Exact);
    run
}
