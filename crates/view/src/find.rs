//! The search box: an instruction by address, text or source line, a wave, or who touches an address in memory; the next place
//! from where the reader is, forwards or backwards.

use crate::ViewError;
use crate::store::Store;
use serde::Serialize;
use wb_trace::{Block, Event, Kind, Pc};

/// What is searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    Wave(u32),
    /// Places in the listing, a bit each.
    Code(Vec<u64>),
    /// A line of memory that has this byte.
    Address(u64),
}

#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// From this cycle on, or from behind this event.
    pub cycle: u64,
    pub event: Option<u64>,
    pub backwards: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Its number in the trace: where the next search goes on.
    pub event: u64,
    pub cycle: u64,
    pub core: u16,
    pub slot: u16,
    pub wave: u32,
    pub path: u16,
    pub pc: Pc,
}

/// The next place; nothing if there is none in that direction.
pub fn find(store: &Store, query: &str, start: Start) -> Result<Option<Found>, ViewError> {
    let wanted = parse(store, query)?;
    if let Wanted::Wave(number) = wanted {
        let Some(wave) = store.index.waves.get(&number) else {
            return Err(ViewError::NotFound(format!("there is no wave {number}")));
        };
        let (cycle, core, slot) = (wave.from, wave.core, wave.slot);
        return Ok(Some(Found { event: 0, cycle, core, slot, wave: number, path: 0, pc: 0 }));
    }
    let blocks: Vec<usize> = match start.backwards {
        false => (0..store.blocks.len()).collect(),
        true => (0..store.blocks.len()).rev().collect(),
    };
    for number in blocks {
        let at = &store.blocks[number];
        let behind = match start.event {
            Some(event) if start.backwards => at.first_event >= event,
            Some(event) => at.first_event + u64::from(at.events) <= event + 1,
            None if start.backwards => at.from >= start.cycle,
            None => at.to < start.cycle,
        };
        let possible = match &wanted {
            Wanted::Wave(_) => false,
            Wanted::Code(places) => store.index.has(number, places),
            Wanted::Address(address) => {
                store.index.touches(number, address.saturating_sub(LINE - 1), *address)
            }
        };
        if behind || !possible {
            continue;
        }
        let block = store.block(number)?;
        if let Some(found) = in_block(store, &wanted, &block, at.first_event, &start) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The longest line of a cache.
const LINE: u64 = 256;

fn in_block(store: &Store, wanted: &Wanted, block: &Block, first: u64, start: &Start) -> Option<Found> {
    let matches = |i: usize, event: &Event| match wanted {
        Wanted::Wave(_) => false,
        Wanted::Code(places) => {
            matches!(event.kind, Kind::Issue { .. })
                && store.places.find(event.pc).is_some_and(|p| places[p / 64] >> (p % 64) & 1 == 1)
        }
        Wanted::Address(address) => {
            let touched = block.touched.binary_search_by_key(&(i as u32), |t| t.event);
            touched.is_ok_and(|t| block.touched[t].lines.iter().any(|l| address / 64 == l / 64))
        }
    };
    let reached = |i: usize, event: &Event| match (start.event, start.backwards) {
        (Some(before), true) => first + (i as u64) < before,
        (Some(before), false) => first + i as u64 > before,
        (None, true) => event.cycle < start.cycle,
        (None, false) => event.cycle >= start.cycle,
    };
    let mut hits = block.events.iter().enumerate().filter(|(i, e)| reached(*i, e) && matches(*i, e));
    let (i, e) = if start.backwards { hits.next_back()? } else { hits.next()? };
    Some(Found {
        event: first + i as u64,
        cycle: e.cycle,
        core: e.core,
        slot: e.slot,
        wave: e.wave,
        path: e.path,
        pc: e.pc,
    })
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn parse(store: &Store, query: &str) -> Result<Wanted, ViewError> {
    let query = query.trim();
    let (word, rest) = query.split_once(char::is_whitespace).unwrap_or((query, ""));
    let rest = rest.trim();
    let code = |fits: &dyn Fn(&wb_trace::CodeLine) -> bool| {
        let mut places = vec![0u64; store.info.code.len().div_ceil(64)];
        for (i, _) in store.info.code.iter().enumerate().filter(|(_, c)| fits(c)) {
            places[i / 64] |= 1 << (i % 64);
        }
        match places.iter().any(|&w| w != 0) {
            true => Ok(Wanted::Code(places)),
            false => Err(ViewError::NotFound(format!("no instruction fits `{query}`"))),
        }
    };
    let wrong = |hint: &str| ViewError::NotFound(format!("`{query}`: {hint}"));
    match word {
        "" => Err(wrong("write what to look for: wave 3, line 12, pc 0x40, addr 0x1000, or text")),
        "wave" => {
            let wave = number(rest).and_then(|n| u32::try_from(n).ok());
            wave.map(Wanted::Wave).ok_or_else(|| wrong("wave wants a number"))
        }
        "line" => {
            let line = number(rest).ok_or_else(|| wrong("line wants a number"))?;
            code(&|c| c.line > 0 && u64::from(c.line) == line)
        }
        "pc" => {
            let pc = number(rest).ok_or_else(|| wrong("pc wants an address, 0x40, or a number"))?;
            code(&|c| if rest.starts_with("0x") { c.addr == pc } else { u64::from(c.pc) == pc })
        }
        "addr" => {
            let address = number(rest).ok_or_else(|| wrong("addr wants an address, 0x1000"))?;
            if !store.addresses {
                return Err(wrong("the trace has no addresses: run with --trace-memory"));
            }
            Ok(Wanted::Address(address))
        }
        _ => match query.rsplit_once(':').and_then(|(file, line)| Some((file, number(line)?))) {
            Some((file, line)) if store.info.files.iter().any(|f| f.ends_with(file)) => {
                code(&|c| store.info.file_of(c).ends_with(file) && u64::from(c.line) == line)
            }
            _ => code(&|c| c.text.contains(query)),
        },
    }
}
