//! The debug log of the PDOM document ("Nested divergent warp", test2.s): what each split and join
//! did to the mask, lane 0 leftmost.

use std::io::{self, Write};

use crate::{Event, Kind, Mask, MaskCause, Observer, Pc, PcIndex, TraceInfo};

/// Writes the log as the run goes.
pub struct PdomLog<W: Write> {
    out: W,
    info: TraceInfo,
    index: PcIndex,
    error: Option<io::Error>,
}

impl<W: Write> PdomLog<W> {
    /// `out` gets a few short lines per split; give it a buffer when it is a file.
    pub fn new(out: W) -> Self {
        PdomLog { out, info: TraceInfo::default(), index: PcIndex::default(), error: None }
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

    fn entry(&self, event: &Event) -> Option<String> {
        let head = format!("wave {}  {}", event.wave, self.place(event.pc));
        let threads = self.threads(event.mask);
        match event.kind {
            Kind::Split { taken, other } => Some(format!(
                "{head}: split\n{threads}\nCurrent Mask: {}\nMask after split: {}\nMask after split invert: {}\n",
                self.bits(event.mask),
                self.bits(taken),
                self.bits(other),
            )),
            Kind::Mask { new, cause: MaskCause::Switch | MaskCause::Reconverge, .. } => {
                Some(format!("{head}: join\n{threads}\nNew Mask: {}\n", self.bits(new)))
            }
            Kind::Mask { new, cause: MaskCause::LoopExit, .. } => {
                Some(format!("{head}: EXIT loop split\n{threads}\nNew Mask: {}\n", self.bits(new)))
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
            if !matches!(event.kind, Kind::Split { .. } | Kind::Mask { .. }) {
                continue;
            }
            if let Some(text) = self.entry(event)
                && let Err(error) = self.out.write_all(text.as_bytes())
            {
                self.error = Some(error);
            }
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
}
