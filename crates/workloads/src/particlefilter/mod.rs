//! particlefilter: an object followed through a noisy video by weighted guesses (Rodinia's float version; THESIS
//! Table 6.1).

use crate::data::to_f32;
use crate::{Arg, Data, Input, Noise, Run, Size, Within, Workload};

pub const WORKLOAD: Workload = Workload {
    name: "particlefilter",
    about: "follows an object through a noisy video with weighted random guesses",
    page: include_str!("../../../../docs/workloads/particlefilter.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: [
        "16x16 matrix, 2 frames, 150 particles",
        "16x16 matrix, 4 frames, 400 particles",
        "64x64 matrix, 10 frames, 1000 particles",
        "512x512 matrix, 10 frames, 4000 particles",
    ],
    build,
};

const BLOCK: u32 = 128;
const RADIUS: i32 = 3;
const OFFSET: f32 = 0.37;

/// Points of a disc around its centre.
fn disc() -> (Vec<i32>, Vec<i32>) {
    let side = 2 * RADIUS + 1;
    let all = (0..side * side).map(|i| (i % side - RADIUS, i / side - RADIUS));
    all.filter(|(x, y)| x * x + y * y <= RADIUS * RADIUS).unzip()
}

/// A bright disc that goes right and up on a dark ground, with noise.
fn frame(side: i32, number: i32, input: Input) -> Vec<u8> {
    let mut noise = input.noise(200 + number as u64);
    let (cx, cy) = (side / 2 + number, side / 2 - 2 * number);
    let light = |x: i32, y: i32| if (x - cx).pow(2) + (y - cy).pow(2) <= RADIUS * RADIUS { 228 } else { 100 };
    let pixel = |i: i32| light(i % side, i / side) + noise.below(17) as i32 - 8;
    (0..side * side).map(pixel).map(|v| v as u8).collect()
}

fn cumulative(weights: &[f32]) -> Vec<f32> {
    let mut sum = 0.0f32;
    let add = |w: &f32| {
        sum += w;
        sum
    };
    weights.iter().map(add).collect()
}

struct Filter {
    x: Vec<f32>,
    y: Vec<f32>,
    seeds: Vec<u32>,
}

impl Filter {
    fn uniform(seed: &mut u32) -> f32 {
        *seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12345);
        (*seed >> 8) as f32 / 16_777_216.0
    }

    /// One frame: the estimate of where the object is.
    fn step(&mut self, frame: &[u8], side: i32, disc: &(Vec<i32>, Vec<i32>)) -> [f32; 2] {
        let n = self.x.len();
        let mut weights = vec![1.0f32 / n as f32; n];
        for i in 0..n {
            let (a, b) = (Filter::uniform(&mut self.seeds[i]), Filter::uniform(&mut self.seeds[i]));
            self.x[i] = self.x[i] + 1.0 + 5.0 * (a - 0.5);
            self.y[i] = self.y[i] - 2.0 + 2.0 * (b - 0.5);
            let (px, py) = ((self.x[i] + 0.5) as i32, (self.y[i] + 0.5) as i32);
            let mut likelihood = 0.0f32;
            for (dx, dy) in disc.0.iter().zip(&disc.1) {
                let (x, y) = (px + dx, py + dy);
                let inside = (0..side).contains(&x) && (0..side).contains(&y);
                let light = if inside { f32::from(frame[(y * side + x) as usize]) } else { 0.0 };
                let (dark, bright) = (light - 100.0, light - 228.0);
                likelihood += (dark * dark - bright * bright) / 50.0;
            }
            weights[i] *= (likelihood / disc.0.len() as f32 / 100.0).exp();
        }
        let sum: f32 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= sum);
        let estimate = estimate(&self.x, &self.y, &weights);
        let cumulative = cumulative(&weights);
        let draw = |i: usize| {
            let share = (i as f32 + OFFSET) / n as f32;
            cumulative.iter().position(|&c| c >= share).unwrap_or(n - 1)
        };
        let drawn: Vec<usize> = (0..n).map(draw).collect();
        self.x = drawn.iter().map(|&k| self.x[k]).collect();
        self.y = drawn.iter().map(|&k| self.y[k]).collect();
        estimate
    }
}

fn estimate(x: &[f32], y: &[f32], weights: &[f32]) -> [f32; 2] {
    let mean = |v: &[f32]| v.iter().zip(weights).fold(0.0f32, |s, (v, w)| s + v * w);
    [mean(x), mean(y)]
}

fn build(size: Size, input: Input) -> Run {
    let side: i32 = size.pick([16, 16, 64, 512]);
    let frames: i32 = size.pick([2, 4, 10, 10]);
    let n: usize = size.pick([150, 400, 1000, 4000]);
    let disc = disc();
    let start = side as f32 / 2.0;
    let seeds = input.noise(19).many(n, Noise::u32);
    let mut filter = Filter { x: vec![start; n], y: vec![start; n], seeds: seeds.clone() };
    let want: Vec<f32> =
        (1..=frames).flat_map(|f| filter.step(&frame(side, f, input), side, &disc)).collect();
    let groups = (n as u32).div_ceil(BLOCK);
    let mut run = Run::new();
    let (x, y) = (run.buffer("x", vec![start; n]), run.buffer("y", vec![start; n]));
    let (old_x, old_y) = (run.buffer("old_x", vec![start; n]), run.buffer("old_y", vec![start; n]));
    let weights = run.buffer("weights", vec![1.0f32 / n as f32; n]);
    let picture = run.buffer("frame", vec![0u8; (side * side) as usize]);
    let points = disc.0.len() as i32;
    let (dx, dy) = (run.buffer("dx", disc.0), run.buffer("dy", disc.1));
    let seeds = run.buffer("seeds", seeds);
    let sums = run.buffer("sums", vec![0.0f32; groups as usize]);
    let shares = run.buffer("cumulative", vec![0.0f32; n]);
    let track = run.buffer("track", vec![0.0f32; 2 * frames as usize]);
    let count: Arg = (n as i32).into();
    for number in 1..=frames {
        run.host(move |memory| memory.write(picture.0, &frame(side, number, input)));
        let buffers = [x, y, old_x, old_y, weights, picture, dx, dy, seeds, sums].map(Into::into).into_iter();
        let numbers = [count.clone(), points.into(), side.into(), side.into()];
        run.line("particle_likelihood", n as u32, BLOCK, buffers.chain(numbers).collect());
        run.line("particle_sum", 64, 64, vec![sums.into(), groups.into()]);
        run.line("particle_normalise", n as u32, BLOCK, vec![weights.into(), sums.into(), count.clone()]);
        run.host(move |memory| {
            let w = to_f32(&memory.read(weights.0)?);
            let at = [to_f32(&memory.read(x.0)?), to_f32(&memory.read(y.0)?)];
            let mut found = to_f32(&memory.read(track.0)?);
            let k = 2 * (number as usize - 1);
            found[k..k + 2].copy_from_slice(&estimate(&at[0], &at[1], &w));
            memory.write(track.0, &Data::F32(found).bytes())?;
            memory.write(shares.0, &Data::F32(cumulative(&w)).bytes())
        });
        let buffers = [old_x, old_y, x, y, shares, weights].map(Into::into).into_iter();
        run.line("particle_find", n as u32, BLOCK, buffers.chain([OFFSET.into(), count.clone()]).collect());
    }
    // Sums of weights differ in their last bits, and with many particles one is drawn differently now and then.
    let abs = size.pick([0.01, 0.1, 0.5, 0.5]);
    run.want(track, want, Within::Near { abs, rel: 1e-3 });
    run
}
