//! The debug log of the PDOM document ("Nested divergent warp", test2.s): what each split and join did to the mask, lane 0
//! leftmost; if wanted, every instruction with its address, its encoding and the lanes that enter it.

use std::io::{self, Write};

use crate::{Event, Kind, Mask, MaskCause, Observer, Pc, PcIndex, TraceInfo};

/// What a log has entries for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogOf {
    /// Splits and joins.
    Masks,
    /// Every instruction.
    All,
}

/// Writes the log as the run goes.
pub struct PdomLog<W: Write> {
    out: W,
    of: LogOf,
    /// Wave, path and instruction of the newest entry: masks that follow belong to it.
    newest: Option<(u32, u16, Pc)>,
    info: TraceInfo,
    index: PcIndex,
    error: Option<io::Error>,
}

impl<W: Write> PdomLog<W> {
    /// `out` gets a few short lines per split; give it a buffer when it is a file.
    pub fn new(out: W) -> Self {
        PdomLog::of(LogOf::Masks, out)
    }

    /// The same with entries for other instructions, too.
    pub fn of(of: LogOf, out: W) -> Self {
        let (info, index) = (TraceInfo::default(), PcIndex::default());
        PdomLog { out, of, newest: None, info, index, error: None }
    }

    /// Gives the output back, or the first error met while writing.
    pub fn finish(mut self) -> io::Result<W> {
        match self.error {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| self.out),
        }
    }

    fn place(&self, pc: Pc) -> String {
        match self.index.find(pc) {
            Some(i) => format!("{:#x}", self.info.code[i].addr),
            None => format!("pc {pc} (not in the listing)"),
        }
    }

    /// `t=0 t=2`: the lanes that enter the instruction.
    fn threads(&self, mask: Mask) -> String {
        let lanes = (0..64).filter(|&lane| mask >> lane & 1 == 1);
        lanes.map(|lane| format!(" t={lane}")).collect()
    }

    fn bits(&self, mask: Mask) -> String {
        let lanes = match self.info.lanes {
            0 => 64 - mask.leading_zeros(),
            lanes => lanes.min(64),
        };
        (0..lanes).map(|lane| if mask >> lane & 1 == 1 { '1' } else { '0' }).collect()
    }

    /// ` t=0 t=1` and what the instruction is, at the beginning of an entry.
    fn head(&self, event: &Event, what: &str) -> String {
        let entry = (event.wave, event.path, event.pc);
        match Some(entry) == self.newest {
            true => String::new(),
            false => format!(
                "wave {}  {}: {what}\n{}\n",
                event.wave,
                self.place(event.pc),
                self.threads(event.mask)
            ),
        }
    }

    /// An instruction as the document shows it, with the word it was decoded from.
    fn decoded(&self, event: &Event) -> String {
        let Some(code) = self.index.find(event.pc).map(|i| &self.info.code[i]) else { return "?".into() };
        match code.bytes.is_empty() {
            true => code.text.clone(),
            // Memory has the lowest byte first.
            false => {
                let word: String = code.bytes.iter().rev().map(|b| format!("{b:02x}")).collect();
                format!("{}  (0x{word})", code.text)
            }
        }
    }

    fn entry(&self, event: &Event) -> Option<String> {
        match event.kind {
            Kind::Issue { .. } if self.of == LogOf::All => {
                let (wave, place) = (event.wave, self.place(event.pc));
                Some(format!("wave {wave}  {place}: {}\n{}\n", self.decoded(event), self.threads(event.mask)))
            }
            Kind::Split { taken, other } => Some(format!(
                "{}Current Mask: {}\nMask after split: {}\nMask after split invert: {}\n",
                self.head(event, "split"),
                self.bits(event.mask),
                self.bits(taken),
                self.bits(other),
            )),
            Kind::Mask { new, cause: MaskCause::Switch | MaskCause::Reconverge, .. } => {
                Some(format!("{}New Mask: {}\n", self.head(event, "join"), self.bits(new)))
            }
            Kind::Mask { new, cause: MaskCause::LoopExit, .. } => {
                let head = match self.head(event, "EXIT loop split") {
                    same if same.is_empty() => "EXIT loop split\n".into(),
                    head => head,
                };
                Some(format!("{head}New Mask: {}\n", self.bits(new)))
            }
            _ => None,
        }
    }
}

