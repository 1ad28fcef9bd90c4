//! The code and the launch a proof is about, and why a proof is refused.

use std::collections::BTreeMap;
use thiserror::Error;
use wb_isa::gcn3::Inst;
use wb_isa::gcn3::isa::Setup;
use wb_isa::{FlowKind, Pc};

/// The code a proof is about.
pub struct Code<'a> {
    pub entry: Pc,
    /// By pc; none where no instruction begins.
    pub insts: Vec<Option<&'a Inst>>,
    pub kind: &'a [FlowKind],
    pub next: &'a [Pc],
    /// Where each call goes.
    pub calls: BTreeMap<Pc, Pc>,
    pub setup: &'a Setup,
}

/// What is known about a launch; zero sizes and no arguments: nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Launch<'a> {
    pub arguments: Option<&'a [u8]>,
    pub group: [u32; 3],
    pub grid: [u32; 3],
}

impl Launch<'_> {
    pub(crate) fn argument(&self, at: u32) -> Option<u32> {
        let at = at as usize;
        let bytes = self.arguments?.get(at..at.checked_add(4)?)?;
        Some(bytes.iter().rev().fold(0, |v, &b| v << 8 | u32::from(b)))
    }

    /// Dwords of the dispatch packet: sizes of the group as 16-bit numbers from 4, of the grid as 32-bit numbers from 12.
    pub(crate) fn packet(&self, at: u32) -> Option<u32> {
        let [x, y, z] = self.group;
        match at {
            4 if x * y * z != 0 => Some(x & 0xffff | y << 16),
            8 if x * y * z != 0 => Some(z & 0xffff),
            12 | 16 | 20 => Some(self.grid[(at as usize - 12) / 4]).filter(|&n| n != 0),
            _ => None,
        }
    }

    /// Bits that a mask of existing lanes has at most.
    pub(crate) fn lanes(&self) -> u64 {
        match self.group.iter().map(|&n| u64::from(n)).product::<u64>() {
            0 => 64,
            n => n.min(64),
        }
    }
}

/// Why a proof proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    #[error("the code at pc {pc} is not what the proof says")]
    Code { pc: Pc },
    #[error("pc {pc}: this kind of control flow or instruction is not covered")]
    Flow { pc: Pc },
    #[error("the way from pc {from} to {to} leads to a place about which nothing is said")]
    Unlisted { from: Pc, to: Pc },
    #[error("on the way from pc {from} to {to}, this is not guaranteed: {what}")]
    Invariant { from: Pc, to: Pc, what: String },
    #[error("the way from pc {from} to {to} can be taken")]
    Taken { from: Pc, to: Pc },
    #[error("there is no loop at pc {header}")]
    NoLoop { header: Pc },
    #[error("the loop at pc {header}: a lane is named that need not exist")]
    Witness { header: Pc },
    #[error("the loop at pc {header}: the edge back from pc {from}: {what}")]
    Back { header: Pc, from: Pc, what: &'static str },
    #[error("the way from pc {from} to {to} is not dead")]
    NotDead { from: Pc, to: Pc },
    #[error("the loop at pc {header}: the test can pass more than {max} times")]
    Count { header: Pc, max: u64 },
    #[error("the loop at pc {header}: what is said about its registers does not follow")]
    Moves { header: Pc },
    #[error("the loop at pc {header} has too many states")]
    TooLarge { header: Pc },
}
