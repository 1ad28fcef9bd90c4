//! Real code objects from clang against plain Rust: every fixture kernel, timed and untimed, on 1 and 4 cores,
//! at both optimisation levels.

use wb_device::{Arg, Device, Dispatch, Module};
use wb_hw::Machine;
use wb_sim::RunOptions;

const OBJECTS: [(&str, &[u8]); 2] = [
    ("basic.O2.co", include_bytes!("../../../fixtures/gcn3/basic.O2.co")),
    ("basic.O3.co", include_bytes!("../../../fixtures/gcn3/basic.O3.co")),
];

fn machine(cores: u32) -> Machine {
    let sets = [format!("cores={cores}"), "limits.memory=4M".into(), "limits.cycles=5000000".into()];
    let sets: Vec<_> = sets.iter().map(|s| wb_hw::parse_set(s).expect("set")).collect();
    wb_hw::preset("gcn3").expect("preset").with_overrides(&sets).expect("machine")
}

/// A device with a module, run either way.
struct Host {
    device: Device,
    module: Module,
    timed: bool,
}

impl Host {
    fn buffer<T: Copy, const N: usize>(&mut self, data: &[T], bytes: impl Fn(T) -> [u8; N]) -> u64 {
        let raw: Vec<u8> = data.iter().flat_map(|&v| bytes(v)).collect();
        let addr = self.device.alloc(raw.len() as u64).expect("room");
        self.device.write(addr, &raw).expect("write");
        addr
    }

    fn run(&mut self, kernel: &str, grid: [u32; 3], group: [u32; 3], args: Vec<Arg>) {
        let dispatch = Dispatch { kernel: kernel.into(), grid, group, args, dynamic_lds: 0 };
        let options = RunOptions { timed: self.timed, check: true, ..RunOptions::default() };
        let outcome = self.device.launch(&self.module, &dispatch, options, None);
        outcome.unwrap_or_else(|e| panic!("{kernel}: {e}"));
    }

    fn read<T, const N: usize>(&self, addr: u64, count: usize, value: impl Fn([u8; N]) -> T) -> Vec<T> {
        let raw = self.device.read(addr, (count * N) as u64).expect("read");
        raw.chunks_exact(N).map(|c| value(c.try_into().expect("chunk"))).collect()
    }
}

/// Runs `test` on every object × cores × timed or not.
fn everywhere(test: impl Fn(&mut Host)) {
    for (name, bytes) in OBJECTS {
        for cores in [1, 4] {
            for timed in [false, true] {
                let mut device = Device::new(machine(cores));
                let module = device.load(name, bytes).expect("code object");
                test(&mut Host { device, module, timed });
            }
        }
    }
}

fn value<const N: usize>(bytes: [u8; N]) -> Arg {
    Arg::Value(bytes.to_vec())
}

fn noise(n: usize) -> impl Iterator<Item = u32> {
    let mut x = 12345u32;
    (0..n).map(move |_| {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        x >> 4
    })
}

#[test]
fn saxpy_with_a_partial_last_wave() {
    everywhere(|h| {
        let x: Vec<f32> = noise(320).map(|v| v as f32 * 0.001).collect();
        let y: Vec<f32> = noise(320).map(|v| v as f32 - 7.5).collect();
        let (bx, by) = (h.buffer(&x, f32::to_le_bytes), h.buffer(&y, f32::to_le_bytes));
        let args =
            vec![value(2.5f32.to_le_bytes()), Arg::Buffer(bx), Arg::Buffer(by), value(300i32.to_le_bytes())];
        h.run("saxpy", [320, 1, 1], [80, 1, 1], args);
        let want: Vec<f32> = (0..320).map(|i| if i < 300 { 2.5 * x[i] + y[i] } else { y[i] }).collect();
        assert_eq!(h.read(by, 320, f32::from_le_bytes), want);
    });
}

