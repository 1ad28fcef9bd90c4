//! heartwall: points of a heart's wall followed through frames by template matching, a group each (Rodinia; THESIS
//! Table 6.1).

use crate::{Data, Input, Run, Size, Within, Workload};

pub const WORKLOAD: Workload = Workload {
    name: "heartwall",
    about: "follows points of a heart's wall through ultrasound frames by template matching",
    page: include_str!("../../../../docs/workloads/heartwall.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: ["3 points, 1 frame", "51 points, 1 frame", "51 points, 10 frames", "51 points, 100 frames"],
    build,
};

const T: i32 = 13;
const R: i32 = 6;
const GROUP: u32 = 256;

/// A movie: a ring of texture that beats, with noise.
struct Movie {
    width: i32,
    height: i32,
    texture: Vec<f32>,
    input: Input,
}

impl Movie {
    fn new(width: i32, height: i32, input: Input) -> Movie {
        let texture = input.noise(14).many((width * height) as usize, |n| n.between(0.0, 1.0));
        Movie { width, height, texture, input }
    }

    /// How far the wall has moved in a frame.
    fn shift(number: usize) -> (i32, i32) {
        let phase = number as f32 * 0.7;
        ((3.0 * phase.sin()).round() as i32, (3.0 * (1.3 * phase).sin()).round() as i32)
    }

    fn frame(&self, number: usize) -> Vec<f32> {
        let (dx, dy) = Movie::shift(number);
        let mut noise = self.input.noise(100 + number as u64);
        let mut out = Vec::new();
        for y in 0..self.height {
            for x in 0..self.width {
                let (sx, sy) = ((x - dx).clamp(0, self.width - 1), (y - dy).clamp(0, self.height - 1));
                let speckle = noise.between(-0.05, 0.05);
                out.push(10.0 + 100.0 * (self.texture[(sy * self.width + sx) as usize] + speckle));
            }
        }
        out
    }
}

/// Points on an ellipse.
fn points(count: usize, width: i32, height: i32) -> Vec<i32> {
    let at = |i: usize| {
        let angle = i as f32 / count as f32 * std::f32::consts::TAU;
        let x = width as f32 * (0.5 + 0.25 * angle.cos());
        let y = height as f32 * (0.5 + 0.25 * angle.sin());
        [x as i32, y as i32]
    };
    (0..count).flat_map(at).collect()
}

/// Where a point goes: the place whose part of the frame correlates best with the template.
fn track(frame: &[f32], width: i32, height: i32, template: &[f32], (px, py): (i32, i32)) -> (i32, i32) {
    let at = |x: i32, y: i32| {
        if (0..width).contains(&x) && (0..height).contains(&y) {
            f64::from(frame[(y * width + x) as usize])
        } else {
            0.0
        }
    };
    let n = f64::from(T * T);
    let mean = template.iter().map(|&v| f64::from(v)).sum::<f64>() / n;
    let (mut best, mut place) = (f64::MIN, (px, py));
    for dy in -R..=R {
        for dx in -R..=R {
            let (mut product, mut sum, mut square) = (0.0, 0.0, 0.0);
            for (i, &part) in template.iter().enumerate() {
                let (kx, ky) = (i as i32 % T - T / 2, i as i32 / T - T / 2);
                let v = at(px + dx + kx, py + dy + ky);
                product += v * (f64::from(part) - mean);
                sum += v;
                square += v * v;
            }
            let deviation = (square - sum * sum / n).max(0.0).sqrt();
            let score = if deviation > 0.0 { product / deviation } else { 0.0 };
            if score > best {
                (best, place) = (score, (px + dx, py + dy));
            }
        }
    }
    place
}

fn reference(movie: &Movie, frames: usize, places: &[i32]) -> Vec<i32> {
    let (width, height) = (movie.width, movie.height);
    let first = movie.frame(0);
    let mut places: Vec<(i32, i32)> = places.chunks(2).map(|p| (p[0], p[1])).collect();
    let cut = |frame: &[f32], (px, py): (i32, i32)| -> Vec<f32> {
        let at = |i: i32| frame[((py + i / T - T / 2) * width + px + i % T - T / 2) as usize];
        (0..T * T).map(at).collect()
    };
    let mut templates: Vec<Vec<f32>> = places.iter().map(|&p| cut(&first, p)).collect();
    for number in 1..=frames {
        let frame = movie.frame(number);
        for (place, template) in places.iter_mut().zip(&mut templates) {
            *place = track(&frame, width, height, template, *place);
            for (old, new) in template.iter_mut().zip(cut(&frame, *place)) {
                *old = 0.95 * *old + 0.05 * new;
            }
        }
    }
    places.into_iter().flat_map(|(x, y)| [x, y]).collect()
}

fn build(size: Size, input: Input) -> Run {
    let count: usize = size.pick([3, 51, 51, 51]);
    let frames: usize = size.pick([1, 1, 10, 100]);
    let (width, height) = size.pick([(80, 70), (160, 150), (160, 150), (160, 150)]);
    let movie = Movie::new(width, height, input);
    let start = points(count, width, height);
    let want = reference(&movie, frames, &start);
    let mut run = Run::new();
    let frame = run.buffer("frame", vec![0.0f32; (width * height) as usize]);
    let templates = run.buffer("templates", vec![0.0f32; count * (T * T) as usize]);
    let places = run.buffer("places", start);
    let movie = std::rc::Rc::new(movie);
    for number in 0..=frames {
        let movie = movie.clone();
        run.host(move |memory| memory.write(frame.0, &Data::F32(movie.frame(number)).bytes()));
        let buffers = [frame, templates, places].map(Into::into);
        let numbers = [width, height, number as i32].map(Into::into);
        run.line(
            "heartwall_track",
            count as u32 * GROUP,
            GROUP,
            buffers.into_iter().chain(numbers).collect(),
        );
    }
    run.want(places, want, Within::Exact);
    run
}
