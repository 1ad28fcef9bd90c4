//! Oclgrind over one case: its run with all checks on, and its messages as findings. It is another project's
//! program, called as a user would; without it, its column stays empty.

use super::clock;
use super::corpus::Case;
use super::error::PlantedError;
use super::place::Place;
use super::simulation::simulation_file;
use super::verdict::{Finding, Verdict};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use wb_sanitize::Kind;

/// All checks. `--uniform-writes` reports races of equal values, too, which it leaves out by itself.
const CHECKS: [&str; 7] =
    ["--data-races", "--uninitialized", "--uniform-writes", "--max-errors", "100000", "--num-threads", "1"];
const PROGRAM: &str = "oclgrind-kernel";
/// A kernel of the corpus takes well below a second.
const LIMIT: Duration = Duration::from_secs(30);
/// A larger launch.
const LONG: Duration = Duration::from_secs(300);

/// What its messages begin with, and the kind it is in our words.
const MESSAGES: [(&str, Kind); 11] = [
    ("Index (", Kind::OutOfBounds),
    ("Unaligned address", Kind::Misaligned),
    ("Invalid read", Kind::OutOfBounds),
    ("Invalid write", Kind::OutOfBounds),
    ("Invalid memory load - source pointer is not aligned", Kind::Misaligned),
    ("Invalid memory store - source pointer is not aligned", Kind::Misaligned),
    ("Read-write data race", Kind::Race),
    ("Write-write data race", Kind::Race),
    ("Uninitialized", Kind::Uninitialised),
    ("Controlflow depends on uninitialized", Kind::Uninitialised),
    ("Work-group divergence", Kind::BarrierDivergence),
];

pub struct Oclgrind {
    program: PathBuf,
}

/// What a run said.
enum Ended {
    Well(String),
    Badly(String),
    Hung,
}

impl Oclgrind {
    /// None: it is not on the PATH.
    pub fn find() -> Option<Oclgrind> {
        let path = std::env::var_os("PATH")?;
        let program =
            std::env::split_paths(&path).map(|folder| folder.join(PROGRAM)).find(|p| p.is_file())?;
        Some(Oclgrind { program })
    }

    pub fn check(&self, case: &Case, place: &Place) -> Result<Verdict, PlantedError> {
        if case.amd {
            return Ok(Verdict::NotComparable);
        }
        Ok(match self.run(&place.simulation_file(case), place, LIMIT)? {
            Ended::Well(said) => Verdict::of(case, &findings(&said)),
            // What it said before it fell counts.
            Ended::Badly(said) if !findings(&said).is_empty() => Verdict::of(case, &findings(&said)),
            Ended::Badly(_) => Verdict::Failed("crashed".to_owned()),
            Ended::Hung => Verdict::Hung,
        })
    }

    /// User time of a launch: that of the whole run without that of its first group alone, which is start and compiler.
    pub fn time(&self, case: &Case, place: &Place) -> Result<Option<Duration>, PlantedError> {
        let one = place.folder().join(format!("{}-one-group.sim", case.name));
        wb_files::write(&one, simulation_file(case, case.group)?)?;
        let mut times = [Duration::ZERO; 2];
        for (time, file) in times.iter_mut().zip([place.simulation_file(case), one]) {
            let before = clock::used();
            if !matches!(self.run(&file, place, LONG)?, Ended::Well(_)) {
                return Ok(None);
            }
            let (Some(before), Some(after)) = (before, clock::used()) else { return Ok(None) };
            *time = after.children.saturating_sub(before.children);
        }
        Ok(Some(times[0].saturating_sub(times[1])))
    }

    fn run(&self, file: &std::path::Path, place: &Place, limit: Duration) -> Result<Ended, PlantedError> {
        let system = |error| PlantedError::System { context: format!("cannot run {PROGRAM}"), error };
        let log = place.folder().join("oclgrind.log");
        let child = Command::new(&self.program)
            .args(CHECKS)
            .arg("--log")
            .arg(&log)
            .arg(file.file_name().unwrap_or_default())
            .current_dir(place.folder())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(system)?;
        let ended = wait(child, limit).map_err(system)?;
        let said = wb_files::read_text(&log, wb_files::Kind::Source).unwrap_or_default();
        Ok(match ended {
            None => Ended::Hung,
            Some(true) => Ended::Well(said),
            Some(false) => Ended::Badly(said),
        })
    }
}

/// Whether it ended well; none if it did not end in time.
fn wait(mut child: Child, limit: Duration) -> std::io::Result<Option<bool>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Its messages: a line that begins with a kind, and after it `At line N` for each place that takes part.
fn findings(said: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut kind: Option<Kind> = None;
    for line in said.lines() {
        if !line.starts_with(['\t', ' ']) && !line.is_empty() {
            kind = MESSAGES.iter().find(|(begin, _)| line.starts_with(begin)).map(|m| m.1);
        }
        let number =
            line.trim().strip_prefix("At line ").and_then(|rest| rest.split(' ').next()?.parse().ok());
        if let (Some(kind), Some(line)) = (kind, number) {
            found.push(Finding { kind: kind.name().to_owned(), line: Some(line) });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_become_findings_with_every_line_that_takes_part() {
        let said = "\nRead-write data race at global memory address 0x1\n\tKernel: k\n\n\tFirst entity:  Global(1,0,0)\n\
                    \t  store i32\n\tAt line 84 (column 13) of input.cl:\n\t  x\n\n\tSecond entity: Global(0,0,0)\n\
                    \tAt line 85 (column 15) of input.cl:\n\nSomething else\n\tAt line 9 (column 1) of input.cl:\n";
        let race = |line| Finding { kind: "race".to_owned(), line: Some(line) };
        assert_eq!(findings(said), [race(84), race(85)]);
        assert!(findings("").is_empty());
    }
}
