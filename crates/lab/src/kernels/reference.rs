//! What the kernels of fixtures/vortex compute, in Rust, operation for operation: results must agree bit for bit.

// The constants are written as in the C sources.
#![allow(clippy::excessive_precision, clippy::approx_constant)]

use super::inputs::Inputs;

/// RISC-V has one NaN as a result; the host may have others.
fn floats(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    let bits = |v: f32| if v.is_nan() { 0x7fc0_0000 } else { v.to_bits() };
    values.into_iter().flat_map(|v| bits(v).to_le_bytes()).collect()
}

fn words(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

type Expected = Vec<(usize, Vec<u8>)>;

pub fn sgemm(i: &Inputs) -> Expected {
    let (tasks, log, k) = (i.number::<usize>(0), i.number::<usize>(1), i.number::<usize>(2));
    let pitch = i.number::<usize>(3);
    let (a, b) = (i.floats(4), i.floats(5));
    let columns = 1 << log;
    let c = (0..tasks).map(|id| {
        let (row, column) = (id >> log, id & (columns - 1));
        (0..k).fold(0.0f32, |sum, n| a[row * pitch + n].mul_add(b[n * columns + column], sum))
    });
    vec![(6, floats(c))]
}

pub fn psort(i: &Inputs) -> Expected {
    let mut values = i.floats(1);
    // A stable sort: equal elements keep their order, and -0 equals +0.
    values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    vec![(2, floats(values))]
}

pub fn kmeans(i: &Inputs) -> Expected {
    let (tasks, clusters, features) = (i.number::<usize>(0), i.number::<usize>(1), i.number::<usize>(2));
    let (points, centres) = (i.floats(3), i.floats(4));
    let nearest = (0..tasks).map(|id| {
        let mut best = (3.4e38f32, 0);
        for c in 0..clusters {
            let distance = (0..features).fold(0.0f32, |sum, f| {
                let d = points[f * tasks + id] - centres[c * features + f];
                d.mul_add(d, sum)
            });
            if distance < best.0 {
                best = (distance, c as u32);
            }
        }
        best.1
    });
    vec![(5, words(nearest))]
}

pub fn hotspot(i: &Inputs) -> Expected {
    let (tasks, log, rows) = (i.number::<usize>(0), i.number::<usize>(1), i.number::<usize>(2));
    let [step, rx, ry, rz, ambient] = [3, 4, 5, 6, 7].map(|n| i.number::<f32>(n));
    let (t, power) = (i.floats(8), i.floats(9));
    let width = 1usize << log;
    let height = (tasks >> log) * rows;
    let cell = |x: usize, y: usize| {
        let at = |x: usize, y: usize| t[y * width + x];
        let here = at(x, y);
        let twice = here + here;
        let dy = at(x, (y + 1).min(height - 1)) + at(x, y.saturating_sub(1)) - twice;
        let dx = at((x + 1).min(width - 1), y) + at(x.saturating_sub(1), y) - twice;
        let change = power[y * width + x] + dy * ry + dx * rx + (ambient - here) * rz;
        here + step * change
    };
    let out = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| cell(x, y));
    vec![(10, floats(out))]
}

pub fn hotspot3d(i: &Inputs) -> Expected {
    let (tasks, log, layers) = (i.number::<usize>(0), i.number::<usize>(1), i.number::<usize>(2));
    let [centre, west_east, north_south, top_bottom, step, ambient] =
        [3, 4, 5, 6, 7, 8].map(|n| i.number::<f32>(n));
    let (t, power) = (i.floats(9), i.floats(10));
    let width = 1usize << log;
    let height = tasks >> log;
    let mut out = vec![0.0f32; tasks * layers];
    for z in 0..layers {
        let at = |x: usize, y: usize, z: usize| t[z * tasks + y * width + x];
        for y in 0..height {
            for x in 0..width {
                let (west, east) = (at(x.saturating_sub(1), y, z), at((x + 1).min(width - 1), y, z));
                let (north, south) = (at(x, y.saturating_sub(1), z), at(x, (y + 1).min(height - 1), z));
                let (below, above) = (at(x, y, z.saturating_sub(1)), at(x, y, (z + 1).min(layers - 1)));
                let sum = at(x, y, z) * centre + (west + east) * west_east;
                let sum = sum + (north + south) * north_south + (below + above) * top_bottom;
                let n = z * tasks + y * width + x;
                out[n] = sum + step * power[n] + ambient;
            }
        }
    }
    vec![(11, floats(out))]
}

