//! What both formats of events share: the codes of kinds, and the bytes of the kinds that are stored as they are
//! (docs/trace-format.md). Issues, stalls and accesses to memory, of which there are many, each format stores in its own way.

use crate::varint::{Input, pick, put};
use crate::{Event, Kind, MaskCause, RefusedReason};

pub(crate) const WAVE_START: u8 = 0;
pub(crate) const WAVE_END: u8 = 1;
pub(crate) const ISSUE: u8 = 2;
pub(crate) const STALL: u8 = 3;
pub(crate) const SPLIT: u8 = 4;
pub(crate) const MASK: u8 = 5;
pub(crate) const PATH_NEW: u8 = 6;
pub(crate) const PATH_MERGE: u8 = 7;
pub(crate) const MEMORY: u8 = 8;
pub(crate) const BARRIER: u8 = 9;
/// As the last issue at this pc in all four fields, or in all but the instance.
pub(crate) const ISSUE_AGAIN: u8 = 10;
pub(crate) const ISSUE_INSTANCE: u8 = 11;
pub(crate) const PATH_START: u8 = 12;
pub(crate) const PATH_END: u8 = 13;
pub(crate) const SPLIT_REFUSED: u8 = 14;
pub(crate) const NOP: u8 = 15;

/// The last issue at a pc.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) struct Issued {
    pub unit: u8,
    pub instance: u8,
    pub class: u8,
    pub busy: u16,
}

impl Issued {
    /// The code of this issue behind `last`.
    pub fn code(self, last: Issued) -> u8 {
        if self == last {
            ISSUE_AGAIN
        } else if self == (Issued { instance: self.instance, ..last }) {
            ISSUE_INSTANCE
        } else {
            ISSUE
        }
    }

    pub fn kind(self) -> Kind {
        let Issued { unit, instance, class, busy } = self;
        Kind::Issue { unit, instance, class, busy }
    }
}

/// The code of an event, as far as the kind alone decides it.
pub(crate) fn code(kind: &Kind) -> u8 {
    match kind {
        Kind::WaveStart { .. } => WAVE_START,
        Kind::WaveEnd => WAVE_END,
        Kind::Issue { .. } => ISSUE,
        Kind::Stall { .. } => STALL,
        Kind::Nop => NOP,
        Kind::Split { .. } => SPLIT,
        Kind::Mask { .. } => MASK,
        Kind::PathNew { .. } => PATH_NEW,
        Kind::PathMerge { .. } => PATH_MERGE,
        Kind::PathStart { .. } => PATH_START,
        Kind::PathEnd { .. } => PATH_END,
        Kind::SplitRefused { .. } => SPLIT_REFUSED,
        Kind::Memory { .. } => MEMORY,
        Kind::Barrier { .. } => BARRIER,
    }
}

/// The fields of a kind that is stored as it is; nothing for the others.
pub(crate) fn put_rest(event: &Event, out: &mut Vec<u8>) {
    match event.kind {
        Kind::Issue { .. } | Kind::Stall { .. } | Kind::Memory { .. } | Kind::WaveEnd | Kind::Nop => {}
        Kind::WaveStart { lanes } | Kind::PathMerge { lanes } | Kind::PathStart { lanes } => put(out, lanes),
        Kind::Split { taken, other } => {
            put(out, taken ^ event.mask);
            put(out, other);
        }
        Kind::Mask { new, live, origin, cause } => {
            out.push(cause as u8);
            put(out, new ^ event.mask);
            put(out, live ^ new);
            put(out, u64::from(origin.wrapping_add(1)));
        }
        Kind::PathNew { at, lanes } => {
            put(out, at.into());
            put(out, lanes);
        }
        Kind::PathEnd { into } => put(out, into.into()),
        Kind::SplitRefused { reason, lanes } => {
            out.push(reason as u8);
            put(out, lanes);
        }
        Kind::Barrier { id, arrived, needed } => {
            put(out, id);
            put(out, arrived.into());
            put(out, needed.into());
        }
    }
}

/// The kind of that code, of an event with lanes `mask`; what is wrong with code or bytes otherwise.
pub(crate) fn rest(code: u8, mask: u64, input: &mut Input<'_>) -> Result<Kind, &'static str> {
    Ok(match code {
        WAVE_START => Kind::WaveStart { lanes: input.varint()? },
        WAVE_END => Kind::WaveEnd,
        NOP => Kind::Nop,
        SPLIT => Kind::Split { taken: input.varint()? ^ mask, other: input.varint()? },
        MASK => {
            let cause = pick(&MaskCause::ALL, input.byte()?, "unknown mask cause")?;
            let new = input.varint()? ^ mask;
            let live = input.varint()? ^ new;
            Kind::Mask { new, live, origin: input.u32()?.wrapping_sub(1), cause }
        }
        PATH_NEW => Kind::PathNew { at: input.u32()?, lanes: input.varint()? },
        PATH_MERGE => Kind::PathMerge { lanes: input.varint()? },
        PATH_START => Kind::PathStart { lanes: input.varint()? },
        PATH_END => Kind::PathEnd { into: input.u16()? },
        SPLIT_REFUSED => {
            let reason = pick(&RefusedReason::ALL, input.byte()?, "unknown reason of a refused split")?;
            Kind::SplitRefused { reason, lanes: input.varint()? }
        }
        BARRIER => Kind::Barrier { id: input.varint()?, arrived: input.u32()?, needed: input.u32()? },
        _ => return Err("unknown event kind"),
    })
}
