//! backprop: one round of training of a network with a hidden layer of 16 (Rodinia; THESIS Table 6.1).

use crate::data::to_f32;
use crate::{Data, Input, Run, Size, Within, Workload};

pub const WORKLOAD: Workload = Workload {
    name: "backprop",
    about: "back-propagation: one round of training of a neural network",
    page: include_str!("../../../../docs/workloads/backprop.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: ["32 inputs", "16x16 input layer", "512x512 input layer", "1024x1024 input layer"],
    build,
};

const HIDDEN: usize = 16;
const TARGET: f32 = 0.1;

fn squash(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// What the host does between the kernels: the hidden layer from the groups' sums, the output, and the errors.
fn deltas(sums: &[f32], bias: &[f32], output: &[f32]) -> Vec<f32> {
    let mut hidden = vec![1.0f32];
    for j in 1..=HIDDEN {
        let sum = sums.chunks(HIDDEN).fold(0.0f32, |s, group| s + group[j - 1]);
        hidden.push(squash(sum + bias[j]));
    }
    let out = squash(hidden.iter().zip(output).map(|(h, w)| h * w).sum());
    let error = out * (1.0 - out) * (TARGET - out);
    (0..=HIDDEN).map(|j| hidden[j] * (1.0 - hidden[j]) * error * output[j]).collect()
}

/// Sums of 16 inputs in the order of the kernel: neighbours first.
fn forward(inputs: &[f32], weights: &[f32]) -> Vec<f32> {
    let width = HIDDEN + 1;
    let mut sums = Vec::new();
    for group in 0..(inputs.len() - 1) / HIDDEN {
        for j in 1..=HIDDEN {
            let mut p: Vec<f32> = (0..HIDDEN)
                .map(|t| 1 + group * HIDDEN + t)
                .map(|i| weights[i * width + j] * inputs[i])
                .collect();
            let mut i = 2;
            while i <= HIDDEN {
                for t in (0..HIDDEN).step_by(i) {
                    p[t] += p[t + i / 2];
                }
                i *= 2;
            }
            sums.push(p[0]);
        }
    }
    sums
}

fn adjust(delta: &[f32], inputs: &[f32], weights: &mut [f32], old: &mut [f32]) {
    let width = HIDDEN + 1;
    for (i, x) in inputs.iter().enumerate() {
        for j in 1..width {
            let at = i * width + j;
            // Input 0 is the bias, which is 1.
            let step = if i == 0 { 0.3 * delta[j] } else { 0.3 * delta[j] * x };
            let change = step + 0.3 * old[at];
            weights[at] += change;
            old[at] = change;
        }
    }
}

fn build(size: Size, input: Input) -> Run {
    let n: usize = size.pick([32, 16 * 16, 512 * 512, 1024 * 1024]);
    let width = HIDDEN + 1;
    let mut noise = input.noise(9);
    let mut inputs = noise.many(n + 1, |n| n.between(0.0, 1.0));
    inputs[0] = 1.0;
    let scale = 1.0 / (n as f32).sqrt();
    let weights = noise.many((n + 1) * width, |n| n.between(-scale, scale));
    let old = noise.many((n + 1) * width, |n| n.between(-0.01, 0.01) * scale);
    let output = noise.many(width, |n| n.between(-1.0, 1.0));
    let bias = weights[..width].to_vec();
    let (mut want, mut changes) = (weights.clone(), old.clone());
    let delta = deltas(&forward(&inputs, &weights), &bias, &output);
    adjust(&delta, &inputs, &mut want, &mut changes);
    let groups = n / HIDDEN;
    let mut run = Run::new();
    let inputs = run.buffer("inputs", inputs);
    let weights = run.buffer("weights", weights);
    let old = run.buffer("old", old);
    let sums = run.buffer("sums", vec![0.0f32; groups * HIDDEN]);
    let delta = run.buffer("delta", vec![0.0f32; width]);
    let grid = [HIDDEN as u32, n as u32];
    let hidden = (HIDDEN as i32).into();
    run.plane("backprop_forward", grid, [16, 16], vec![inputs.into(), weights.into(), sums.into(), hidden]);
    run.host(move |memory| {
        let found = deltas(&to_f32(&memory.read(sums.0)?), &bias, &output);
        memory.write(delta.0, &Data::F32(found).bytes())
    });
    let hidden = (HIDDEN as i32).into();
    let args = vec![delta.into(), inputs.into(), weights.into(), old.into(), hidden];
    run.plane("backprop_adjust", grid, [16, 16], args);
    run.want(weights, want, Within::Exact);
    run.want(old, changes, Within::Exact);
    run
}