fn exponential(x: f32) -> f32 {
    let n = (x * 1.442_695_04_f32).round_ties_even();
    let r = n.mul_add(-0.693_145_752_f32, x);
    let r = n.mul_add(-1.428_606_77e-6_f32, r);
    let terms = [8.333_333_33e-3_f32, 4.166_666_67e-2, 1.666_666_67e-1, 0.5, 1.0, 1.0];
    let p = terms.into_iter().fold(1.388_888_89e-3_f32, |p, term| p.mul_add(r, term));
    f32::from_bits(p.to_bits().wrapping_add((n as i32 as u32) << 23))
}

fn logarithm(x: f32) -> f32 {
    let bits = x.to_bits();
    let e = (bits.wrapping_sub(0x3f2a_aaab) as i32) >> 23;
    let m = f32::from_bits(bits.wrapping_sub((e as u32) << 23));
    let s = (m - 1.0) / (m + 1.0);
    let q = s * s;
    let terms = [0.142_857_143_f32, 0.2, 0.333_333_333, 1.0];
    let p = terms.into_iter().fold(0.111_111_111_f32, |p, term| p.mul_add(q, term));
    (e as f32).mul_add(0.693_147_181_f32, (s + s) * p)
}

fn normal(d: f32) -> f32 {
    let k = 1.0 / 0.231_641_9_f32.mul_add(d.abs(), 1.0);
    let terms = [-1.821_255_978_f32, 1.781_477_937, -0.356_563_782, 0.319_381_530];
    let p = terms.into_iter().fold(1.330_274_429_f32, |p, term| p.mul_add(k, term));
    let tail = 0.398_942_28_f32 * exponential(-0.5 * d * d) * (p * k);
    if d > 0.0 { 1.0 - tail } else { tail }
}

pub fn blackscholes(i: &Inputs) -> Expected {
    let (rate, volatility) = (i.number::<f32>(2), i.number::<f32>(3));
    let (price, strike, years) = (i.floats(4), i.floats(5), i.floats(6));
    let drift = (0.5 * volatility).mul_add(volatility, rate);
    let one = |n: usize| {
        let (s, x, t) = (price[n], strike[n], years[n]);
        let spread = volatility * t.sqrt();
        let d1 = drift.mul_add(t, logarithm(s / x)) / spread;
        let (n1, n2) = (normal(d1), normal(d1 - spread));
        let discounted = x * exponential(-rate * t);
        let call = s * n1 - discounted * n2;
        (call, call + discounted - s)
    };
    let (call, put): (Vec<f32>, Vec<f32>) = (0..price.len()).map(one).unzip();
    vec![(7, floats(call)), (8, floats(put))]
}

fn rounds(mut n: u32) -> u32 {
    let mut count = 0;
    while n != 1 && count != 255 {
        n = if n & 1 == 1 { 3 * n + 1 } else { n >> 1 };
        count += 1;
    }
    count
}

pub fn diverge(i: &Inputs) -> Expected {
    let one = |(id, n): (usize, u32)| {
        let result = match n {
            n if n > 100 && n & 1 == 1 => n * 7,
            n if n > 100 => n / 3,
            n => rounds(n + 1),
        };
        if id % 3 == 0 { result ^ 0x5555 } else { result }
    };
    vec![(2, words(i.words(1).into_iter().enumerate().map(one)))]
}

pub fn reduce(i: &Inputs) -> Expected {
    let values = i.words(1);
    let sum = values.iter().fold(0u32, |s, v| s.wrapping_add(*v));
    let odd = values.iter().filter(|v| **v & 1 == 1).count() as u32;
    vec![(2, words([sum, odd]))]
}

fn mix(mut a: u32, rounds: u32) -> u32 {
    for _ in 0..rounds {
        a = match a & 3 {
            1 | 3 => a.wrapping_mul(5).wrapping_add(3),
            2 => (a >> 2) ^ 0x9e37,
            _ => a.wrapping_add(7),
        };
    }
    a
}

pub fn branchy(i: &Inputs) -> Expected {
    let tasks = i.number::<usize>(0);
    let one = |(id, n): (usize, u32)| {
        if id >= tasks {
            return 0;
        }
        let id = id as u32;
        match n % 5 {
            0 => mix(n, id % 7),
            1 => {
                let live = (0..40u32).take_while(|k| n >> (k & 15) & 3 != 3);
                live.fold(0u32, |r, k| r.wrapping_add(k.wrapping_mul(n)))
            }
            2 => mix(n + 1, 3).wrapping_sub(mix(n, 2)),
            _ if n > 500 => n - 500,
            _ => id,
        }
    };
    vec![(2, words(i.words(1).into_iter().enumerate().map(one)))]
}
