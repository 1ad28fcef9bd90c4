//! The directives at the top of a test: comment lines up to the first empty one, one directive each.

use crate::checks::Check;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Runs and satisfies the checks.
    Run,
    /// Fails to assemble or to run, with the blessed diagnostic.
    Error,
    /// Assembles to the blessed bytes and listing, and back.
    Asm,
    /// Writes the blessed split/join log.
    Log,
}

#[derive(Debug, Default)]
pub struct Header {
    pub kinds: Vec<Kind>,
    pub machine: String,
    pub sets: Vec<String>,
    /// HARP architectures; the test runs under each.
    pub archs: Vec<String>,
    pub registers: u32,
    pub grid: [u32; 3],
    pub group: [u32; 3],
    /// GCN3: kernel, its arguments, and local memory beyond what it asks for.
    pub kernel: String,
    pub args: Vec<String>,
    pub dynamic_lds: u32,
    pub views: Vec<String>,
    pub samplers: Vec<String>,
    pub mechanisms: Vec<String>,
    /// Repeat the timed runs under every issue policy.
    pub every_policy: bool,
    /// File with the program, from the top of the repository, instead of this one.
    pub source: Option<String>,
    pub checks: Vec<Check>,
}

#[derive(Debug)]
pub struct HeaderError {
    pub line: usize,
    pub message: String,
}

const DIRECTIVES: &str = "test, machine, set, arch, registers, grid, group, kernel, arg, dynamic-lds, view, sampler, mechanism, policy, source, check";

impl Header {
    pub fn parse(text: &str, leader: &str) -> Result<Header, HeaderError> {
        let mut header = Header::default();
        let mut line = 0;
        for (number, text) in (1..).zip(text.lines()) {
            let Some(directive) = text.strip_prefix(leader).map(str::trim).filter(|d| !d.is_empty()) else {
                break;
            };
            line = number;
            header.directive(directive).map_err(|message| HeaderError { line, message })?;
        }
        if header.kinds.is_empty() {
            let message = format!("no `{leader} test …` line; say run, error, asm or log");
            return Err(HeaderError { line: line.max(1), message });
        }
        Ok(header)
    }

    pub fn has(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    fn directive(&mut self, text: &str) -> Result<(), String> {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        let words = || rest.split_whitespace().map(str::to_owned);
        if rest.is_empty() {
            return Err(format!("`{word}` needs something after it (directives: {DIRECTIVES})"));
        }
        match word {
            "test" => {
                for kind in words() {
                    self.kinds.push(match kind.as_str() {
                        "run" => Kind::Run,
                        "error" => Kind::Error,
                        "asm" => Kind::Asm,
                        "log" => Kind::Log,
                        other => return Err(format!("no test `{other}`: run, error, asm or log")),
                    });
                }
            }
            "machine" => self.machine = rest.to_owned(),
            "set" => self.sets.extend(words()),
            "arch" => self.archs.extend(words()),
            "registers" => self.registers = number(rest)?,
            "grid" => self.grid = size(rest)?,
            "group" => self.group = size(rest)?,
            "kernel" => self.kernel = rest.to_owned(),
            "arg" => self.args.extend(words()),
            "dynamic-lds" => self.dynamic_lds = number(rest)?,
            "view" => self.views.extend(words()),
            "sampler" => self.samplers.extend(words()),
            "mechanism" => self.mechanisms.extend(words()),
            "policy" if rest == "all" => self.every_policy = true,
            "policy" => return Err("`policy` takes `all`; one policy is `set issue.policy=…`".into()),
            "source" => self.source = Some(rest.to_owned()),
            _ if word == "check" || word.starts_with("check@") => {
                let only = word.strip_prefix("check@").map(str::to_owned);
                self.checks.push(Check::parse(rest, only)?);
            }
            _ => return Err(format!("no directive `{word}`; there are {DIRECTIVES}")),
        }
        Ok(())
    }
}

/// `64`, `8x8` or `4x4x4`.
fn size(text: &str) -> Result<[u32; 3], String> {
    let parts = text.split('x').map(number).collect::<Result<Vec<u32>, String>>()?;
    match parts.as_slice() {
        [x] => Ok([*x, 1, 1]),
        [x, y] => Ok([*x, *y, 1]),
        [x, y, z] => Ok([*x, *y, *z]),
        _ => Err(format!("`{text}` is not a size like 64, 8x8 or 4x4x4")),
    }
}

fn number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}
