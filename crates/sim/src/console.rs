//! What programs print. Several harts may print at once: a line of one stream stays together, and says whose it is
//! when there is more than one stream.

/// Text a program may print before the rest is dropped.
const LIMIT: usize = 16 << 20;

#[derive(Clone, Debug, Default)]
pub struct Console {
    /// Finished lines in the order they ended, with their streams.
    lines: Vec<(u32, Vec<u8>)>,
    /// Streams by number, with the line that is being written.
    open: Vec<(u32, Vec<u8>)>,
    size: usize,
}

impl Console {
    pub fn push(&mut self, stream: u32, byte: u8) {
        if self.size >= LIMIT {
            return;
        }
        self.size += 1;
        let at = match self.open.binary_search_by_key(&stream, |o| o.0) {
            Ok(at) => at,
            Err(at) => {
                self.open.insert(at, (stream, Vec::new()));
                at
            }
        };
        self.open[at].1.push(byte);
        if byte == b'\n' {
            self.lines.push((stream, std::mem::take(&mut self.open[at].1)));
        }
    }

    /// Everything that was printed.
    pub fn text(&self) -> Vec<u8> {
        let rest = self.open.iter().filter(|(_, line)| !line.is_empty());
        let several = self.open.len() > 1;
        let mut out = Vec::new();
        for (stream, line) in self.lines.iter().chain(rest) {
            if several {
                out.extend(format!("#{stream}: ").bytes());
            }
            out.extend_from_slice(line);
            if several && !line.ends_with(b"\n") {
                out.push(b'\n');
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_stream_is_as_written_and_several_are_lines() {
        let mut one = Console::default();
        "ab\nc".bytes().for_each(|b| one.push(0, b));
        assert_eq!(one.text(), b"ab\nc");
        let mut two = Console::default();
        for (a, b) in "hi\nx".bytes().zip("yo\nz".bytes()) {
            two.push(7, a);
            two.push(3, b);
        }
        assert_eq!(String::from_utf8_lossy(&two.text()), "#7: hi\n#3: yo\n#3: z\n#7: x\n");
    }
}
