//! Benches of GCN3: kernels compiled by clang (fixtures/gcn3/bench.cl) on the device. Launches are timed,
//! and their results compared with plain Rust: a wrong answer is an error.

use super::work::{Run, Work, timed_run};
use miette::{IntoDiagnostic, Report, miette};
use wb_device::{Arg, Device, Dispatch, Module};
use wb_sim::RunOptions;

pub(super) const MACHINE: &str = "gcn3";
const OBJECT: &[u8] = include_bytes!("../../../../fixtures/gcn3/bench.O2.co");

pub(super) struct KernelBench {
    pub name: &'static str,
    pub run: fn(bool) -> Result<Run, Report>,
}

pub(super) const KERNELS: &[KernelBench] = &[
    KernelBench { name: "gcn3-fir", run: fir },
    KernelBench { name: "gcn3-matmul", run: matmul },
    KernelBench { name: "gcn3-bfs", run: bfs },
    KernelBench { name: "gcn3-stencil", run: stencil },
];

/// A device with the benches' code object.
struct Host {
    device: Device,
    module: Module,
    timed: bool,
}

impl Host {
    fn new(timed: bool) -> Result<Host, Report> {
        let sets = [wb_hw::parse_set("limits.memory=16M").into_diagnostic()?];
        let machine = wb_hw::preset(MACHINE).into_diagnostic()?.with_overrides(&sets).into_diagnostic()?;
        let mut device = Device::new(machine);
        let module = device.load("bench.co", OBJECT)?;
        Ok(Host { device, module, timed })
    }

    fn put<T: Copy, const N: usize>(&mut self, data: &[T], bytes: fn(T) -> [u8; N]) -> Result<u64, Report> {
        let raw: Vec<u8> = data.iter().flat_map(|&v| bytes(v)).collect();
        let addr = self.device.alloc(raw.len() as u64)?;
        self.device.write(addr, &raw)?;
        Ok(addr)
    }

    fn get<T, const N: usize>(
        &self,
        addr: u64,
        count: usize,
        value: fn([u8; N]) -> T,
    ) -> Result<Vec<T>, Report> {
        let raw = self.device.read(addr, (count * N) as u64)?;
        Ok(raw.as_chunks::<N>().0.iter().map(|c| value(*c)).collect())
    }

    /// Launches a kernel.
    fn launch(
        &mut self,
        kernel: &str,
        grid: [u32; 2],
        group: [u32; 2],
        args: Vec<Arg>,
    ) -> Result<Work, Report> {
        let size = |[x, y]: [u32; 2]| [x, y, 1];
        let dispatch = Dispatch {
            kernel: kernel.into(),
            grid: size(grid),
            group: size(group),
            args,
            dynamic_lds: 0,
            opencl: Default::default(),
        };
        let options = RunOptions { timed: self.timed, ..RunOptions::default() };
        Ok(Work::of(&self.device.launch(&self.module, &dispatch, options, None)?))
    }
}

fn int(v: usize) -> Arg {
    Arg::Value((v as i32).to_le_bytes().to_vec())
}

/// The same numbers in every run.
fn noise(seed: u32) -> impl FnMut() -> u32 {
    let mut x = seed;
    move || {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        x >> 8
    }
}

/// Multiples of 1/64 between −8 and 8.
fn signal(seed: u32, n: usize) -> Vec<f32> {
    let mut next = noise(seed);
    (0..n).map(|_| (next() % 1024) as f32 / 64.0 - 8.0).collect()
}

fn compare<T: PartialEq + std::fmt::Debug>(kernel: &str, got: &[T], want: &[T]) -> Result<(), Report> {
    match (0..want.len()).find(|&i| got.get(i) != want.get(i)) {
        None => Ok(()),
        Some(i) => Err(miette!(
            help = "the simulator computes wrong results; please report it",
            "{kernel}: element {i} is {:?}, expected {:?}",
            got.get(i),
            want[i]
        )),
    }
}

fn fir(timed: bool) -> Result<Run, Report> {
    const TAPS: usize = 64;
    const N: usize = 128 << 10;
    let mut h = Host::new(timed)?;
    let (x, c) = (signal(1, N + TAPS), signal(2, TAPS));
    let (bx, bc) = (h.put(&x, f32::to_le_bytes)?, h.put(&c, f32::to_le_bytes)?);
    let by = h.put(&[0.0; N], f32::to_le_bytes)?;
    let args = vec![Arg::Buffer(bx), Arg::Buffer(bc), Arg::Buffer(by), int(TAPS)];
    let run = timed_run(|| h.launch("fir", [N as u32, 1], [256, 1], args))?;
    let want: Vec<f32> = (0..N).map(|i| (0..TAPS).fold(0.0, |s, k| s + x[i + k] * c[k])).collect();
    compare("fir", &h.get(by, N, f32::from_le_bytes)?, &want)?;
    Ok(run)
}

