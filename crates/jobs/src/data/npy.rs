//! The header of a `.npy` file (NumPy's format, versions 1 to 3): a Python dictionary with three entries. Read from left to
//! right without nesting, so that no header takes longer than its length.

/// Headers of plain arrays have some hundred bytes.
const MAX_HEADER: usize = 1 << 16;
const MAX_DIMENSIONS: usize = 64;
const MAGIC: &[u8] = b"\x93NUMPY";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Type of an element, `<f4`.
    pub descr: String,
    /// Column-major order.
    pub fortran: bool,
    pub shape: Vec<u64>,
}

impl Header {
    /// The header, and the data behind it.
    pub fn read(bytes: &[u8]) -> Result<(Header, &[u8]), String> {
        let rest = bytes.strip_prefix(MAGIC).ok_or("it does not begin with \\x93NUMPY")?;
        let (version, rest) = rest.split_first_chunk::<2>().ok_or("it ends in its header")?;
        let (length, rest) = match version[0] {
            1 => rest.split_first_chunk::<2>().map(|(n, rest)| (usize::from(u16::from_le_bytes(*n)), rest)),
            2 | 3 => rest.split_first_chunk::<4>().map(|(n, rest)| (u32::from_le_bytes(*n) as usize, rest)),
            v => return Err(format!("version {v} is not known")),
        }
        .ok_or("it ends in its header")?;
        if length > MAX_HEADER {
            return Err(format!("its header has {length} bytes, {MAX_HEADER} are possible"));
        }
        let (text, data) = rest.split_at_checked(length).ok_or("it ends in its header")?;
        let text = std::str::from_utf8(text).map_err(|_| "its header is not text")?;
        Ok((Parser { rest: text }.dictionary()?, data))
    }

    /// Version 1, with the data at a multiple of 64 bytes.
    pub fn write(&self) -> Vec<u8> {
        let mut shape: String = self.shape.iter().map(|n| format!("{n}, ")).collect();
        shape.truncate(shape.len().saturating_sub(if self.shape.len() == 1 { 1 } else { 2 }));
        let order = if self.fortran { "True" } else { "False" };
        let mut text =
            format!("{{'descr': '{}', 'fortran_order': {order}, 'shape': ({shape}), }}", self.descr);
        let before = MAGIC.len() + 4;
        let padding = (before + text.len() + 1).next_multiple_of(64) - before - text.len() - 1;
        text.extend(std::iter::repeat_n(' ', padding));
        text.push('\n');
        let mut out = MAGIC.to_vec();
        out.extend([1, 0]);
        out.extend((text.len() as u16).to_le_bytes());
        out.extend(text.as_bytes());
        out
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, c: char) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn need(&mut self, c: char) -> Result<(), String> {
        if self.take(c) {
            return Ok(());
        }
        let found: String = self.rest.chars().take(12).collect();
        Err(format!("its header has `{found}` where `{c}` belongs"))
    }

    fn text(&mut self) -> Result<&'a str, String> {
        self.skip();
        let quote = self.rest.chars().next().filter(|c| matches!(c, '\'' | '"')).ok_or_else(|| {
            if self.rest.starts_with('[') {
                "arrays of structures are not supported"
            } else {
                "its header lacks a quote"
            }
        })?;
        let (text, rest) = self.rest[1..].split_once(quote).ok_or("its header has an open quote")?;
        self.rest = rest;
        Ok(text)
    }

    fn word(&mut self) -> &'a str {
        self.skip();
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn dictionary(mut self) -> Result<Header, String> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.need('{')?;
        while !self.take('}') {
            let key = self.text()?;
            self.need(':')?;
            match key {
                "descr" => descr = Some(self.text()?.to_owned()),
                "fortran_order" => {
                    fortran = Some(match self.word() {
                        "True" => true,
                        "False" => false,
                        other => return Err(format!("`fortran_order` is `{other}`")),
                    });
                }
                "shape" => shape = Some(self.tuple()?),
                other => return Err(format!("its header has the unknown entry `{other}`")),
            }
            if !self.take(',') {
                self.need('}')?;
                break;
            }
        }
        self.skip();
        if !self.rest.is_empty() {
            return Err("its header goes on behind the dictionary".into());
        }
        match (descr, fortran, shape) {
            (Some(descr), Some(fortran), Some(shape)) => Ok(Header { descr, fortran, shape }),
            _ => Err("its header lacks `descr`, `fortran_order` or `shape`".into()),
        }
    }

    fn tuple(&mut self) -> Result<Vec<u64>, String> {
        let mut out = Vec::new();
        self.need('(')?;
        while !self.take(')') {
            let word = self.word();
            // Python 2 wrote 3L.
            let number = word.strip_suffix('L').unwrap_or(word);
            out.push(number.parse().map_err(|_| format!("`{word}` is not a length"))?);
            if out.len() > MAX_DIMENSIONS {
                return Err(format!("it has more than {MAX_DIMENSIONS} dimensions"));
            }
            if !self.take(',') {
                self.need(')')?;
                break;
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str) -> Vec<u8> {
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend((header.len() as u16).to_le_bytes());
        out.extend(header.as_bytes());
        out
    }

    #[test]
    fn headers_of_numpy_are_read() {
        for (text, shape) in
            [("(3, 4)", vec![3, 4]), ("(5,)", vec![5]), ("()", vec![]), ("(2L, 1L,)", vec![2, 1])]
        {
            let all = file(&format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {text}, }}    \n"));
            let header = Header { descr: "<f4".into(), fortran: false, shape };
            assert_eq!(Header::read(&all), Ok((header.clone(), &[][..])), "{text}");
            let again = header.write();
            assert_eq!(again.len() % 64, 0);
            assert_eq!(Header::read(&again), Ok((header, &[][..])));
        }
    }

    #[test]
    fn nested_brackets_are_refused_at_once() {
        let start = std::time::Instant::now();
        for open in ["[", "(", "{", "[("] {
            for key in ["descr", "shape", "fortran_order", "more"] {
                let all = file(&format!("{{'{key}': {}", open.repeat(20_000)));
                assert!(Header::read(&all).is_err(), "{open} {key}");
            }
        }
        assert!(Header::read(&file(&"{".repeat(60_000))).is_err());
        assert!(start.elapsed().as_secs() < 2);
    }
}
