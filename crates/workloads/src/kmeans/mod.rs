//! kmeans: nearest centre of every point on the device, new centres on the host, until nothing changes (Rodinia;
//! THESIS Table 6.1).

use crate::data::{to_f32, to_i32};
use crate::{Data, Input, Run, Size, Within, Workload};

pub const WORKLOAD: Workload = Workload {
    name: "kmeans",
    about: "k-means clustering: nearest centres on the device, new centres on the host",
    page: include_str!("../../../../docs/workloads/kmeans.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: ["100 points", "100 points", "1000 points", "10000 points"],
    build,
};

const CLUSTERS: usize = 5;
const ROUNDS: u32 = 500;

/// Means of the points of each cluster; a cluster without points keeps its centre.
fn centres(points: &[f32], member: &[i32], old: &[f32], dimensions: usize) -> Vec<f32> {
    let mut sums = vec![0.0f32; CLUSTERS * dimensions];
    let mut counts = [0u32; CLUSTERS];
    for (point, &c) in points.chunks(dimensions).zip(member) {
        counts[c as usize] += 1;
        for (d, x) in point.iter().enumerate() {
            sums[c as usize * dimensions + d] += x;
        }
    }
    let mean = |i: usize| match counts[i / dimensions] {
        0 => old[i],
        n => sums[i] / n as f32,
    };
    (0..sums.len()).map(mean).collect()
}

fn nearest(point: &[f32], centres: &[f32]) -> i32 {
    let (mut least, mut index) = (f32::MAX, 0);
    for (c, centre) in centres.chunks(point.len()).enumerate() {
        let distance = point.iter().zip(centre).fold(0.0f32, |s, (a, b)| s + (a - b) * (a - b));
        if distance < least {
            (least, index) = (distance, c as i32);
        }
    }
    index
}

fn reference(points: &[f32], start: &[f32], dimensions: usize) -> (Vec<i32>, Vec<f32>) {
    let mut now = start.to_vec();
    let mut member = vec![-1; points.len() / dimensions];
    for _ in 0..ROUNDS {
        let next: Vec<i32> = points.chunks(dimensions).map(|p| nearest(p, &now)).collect();
        let done = next == member;
        member = next;
        now = centres(points, &member, &now, dimensions);
        if done {
            break;
        }
    }
    (member, now)
}

fn build(size: Size, input: Input) -> Run {
    let count: usize = size.pick([100, 100, 1000, 10_000]);
    let dimensions: usize = size.pick([4, 34, 34, 34]);
    let mut noise = input.noise(7);
    let means = noise.many(CLUSTERS * dimensions, |n| n.between(0.0, 10.0));
    let mut points = Vec::new();
    for _ in 0..count {
        let c = noise.below(CLUSTERS as u32) as usize;
        for d in 0..dimensions {
            points.push(means[c * dimensions + d] + noise.between(-3.0, 3.0));
        }
    }
    // The first points are the first centres.
    let start = points[..CLUSTERS * dimensions].to_vec();
    let (members, want) = reference(&points, &start, dimensions);
    let mut run = Run::new();
    let given = run.buffer("points", points.clone());
    let features = run.buffer("features", vec![0.0f32; count * dimensions]);
    let centre = run.buffer("centres", start);
    let member = run.buffer("member", vec![-1i32; count]);
    let before = run.buffer("before", vec![-1i32; count]);
    let changed = run.buffer("changed", vec![0i32]);
    let (n, d) = (count as i32, dimensions as i32);
    run.line("kmeans_swap", count as u32, 256, vec![given.into(), features.into(), n.into(), d.into()]);
    run.repeat_while(changed, ROUNDS, |run| {
        let buffers = [features, centre, member].map(Into::into);
        let numbers = [n, CLUSTERS as i32, d].map(Into::into);
        run.line("kmeans_nearest", count as u32, 256, buffers.into_iter().chain(numbers).collect());
        run.host(move |memory| {
            let now = memory.read(member.0)?;
            let more = memory.read(before.0)? != now;
            let old = to_f32(&memory.read(centre.0)?);
            let next = centres(&points, &to_i32(&now), &old, dimensions);
            memory.write(centre.0, &Data::F32(next).bytes())?;
            memory.write(before.0, &now)?;
            memory.write(changed.0, &i32::from(more).to_le_bytes())
        });
    });
    run.want(member, members, Within::Exact);
    run.want(centre, want, Within::Near { abs: 0.0, rel: 1e-6 });
    run
}
