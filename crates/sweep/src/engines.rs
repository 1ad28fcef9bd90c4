//! Schedulers that exist already: a sweep becomes an array of parts (`--shard I/N`), and the scheduler runs them. Nothing depends
//! on what it says about them: afterwards the store says what is missing.

use crate::error::SweepError;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Who runs the parts, and what it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Engine {
    Slurm { partition: Option<String>, time: Option<String>, mem: Option<String> },
    HyperQueue { time: Option<String> },
}

/// An array of parts.
#[derive(Clone, Debug)]
pub struct Submission {
    pub name: String,
    /// The command of a part, without `--shard`.
    pub command: Vec<OsString>,
    pub shards: u32,
    /// Processors of a part.
    pub cpus: u32,
    /// What the parts print goes here.
    pub logs: PathBuf,
    /// Until all parts have ended.
    pub wait: bool,
}

impl Engine {
    pub fn program(&self) -> &'static str {
        match self {
            Engine::Slurm { .. } => "sbatch",
            Engine::HyperQueue { .. } => "hq",
        }
    }

    /// The variable in which a part finds its number.
    fn variable(&self) -> &'static str {
        match self {
            Engine::Slurm { .. } => "SLURM_ARRAY_TASK_ID",
            Engine::HyperQueue { .. } => "HQ_TASK_ID",
        }
    }

    /// The command that submits.
    pub fn arguments(&self, s: &Submission) -> Vec<OsString> {
        let mut script = String::from("exec");
        for word in &s.command {
            script.push(' ');
            script.push_str(&quoted(&word.to_string_lossy()));
        }
        script.push_str(&format!(" --shard \"${}/{}\"", self.variable(), s.shards));
        let mut out: Vec<OsString> = Vec::new();
        let mut add = |word: String| out.push(word.into());
        let last = s.shards.saturating_sub(1);
        match self {
            Engine::Slurm { partition, time, mem } => {
                add("--parsable".into());
                add(format!("--array=0-{last}"));
                add(format!("--job-name={}", s.name));
                add(format!("--cpus-per-task={}", s.cpus));
                add(format!("--output={}", s.logs.join("part-%a.log").display()));
                for (option, value) in [("partition", partition), ("time", time), ("mem", mem)] {
                    if let Some(value) = value {
                        add(format!("--{option}={value}"));
                    }
                }
                if s.wait {
                    add("--wait".into());
                }
                add("--wrap".into());
                add(script);
            }
            Engine::HyperQueue { time } => {
                for word in ["--output-mode=quiet", "submit", "--array"] {
                    add(word.into());
                }
                add(format!("0-{last}"));
                add(format!("--name={}", s.name));
                add(format!("--cpus={}", s.cpus));
                add(format!("--stdout={}", s.logs.join("part-%{TASK_ID}.log").display()));
                add(format!("--stderr={}", s.logs.join("part-%{TASK_ID}.err").display()));
                if let Some(time) = time {
                    add(format!("--time-limit={time}"));
                }
                if s.wait {
                    add("--wait".into());
                }
                for word in ["--", "sh", "-c"] {
                    add(word.into());
                }
                add(script);
            }
        }
        out
    }

    /// Submits, and waits if that is wanted. Returns the job as the scheduler calls it. Parts that fail are no error.
    pub fn submit(&self, s: &Submission) -> Result<String, SweepError> {
        let failed = |why: String, help: Option<&str>| SweepError::Engine {
            command: self.program().to_owned(),
            why,
            help: help.map(str::to_owned),
        };
        let child = Command::new(self.program())
            .args(self.arguments(s))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output();
        let output = child.map_err(|e| {
            let help =
                "is it installed, and on the PATH? Any scheduler can run parts: --shard I/N (docs/sweeps.md)";
            failed(format!("cannot start it: {}", wb_files::words(&e)), Some(help))
        })?;
        let said = String::from_utf8_lossy(&output.stdout);
        let job = said.split(|c: char| !c.is_ascii_digit()).find(|w| !w.is_empty()).unwrap_or("");
        // With --wait the exit code is that of the parts.
        if job.is_empty() {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().rfind(|l| !l.trim().is_empty()).unwrap_or("it said nothing");
            return Err(failed(last.trim().to_owned(), None));
        }
        Ok(job.to_owned())
    }
}

/// A word for a shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// A path that holds in another folder, too.
pub fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn submission() -> Submission {
        Submission {
            name: "waves".into(),
            command: ["wavebound", "sweep", "/a b/plan.toml"].map(OsString::from).to_vec(),
            shards: 4,
            cpus: 2,
            logs: PathBuf::from("/logs"),
            wait: true,
        }
    }

    #[test]
    fn arrays_have_a_part_for_each_number() {
        let slurm =
            Engine::Slurm { partition: Some("batch".into()), time: Some("01:00:00".into()), mem: None };
        let words: Vec<String> =
            slurm.arguments(&submission()).iter().map(|w| w.to_string_lossy().into_owned()).collect();
        for word in ["--array=0-3", "--partition=batch", "--time=01:00:00", "--cpus-per-task=2", "--wait"] {
            assert!(words.iter().any(|w| w == word), "{words:?}");
        }
        let script = words.last().expect("a script");
        assert_eq!(script, "exec wavebound sweep '/a b/plan.toml' --shard \"$SLURM_ARRAY_TASK_ID/4\"");
        let hq = Engine::HyperQueue { time: None };
        let words = hq.arguments(&submission());
        let script = words.last().expect("a script").to_string_lossy().into_owned();
        assert!(script.ends_with("--shard \"$HQ_TASK_ID/4\""), "{script}");
    }

    #[test]
    fn words_survive_a_shell() {
        for word in ["a", "a b", "it's", "$x", "", "a;b"] {
            let said = Command::new("sh").arg("-c").arg(format!("printf %s {}", quoted(word))).output();
            assert_eq!(String::from_utf8_lossy(&said.expect("sh").stdout), word);
        }
    }
}
