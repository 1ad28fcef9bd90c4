//! srad: speckle-reducing anisotropic diffusion, sums by reduction kernels in every round (Rodinia's srad_v1; THESIS
//! Table 6.1).

use crate::data::to_f32;
use crate::{Data, Input, Run, Size, Within, Workload};

pub const WORKLOAD: Workload = Workload {
    name: "srad",
    about: "speckle-reducing anisotropic diffusion of an image",
    page: include_str!("../../../../docs/workloads/srad.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: [
        "17x17 image, 2 rounds",
        "10x10 image, 10 rounds",
        "50x50 image, 10 rounds",
        "100x100 image, 10 rounds",
    ],
    build,
};

const BLOCK: usize = 256;
const LAMBDA: f32 = 0.5;

/// Variance over squared mean, from the sums of values and squares.
fn speckle(sum: f32, squares: f32, n: usize) -> f32 {
    let mean = sum / n as f32;
    let variance = squares / n as f32 - mean * mean;
    variance / (mean * mean)
}

fn reference(image: &[f32], side: usize, rounds: usize) -> Vec<f32> {
    let n = side * side;
    let mut image: Vec<f32> = image.iter().map(|x| (x / 255.0).exp()).collect();
    for _ in 0..rounds {
        let q0 = speckle(image.iter().sum(), image.iter().map(|x| x * x).sum(), n);
        let (mut change, mut coefficient) = (Vec::new(), Vec::new());
        for i in 0..n {
            let (y, x, here) = (i / side, i % side, image[i]);
            let at = |y: usize, x: usize| image[y * side + x] - here;
            let (north, south) = (at(y.saturating_sub(1), x), at((y + 1).min(side - 1), x));
            let (west, east) = (at(y, x.saturating_sub(1)), at(y, (x + 1).min(side - 1)));
            let gradient = (north * north + south * south + west * west + east * east) / (here * here);
            let laplace = (north + south + west + east) / here;
            let denominator = 1.0 + 0.25 * laplace;
            let q = (0.5 * gradient - laplace * laplace / 16.0) / (denominator * denominator);
            coefficient.push((1.0 / (1.0 + (q - q0) / (q0 * (1.0 + q0)))).clamp(0.0, 1.0));
            change.push([north, south, west, east]);
        }
        for i in 0..n {
            let (y, x, [north, south, west, east]) = (i / side, i % side, change[i]);
            let below = coefficient[(y + 1).min(side - 1) * side + x];
            let right = coefficient[y * side + (x + 1).min(side - 1)];
            let divergence = coefficient[i] * (north + west) + below * south + right * east;
            image[i] += 0.25 * LAMBDA * divergence;
        }
    }
    image.iter().map(|x| x.ln() * 255.0).collect()
}

fn build(size: Size, input: Input) -> Run {
    let side: usize = size.pick([17, 10, 50, 100]);
    let rounds: usize = size.pick([2, 10, 10, 10]);
    let n = side * side;
    let mut noise = input.noise(10);
    // Two plateaus with a round edge, and speckle on both.
    let image: Vec<f32> = (0..n)
        .map(|i| {
            let (y, x) = ((i / side) as f32 / side as f32 - 0.5, (i % side) as f32 / side as f32 - 0.5);
            let base = if x * x + y * y < 0.1 { 180.0 } else { 70.0 };
            base * noise.between(0.8, 1.2)
        })
        .collect();
    let want = reference(&image, side, rounds);
    let mut run = Run::new();
    let image = run.buffer("image", image);
    let sums = run.buffer("sums", vec![0.0f32; n]);
    let squares = run.buffer("squares", vec![0.0f32; n]);
    let change = run.buffer("change", vec![0.0f32; 4 * n]);
    let coefficient = run.buffer("coefficient", vec![0.0f32; n]);
    let q0 = run.buffer("q0", vec![0.0f32]);
    let (count, edge, group) = (n as i32, side as i32, BLOCK as u32);
    run.line("srad_extract", n as u32, group, vec![image.into(), count.into()]);
    for _ in 0..rounds {
        let args = vec![image.into(), sums.into(), squares.into(), count.into()];
        run.line("srad_prepare", n as u32, group, args);
        let (mut left, mut stride) = (n, 1);
        while left > 1 {
            let args = vec![sums.into(), squares.into(), (left as i32).into(), (stride as i32).into()];
            run.line("srad_reduce", left as u32, group, args);
            left = left.div_ceil(BLOCK);
            stride *= BLOCK;
        }
        run.host(move |memory| {
            let (sum, square) = (to_f32(&memory.read(sums.0)?)[0], to_f32(&memory.read(squares.0)?)[0]);
            memory.write(q0.0, &Data::F32(vec![speckle(sum, square, n)]).bytes())
        });
        let args = [image, change, coefficient].map(Into::into).into_iter();
        let args = args.chain([edge.into(), edge.into(), q0.into()]).collect();
        run.line("srad_coefficient", n as u32, group, args);
        let args = [image, change, coefficient].map(Into::into).into_iter();
        let args = args.chain([edge.into(), edge.into(), LAMBDA.into()]).collect();
        run.line("srad_update", n as u32, group, args);
    }
    run.line("srad_compress", n as u32, group, vec![image.into(), count.into()]);
    run.want(image, want, Within::Near { abs: 0.02, rel: 1e-3 });
    run
}
