//! Fields of messages, and numbers of threads.

use crate::error::DebugError;
use serde_json::Value;

/// Threads of the protocol are paths of waves. Numbers of threads count from 1.
pub(super) fn thread_id(wave: u32, path: usize) -> u64 {
    u64::from(wave) * 64 + path as u64 + 1
}

pub(super) fn split_thread(id: u64) -> Result<(u32, usize), DebugError> {
    let number = id.checked_sub(1).ok_or_else(|| DebugError::new("there is no thread 0"))?;
    let wave = u32::try_from(number / 64).map_err(|_| DebugError::new(format!("there is no thread {id}")))?;
    Ok((wave, (number % 64) as usize))
}

pub(super) fn text_of<'a>(arguments: &'a Value, name: &str) -> Result<&'a str, DebugError> {
    arguments[name].as_str().ok_or_else(|| DebugError::new(format!("`{name}` is missing")))
}

pub(super) fn number_of(arguments: &Value, name: &str) -> Result<u64, DebugError> {
    arguments[name].as_u64().ok_or_else(|| DebugError::new(format!("`{name}` is missing or no number")))
}

/// A number as the protocol writes addresses.
pub(super) fn whole(text: &str) -> Result<u64, DebugError> {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    };
    parsed.ok_or_else(|| DebugError::new(format!("`{text}` is no address")))
}
