//! Lanes of one wave as text: a row for every stretch of instructions of one source line with the same lanes on.

use wavebound::jobs::Job;
use wavebound::trace::{Event, Kind, Mask, Observer, Pc};

/// Collects the rows of wave 0.
#[derive(Default)]
pub struct Lanes {
    rows: Vec<(u64, Pc, Mask)>,
    most: Mask,
}

impl Observer for Lanes {
    fn events(&mut self, batch: &[Event]) {
        for e in batch.iter().filter(|e| e.wave == 0) {
            if let Kind::Issue { .. } = e.kind {
                self.rows.push((e.cycle, e.pc, e.mask));
                self.most |= e.mask;
            }
        }
    }
}

impl Lanes {
    /// `rows` rows from the first instruction some lanes sit out.
    pub fn text(&self, job: &Job, rows: usize) -> String {
        let line = |pc: Pc| job.program.borrow().source_line(pc).map(|(_, line)| line);
        let mut out = String::from("   cycle  line  lanes 0 to 63 of wave 0\n");
        let mut shown = 0;
        let mut last = None;
        for &(cycle, pc, mask) in self.rows.iter().skip_while(|r| r.2 == self.most) {
            // Stepping over a side that no lane takes is no work.
            let this = (line(pc), mask);
            if mask == 0 || last == Some(this) {
                continue;
            }
            if shown == rows {
                break;
            }
            shown += 1;
            last = Some(this);
            let lanes: String = (0..64).map(|lane| if mask >> lane & 1 == 1 { '#' } else { '.' }).collect();
            let line = this.0.map_or("-".to_owned(), |n| n.to_string());
            out.push_str(&format!("  {cycle:>6}  {line:>4}  {lanes}\n"));
        }
        out
    }
}