#[test]
fn matmul_through_local_memory() {
    const N: usize = 24;
    everywhere(|h| {
        let a: Vec<f32> = noise(N * N).map(|v| (v % 17) as f32 - 8.0).collect();
        let b: Vec<f32> = noise(N * N).map(|v| (v % 13) as f32 * 0.25).collect();
        let (ba, bb) = (h.buffer(&a, f32::to_le_bytes), h.buffer(&b, f32::to_le_bytes));
        let bc = h.buffer(&[0f32; N * N], f32::to_le_bytes);
        let args = vec![Arg::Buffer(ba), Arg::Buffer(bb), Arg::Buffer(bc), value((N as i32).to_le_bytes())];
        h.run("matmul", [N as u32, N as u32, 1], [8, 8, 1], args);
        let mut want = vec![0f32; N * N];
        for row in 0..N {
            for col in 0..N {
                want[row * N + col] = (0..N).fold(0.0, |s, k| s + a[row * N + k] * b[k * N + col]);
            }
        }
        assert_eq!(h.read(bc, N * N, f32::from_le_bytes), want);
    });
}

#[test]
fn reduction_with_barriers_across_waves() {
    everywhere(|h| {
        let x: Vec<u32> = noise(1024).collect();
        let (bx, bo) = (h.buffer(&x, u32::to_le_bytes), h.buffer(&[0u32; 4], u32::to_le_bytes));
        h.run("reduce", [1024, 1, 1], [256, 1, 1], vec![Arg::Buffer(bx), Arg::Buffer(bo), Arg::Local(1024)]);
        let want: Vec<u32> = x.chunks(256).map(|c| c.iter().fold(0u32, |s, v| s.wrapping_add(*v))).collect();
        assert_eq!(h.read(bo, 4, u32::from_le_bytes), want);
    });
}

#[test]
fn histogram_with_atomics() {
    everywhere(|h| {
        let x: Vec<u32> = noise(512).collect();
        let (bx, bo) = (h.buffer(&x, u32::to_le_bytes), h.buffer(&[0u32; 16], u32::to_le_bytes));
        h.run(
            "histogram",
            [512, 1, 1],
            [128, 1, 1],
            vec![Arg::Buffer(bx), Arg::Buffer(bo), value(15u32.to_le_bytes())],
        );
        let mut want = vec![0u32; 16];
        x.iter().for_each(|v| want[(v & 15) as usize] += 1);
        assert_eq!(h.read(bo, 16, u32::from_le_bytes), want);
    });
}

#[test]
fn divergent_loop_with_break() {
    everywhere(|h| {
        let x: Vec<u32> = (0..192).map(|i| i * 7 + 1).collect();
        let (bx, bo) = (h.buffer(&x, u32::to_le_bytes), h.buffer(&[0u32; 192], u32::to_le_bytes));
        h.run(
            "collatz",
            [192, 1, 1],
            [64, 1, 1],
            vec![Arg::Buffer(bx), Arg::Buffer(bo), value(2050u32.to_le_bytes())],
        );
        let want: Vec<u32> = x
            .iter()
            .map(|&start| {
                let (mut n, mut steps) = (start, 0u32);
                while n > 1 {
                    if n & 1 == 1 {
                        n = 3 * n + 1;
                    } else {
                        n /= 2;
                        if n & 3 == 0 {
                            steps += 1000;
                        }
                    }
                    steps += 1;
                    if steps >= 2050 {
                        break;
                    }
                }
                steps
            })
            .collect();
        assert_eq!(h.read(bo, 192, u32::from_le_bytes), want);
    });
}

