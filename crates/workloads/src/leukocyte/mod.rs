//! leukocyte: finds white blood cells by the score of circles and follows them by a vector field (Rodinia; did not
//! compile for THESIS).

use crate::data::to_f32;
use crate::{Data, Input, Noise, Run, Size, Within, Workload};

pub const WORKLOAD: Workload = Workload {
    name: "leukocyte",
    about: "finds white blood cells in a video frame and follows their outlines",
    page: include_str!("../../../../docs/workloads/leukocyte.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: [
        "26x24 frame, 2 cells",
        "64x48 frame, 4 cells",
        "128x96 frame, 12 cells",
        "640x219 frame, 36 cells",
    ],
    build,
};

const CIRCLES: usize = 3;
const POINTS: usize = 20;
const MARGIN: usize = 8;
const SIDE: usize = 16;
const RADIUS: usize = 3;
const CUTOFF: f32 = 0.002;

struct Frame {
    width: usize,
    height: usize,
    pixels: Vec<f32>,
}

/// Bright discs on a dark ground, with noise; and where they are.
fn frame(width: usize, height: usize, cells: usize, input: Input) -> (Frame, Vec<(usize, usize)>) {
    let mut noise = input.noise(17);
    let place = |n: &mut Noise| {
        let x = MARGIN as u32 + n.below((width - 2 * MARGIN) as u32);
        let y = MARGIN as u32 + n.below((height - 2 * MARGIN) as u32);
        (x as usize, y as usize)
    };
    let centres = noise.many(cells, place);
    let mut pixels = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let near = |&(cx, cy): &(usize, usize)| cx.abs_diff(x).pow(2) + cy.abs_diff(y).pow(2) < 25;
            let base = if centres.iter().any(near) { 0.8 } else { 0.2 };
            pixels.push(base + noise.between(-0.05, 0.05));
        }
    }
    (Frame { width, height, pixels }, centres)
}

fn gradients(f: &Frame) -> (Vec<f32>, Vec<f32>) {
    let at = |x: usize, y: usize| f.pixels[y.min(f.height - 1) * f.width + x.min(f.width - 1)];
    let places = || (0..f.height).flat_map(|y| (0..f.width).map(move |x| (x, y)));
    let dx = places().map(|(x, y)| 0.5 * (at(x + 1, y) - at(x.saturating_sub(1), y))).collect();
    let dy = places().map(|(x, y)| 0.5 * (at(x, y + 1) - at(x, y.saturating_sub(1)))).collect();
    (dx, dy)
}

/// Sines and cosines of the points of a circle, and how far they lie from its centre for each radius.
struct Circles {
    sines: Vec<f32>,
    cosines: Vec<f32>,
    dx: Vec<i32>,
    dy: Vec<i32>,
}

fn circles() -> Circles {
    let angle = |n: usize| n as f32 / POINTS as f32 * std::f32::consts::TAU;
    let offset = |f: fn(f32) -> f32| {
        let of = |c: usize, n: usize| ((4 + c) as f32 * f(angle(n))).round() as i32;
        (0..CIRCLES).flat_map(|c| (0..POINTS).map(move |n| of(c, n))).collect()
    };
    Circles {
        sines: (0..POINTS).map(|n| angle(n).sin()).collect(),
        cosines: (0..POINTS).map(|n| angle(n).cos()).collect(),
        dx: offset(f32::cos),
        dy: offset(f32::sin),
    }
}

fn scores(f: &Frame, gx: &[f32], gy: &[f32], c: &Circles) -> Vec<f32> {
    let mut out = vec![0.0f32; f.pixels.len()];
    for y in MARGIN..f.height - MARGIN {
        for x in MARGIN..f.width - MARGIN {
            let mut best = 0.0f32;
            for circle in 0..CIRCLES {
                let gradient = |n: usize| {
                    let k = circle * POINTS + n;
                    let at = (y as i32 + c.dy[k]) as usize * f.width + (x as i32 + c.dx[k]) as usize;
                    gx[at] * c.cosines[n] + gy[at] * c.sines[n]
                };
                let mean = (0..POINTS).fold(0.0f32, |s, n| s + gradient(n)) / POINTS as f32;
                let variance = (0..POINTS).fold(0.0f32, |s, n| s + (gradient(n) - mean).powi(2));
                best = best.max(mean * mean / (variance / (POINTS - 1) as f32));
            }
            out[y * f.width + x] = best;
        }
    }
    out
}

fn disc() -> Vec<u8> {
    let side = 2 * RADIUS + 1;
    let inside =
        |i: usize| (i % side).abs_diff(RADIUS).pow(2) + (i / side).abs_diff(RADIUS).pow(2) <= RADIUS * RADIUS;
    (0..side * side).map(|i| u8::from(inside(i))).collect()
}

fn dilate(f: &Frame, score: &[f32]) -> Vec<f32> {
    let (disc, side) = (disc(), 2 * RADIUS + 1);
    let most = |x: usize, y: usize| {
        let within = |k: &usize| disc[*k] == 1;
        let place = |k: usize| ((x + k % side).checked_sub(RADIUS), (y + k / side).checked_sub(RADIUS));
        (0..side * side).filter(within).map(place).fold(0.0f32, |most, place| match place {
            (Some(x), Some(y)) if x < f.width && y < f.height => most.max(score[y * f.width + x]),
            _ => most,
        })
    };
    (0..f.pixels.len()).map(|i| most(i % f.width, i / f.width)).collect()
}

