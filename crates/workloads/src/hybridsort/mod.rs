//! hybridsort: bucket sort by pivots, then merge sort of the buckets (Rodinia; THESIS Table 6.1).

use crate::data::to_i32;
use crate::{Data, Input, Run, Size, Within, Workload};

pub const WORKLOAD: Workload = Workload {
    name: "hybridsort",
    about: "sorts numbers: into buckets, then each bucket by merging",
    page: include_str!("../../../../docs/workloads/hybridsort.md"),
    source: include_str!("kernel.cl"),
    code: include_bytes!("kernel.co"),
    later: [
        ("gfx900", include_bytes!("kernel.gfx900.co")),
        ("gfx90a", include_bytes!("kernel.gfx90a.co")),
        ("gfx940", include_bytes!("kernel.gfx940.co")),
        ("riscv", include_bytes!("kernel.riscv.elf")),
    ],
    sizes: ["300 elements", "16 elements", "128 elements", "1024 elements"],
    build,
};

const BUCKETS: usize = 64;

fn build(size: Size, input: Input) -> Run {
    let n: usize = size.pick([300, 16, 128, 1024]);
    // Numbers that crowd at the low end, and a quarter of them equal.
    let numbers = input.noise(15).many(n, |noise| {
        let x = noise.between(0.0, 1.0);
        if noise.below(4) == 0 { 500.0 } else { 1000.0 * x * x }
    });
    let mut want = numbers.clone();
    want.sort_by(f32::total_cmp);
    // Pivots from a histogram that the host makes of every second number; the last bucket is open.
    let mut sample: Vec<f32> = numbers.iter().copied().step_by(2).collect();
    sample.sort_by(f32::total_cmp);
    let pivot = |i: usize| sample[((i + 1) * sample.len() / BUCKETS).min(sample.len() - 1)];
    let pivots: Vec<f32> =
        (0..BUCKETS).map(|i| if i + 1 < BUCKETS { pivot(i) } else { f32::INFINITY }).collect();
    let mut counts = [0usize; BUCKETS];
    for x in &numbers {
        counts[pivots[..BUCKETS - 1].iter().filter(|p| *p <= x).count()] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(0).next_multiple_of(4);
    // A group of 64 merges runs of at least 4, two at a time.
    assert!(most <= 64 * 8, "a bucket of {most} numbers");
    let room = n + 4 * BUCKETS;
    let mut run = Run::new();
    let given = run.buffer("numbers", numbers);
    let pivots = run.buffer("pivots", pivots);
    let bucket = run.buffer("bucket", vec![0i32; n]);
    let rank = run.buffer("rank", vec![0i32; n]);
    let counts = run.buffer("counts", vec![0i32; BUCKETS]);
    let starts = run.buffer("starts", vec![0i32; BUCKETS + 1]);
    let packed = run.buffer("packed", vec![0i32; BUCKETS]);
    let runs =
        [run.buffer("sorted", vec![f32::INFINITY; room]), run.buffer("spare", vec![f32::INFINITY; room])];
    let out = run.buffer("out", vec![0.0f32; n]);
    let count = n as i32;
    let args = [given, pivots, bucket, rank, counts].map(Into::into);
    run.line("hybridsort_count", n as u32, 128, args.into_iter().chain([count.into()]).collect());
    run.line("hybridsort_prefix", BUCKETS as u32, BUCKETS as u32, vec![counts.into(), starts.into()]);
    let args = [given, bucket, rank, starts, runs[0]].map(Into::into);
    run.line("hybridsort_place", n as u32, 128, args.into_iter().chain([count.into()]).collect());
    let fours = room as i32 / 4;
    run.line("hybridsort_fours", fours as u32, 128, vec![runs[0].into(), fours.into()]);
    let (mut length, mut i) = (4, 0);
    while length < most {
        let args = vec![runs[i % 2].into(), runs[(i + 1) % 2].into(), starts.into(), (length as i32).into()];
        run.line("hybridsort_merge", BUCKETS as u32 * 64, 64, args);
        length *= 2;
        i += 1;
    }
    run.host(move |memory| {
        let mut sum = 0;
        let first = |c: i32| {
            sum += c;
            sum - c
        };
        let packed_now = to_i32(&memory.read(counts.0)?).into_iter().map(first).collect();
        memory.write(packed.0, &Data::I32(packed_now).bytes())
    });
    let args = [runs[i % 2], starts, counts, packed, out].map(Into::into).to_vec();
    run.line("hybridsort_pack", BUCKETS as u32 * 64, 64, args);
    run.want(out, want, Within::Exact);
    run.limit("hybridsort_count", "search", 7, "a binary search of 64 pivots");
    let merged = length as u64;
    run.limit(
        "hybridsort_merge",
        "merge",
        merged - 1,
        format!("no bucket of this input has more than {merged} places; the loop is tested at its end"),
    );
    run.limit(
        "hybridsort_pack",
        "pack",
        most.max(1).div_ceil(64) as u64 - 1,
        format!("no bucket has more than {most} numbers, 64 in each round; the loop is tested at its end"),
    );
    run
}
