//! The rows of a kernel in trace files: their points are found in its code.

use super::file::TraceFile;
use super::point::point;
use crate::error::{BoundError, refused};
use crate::kernel::AnalysedKernel;
use std::collections::{BTreeMap, BTreeSet};
use wb_isa::Pc;
use wb_wcet::measure::{At, Row, RowError, Wrong};

/// The rows of all files of a kernel.
pub(crate) struct KernelTrace<'a> {
    pub files: Vec<&'a TraceFile>,
    pub rows: Vec<Row>,
    /// File and number of each row in it.
    from: Vec<(u32, u32)>,
    /// What is instrumented.
    pub points: BTreeSet<Pc>,
}

impl<'a> KernelTrace<'a> {
    /// Finds the points in the kernel. Runs are numbered through, file after file.
    pub fn new(kernel: &AnalysedKernel, files: Vec<&'a TraceFile>) -> Result<KernelTrace<'a>, BoundError> {
        let places: BTreeMap<u64, Pc> =
            kernel.code.iter().map(|(&pc, (place, _))| (place.addr, pc)).collect();
        let mut all = KernelTrace { files, rows: Vec::new(), from: Vec::new(), points: BTreeSet::new() };
        let mut runs = 0;
        for (f, file) in all.files.clone().into_iter().enumerate() {
            if let Some(old) = file.checksum.as_ref().filter(|c| **c != kernel.checksum) {
                return Err(refused!(
                    Times,
                    help = "measure again; or remove the line `# checksum:` if the points are still where they were",
                    "{}: the trace is of other code: {old}, kernel {} is {}",
                    file.name,
                    kernel.name,
                    kernel.checksum
                ));
            }
            for text in &file.points {
                if let Some(At::Pc(pc)) = Some(point(text, kernel, &places, &file.name)?) {
                    all.points.insert(pc);
                }
            }
            let mut found: Vec<Option<At>> = vec![None; file.texts.len()];
            let numbers: BTreeSet<u32> = file.rows.iter().map(|r| r.ids[0]).collect();
            let number: BTreeMap<u32, u32> = numbers.into_iter().zip(runs..).collect();
            runs += number.len() as u32;
            for (i, raw) in file.rows.iter().enumerate() {
                let at = match found[raw.point as usize] {
                    Some(at) => at,
                    None => {
                        let text = &file.texts[raw.point as usize];
                        *found[raw.point as usize].insert(point(
                            text,
                            kernel,
                            &places,
                            &file.place_at(raw.line),
                        )?)
                    }
                };
                if let At::Pc(pc) = at {
                    all.points.insert(pc);
                }
                let [run, group, wave, path] = raw.ids;
                let (cycle, leave) = (raw.cycle, raw.leave.unwrap_or(raw.cycle));
                all.rows.push(Row { run: number[&run], group, wave, path, at, cycle, leave, into: raw.into });
                all.from.push((f as u32, i as u32));
            }
        }
        Ok(all)
    }

    /// Where a row is.
    fn place(&self, row: usize) -> String {
        let (file, i) = self.from[row];
        let file = self.files[file as usize];
        file.place_at(file.rows[i as usize].line)
    }

    /// Says what is wrong with a row.
    pub fn error(&self, kernel: &AnalysedKernel, e: RowError) -> BoundError {
        let row = self.rows[e.row];
        let name = |at: At| match at {
            At::Start => "the start".to_owned(),
            At::End => "the end".to_owned(),
            At::Pc(pc) => kernel.place(pc).to_string(),
        };
        let who = format!("path {} of wave {} in run {} at {}", row.path, row.wave, row.run, name(row.at));
        let place = self.place(e.row);
        let help = match e.wrong {
            Wrong::Leaves { .. } => "`leave` is when the path goes on, `cycle` when it gets there",
            Wrong::Backwards { .. } => {
                "the rows of a path must be in the order in which it passes the points"
            }
            Wrong::SecondStart => {
                "a wave starts once; a path that is split off begins with the point where that happened"
            }
            Wrong::AfterEnd => "use a number for one path of the wave only",
            Wrong::NoStart { .. } => {
                "a path begins with `start`, or with the point that its parent passed last and the cycle in which it left it"
            }
            Wrong::Unfinished { .. } => {
                "a path ends with `end`, or with the point where it merges: the path that goes on has a row there, with `leave` not before"
            }
            Wrong::Step { .. } => {
                "points that are passed must all be in the trace: `wavebound cfg` shows the graph, --list-points the points"
            }
        };
        match e.wrong {
            Wrong::Step { from, to } => {
                refused!(
                    Times,
                    help = help,
                    "{place}: {who}: the control-flow graph has no way from {} to {} that passes no other point of the trace",
                    name(from),
                    name(to)
                )
            }
            wrong => refused!(Times, help = help, "{place}: {who}: {wrong}"),
        }
    }
}
