//! `check` lines: what a run must leave in memory, registers, counters and masks.

use wb_jobs::Job;
use wb_jobs::data::Element;
use wb_sim::Outcome;

/// One `check` line; `only` restricts it to one mechanism or architecture (`check@pdom …`).
#[derive(Debug)]
pub struct Check {
    pub only: Option<String>,
    pub what: What,
    text: String,
}

#[derive(Debug)]
pub enum What {
    Memory { buffer: String, values: Vec<String> },
    Register { wave: u32, name: String, values: Vec<String> },
    Masks { wave: u32, masks: Vec<String> },
    Console(String),
    Count { counter: Counter, value: u64 },
    Error(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    Nops,
    Cycles,
    Instructions,
    /// Of the timed run, where caches decide which waves split.
    TimedInstructions,
    LaneInstructions,
    Waves,
    MaxStackDepth,
}

impl Check {
    pub fn parse(text: &str, only: Option<String>) -> Result<Check, String> {
        let (left, right) = text.split_once(" =").ok_or("a check is written `check WHAT = VALUE …`")?;
        let right = right.trim();
        let values: Vec<String> = right.split_whitespace().map(str::to_owned).collect();
        if values.is_empty() {
            return Err("nothing after `=`".into());
        }
        let wave = |w: &str| w.parse::<u32>().map_err(|_| format!("`{w}` is not the number of a wave"));
        let left: Vec<&str> = left.split_whitespace().collect();
        let what = match left.as_slice() {
            ["wave", w, name] => {
                check_numbers(&values)?;
                What::Register { wave: wave(w)?, name: (*name).to_owned(), values }
            }
            ["masks", w] => {
                if let Some(bad) = values.iter().find(|v| !v.bytes().all(|b| b == b'0' || b == b'1')) {
                    return Err(format!("`{bad}` is not a mask of 0 and 1"));
                }
                What::Masks { wave: wave(w)?, masks: values }
            }
            ["console"] => {
                let quoted = right.strip_prefix('"').and_then(|r| r.strip_suffix('"'));
                let text = quoted.ok_or("the console's text stands in double quotes")?;
                What::Console(text.replace("\\n", "\n"))
            }
            ["error"] => What::Error(right.trim_matches('"').to_owned()),
            [name] => match counter(name) {
                Some(counter) => {
                    let value = right.parse().map_err(|_| format!("`{right}` is not a number"))?;
                    What::Count { counter, value }
                }
                None => {
                    check_numbers(&values)?;
                    What::Memory { buffer: (*name).to_owned(), values }
                }
            },
            _ => return Err(format!("cannot check `{}`", left.join(" "))),
        };
        Ok(Check { only, what, text: text.to_owned() })
    }

