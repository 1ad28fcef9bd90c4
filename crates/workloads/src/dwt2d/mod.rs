//! dwt2d: three levels of the reversible 5/3 wavelet transform on three colour components (Rodinia; THESIS Table 6.1).

use crate::{Arg, Input, Run, Size, Within, Workload};

pub const WORKLOAD: Workload = Workload {
    name: "dwt2d",
    about: "discrete wavelet transform (5/3) of an image, three levels",
    page: include_str!("../../../../docs/workloads/dwt2d.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: ["10x10 image", "4x4 image", "16x16 image", "192x192 image"],
    build,
};

const LEVELS: usize = 3;
const GROUP: u32 = 64;

/// Low frequencies, then high ones.
fn lift(line: &[i32]) -> Vec<i32> {
    let n = line.len();
    if n < 2 {
        return line.to_vec();
    }
    let mirror = |i: isize| if i < 0 { -i } else if i >= n as isize { 2 * (n as isize - 1) - i } else { i } as usize;
    let mut x = line.to_vec();
    for i in (1..n).step_by(2) {
        x[i] -= (x[i - 1] + x[mirror(i as isize + 1)]) >> 1;
    }
    for i in (0..n).step_by(2) {
        x[i] += (x[mirror(i as isize - 1)] + x[mirror(i as isize + 1)] + 2) >> 2;
    }
    x.iter().step_by(2).chain(x.iter().skip(1).step_by(2)).copied().collect()
}

fn reference(component: &[i32], side: usize) -> Vec<i32> {
    let mut image = component.to_vec();
    let mut n = side;
    for _ in 0..LEVELS {
        for y in 0..n {
            let row = lift(&image[y * side..y * side + n]);
            image[y * side..y * side + n].copy_from_slice(&row);
        }
        for x in 0..n {
            let column: Vec<i32> = (0..n).map(|y| image[y * side + x]).collect();
            for (y, v) in lift(&column).into_iter().enumerate() {
                image[y * side + x] = v;
            }
        }
        n = n.div_ceil(2);
    }
    image
}

fn build(size: Size, input: Input) -> Run {
    let side: usize = size.pick([10, 4, 16, 192]);
    let n = side * side;
    let mut noise = input.noise(13);
    let mut pixels = Vec::new();
    for i in 0..n {
        let (y, x) = (i / side, i % side);
        for c in 0..3 {
            pixels.push(((x * 7 + y * 5 + c * 40) as u32 + noise.below(60)) as u8);
        }
    }
    let component = |f: fn(i32, i32, i32) -> i32| -> Vec<i32> {
        let of = |p: &[u8]| f(i32::from(p[0]) - 128, i32::from(p[1]) - 128, i32::from(p[2]) - 128);
        reference(&pixels.chunks(3).map(of).collect::<Vec<_>>(), side)
    };
    let wants =
        [component(|r, g, b| (r + 2 * g + b) >> 2), component(|_, g, b| b - g), component(|r, g, _| r - g)];
    let mut run = Run::new();
    let pixels = run.buffer("pixels", pixels);
    let components = ["y", "u", "v"].map(|name| run.buffer(name, vec![0i32; n]));
    let spare = run.buffer("spare", vec![0i32; n]);
    let [y, u, v] = components;
    let args = vec![pixels.into(), y.into(), u.into(), v.into(), (n as i32).into()];
    run.line("dwt_components", n as u32, 256, args);
    for component in components {
        let mut length = side as u32;
        for _ in 0..LEVELS {
            if length < 2 {
                break;
            }
            let numbers: [Arg; 2] = [(side as i32).into(), length.into()];
            let args = |from: crate::BufferId, to: crate::BufferId| {
                [from.into(), to.into()].into_iter().chain(numbers.clone()).collect()
            };
            run.line("dwt_rows", length * GROUP, GROUP, args(component, spare));
            run.line("dwt_columns", length * GROUP, GROUP, args(spare, component));
            length = length.div_ceil(2);
        }
    }
    for (component, want) in components.into_iter().zip(wants) {
        run.want(component, want, Within::Exact);
    }
    run
}