impl<W: Write> Observer for PdomLog<W> {
    fn begin(&mut self, info: &TraceInfo) {
        self.index = PcIndex::new(&info.code);
        self.info = info.clone();
    }

    fn events(&mut self, batch: &[Event]) {
        for event in batch {
            if self.error.is_some() {
                return;
            }
            if !matches!(event.kind, Kind::Issue { .. } | Kind::Split { .. } | Kind::Mask { .. }) {
                continue;
            }
            let Some(text) = self.entry(event) else { continue };
            if self.of == LogOf::All {
                self.newest = Some((event.wave, event.path, event.pc));
            }
            self.error = self.out.write_all(text.as_bytes()).err();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CodeLine, NO_PC};

    #[test]
    fn nested_split_of_the_document() {
        let line = |pc, addr| CodeLine { pc, addr, ..CodeLine::default() };
        let code = vec![line(0, 0xf4), line(1, 0x10c), line(2, 0x120), line(3, 0x124)];
        let info = TraceInfo { lanes: 4, code, ..TraceInfo::default() };
        let event = |pc, mask, kind| Event { cycle: 0, core: 0, slot: 0, wave: 1, path: 0, pc, mask, kind };
        let mask = |new, cause| Kind::Mask { new, live: 0b1111, origin: NO_PC, cause };
        let mut log = PdomLog::new(Vec::new());
        log.begin(&info);
        log.events(&[
            event(0, 0b1111, Kind::Split { taken: 0b0011, other: 0b1100 }),
            event(0, 0b1111, mask(0b0011, MaskCause::Diverge)),
            event(1, 0b0011, Kind::Split { taken: 0b0001, other: 0b0010 }),
            event(2, 0b0001, mask(0b0010, MaskCause::Switch)),
            event(3, 0b1100, mask(0b1111, MaskCause::Reconverge)),
            event(9, 0b1000, mask(0b1111, MaskCause::LoopExit)),
        ]);
        let text = String::from_utf8(log.finish().unwrap()).unwrap();
        let expected = "\
wave 1  0xf4: split
 t=0 t=1 t=2 t=3
Current Mask: 1111
Mask after split: 1100
Mask after split invert: 0011
wave 1  0x10c: split
 t=0 t=1
Current Mask: 1100
Mask after split: 1000
Mask after split invert: 0100
wave 1  0x120: join
 t=0
New Mask: 0100
wave 1  0x124: join
 t=2 t=3
New Mask: 1111
wave 1  pc 9 (not in the listing): EXIT loop split
 t=3
New Mask: 1111
";
        assert_eq!(text, expected);
    }

    #[test]
    fn every_instruction_of_the_document() {
        let code = vec![
            CodeLine {
                pc: 0,
                addr: 0xec,
                text: "subi %r1, %r0, #2".into(),
                bytes: vec![2, 0, 0x40, 0x2a],
                ..CodeLine::default()
            },
            CodeLine { pc: 1, addr: 0xf4, text: "split".into(), ..CodeLine::default() },
        ];
        let info = TraceInfo { lanes: 2, code, ..TraceInfo::default() };
        let event =
            |wave, pc, kind| Event { cycle: 0, core: 0, slot: 0, wave, path: 0, pc, mask: 0b11, kind };
        let issue = Kind::Issue { unit: 255, instance: 0, class: 0, busy: 1 };
        let mut log = PdomLog::of(LogOf::All, Vec::new());
        log.begin(&info);
        let split = Kind::Split { taken: 0b01, other: 0b10 };
        log.events(&[event(0, 0, issue), event(0, 1, issue), event(0, 1, split), event(1, 1, split)]);
        let text = String::from_utf8(log.finish().unwrap()).unwrap();
        let masks = "Current Mask: 11\nMask after split: 10\nMask after split invert: 01\n";
        let expected = format!(
            "wave 0  0xec: subi %r1, %r0, #2  (0x2a400002)\n t=0 t=1\nwave 0  0xf4: split\n t=0 t=1\n{masks}\
             wave 1  0xf4: split\n t=0 t=1\n{masks}"
        );
        assert_eq!(text, expected);
    }
}