    /// Looks at the outcome of a run. `timed`: cycles count. `masks`: of each wave, if they were recorded.
    pub fn verify(
        &self,
        job: &Job,
        outcome: &Outcome,
        timed: bool,
        masks: Option<&[Vec<String>]>,
        word: u32,
    ) -> Result<(), String> {
        let wrong = |found: &str| Err(format!("check {}\n  found {found}", self.text));
        match &self.what {
            What::Error(_) => Ok(()),
            What::Memory { buffer, values } => {
                let buffer = job.find_buffer(buffer).map_err(|e| e.to_string())?;
                let bytes = outcome.memory.read(buffer.addr, buffer.bytes).map_err(|e| e.to_string())?;
                let size = buffer.element.bytes() as usize;
                let found: Vec<u64> = bytes.chunks(size).map(little_endian).collect();
                if agree(values, &found, size as u32, matches!(buffer.element, Element::F32 | Element::F64)) {
                    return Ok(());
                }
                let shown = bytes.chunks(size).map(|c| buffer.element.show(c)).collect::<Vec<_>>();
                wrong(&shown.join(" "))
            }
            What::Register { wave, name, values } => {
                let Some(w) = outcome.registers.iter().find(|w| w.wave == *wave) else {
                    return wrong(&format!("only {} waves", outcome.registers.len()));
                };
                let of_lane = |lane: &Vec<(String, u64)>| lane.iter().find(|r| r.0 == *name).map(|r| r.1);
                let found: Option<Vec<u64>> = w.lanes.iter().take(values.len()).map(of_lane).collect();
                let Some(found) = found else { return wrong("no such register") };
                if agree(values, &found, word, false) {
                    return Ok(());
                }
                let shown: Vec<String> = found.iter().map(|v| format!("{v} ({v:#x})")).collect();
                wrong(&shown.join(" "))
            }
            What::Masks { wave, masks: wanted } => {
                let Some(masks) = masks else { return Ok(()) };
                match masks.get(*wave as usize) {
                    Some(found) if found == wanted => Ok(()),
                    Some(found) => wrong(&found.join(" ")),
                    None => wrong("no such wave"),
                }
            }
            What::Console(text) => {
                let found = String::from_utf8_lossy(&outcome.console);
                if found == text.as_str() { Ok(()) } else { wrong(&format!("{found:?}")) }
            }
            What::Count { counter: Counter::Cycles | Counter::Nops | Counter::TimedInstructions, .. }
                if !timed =>
            {
                Ok(())
            }
            What::Count { counter, value } => {
                let found = match counter {
                    Counter::Cycles => outcome.cycles,
                    Counter::Nops => outcome.nops,
                    Counter::Instructions | Counter::TimedInstructions => outcome.wave_instructions,
                    Counter::LaneInstructions => outcome.lane_instructions,
                    Counter::Waves => u64::from(outcome.waves),
                    Counter::MaxStackDepth => outcome.max_stack_depth as u64,
                };
                if found == *value { Ok(()) } else { wrong(&found.to_string()) }
            }
        }
    }
}

fn counter(name: &str) -> Option<Counter> {
    Some(match name {
        "cycles" => Counter::Cycles,
        "nops" => Counter::Nops,
        "instructions" => Counter::Instructions,
        "timed_instructions" => Counter::TimedInstructions,
        "lane_instructions" => Counter::LaneInstructions,
        "waves" => Counter::Waves,
        "max_stack_depth" => Counter::MaxStackDepth,
        _ => return None,
    })
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &b| word << 8 | u64::from(b))
}

fn check_numbers(values: &[String]) -> Result<(), String> {
    match values.iter().find(|v| bits(v, 8, false).is_none()) {
        Some(bad) => Err(format!("`{bad}` is not a number")),
        None => Ok(()),
    }
}

fn is_float(text: &str) -> bool {
    !text.starts_with("0x") && (text.contains('.') || text.ends_with("inf") || text == "nan")
}

/// The bits `text` stands for in a word of `bytes` bytes.
fn bits(text: &str, bytes: u32, float: bool) -> Option<u64> {
    if !text.starts_with("0x") && (float || is_float(text)) {
        let value: f64 = text.parse().ok()?;
        return Some(if bytes == 8 { value.to_bits() } else { u64::from((value as f32).to_bits()) });
    }
    let value = match text.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16).ok()?,
        None => text.parse::<i128>().ok()?,
    };
    let limit = 1i128 << (8 * bytes);
    (-limit / 2..limit).contains(&value).then_some(value as u64 & (!0 >> (64 - 8 * bytes)))
}

fn agree(wanted: &[String], found: &[u64], bytes: u32, float: bool) -> bool {
    let one = |(text, &found): (&String, &u64)| match text.as_str() {
        "nan" if bytes == 8 => f64::from_bits(found).is_nan(),
        "nan" => f32::from_bits(found as u32).is_nan(),
        _ => bits(text, bytes, float) == Some(found),
    };
    wanted.len() == found.len() && wanted.iter().zip(found).all(one)
}
