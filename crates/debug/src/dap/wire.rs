//! Messages of the Debug Adapter Protocol on a stream: a header with the length, and JSON.

use serde_json::Value;
use std::io::{BufRead, Read, Write};

/// Larger messages are taken for damage.
const MOST: usize = 16 << 20;
/// Bytes of one line of a header.
const LINE: u64 = 4096;

/// What came.
#[derive(Debug, PartialEq)]
pub enum Incoming {
    Message(Value),
    /// Something that is no message; what follows can still be read.
    Damaged(String),
    /// Nothing more can be read.
    End,
}

/// Reads one message.
pub fn read(input: &mut impl BufRead) -> Incoming {
    let mut length: Option<usize> = None;
    let mut lines = 0;
    loop {
        let mut line = Vec::new();
        match input.take(LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return Incoming::End,
            Ok(_) => {}
        }
        lines += 1;
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            match length {
                Some(length) => return body(input, length),
                // Empty lines before a header do no harm.
                None if lines == 1 => {
                    lines = 0;
                    continue;
                }
                None => return Incoming::Damaged("a header without Content-Length".to_owned()),
            }
        }
        if let Some((name, value)) = text.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            match value.trim().parse::<usize>() {
                Ok(n) if n <= MOST => length = Some(n),
                Ok(_) | Err(_) => {
                    return Incoming::Damaged(format!(
                        "Content-Length `{}`: at most {MOST} bytes",
                        value.trim()
                    ));
                }
            }
        }
    }
}

fn body(input: &mut impl BufRead, length: usize) -> Incoming {
    let mut bytes = Vec::new();
    match input.take(length as u64).read_to_end(&mut bytes) {
        Ok(n) if n == length => {}
        Ok(_) | Err(_) => return Incoming::End,
    }
    match serde_json::from_slice(&bytes) {
        Ok(value @ Value::Object(_)) => Incoming::Message(value),
        Ok(_) => Incoming::Damaged("a message that is no object".to_owned()),
        Err(e) => Incoming::Damaged(format!("a message that is no JSON: {e}")),
    }
}

/// Writes one message.
pub fn write(output: &mut dyn Write, message: &Value) -> std::io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

/// Bytes as text, four letters for three of them (RFC 4648).
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |w, b| w << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Incoming> {
        let mut input = text.as_bytes();
        let mut out = Vec::new();
        loop {
            match read(&mut input) {
                Incoming::End => return out,
                other => out.push(other),
            }
        }
    }

    #[test]
    fn damage_is_told_from_messages() {
        let good = "Content-Length: 7\r\n\r\n{\"a\":1}";
        let message = Incoming::Message(serde_json::json!({ "a": 1 }));
        assert_eq!(all(&good.repeat(2)), [message, Incoming::Message(serde_json::json!({ "a": 1 }))]);
        assert_eq!(all("Content-Length: 99\r\n\r\n{\"a\":1}"), []);
        assert!(matches!(&all("Content-Length: 3\r\n\r\n{\"a")[..], [Incoming::Damaged(_)]));
        assert!(matches!(&all("Content-Length: 3\r\n\r\n[1]")[..], [Incoming::Damaged(_)]));
        assert!(matches!(&all("Content-Length: -3\r\n")[..], [Incoming::Damaged(_)]));
        assert!(matches!(&all("X: 1\r\n\r\n")[..], [Incoming::Damaged(_)]));
    }

    #[test]
    fn bytes_become_letters() {
        let cases = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        for (n, text) in cases.iter().enumerate() {
            assert_eq!(base64(&b"foobar"[..n]), *text);
        }
    }
}
