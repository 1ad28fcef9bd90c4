//! Formats of a kernel's `printf`, cut into pieces that C's own `printf` can print. Messages of HIP's kernels are format and arguments
//! as words, strings packed into as many as they need (ROCm's device libraries, `__ockl_printf_append_args` and `_string_n`).

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

/// Values that conversions take, one after the other; past the end they are 0.
pub trait Arguments {
    fn word(&mut self) -> u64;
    fn double(&mut self) -> f64;
    fn string(&mut self) -> Vec<u8>;
    /// The next so many values are elements of one vector (OpenCL's `%v4`); false: there are no vectors.
    fn vector(&mut self, lanes: usize) -> bool;
}

/// Takes words one after the other.
struct Words<'a> {
    list: &'a [u64],
    at: usize,
}

impl Arguments for Words<'_> {
    fn word(&mut self) -> u64 {
        self.at += 1;
        self.list.get(self.at - 1).copied().unwrap_or(0)
    }

    /// Bytes up to a zero byte; the rest of its word is lost.
    fn string(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        while self.at < self.list.len() {
            for byte in self.word().to_le_bytes() {
                if byte == 0 {
                    return out;
                }
                out.push(byte);
            }
        }
        out
    }

    fn double(&mut self) -> f64 {
        f64::from_bits(self.word())
    }

    fn vector(&mut self, _lanes: usize) -> bool {
        false
    }
}

/// Wider or longer output than this is not believed.
const WIDEST: u64 = 4096;

/// A message of HIP's `printf`.
pub fn parse(message: &[u64]) -> (Stream, Vec<Piece>) {
    let mut words = Words { list: message, at: 0 };
    let stream = if words.word() == 1 { Stream::Error } else { Stream::Output };
    let format = words.string();
    let pieces = cut(&format, &mut words);
    (stream, pieces)
}

/// A format with the values of its conversions.
pub fn cut(format: &[u8], values: &mut dyn Arguments) -> Vec<Piece> {
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
                    ((values.word() as i32).clamp(-(WIDEST as i32), WIDEST as i32)).to_string().bytes(),
                ),
                c => spec.push(c),
            }
            i += 1;
        }
        let lanes = lanes(&format[i..]);
        let vector = lanes.filter(|(lanes, _)| values.vector(*lanes));
        i += vector.map_or(0, |(_, length)| length);
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
        for lane in 0..vector.map_or(1, |(lanes, _)| lanes) {
            let Some(piece) = piece(&spec, size, conversion, values) else {
                text.extend_from_slice(&format[start..i]);
                break;
            };
            if lane > 0 {
                text.push(b',');
            }
            if !text.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
            }
            pieces.push(piece);
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces
}

/// `v4` and the like: elements, and characters.
fn lanes(format: &[u8]) -> Option<(usize, usize)> {
    let ways = [(b"v16".as_slice(), 16), (b"v2", 2), (b"v3", 3), (b"v4", 4), (b"v8", 8)];
    ways.into_iter().find(|(word, _)| format.starts_with(word)).map(|(word, lanes)| (lanes, word.len()))
}

/// One conversion with its value; none if there is no such conversion.
fn piece(spec: &[u8], size: &[u8], conversion: u8, values: &mut dyn Arguments) -> Option<Piece> {
    let whole = |tail: &[u8]| CString::new([spec, tail].concat()).unwrap_or_default();
    Some(match conversion {
        b'd' | b'i' => {
            let value = values.word();
            let value = if is_long(size) { value } else { narrow(value, size) as u64 };
            Piece::Integer(whole(b"lld"), value)
        }
        b'u' | b'x' | b'X' | b'o' => {
            let value = values.word();
            let value = match size {
                _ if is_long(size) => value,
                b"hh" => value & 0xff,
                b"h" => value & 0xffff,
                _ => value & 0xffff_ffff,
            };
            Piece::Integer(whole(&[b'l', b'l', conversion]), value)
        }
        b'c' => Piece::Text(vec![values.word() as u8]),
        b'p' => Piece::Integer(whole(b"#llx"), values.word()),
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            Piece::Double(whole(&[conversion]), values.double())
        }
        b's' => Piece::String(whole(b"s"), CString::new(values.string()).unwrap_or_default()),
        _ => return None,
    })
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