/// What a cell's field becomes, and the rounds that took.
fn settle(image: &[f32], rounds: u32) -> (Vec<f32>, i32) {
    let heaviside = |x: f32| 0.5 + std::f32::consts::FRAC_1_PI * (10.0 * x).atan();
    let mut field = image.to_vec();
    for round in 0..rounds {
        let fresh: Vec<f32> = (0..SIDE * SIDE)
            .map(|t| {
                let (x, y, old) = (t % SIDE, t / SIDE, field[t]);
                let (ys, xs) = (
                    [y.saturating_sub(1), y, (y + 1).min(SIDE - 1)],
                    [x.saturating_sub(1), x, (x + 1).min(SIDE - 1)],
                );
                let around = (0..9).filter(|k| *k != 4).map(|k| field[ys[k / 3] * SIDE + xs[k % 3]] - old);
                let change = around.fold(0.0f32, |s, apart| s + heaviside(apart) * apart);
                old + 0.2 * 0.25 * change - 0.2 * image[t] * (old - image[t])
            })
            .collect();
        let moved: f32 = fresh.iter().zip(&field).map(|(a, b)| (a - b).abs()).sum();
        field = fresh;
        if moved / ((SIDE * SIDE) as f32) < CUTOFF {
            return (field, round as i32 + 1);
        }
    }
    (field, rounds as i32)
}

/// The part of the frame around a cell.
fn area(f: &Frame, (cx, cy): (usize, usize)) -> Vec<f32> {
    let at = |i: usize| {
        let (x, y) = ((cx + i % SIDE).saturating_sub(SIDE / 2), (cy + i / SIDE).saturating_sub(SIDE / 2));
        f.pixels[y.min(f.height - 1) * f.width + x.min(f.width - 1)]
    };
    (0..SIDE * SIDE).map(at).collect()
}

fn build(size: Size, input: Input) -> Run {
    let (width, height, cells) = size.pick([(26, 24, 2), (64, 48, 4), (128, 96, 12), (640, 219, 36)]);
    let rounds: u32 = size.pick([4, 40, 100, 100]);
    let (frame, centres) = frame(width, height, cells, input);
    let (gx, gy) = gradients(&frame);
    let circles = circles();
    let score_want = scores(&frame, &gx, &gy, &circles);
    let dilated_want = dilate(&frame, &score_want);
    let images: Vec<f32> = centres.iter().flat_map(|&c| area(&frame, c)).collect();
    let settled: Vec<(Vec<f32>, i32)> = images.chunks(SIDE * SIDE).map(|i| settle(i, rounds)).collect();
    let n = width * height;
    let mut run = Run::new();
    let gx = run.buffer("grad_x", gx);
    let gy = run.buffer("grad_y", gy);
    let sines = run.buffer("sines", circles.sines);
    let cosines = run.buffer("cosines", circles.cosines);
    let (dx, dy) = (run.buffer("dx", circles.dx), run.buffer("dy", circles.dy));
    let score = run.buffer("score", vec![0.0f32; n]);
    let disc = run.buffer("disc", disc());
    let dilated = run.buffer("dilated", vec![0.0f32; n]);
    let found = run.buffer("maxima", vec![0u8; n]);
    let images = run.buffer("images", images);
    let fields = run.buffer("fields", vec![0.0f32; cells * SIDE * SIDE]);
    let used = run.buffer("used", vec![0i32; cells]);
    let (w, h) = (width as i32, height as i32);
    let inner = (width - 2 * MARGIN) * (height - 2 * MARGIN);
    let buffers = [gx, gy, sines, cosines, dx, dy, score].map(Into::into).into_iter();
    run.line("leukocyte_gicov", inner as u32, 128, buffers.chain([w.into(), h.into()]).collect());
    let buffers = [score, disc, dilated].map(Into::into).into_iter();
    let args = buffers.chain([w.into(), h.into(), (RADIUS as i32).into()]).collect();
    run.line("leukocyte_dilate", n as u32, 128, args);
    // Where the score is its own maximum there may be a cell.
    run.host(move |memory| {
        let (score, dilated) = (to_f32(&memory.read(score.0)?), to_f32(&memory.read(dilated.0)?));
        let maxima = score.iter().zip(&dilated).map(|(s, d)| u8::from(*s > 0.0 && s == d)).collect();
        memory.write(found.0, &Data::U8(maxima).bytes())
    });
    let args = vec![images.into(), fields.into(), rounds.into(), CUTOFF.into(), used.into()];
    run.line("leukocyte_field", (cells * SIDE * SIDE) as u32, (SIDE * SIDE) as u32, args);
    let maxima: Vec<u8> =
        score_want.iter().zip(&dilated_want).map(|(s, d)| u8::from(*s > 0.0 && s == d)).collect();
    let near = Within::Near { abs: 1e-4, rel: 1e-3 };
    run.want(score, score_want, near);
    run.want(dilated, dilated_want, near);
    run.want(found, maxima, Within::Exact);
    run.want(fields, settled.iter().flat_map(|s| s.0.clone()).collect::<Vec<_>>(), near);
    run.want(used, settled.iter().map(|s| s.1).collect::<Vec<_>>(), Within::Exact);
    run.limit(
        "leukocyte_field",
        "rounds",
        u64::from(rounds) - 1,
        "the host passes the number of rounds; tested at the loop's end",
    );
    run
}
