//! Events as bytes, one after the other: variable-length integers, each field as the difference to what the same slot did
//! last. The hash of a trace is the hash of these bytes, and files of version 1 are made of them (docs/trace-format.md).

use crate::payload::{self, ISSUE, ISSUE_AGAIN, ISSUE_INSTANCE, Issued, MEMORY, STALL};
use crate::varint::{Input, pick, put, unzigzag, zigzag};
use crate::{Event, Kind, PortKind, StallReason};

/// A block is closed when its payload reaches this size.
pub(crate) const BLOCK_TARGET: usize = 64 << 10;

const CONTEXTS: usize = 4096;
const MEMOS: usize = 4096;

const SAME_SLOT: u8 = 0x10;
const SAME_PATH: u8 = 0x20;
const SAME_PC: u8 = 0x40;
const SAME_MASK: u8 = 0x80;

#[derive(Clone, Copy, Default)]
struct Context {
    wave: u32,
    path: u16,
    pc: u32,
    mask: u64,
}

/// What both directions remember; forgotten at each block so that blocks stand alone.
#[derive(Clone)]
pub(crate) struct Coder {
    contexts: Vec<Context>,
    memos: Vec<Issued>,
    core: u16,
    slot: u16,
    cycle: u64,
}

fn context_of(core: u16, slot: u16) -> usize {
    (core as usize * 64 + slot as usize) % CONTEXTS
}

impl Coder {
    pub fn new() -> Self {
        Coder {
            contexts: vec![Context::default(); CONTEXTS],
            memos: vec![Issued::default(); MEMOS],
            core: 0,
            slot: 0,
            cycle: 0,
        }
    }

    pub fn reset(&mut self) {
        self.contexts.fill(Context::default());
        self.memos.fill(Issued::default());
        (self.core, self.slot, self.cycle) = (0, 0, 0);
    }

    pub fn encode(&mut self, event: &Event, out: &mut Vec<u8>) {
        let context = &mut self.contexts[context_of(event.core, event.slot)];
        let memo = &mut self.memos[event.pc as usize % MEMOS];
        let same_slot = event.core == self.core && event.slot == self.slot;
        let same_path = event.wave == context.wave && event.path == context.path;
        let (same_pc, same_mask) = (event.pc == context.pc, event.mask == context.mask);
        let code = match event.kind {
            Kind::Issue { unit, instance, class, busy } => {
                let now = Issued { unit, instance, class, busy };
                let code = now.code(*memo);
                *memo = now;
                code
            }
            ref kind => payload::code(kind),
        };
        let flag = |on: bool, bit: u8| if on { bit } else { 0 };
        out.push(
            code | flag(same_slot, SAME_SLOT)
                | flag(same_path, SAME_PATH)
                | flag(same_pc, SAME_PC)
                | flag(same_mask, SAME_MASK),
        );
        if !same_slot {
            put(out, event.core.into());
            put(out, event.slot.into());
        }
        if !same_path {
            put(out, event.wave.into());
            put(out, event.path.into());
        }
        put(out, zigzag(event.cycle.wrapping_sub(self.cycle)));
        if !same_pc {
            put(out, zigzag(i64::from(event.pc).wrapping_sub(context.pc.into()) as u64));
        }
        if !same_mask {
            put(out, event.mask ^ context.mask);
        }
        match event.kind {
            Kind::Issue { unit, instance, class, busy } => {
                if code == ISSUE {
                    out.extend([unit, instance, class]);
                    put(out, busy.into());
                } else if code == ISSUE_INSTANCE {
                    out.push(instance);
                }
            }
            Kind::Stall { cycles, reason } => {
                out.push(reason as u8);
                put(out, cycles.into());
            }
            Kind::Memory { port, write, lines, hits, misses, evictions, done } => {
                out.push(port as u8 | flag(write, 0x80));
                for n in [lines, hits, misses, evictions] {
                    put(out, n.into());
                }
                put(out, zigzag(done.wrapping_sub(event.cycle)));
            }
            _ => payload::put_rest(event, out),
        }
        *context = Context { wave: event.wave, path: event.path, pc: event.pc, mask: event.mask };
        (self.core, self.slot, self.cycle) = (event.core, event.slot, event.cycle);
    }

    /// One event from the front of `input`; what is wrong with the bytes otherwise.
    pub fn decode(&mut self, input: &mut Input<'_>) -> Result<Event, &'static str> {
        let tag = input.byte()?;
        let code = tag & 0x0f;
        let (core, slot) =
            if tag & SAME_SLOT != 0 { (self.core, self.slot) } else { (input.u16()?, input.u16()?) };
        let context = &mut self.contexts[context_of(core, slot)];
        let (wave, path) =
            if tag & SAME_PATH != 0 { (context.wave, context.path) } else { (input.u32()?, input.u16()?) };
        let cycle = self.cycle.wrapping_add(unzigzag(input.varint()?));
        let pc = if tag & SAME_PC != 0 {
            context.pc
        } else {
            let pc = u64::from(context.pc).wrapping_add(unzigzag(input.varint()?));
            u32::try_from(pc).map_err(|_| "a pc is out of range")?
        };
        let mask = if tag & SAME_MASK != 0 { context.mask } else { context.mask ^ input.varint()? };
        let memo = &mut self.memos[pc as usize % MEMOS];
        let kind = match code {
            ISSUE | ISSUE_AGAIN | ISSUE_INSTANCE => {
                if code == ISSUE {
                    let (unit, instance, class) = (input.byte()?, input.byte()?, input.byte()?);
                    *memo = Issued { unit, instance, class, busy: input.u16()? };
                } else if code == ISSUE_INSTANCE {
                    memo.instance = input.byte()?;
                }
                memo.kind()
            }
            STALL => {
                let reason = pick(&StallReason::ALL, input.byte()?, "unknown stall reason")?;
                Kind::Stall { cycles: input.u32()?, reason }
            }
            MEMORY => {
                let byte = input.byte()?;
                Kind::Memory {
                    port: pick(&PortKind::ALL, byte & 0x7f, "unknown memory port")?,
                    write: byte & 0x80 != 0,
                    lines: input.u16()?,
                    hits: input.u16()?,
                    misses: input.u16()?,
                    evictions: input.u16()?,
                    done: cycle.wrapping_add(unzigzag(input.varint()?)),
                }
            }
            _ => payload::rest(code, mask, input)?,
        };
        *context = Context { wave, path, pc, mask };
        (self.core, self.slot, self.cycle) = (core, slot, cycle);
        Ok(Event { cycle, core, slot, wave, path, pc, mask, kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MaskCause;

    #[test]
    fn enums_are_stored_by_position() {
        for (i, &reason) in StallReason::ALL.iter().enumerate() {
            assert_eq!(reason as usize, i);
        }
        for (i, &cause) in MaskCause::ALL.iter().enumerate() {
            assert_eq!(cause as usize, i);
        }
        for (i, &port) in PortKind::ALL.iter().enumerate() {
            assert_eq!(port as usize, i);
        }
    }

    #[test]
    fn an_issue_is_small() {
        let mut coder = Coder::new();
        let mut out = Vec::new();
        let kind = Kind::Issue { unit: 1, instance: 0, class: 3, busy: 4 };
        for i in 0..1000u32 {
            let event = Event {
                cycle: u64::from(i / 2),
                core: (i % 4) as u16,
                slot: (i % 40) as u16,
                wave: i % 160,
                path: 0,
                pc: i / 40,
                mask: u64::MAX,
                kind,
            };
            coder.encode(&event, &mut out);
        }
        assert!(out.len() < 8 * 1000, "{} bytes for 1000 issues", out.len());
    }
}
