//! Answers to questions, as bytes: numbers, texts and lists of `clGet…Info`.

use crate::codes::{Code, Outcome, refuse};

/// `cl_uint`, `cl_bool`, `cl_int`.
pub fn uint(value: u32) -> Outcome<Vec<u8>> {
    Ok(value.to_le_bytes().to_vec())
}

pub fn yes(value: bool) -> Outcome<Vec<u8>> {
    uint(value.into())
}

/// `cl_ulong`, `size_t`, bit fields, handles, pointers.
pub fn ulong(value: u64) -> Outcome<Vec<u8>> {
    Ok(value.to_le_bytes().to_vec())
}

pub fn list(values: &[u64]) -> Outcome<Vec<u8>> {
    Ok(values.iter().flat_map(|v| v.to_le_bytes()).collect())
}

pub fn text(value: &str) -> Outcome<Vec<u8>> {
    let mut bytes = value.as_bytes().to_vec();
    bytes.push(0);
    Ok(bytes)
}

/// A version of OpenCL 3.0: ten bits, ten bits, twelve bits.
pub fn version(major: u32, minor: u32) -> u32 {
    major << 22 | minor << 12
}

/// `cl_name_version`s.
pub fn names(list: &[(&str, u32)]) -> Outcome<Vec<u8>> {
    let mut out = Vec::new();
    for (name, version) in list {
        out.extend(version.to_le_bytes());
        let mut field = [0; 64];
        let length = name.len().min(63);
        field[..length].copy_from_slice(&name.as_bytes()[..length]);
        out.extend(field);
    }
    Ok(out)
}

/// A question that nobody knows.
pub fn unknown() -> Outcome<Vec<u8>> {
    refuse(Code::INVALID_VALUE)
}
