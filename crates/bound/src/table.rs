//! Bounds from times of basic blocks that the user gives (docs/wcet-traces.md): nothing runs and nothing is measured. A
//! block without a time is an error; a template names them all.

use crate::error::{BoundError, refused};
use crate::kernel::AnalysedKernel;
use crate::launched::Launched;
use crate::launches::compose;
use crate::limits::limits;
use crate::measured::{FirstMeasurement, MeasuredKernel};
use crate::options::{Options, facts_for};
use crate::report::report;
use crate::result::KernelBound;
use crate::runs::Runs;
use crate::source::{Source, hash};
use crate::traces::each_kernel;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;
use toml::Spanned;
use wb_facts::{FactsError, find_blocks};
use wb_isa::{Pc, SourceFile};
use wb_jobs::with_program;
use wb_wcet::measure::{Given, Points, Times};
use wb_wcet::wave;

/// Blocks that a message names.
const SHOWN: usize = 12;

/// A file with times of blocks: its name says the format, `.toml` or `.csv`.
#[derive(Clone, Debug)]
pub struct TimesTable {
    pub name: String,
    pub text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileTable {
    kernel: Option<Spanned<String>>,
    checksum: Option<Spanned<String>>,
    start: Option<Spanned<toml::Value>>,
    #[serde(default)]
    blocks: BTreeMap<Spanned<String>, Spanned<toml::Value>>,
}

/// A value with where it stands; `None` = still to be filled in.
type Entry = (String, Option<u64>, Range<usize>);

/// The table as written.
struct Parsed {
    file: SourceFile,
    kernel: Option<(String, Range<usize>)>,
    checksum: Option<(String, Range<usize>)>,
    start: Option<Entry>,
    blocks: Vec<Entry>,
}

impl TimesTable {
    fn parse(&self) -> Result<Parsed, BoundError> {
        let file = SourceFile::new(self.name.as_str(), self.text.as_str());
        if self.name.ends_with(".csv") { self.csv(file) } else { toml(file) }
    }

    /// Rows of `place` and `cycles`; `start`, `kernel` and `checksum` are rows too. Other columns are comments.
    fn csv(&self, file: SourceFile) -> Result<Parsed, BoundError> {
        let mut parsed = Parsed { file, kernel: None, checksum: None, start: None, blocks: Vec::new() };
        let mut reader = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .trim(csv::Trim::All)
            .flexible(true)
            .from_reader(self.text.as_bytes());
        let headers = reader.headers()?.clone();
        let column = |name: &str| {
            headers.iter().position(|h| h == name).ok_or_else(|| {
                let what = format!("the column `{name}` is missing");
                wrong(&parsed.file, &(0..0), what, "the first line is `place,cycles`")
            })
        };
        let (place, cycles) = (column("place")?, column("cycles")?);
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record)? {
            let from = record.position().map_or(0, |p| p.byte() as usize);
            let line = self.text.get(from..).and_then(|t| t.lines().next()).map_or(0, str::len);
            let span = from..from + line;
            let key = record.get(place).unwrap_or_default().to_owned();
            let value = record.get(cycles).unwrap_or_default();
            match key.as_str() {
                "kernel" => parsed.kernel = Some((value.to_owned(), span)),
                "checksum" => parsed.checksum = Some((value.to_owned(), span)),
                _ => {
                    let number = match value {
                        "" | "?" => None,
                        n => Some(n.parse().map_err(|_| not_cycles(&parsed.file, &span, n))?),
                    };
                    let entry = (key, number, span);
                    if entry.0 == "start" { parsed.start = Some(entry) } else { parsed.blocks.push(entry) }
                }
            }
        }
        Ok(parsed)
    }
}