#[test]
fn integer_division() {
    everywhere(|h| {
        let a: Vec<i32> = noise(128).map(|v| v as i32 - (1 << 27)).collect();
        let b: Vec<i32> =
            noise(128).map(|v| (v as i32 % 1000) - 500).map(|v| if v == 0 { 7 } else { v }).collect();
        let (ba, bb) = (h.buffer(&a, i32::to_le_bytes), h.buffer(&b, i32::to_le_bytes));
        let (bq, br) = (h.buffer(&[0i32; 128], i32::to_le_bytes), h.buffer(&[0u32; 128], u32::to_le_bytes));
        let args = [ba, bb, bq, br].map(Arg::Buffer).to_vec();
        h.run("divmod", [128, 1, 1], [64, 1, 1], args);
        let q: Vec<i32> = a.iter().zip(&b).map(|(a, b)| a / b).collect();
        let r: Vec<u32> = a.iter().zip(&b).map(|(a, b)| *a as u32 % *b as u32).collect();
        assert_eq!(h.read(bq, 128, i32::from_le_bytes), q);
        assert_eq!(h.read(br, 128, u32::from_le_bytes), r);
    });
}

#[test]
fn double_division_and_square_root() {
    everywhere(|h| {
        let a: Vec<f64> = noise(64).map(|v| f64::from(v) * 0.37 - 1e6).collect();
        let b: Vec<f64> = noise(64).map(|v| f64::from(v % 997 + 1) * 1.25).collect();
        let (ba, bb) = (h.buffer(&a, f64::to_le_bytes), h.buffer(&b, f64::to_le_bytes));
        let bo = h.buffer(&[0f64; 64], f64::to_le_bytes);
        h.run("doubles", [64, 1, 1], [64, 1, 1], [ba, bb, bo].map(Arg::Buffer).to_vec());
        let want: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a / b + b.sqrt() * a).collect();
        assert_eq!(h.read(bo, 64, f64::from_le_bytes), want);
    });
}

#[test]
fn bytes_and_shorts() {
    everywhere(|h| {
        let x: Vec<u8> = noise(100).map(|v| v as u8).collect();
        let (bx, bo) = (h.buffer(&x, u8::to_le_bytes), h.buffer(&[0i16; 100], i16::to_le_bytes));
        h.run(
            "bytes",
            [100, 1, 1],
            [50, 1, 1],
            vec![Arg::Buffer(bx), Arg::Buffer(bo), value(100i32.to_le_bytes())],
        );
        let want: Vec<i16> = (0..100).map(|i| i16::from(x[i]) - i16::from(x[(i + 1) % 100])).collect();
        assert_eq!(h.read(bo, 100, i16::from_le_bytes), want);
    });
}

#[test]
fn wrong_launches_are_explained() {
    let mut device = Device::new(machine(1));
    let module = device.load("basic.O2.co", OBJECTS[0].1).expect("code object");
    let mut launch = |kernel: &str, grid: u32, group: u32, args: Vec<Arg>| {
        let dispatch = Dispatch {
            kernel: kernel.into(),
            grid: [grid, 1, 1],
            group: [group, 1, 1],
            args,
            dynamic_lds: 0,
        };
        device.launch(&module, &dispatch, RunOptions::default(), None).expect_err("must fail").to_string()
    };
    assert!(launch("saxpi", 64, 64, vec![]).contains("no kernel `saxpi`"));
    assert!(launch("saxpy", 64, 64, vec![]).contains("takes 4 argument"));
    assert!(
        launch("reduce", 64, 64, vec![Arg::Buffer(0), Arg::Buffer(0), Arg::Buffer(0)])
            .contains("local memory")
    );
    assert!(launch("saxpy", 0, 64, vec![]).contains("at least one work-item"));
    let huge = vec![Arg::Buffer(0), Arg::Buffer(0), Arg::Local(70_000)];
    assert!(launch("reduce", 64, 64, huge).contains("does not fit on a core"));
    assert!(Device::new(machine(1)).load("x", b"not an object").is_err());
    for cut in [10, 100, 1000, 5000] {
        assert!(Device::new(machine(1)).load("cut", &OBJECTS[0].1[..cut]).is_err(), "cut at {cut}");
    }
}
