//! What the page of `wavebound hip --html` and `cl --html` needs: statistics of every instruction and a timeline, kernel by kernel, all launches
//! of one added up. The command is told when the program ends: a record for each launch would have the whole listing each time.

use crate::records::{Record, short_name};
use crate::session::Session;
use wavebound::device::Prepared;
use wavebound::report::pages::run::{Occupancy, Part};
use wavebound::report::{Timeline, TimelineObserver};
use wavebound::sim::Launch;
use wavebound::trace::{Observers, Statistics, Stats};

/// Records of a kernel's timeline; that of its longest launch is kept.
const RECORDS: usize = 20_000;

/// Who watches a launch for the page.
pub(crate) struct Watchers {
    statistics: Statistics,
    timeline: TimelineObserver,
}

impl Watchers {
    pub fn new() -> Watchers {
        Watchers { statistics: Statistics::new(), timeline: TimelineObserver::with_limit(RECORDS) }
    }

    pub fn join<'a>(&'a mut self, observers: &mut Observers<'a>) {
        observers.push(&mut self.statistics);
        observers.push(&mut self.timeline);
    }

    fn finish(self) -> (Stats, Option<Timeline>) {
        (self.statistics.stats(), self.timeline.finish())
    }
}

impl Session {
    /// A launch has ended well: its kernel's part gets what it cost.
    pub(crate) fn add_to_page(&mut self, number: usize, prepared: &Prepared, watchers: Watchers) {
        let (stats, timeline) = watchers.finish();
        let kernel = prepared.program.kernel.clone();
        let machine = &prepared.machine;
        let Launch::Groups(groups) = prepared.launch else { return };
        let part = Part {
            name: short_name(&kernel),
            what: format!("on {}, mechanism {}", machine.name, machine.divergence.mechanism),
            launches: 1,
            stats,
            occupancy: Some(Occupancy::of(machine, groups.needs(machine.core.lanes), groups.count)),
            timeline,
            timeline_of: format!("Launch {number} is shown, the longest one of this kernel."),
            sources: Vec::new(),
        };
        match self.parts.get_mut(&kernel) {
            Some(sum) => sum.add(part),
            None => _ = self.parts.insert(kernel, part),
        }
    }

    /// Tells the command about all kernels.
    pub fn tell_parts(&mut self) {
        let process = self.process;
        for (kernel, mut part) in std::mem::take(&mut self.parts) {
            let used = |(name, _): &(&String, &String)| part.stats.pcs.iter().any(|p| p.file == **name);
            let sources = self.sources.iter().filter(used);
            part.sources = sources.map(|(name, text)| (name.clone(), text.clone())).collect();
            self.record(&Record::Part { process, kernel, part: Box::new(part) });
        }
    }
}