fn toml(file: SourceFile) -> Result<Parsed, BoundError> {
    let table: FileTable = toml::from_str(&file.text).map_err(|e| {
        let hint = "start = 20, and under [blocks]: \"0x2650\" = 40";
        wrong(&file, &e.span().unwrap_or(0..0), e.message().to_owned(), hint)
    })?;
    let entry = |key: &str, value: &Spanned<toml::Value>| -> Result<Entry, BoundError> {
        let number = match value.get_ref() {
            toml::Value::String(s) if s.trim() == "?" => None,
            toml::Value::Integer(n) if *n >= 0 => Some(*n as u64),
            other => return Err(not_cycles(&file, &value.span(), &other.to_string())),
        };
        Ok((key.to_owned(), number, value.span()))
    };
    let text = |value: &Option<Spanned<String>>| value.as_ref().map(|v| (v.get_ref().clone(), v.span()));
    let blocks = table.blocks.iter().map(|(k, v)| {
        let (key, number, value) = entry(k.get_ref(), v)?;
        Ok((key, number, k.span().start..value.end))
    });
    let mut blocks = blocks.collect::<Result<Vec<Entry>, BoundError>>()?;
    blocks.sort_by_key(|b| b.2.start);
    Ok(Parsed {
        kernel: text(&table.kernel),
        checksum: text(&table.checksum),
        start: table.start.as_ref().map(|v| entry("start", v)).transpose()?,
        blocks,
        file,
    })
}

fn wrong(file: &SourceFile, span: &Range<usize>, what: String, hint: &str) -> BoundError {
    BoundError::from(FactsError::new(file, span.clone(), what).hint(hint))
}

fn not_cycles(file: &SourceFile, span: &Range<usize>, text: &str) -> BoundError {
    wrong(file, span, format!("`{text}` is not a number of cycles"), "a whole number that is not negative")
}

/// Bounds of every kernel that is launched. A table that names a kernel is for that one, one that names none for the
/// only one.
pub fn analyse_table(
    runs: &Runs,
    options: &Options,
    tables: &[TimesTable],
) -> Result<Vec<KernelBound>, BoundError> {
    let parsed = tables.iter().map(TimesTable::parse).collect::<Result<Vec<_>, _>>()?;
    let mut given: BTreeMap<String, Given> = BTreeMap::new();
    let new = &mut |launched: &Launched| {
        let kernel = AnalysedKernel::new(launched, &Points::Blocks, facts_for(options, launched.kernel))?;
        let own = |p: &&Parsed| p.kernel.as_ref().is_none_or(|k| k.0 == kernel.name);
        let table = parsed.iter().find(own).ok_or_else(|| {
            refused!(
                Times,
                help = "--times-template writes one",
                "no table has times of kernel {}",
                kernel.name
            )
        })?;
        given.insert(kernel.name.clone(), times(table, &kernel, launched)?);
        let source = Source::Table { name: table.file.name.clone(), hash: hash(table.file.text.as_bytes()) };
        let (times, composed) = (Times::new(&kernel.plan), Default::default());
        Ok(MeasuredKernel { times, kernel, launches: Vec::new(), source, composed })
    };
    let mut bounds = Vec::new();
    for (mut measured_kernel, launches) in each_kernel(runs, new)? {
        measured_kernel.launches = launches;
        let mut given = given.remove(&measured_kernel.kernel.name).unwrap_or_default();
        let limits = limits(&measured_kernel, options)?;
        let rounds: BTreeMap<Pc, u64> = limits.iter().map(|l| (l.header, l.max)).collect();
        let kernel = &measured_kernel.kernel;
        let plan = &kernel.plan;
        let model = |given: &Given| plan.given(given, &rounds, &kernel.facts.facts, &kernel.never());
        let list = wave::guaranteed(plan, &model(&given), &kernel.counted_splitting())?;
        let sure: BTreeSet<Pc> = list.iter().map(|&i| plan.regions[i].branch).collect();
        given.may_split = may_split(kernel, &sure);
        let measured = model(&given);
        let bound = wave::bound(&measured, &list, &kernel.one_sided(&measured))?;
        compose(&mut measured_kernel.launches, &bound)?;
        measured_kernel.times.start_delay = given.start;
        let first = FirstMeasurement { measured_kernel, sure, bound, measured };
        bounds.push(report(&first, &first.measured_kernel, &limits, &first.measured, &first.bound, options));
    }
    Ok(bounds)
}

/// Branches that may split the wave, although nothing can be gained from counting on it.
fn may_split(kernel: &AnalysedKernel, sure: &BTreeSet<Pc>) -> BTreeSet<Pc> {
    let splits = kernel.machine.splits();
    match (splits, kernel.splitting.unknown) {
        (false, _) => BTreeSet::new(),
        (true, true) => kernel.branches.iter().map(|b| b.0).collect(),
        (true, false) => kernel.splitting.sure.difference(sure).copied().collect(),
    }
}

