//! What the parts of a kernel add to its bound: blocks, steps between them, lines of source. The reports draw with it.

use crate::kernel::AnalysedKernel;
use crate::measured::MeasuredKernel;
use crate::result::{BlockRow, FlowRow, SourceLine, SourceRow, StepRow};
use std::collections::{BTreeMap, BTreeSet};
use wb_isa::Pc;
use wb_wcet::wave::WaveBound;

/// Lines of source that are kept around a line with code.
const AROUND: u32 = 2;
/// A source file that is longer is no source file.
const LONGEST: u64 = 4 << 20;

/// What each block adds: the time of a segment is divided among its blocks as the first measurement saw them.
pub fn blocks(
    first: &MeasuredKernel,
    measured_kernel: &MeasuredKernel,
    worst: &[StepRow],
    ways: &[Vec<usize>],
    bound: &WaveBound,
) -> Vec<BlockRow> {
    let kernel = &measured_kernel.kernel;
    let mut weight: BTreeMap<usize, f64> = BTreeMap::new();
    for (edge, time) in first.kernel.plan.edges.iter().zip(&first.times.edges) {
        let at = first.kernel.plan.nodes[edge.from];
        if let Some(piece) = first.kernel.plan.piece_at(at) {
            *weight.entry(first.kernel.plan.pieces[piece].block).or_default() += time.sum as f64;
        }
    }
    let mut cycles: BTreeMap<usize, f64> = BTreeMap::new();
    let mut on: BTreeSet<usize> = BTreeSet::new();
    for (step, share) in worst.iter().zip(&bound.shares) {
        let way = &ways[share.edge];
        let sum: f64 = way.iter().map(|b| weight.get(b).copied().unwrap_or(0.0)).sum();
        for b in way {
            let part = match sum {
                0.0 => 1.0 / way.len() as f64,
                sum => weight.get(b).copied().unwrap_or(0.0) / sum,
            };
            *cycles.entry(*b).or_default() += part * step.total as f64;
            if part > 0.0 {
                on.insert(*b);
            }
        }
    }
    let total = bound.cycles.max(1) as f64;
    kernel
        .blocks
        .iter()
        .map(|(&block, text)| {
            let own = cycles.get(&block).copied().unwrap_or(0.0);
            BlockRow {
                block,
                first: kernel.place(text.first),
                last: kernel.place(text.last),
                instructions: text.pcs.len() as u32,
                succs: text.succs.clone(),
                worst: on.contains(&block),
                cycles: own,
                percent: 100.0 * own / total,
                code: text.pcs.iter().map(|pc| kernel.code[pc].clone()).collect(),
            }
        })
        .collect()
}

/// Steps between blocks: how often the runs took them, and how often the worst way does at most. A segment says only
/// where it begins and ends, so a step counts on every segment of the worst way that can take it; inside a loop that
/// was measured as a whole it counts as often as the loop goes round.
pub fn edges(
    first: &MeasuredKernel,
    measured_kernel: &MeasuredKernel,
    rounds: &BTreeMap<Pc, u64>,
    bound: &WaveBound,
) -> Vec<FlowRow> {
    let (by_blocks, plan) = (&first.kernel.plan, &measured_kernel.kernel.plan);
    let mut taken: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for (p, piece) in by_blocks.pieces.iter().enumerate() {
        if measured_kernel.kernel.blocks.get(&piece.block).is_none_or(|b| b.last != piece.last) {
            continue;
        }
        for (i, &s) in piece.succs.iter().enumerate() {
            *taken.entry((piece.block, by_blocks.pieces[s].block)).or_default() += first.times.taken[p][i];
        }
    }
    let mut count: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for share in &bound.shares {
        for step in plan.steps_of(share.edge) {
            if taken.get(&step).is_some_and(|&n| n > 0) {
                let sum = count.entry(step).or_default();
                *sum = sum.saturating_add(share.count);
            }
        }
    }
    for l in plan.loops.iter().filter(|l| l.node.is_none()) {
        let Some(&max) = rounds.get(&l.header) else { continue };
        let inside: BTreeSet<usize> = l.pieces.iter().map(|&p| plan.pieces[p].block).collect();
        let header = l.pieces.iter().find(|&&p| plan.pieces[p].first == l.header);
        let header = header.map(|&p| plan.pieces[p].block);
        for ((from, to), n) in &mut count {
            if inside.contains(from) && inside.contains(to) {
                let times = if header == Some(*to) { max } else { max.saturating_add(1) };
                *n = n.saturating_mul(times);
            }
        }
    }
    let row = |(&(from, to), &taken): (&(usize, usize), &u64)| {
        let count = count.get(&(from, to)).copied().unwrap_or(0);
        FlowRow { from, to, taken, worst: count > 0, count }
    };
    taken.iter().map(row).collect()
}

/// Lines of source with what they add. `given` are texts that are not beside the program, by file name.
pub fn sources(kernel: &AnalysedKernel, blocks: &[BlockRow], given: &[(String, String)]) -> Vec<SourceRow> {
    let mut files: BTreeMap<&str, BTreeMap<u32, SourceLine>> = BTreeMap::new();
    for block in blocks {
        let part = 1.0 / f64::from(block.instructions.max(1));
        for (place, _) in &block.code {
            let Some((file, line)) = place.source.rsplit_once(':') else { continue };
            let Ok(line) = line.parse::<u32>() else { continue };
            let empty = || SourceLine {
                line,
                text: String::new(),
                instructions: 0,
                cycles: 0.0,
                percent: 0.0,
                worst: false,
            };
            let row = files.entry(file).or_default().entry(line).or_insert_with(empty);
            row.instructions += 1;
            row.cycles += part * block.cycles;
            row.percent += part * block.percent;
            row.worst |= block.worst;
        }
    }
    files.into_iter().map(|(file, lines)| source(kernel, file, lines, given)).collect()
}

fn source(
    kernel: &AnalysedKernel,
    file: &str,
    mut lines: BTreeMap<u32, SourceLine>,
    given: &[(String, String)],
) -> SourceRow {
    let Some(text) = source_text(kernel, file, given) else {
        return SourceRow { file: file.to_owned(), found: false, lines: lines.into_values().collect() };
    };
    let coded: Vec<u32> = lines.keys().copied().collect();
    for (number, text) in (1u32..).zip(text.lines()) {
        let near = coded.partition_point(|&c| c.saturating_add(AROUND) < number);
        if let Some(line) = lines.get_mut(&number) {
            line.text = text.to_owned();
        } else if coded.get(near).is_some_and(|&c| c <= number.saturating_add(AROUND)) {
            let text = text.to_owned();
            let empty =
                SourceLine { line: number, text, instructions: 0, cycles: 0.0, percent: 0.0, worst: false };
            lines.insert(number, empty);
        }
    }
    SourceRow { file: file.to_owned(), found: true, lines: lines.into_values().collect() }
}

/// The text of a source file: given, what the program was assembled from, or the file of that name beside the program.
fn source_text(kernel: &AnalysedKernel, file: &str, given: &[(String, String)]) -> Option<String> {
    let own = kernel.text.iter().chain(given).find(|(name, _)| name == file);
    if let Some((_, text)) = own {
        return Some(text.clone());
    }
    let beside = kernel.path.with_file_name(file);
    let short = std::fs::metadata(&beside).is_ok_and(|m| m.is_file() && m.len() <= LONGEST);
    if short { wb_files::read_text(&beside, wb_files::Kind::Source).ok() } else { None }
}