fn matmul(timed: bool) -> Result<Run, Report> {
    const N: usize = 256;
    let mut h = Host::new(timed)?;
    let (a, b) = (signal(3, N * N), signal(4, N * N));
    let (ba, bb) = (h.put(&a, f32::to_le_bytes)?, h.put(&b, f32::to_le_bytes)?);
    let bc = h.put(&vec![0.0; N * N], f32::to_le_bytes)?;
    let args = vec![Arg::Buffer(ba), Arg::Buffer(bb), Arg::Buffer(bc), int(N)];
    let run = timed_run(|| h.launch("matmul", [N as u32; 2], [16, 16], args))?;
    let mut want = vec![0.0f32; N * N];
    for (row, out) in want.chunks_exact_mut(N).enumerate() {
        for k in 0..N {
            for (col, sum) in out.iter_mut().enumerate() {
                *sum += a[row * N + k] * b[k * N + col];
            }
        }
    }
    compare("matmul", &h.get(bc, N * N, f32::from_le_bytes)?, &want)?;
    Ok(run)
}

fn bfs(timed: bool) -> Result<Run, Report> {
    const NODES: usize = 128 << 10;
    let mut h = Host::new(timed)?;
    // Edges lead anywhere, most nodes have few.
    let mut next = noise(5);
    let (mut first, mut edges) = (vec![0i32], Vec::new());
    for _ in 0..NODES {
        let degree = if next().is_multiple_of(16) { 12 } else { 1 + next() % 4 };
        edges.extend((0..degree).map(|_| (next() as usize % NODES) as i32));
        first.push(edges.len() as i32);
    }
    let mut distance = vec![-1i32; NODES];
    distance[0] = 0;
    let (bf, be) = (h.put(&first, i32::to_le_bytes)?, h.put(&edges, i32::to_le_bytes)?);
    let bd = h.put(&distance, i32::to_le_bytes)?;
    let changed = h.put(&[0], i32::to_le_bytes)?;
    let run = timed_run(|| {
        let mut total = Work::default();
        for level in 0.. {
            h.device.write(changed, &[0; 4])?;
            let mut args: Vec<Arg> = [bf, be, bd, changed].map(Arg::Buffer).into();
            args.push(int(level));
            total.add(h.launch("bfs", [NODES as u32, 1], [256, 1], args)?);
            if h.get(changed, 1, i32::from_le_bytes)? == [0] {
                break;
            }
        }
        Ok(total)
    })?;
    let mut queue = std::collections::VecDeque::from([0usize]);
    while let Some(node) = queue.pop_front() {
        for &to in &edges[first[node] as usize..first[node + 1] as usize] {
            if distance[to as usize] < 0 {
                distance[to as usize] = distance[node] + 1;
                queue.push_back(to as usize);
            }
        }
    }
    compare("bfs", &h.get(bd, NODES, i32::from_le_bytes)?, &distance)?;
    Ok(run)
}

fn stencil(timed: bool) -> Result<Run, Report> {
    const W: usize = 512;
    const H: usize = 512;
    const STEPS: usize = 16;
    let mut h = Host::new(timed)?;
    let mut grid = signal(6, W * H);
    let mut buffers = [h.put(&grid, f32::to_le_bytes)?, h.put(&grid, f32::to_le_bytes)?];
    let run = timed_run(|| {
        let mut total = Work::default();
        for _ in 0..STEPS {
            let mut args: Vec<Arg> = buffers.map(Arg::Buffer).into();
            args.extend([int(W), int(H)]);
            total.add(h.launch("stencil", [W as u32, H as u32], [64, 4], args)?);
            buffers.swap(0, 1);
        }
        Ok(total)
    })?;
    for _ in 0..STEPS {
        let old = grid.clone();
        for y in 1..H - 1 {
            for x in 1..W - 1 {
                let i = y * W + x;
                let around = old[i - 1] + old[i + 1] + old[i - W] + old[i + W];
                grid[i] = 0.5 * old[i] + 0.125 * around;
            }
        }
    }
    compare("stencil", &h.get(buffers[0], W * H, f32::from_le_bytes)?, &grid)?;
    Ok(run)
}