/// The times of a kernel, all of them.
fn times(table: &Parsed, kernel: &AnalysedKernel, launched: &Launched) -> Result<Given, BoundError> {
    let file = &table.file;
    if let Some((old, span)) = table.checksum.as_ref().filter(|c| c.0 != kernel.checksum) {
        let what =
            format!("the times are of other code: {old}, kernel {} is {}", kernel.name, kernel.checksum);
        let hint = "check them against the code as it is now: --times-template writes a new file";
        return Err(wrong(file, span, what, hint));
    }
    let places: Vec<&str> = table.blocks.iter().map(|b| b.0.as_str()).collect();
    let found = with_program!(launched.program, p => find_blocks(p, &places));
    let split = &kernel.machine.split;
    let mut given =
        Given { split: split.split_cycles.into(), merge: split.merge_cycles.into(), ..Given::default() };
    let first: BTreeMap<Pc, usize> = kernel.blocks.iter().map(|(&b, text)| (text.first, b)).collect();
    let mut seen: BTreeMap<usize, &Entry> = BTreeMap::new();
    for (entry, found) in table.blocks.iter().zip(found) {
        let wrong = |what: String, hint: &str| wrong(file, &entry.2, what, hint);
        let pc = found.map_err(|(what, hint)| wrong(what, &hint))?;
        let Some(&block) = first.get(&pc) else {
            return Err(wrong(
                format!("`{}` is not a block of kernel {}", entry.0, kernel.name),
                "`wavebound cfg` lists the blocks",
            ));
        };
        if let Some(before) = seen.insert(block, entry) {
            let line = file.line_column(before.2.start).0;
            return Err(wrong(
                format!("the block at `{}` has a time already", entry.0),
                &format!("line {line} gives it"),
            ));
        }
        if let Some(cycles) = entry.1 {
            given.blocks.insert(block, cycles);
        }
    }
    let blocks = kernel.blocks.iter().filter(|(b, _)| !given.blocks.contains_key(b));
    let mut missing: Vec<String> = blocks.map(|(_, text)| kernel.place(text.first).to_string()).collect();
    match table.start.as_ref().and_then(|s| s.1) {
        Some(start) => given.start = start,
        None => missing.insert(0, "start (from the slot to the first instruction)".to_owned()),
    }
    if missing.is_empty() {
        return Ok(given);
    }
    let more =
        if missing.len() > SHOWN { format!(", and {} more", missing.len() - SHOWN) } else { String::new() };
    missing.truncate(SHOWN);
    Err(refused!(
        Times,
        help = "every block that can run needs a time: --times-template writes a file with all of them",
        "{}: kernel {} has no time for {}{more}",
        file.name,
        kernel.name,
        missing.join(", ")
    ))
}

/// A table to be filled in, of each kernel that is launched: name and text.
pub fn times_template(runs: &Runs, csv: bool) -> Result<Vec<(String, String)>, BoundError> {
    let mut found: Vec<(String, String)> = Vec::new();
    runs.each(&mut |launched, _| {
        if !found.iter().any(|f| f.0 == launched.kernel) {
            let kernel = AnalysedKernel::new(launched, &Points::Blocks, None)?;
            found.push((kernel.name.clone(), template(&kernel, csv)));
        }
        Ok(())
    })?;
    Ok(found)
}

fn template(kernel: &AnalysedKernel, csv: bool) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "# Cycles of the basic blocks of {}, each time one runs (docs/wcet-traces.md).",
        kernel.name
    );
    let _ = writeln!(out, "# start: from the wave's slot to its first instruction.");
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    if csv {
        let _ = writeln!(
            out,
            "place,cycles,instructions,source\nkernel,{}\nchecksum,{}\nstart,?",
            kernel.name, kernel.checksum
        );
    } else {
        let _ = writeln!(out, "kernel = {}\nchecksum = {}", quoted(&kernel.name), quoted(&kernel.checksum));
        let _ = writeln!(out, "start = \"?\"\n\n[blocks]");
    }
    for text in kernel.blocks.values() {
        let place = kernel.place(text.first);
        let n = text.pcs.len();
        let _ = match csv {
            true => writeln!(out, "{:#x},?,{n},{}", place.addr, place.source.replace(',', " ")),
            false => {
                let s = if n == 1 { "" } else { "s" };
                writeln!(
                    out,
                    "\"{:#x}\" = \"?\"  # pc {}, {n} instruction{s} {}",
                    place.addr, place.pc, place.source
                )
            }
        };
    }
    out
}
