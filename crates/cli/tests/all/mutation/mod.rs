//! Changes to files that a careless disk, editor or adversary makes, and a watch over the command that reads the result.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// SplitMix64: a case is its number.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

const BRACKETS: [&str; 9] = ["(", "[", "{", "<a>", "{\"a\":", "[[", "-", "/*", "((("];
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "1",
    "255",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "0xffffffffffffffffffff",
];

/// One to four changes.
pub fn mutate(bytes: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..1 + random.below(4) {
        change(&mut out, other, random);
    }
    out
}

fn change(out: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(out.len());
    let piece = |out: &[u8], random: &mut Random, most: usize| {
        let from = random.below(out.len());
        let to = (from + 1 + random.below(most)).min(out.len());
        from..to.max(from)
    };
    match random.below(11) {
        // A bit, or a whole byte.
        0 | 1 => {
            if let Some(b) = out.get_mut(at) {
                *b ^= 1 << random.below(8);
            }
        }
        2 => {
            if let Some(b) = out.get_mut(at) {
                *b = *random.pick(&[0, 1, 0x7f, 0x80, 0xff, b'\n', b'"', b';', b'%', b':']);
            }
        }
        3 => out.truncate(at),
        // A piece once more, or many times.
        4 => {
            let range = piece(out, random, 64);
            let times = *random.pick(&[1, 2, 1000]);
            let copy = out[range].repeat(times);
            out.splice(at..at, copy);
        }
        5 => {
            let range = piece(out, random, 64);
            out.drain(range);
        }
        // Another number where one is.
        6 | 7 => number(out, at, random),
        8 => {
            let depth = *random.pick(&[3, 70, 1000, 20_000]);
            let text = random.pick(&BRACKETS).repeat(depth);
            out.splice(at..at, text.into_bytes());
        }
        // One byte so often that columns and lengths run over.
        9 => {
            let byte = *random.pick(&[b' ', b'a', b'9', b'{', b'\n', 0]);
            out.splice(at..at, vec![byte; *random.pick(&[10, 300, 70_000])]);
        }
        // Part of another file.
        _ => {
            let range = piece(other, random, 400);
            out.splice(at..at, other[range].to_vec());
        }
    }
}

fn number(out: &mut Vec<u8>, at: usize, random: &mut Random) {
    let digit = |b: &u8| b.is_ascii_digit();
    match out[at..].iter().position(digit) {
        Some(found) => {
            let from = at + found;
            let to = out[from..].iter().position(|b| !digit(b)).map_or(out.len(), |n| from + n);
            let text = *random.pick(&NUMBERS);
            out.splice(from..to, text.bytes());
        }
        // Binary files have theirs as bytes.
        None => {
            let value = *random.pick(&[0u64, 1, 0x7fff_ffff, 0xffff_ffff, 1 << 40, u64::MAX]);
            for (b, v) in out.iter_mut().skip(at).zip(value.to_le_bytes()) {
                *b = v;
            }
        }
    }
}

/// What a run may use.
#[derive(Clone, Copy)]
pub struct Limits {
    pub time: Duration,
    pub memory_kib: u64,
    pub output: u64,
}

/// Runs a command in a folder; `Err` says which rule it broke.
pub fn watch(program: &str, args: &[String], dir: &Path, limits: Limits) -> Result<Option<i32>, String> {
    let captured = |name: &str| {
        let path = dir.join(name);
        let file = File::options().create(true).truncate(true).read(true).write(true).open(path);
        file.expect("a file for output")
    };
    let (mut out, mut err) = (captured(".stdout"), captured(".stderr"));
    let mut child = Command::new(program)
        .args(args)
        .current_dir(dir)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(out.try_clone().expect("a second handle"))
        .stderr(err.try_clone().expect("a second handle"))
        .spawn()
        .expect("it starts");
    let status = wait(&mut child, limits, || size(&out) + size(&err));
    let said = tail(&mut err);
    let status = status.map_err(|e| format!("{e}\n{said}"))?;
    let written = size(&out) + size(&err);
    let _ = out.rewind();
    if written > limits.output {
        return Err(format!("it wrote {written} bytes"));
    }
    if said.contains("panicked at") || status.code() == Some(101) {
        return Err(format!("it panicked\n{said}"));
    }
    match status.code() {
        None => Err(format!("it was ended by a signal: {status}\n{said}")),
        code => Ok(code),
    }
}

fn size(file: &File) -> u64 {
    file.metadata().map_or(0, |m| m.len())
}

/// The last of what it said.
fn tail(file: &mut File) -> String {
    let mut bytes = Vec::new();
    let _ = file.rewind();
    let _ = file.take(1 << 20).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(2000)..]).into_owned()
}

fn wait(child: &mut Child, limits: Limits, written: impl Fn() -> u64) -> Result<ExitStatus, String> {
    let start = Instant::now();
    let mut pause = 2;
    loop {
        // Asked first: a process that has ended has no memory to look at.
        let memory = peak(child.id());
        if let Some(status) = child.try_wait().expect("a child") {
            return Ok(status);
        }
        let broken = if start.elapsed() > limits.time {
            Some(format!("it took more than {:?}", limits.time))
        } else if memory > limits.memory_kib {
            Some(format!("it took {memory} KiB of memory"))
        } else if written() > limits.output {
            Some("it wrote without end".to_owned())
        } else {
            None
        };
        if let Some(why) = broken {
            let _ = child.kill();
            let _ = child.wait();
            return Err(why);
        }
        std::thread::sleep(Duration::from_millis(pause));
        pause = (pause * 2).min(50);
    }
}

/// The most memory a process has had, in KiB.
fn peak(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}
