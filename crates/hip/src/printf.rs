//! Messages of a kernel's `printf`: format and arguments as words, strings packed into as many as they need (ROCm's device
//! libraries, `__ockl_printf_append_args` and `_string_n`). Cut into pieces that C's own `printf` can print.

use std::ffi::CString;

/// Where a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Output,
    Error,
}

/// A part of the output: text as it is, or one conversion with its value.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    Text(Vec<u8>),
    Integer(CString, u64),
    Double(CString, f64),
    String(CString, CString),
}

/// Takes words one after the other; past the end they are 0.
struct Words<'a> {
    list: &'a [u64],
    at: usize,
}

impl Words<'_> {
    fn next(&mut self) -> u64 {
        self.at += 1;
        self.list.get(self.at - 1).copied().unwrap_or(0)
    }

    /// Bytes up to a zero byte; the rest of its word is lost.
    fn string(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        while self.at < self.list.len() {
            for byte in self.next().to_le_bytes() {
                if byte == 0 {
                    return out;
                }
                out.push(byte);
            }
        }
        out
    }
}

/// Wider or longer output than this is not believed.
const WIDEST: u64 = 4096;

pub fn parse(message: &[u64]) -> (Stream, Vec<Piece>) {
    let mut words = Words { list: message, at: 0 };
    let stream = if words.next() == 1 { Stream::Error } else { Stream::Output };
    let format = words.string();
    let mut pieces = Vec::new();
    let (mut text, mut i) = (Vec::new(), 0);
    while i < format.len() {
        if format[i] != b'%' {
            text.push(format[i]);
            i += 1;
            continue;
        }
        if format.get(i + 1) == Some(&b'%') {
            text.push(b'%');
            i += 2;
            continue;
        }
        let start = i;
        let mut spec = vec![b'%'];
        i += 1;
        // Flags, width and precision; `*` takes them from the arguments.
        while let Some(&c) = format.get(i).filter(|c| b"-+ #0123456789.*".contains(c)) {
            match c {
                b'*' => spec.extend(
                    ((words.next() as i32).clamp(-(WIDEST as i32), WIDEST as i32)).to_string().bytes(),
                ),
                c => spec.push(c),
            }
            i += 1;
        }
        let modifiers = i;
        while format.get(i).is_some_and(|c| b"hlLjztq".contains(c)) {
            i += 1;
        }
        let size = &format[modifiers..i];
        let Some(&conversion) = format.get(i) else {
            text.extend_from_slice(&format[start..]);
            break;
        };
        i += 1;
        let whole = |tail: &[u8]| CString::new([spec.as_slice(), tail].concat()).unwrap_or_default();
        let piece = match conversion {
            b'd' | b'i' => {
                let value = words.next();
                let value = if is_long(size) { value } else { narrow(value, size) as u64 };
                Piece::Integer(whole(b"lld"), value)
            }
            b'u' | b'x' | b'X' | b'o' => {
                let value = words.next();
                let value = match size {
                    _ if is_long(size) => value,
                    b"hh" => value & 0xff,
                    b"h" => value & 0xffff,
                    _ => value & 0xffff_ffff,
                };
                Piece::Integer(whole(&[b'l', b'l', conversion]), value)
            }
            b'c' => Piece::Text(vec![words.next() as u8]),
            b'p' => {
                spec.extend(b"#llx");
                Piece::Integer(CString::new(spec.clone()).unwrap_or_default(), words.next())
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                Piece::Double(whole(&[conversion]), f64::from_bits(words.next()))
            }
            b's' => Piece::String(whole(b"s"), CString::new(words.string()).unwrap_or_default()),
            _ => {
                text.extend_from_slice(&format[start..i]);
                continue;
            }
        };
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
        }
        pieces.push(piece);
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    (stream, pieces)
}

fn is_long(size: &[u8]) -> bool {
    matches!(size, b"l" | b"ll" | b"j" | b"z" | b"t" | b"q")
}

fn narrow(value: u64, size: &[u8]) -> i64 {
    match size {
        b"hh" => i64::from(value as i8),
        b"h" => i64::from(value as i16),
        _ => i64::from(value as i32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<u64> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.chunks(8).map(|c| u64::from_le_bytes(c.try_into().expect("eight"))).collect()
    }

    fn c(text: &str) -> CString {
        CString::new(text).expect("no zero")
    }

    #[test]
    fn formats_are_cut_into_pieces() {
        let mut message = vec![0];
        message.extend(words("%5d%% of %s: %*.2f!"));
        message.push(-3i64 as u64);
        message.extend(words("everything"));
        message.extend([7, 0.5f64.to_bits()]);
        let (to, pieces) = parse(&message);
        assert_eq!(to, Stream::Output);
        let wanted = [
            Piece::Integer(c("%5lld"), -3i64 as u64),
            Piece::Text(b"% of ".to_vec()),
            Piece::String(c("%s"), c("everything")),
            Piece::Text(b": ".to_vec()),
            Piece::Double(c("%7.2f"), 0.5),
            Piece::Text(b"!".to_vec()),
        ];
        assert_eq!(pieces, wanted);
    }

    #[test]
    fn odd_messages_are_no_trouble() {
        for message in [vec![], vec![1], vec![0, u64::MAX], words("%"), words("%-#0"), words("%n%k%d")] {
            let mut all = vec![1];
            all.extend(message);
            assert_eq!(parse(&all).0, Stream::Error);
        }
    }
}
