//! A workload on PoCL, the outside witness, through the small C program of the fixture tests (opencl_host.c). Without
//! PoCL the comparison is skipped with a message; with CI=true that fails.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use wb_workloads::{Arg, Launch, Memory, Player, Run, WorkloadError};

/// The compiled host program, or why there is none.
fn host() -> Result<PathBuf, String> {
    static HOST: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    HOST.get_or_init(|| {
        let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("workloads_host");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../device/tests/fixtures/opencl_host.c");
        let run = Command::new("cc").args(["-O1", source, "-l:libOpenCL.so.1", "-o"]).arg(&out).output();
        match run {
            Ok(run) if run.status.success() => Ok(out),
            Ok(run) => Err(format!("cc: {}", String::from_utf8_lossy(&run.stderr))),
            Err(e) => Err(format!("cc: {e}")),
        }
    })
    .clone()
}

/// One program on PoCL.
pub struct Pocl {
    child: Child,
    to: ChildStdin,
    from: ChildStdout,
}

impl Pocl {
    /// Starts PoCL with a source file; `None` where there is no PoCL.
    pub fn start(source: &str) -> Result<Option<Pocl>, String> {
        let missing = |why: String| {
            if std::env::var("CI").as_deref() == Ok("true") {
                return Err(format!("PoCL is needed in CI: {why}"));
            }
            eprintln!("not compared with PoCL (scripts/install-test-tools.sh installs it): {why}");
            Ok(None)
        };
        let host = match host() {
            Ok(host) => host,
            Err(why) => return missing(why),
        };
        let child = Command::new(host)
            .args([source, ""])
            .env("POCL_CACHE_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/pocl"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = child.map_err(|e| e.to_string())?;
        let (to, from) = (child.stdin.take(), child.stdout.take());
        let (Some(to), Some(from)) = (to, from) else { return Err("no pipes".into()) };
        let mut pocl = Pocl { child, to, from };
        match pocl.answer() {
            Ok(()) => Ok(Some(pocl)),
            Err(why) if why.starts_with("building") => Err(why),
            Err(why) => missing(why),
        }
    }

    fn bytes(&mut self, n: usize) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0; n];
        self.from.read_exact(&mut bytes).map_err(|e| format!("no answer of PoCL: {e}"))?;
        Ok(bytes)
    }

    fn word(&mut self) -> Result<u32, String> {
        let b = self.bytes(4)?;
        Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    fn answer(&mut self) -> Result<(), String> {
        match self.word()? {
            0 => Ok(()),
            n => Err(String::from_utf8_lossy(&self.bytes(n as usize)?).into_owned()),
        }
    }

    fn ask(&mut self, command: u8, parts: &[u8]) -> Result<(), String> {
        let mut message = u32::from(command).to_le_bytes().to_vec();
        message.extend(parts);
        self.to.write_all(&message).and_then(|()| self.to.flush()).map_err(|e| e.to_string())?;
        self.answer()
    }

    fn launch(&mut self, l: &Launch) -> Result<(), String> {
        let mut m = Vec::new();
        sized(&mut m, l.kernel.as_bytes());
        l.grid.iter().chain(&l.group).for_each(|&n| put(&mut m, n));
        put(&mut m, l.args.len() as u32);
        for arg in &l.args {
            match arg {
                Arg::Buffer(i) => [0, *i as u32].iter().for_each(|&n| put(&mut m, n)),
                Arg::Value(bytes) => {
                    put(&mut m, 1);
                    sized(&mut m, bytes);
                }
                Arg::Local(bytes) => [2, *bytes].iter().for_each(|&n| put(&mut m, n)),
            }
        }
        self.ask(b'L', &m)
    }

    /// Runs a workload to its end; the wanted buffers.
    pub fn run(&mut self, run: Run) -> Result<Vec<Vec<u8>>, String> {
        for buffer in &run.buffers {
            let mut m = Vec::new();
            sized(&mut m, &buffer.data.bytes());
            self.ask(b'B', &m)?;
        }
        let mut player = Player::new(run);
        while let Some(launch) = player.next(self).map_err(|e| e.to_string())? {
            self.launch(&launch)?;
        }
        let wanted: Vec<usize> = player.run.wants.iter().map(|w| w.buffer).collect();
        wanted.into_iter().map(|b| self.read(b).map_err(|e| e.to_string())).collect()
    }
}

impl Memory for Pocl {
    fn read(&mut self, buffer: usize) -> Result<Vec<u8>, WorkloadError> {
        let host = |what| WorkloadError::Host { what };
        self.ask(b'R', &(buffer as u32).to_le_bytes()).map_err(host)?;
        let size = self.word().map_err(host)?;
        self.bytes(size as usize).map_err(host)
    }

    fn write(&mut self, buffer: usize, bytes: &[u8]) -> Result<(), WorkloadError> {
        let mut m = (buffer as u32).to_le_bytes().to_vec();
        sized(&mut m, bytes);
        self.ask(b'W', &m).map_err(|what| WorkloadError::Host { what })
    }
}

impl Drop for Pocl {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn put(message: &mut Vec<u8>, word: u32) {
    message.extend(word.to_le_bytes());
}

fn sized(message: &mut Vec<u8>, bytes: &[u8]) {
    put(message, bytes.len() as u32);
    message.extend(bytes);
}
