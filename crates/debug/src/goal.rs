//! Where a run is to go next, and why it stands where it stands.

use crate::breaks::Hit;
use crate::error::DebugError;
use wb_isa::Mask;

/// How far to go, forwards or backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// To the next breakpoint, or the end.
    Continue,
    /// So many instructions of the wave that is looked at.
    Instructions(u64),
    /// To another source line; `over`: not into functions that are called.
    Line { over: bool },
    /// Out of the function.
    Finish,
    /// Until a wave, or this one, is at a barrier.
    Barrier { wave: Option<u32> },
    /// Until lanes part that were together, or those of a certain lane.
    Diverge { lane: Option<u32> },
    /// To the beginning of the next launch; backwards, of this one.
    Launch,
    /// Until the launch has executed so many instructions.
    Step(u64),
}

/// What the user wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    Forward(Goal),
    Back(Goal),
    /// From the beginning of the first launch.
    Restart,
    Quit,
}

/// Why a run stands still.
#[derive(Clone, Debug)]
pub enum Reason {
    /// Before the first instruction of a launch.
    Entry,
    /// What was asked for was done.
    Step,
    Breakpoints(Vec<Hit>),
    /// A wave has come to a barrier.
    Barrier {
        wave: u32,
    },
    /// Lanes have parted: these went on, those did not.
    Diverged {
        wave: u32,
        on: Mask,
        off: Mask,
    },
    /// The wave that was looked at has ended.
    WaveEnded {
        wave: u32,
    },
    /// The user interrupted it.
    Paused,
    Failed(DebugError),
    /// The launch is over.
    Ended,
    /// There is nothing before.
    Beginning,
}

impl Reason {
    pub fn words(&self) -> String {
        let lanes = |mask: &Mask| mask.count_ones();
        match self {
            Reason::Entry => "at the beginning of the launch".to_owned(),
            Reason::Step => String::new(),
            Reason::Breakpoints(hits) => {
                let one = |h: &Hit| match (h.note.as_str(), h.lane) {
                    ("", Some(lane)) => format!("breakpoint {}, lane {lane}", h.id),
                    ("", None) => format!("breakpoint {}", h.id),
                    (note, Some(lane)) => format!("breakpoint {}, {note}, lane {lane}", h.id),
                    (note, None) => format!("breakpoint {}, {note}", h.id),
                };
                hits.iter().map(one).collect::<Vec<_>>().join("; ")
            }
            Reason::Barrier { wave } => format!("wave {wave} is at a barrier"),
            Reason::Diverged { wave, on, off } => {
                format!("lanes of wave {wave} have parted: {} go on, {} do not", lanes(on), lanes(off))
            }
            Reason::WaveEnded { wave } => format!("wave {wave} has ended"),
            Reason::Paused => "interrupted".to_owned(),
            Reason::Failed(error) => format!("the launch has failed: {}", error.message),
            Reason::Ended => "the launch is over".to_owned(),
            Reason::Beginning => "there is nothing before".to_owned(),
        }
    }
}

/// The lane that is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Focus {
    pub wave: u32,
    pub path: usize,
    pub lane: u32,
}
