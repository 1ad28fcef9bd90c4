//! The files that `oclgrind-kernel` reads: a program, a kernel, sizes, and the contents of every argument.

use super::corpus::{Argument, Case};
use super::error::PlantedError;
use std::fmt::Write;
use wb_jobs::data::{Element, fill_buffer};

/// A case in the form that Oclgrind reads: program, kernel, sizes, then each argument with its bytes as words.
pub(super) fn simulation_file(case: &Case, grid: [u32; 3]) -> Result<String, PlantedError> {
    let wrong = |what: String| PlantedError::Corpus { file: case.file, line: 0, what };
    let three = |s: [u32; 3]| format!("{} {} {}", s[0], s[1], s[2]);
    let mut out = format!("{}\n{}\n{}\n{}\n", case.file, case.kernel(), three(grid), three(case.group));
    for arg in &case.args {
        match arg {
            Argument::Local(bytes) => {
                let _ = writeln!(out, "<size={bytes} uchar>");
            }
            Argument::Value(value) => {
                let (name, number) = value.split_once(':').unwrap_or((value, ""));
                let element = Element::parse(name).ok_or_else(|| wrong(format!("`{value}`")))?;
                let bytes = element.encode(number).ok_or_else(|| wrong(format!("`{value}`")))?;
                let _ = writeln!(out, "{}", words(&bytes));
            }
            Argument::Buffer { element, length, from, .. } => {
                let parsed = Element::parse(element).ok_or_else(|| wrong(format!("`{element}`")))?;
                let size = length * parsed.bytes();
                let _ = match from.as_str() {
                    "uninitialised" => writeln!(out, "<size={size} uchar noinit>"),
                    fill => {
                        let bytes =
                            fill_buffer(parsed, *length, fill).ok_or_else(|| wrong(format!("`{fill}`")))?;
                        writeln!(out, "{}", words(&bytes))
                    }
                };
            }
        }
    }
    Ok(out)
}

/// Bytes as an argument: words, or short ones where they do not fill words.
fn words(bytes: &[u8]) -> String {
    let (name, step) = if bytes.len().is_multiple_of(4) { ("uint", 4) } else { ("ushort", 2) };
    let number = |c: &[u8]| c.iter().rev().fold(0u32, |n, b| n << 8 | u32::from(*b)).to_string();
    let numbers: Vec<String> = bytes.chunks(step).map(number).collect();
    format!("<size={} {name}>\n{}", bytes.len(), numbers.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planted::cases;

    #[test]
    fn every_case_that_it_can_run_has_a_simulation_file() {
        for case in cases().unwrap_or_else(|e| panic!("{e}")).iter().filter(|c| !c.amd) {
            let text = simulation_file(case, case.grid).unwrap_or_else(|e| panic!("{e}"));
            assert!(
                text.starts_with(case.file) && text.matches("<size=").count() == case.args.len(),
                "{text}"
            );
        }
    }
}
