//! FST: signals of every path of every slot, for viewers of waveforms. One cycle is one nanosecond.
//! `pc` and `mask` are those of the newest instruction, `wave` is the wave in the slot, and one bit per cause says why it waits.

use crate::error::ExportError;
use crate::ordered::{Known, Ordered};
use crate::source::{Names, Source};
use fst_writer::{
    FstBodyWriter, FstFileType, FstHeaderWriter, FstInfo, FstScopeType, FstSignalId, FstSignalType,
    FstVarDirection, FstVarType, FstWriteError,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use wb_files::Output;
use wb_trace::{Event, Kind, StallReason};

type Key = (u16, u16, u16);
/// Signals are handed to the file in pieces of about this size.
const PIECE: usize = 16 << 20;

/// The signals of a path.
struct Signals {
    valid: FstSignalId,
    wave: FstSignalId,
    pc: FstSignalId,
    mask: FstSignalId,
    stall: [FstSignalId; StallReason::ALL.len()],
}

/// A signal gets a value.
#[derive(Clone, Copy)]
enum Change {
    Number(FstSignalId, u64, u8),
    Unknown(FstSignalId, u8),
}

pub(crate) fn write(source: &mut Source, to: &Path) -> Result<(), ExportError> {
    let names = Names::new(source.info());
    let failed = |e: FstWriteError| ExportError::write(to, e);
    // The hierarchy comes first in the file: which paths there are is known after one walk.
    let mut keys = BTreeSet::new();
    source.walk(|events| {
        keys.extend(events.iter().map(|e| (e.core, e.slot, e.path)));
        Ok(())
    })?;
    let (mut body, signals) = header(&names, &keys, Output::create(to)?).map_err(failed)?;
    let (mut ordered, mut known) = (Ordered::new(), Known::default());
    let mut time = None;
    let mut put = |body: &mut FstBodyWriter<Output>, at: u64, change: Change| {
        if time != Some(at) {
            // Only before a new time can changes be handed over.
            if body.size() > PIECE {
                body.flush()?;
            }
            body.time_change(at)?;
            time = Some(at);
        }
        match change {
            Change::Number(signal, value, bits) => body.signal_change(signal, &digits(value, bits)),
            Change::Unknown(signal, bits) => body.signal_change(signal, &vec![b'x'; bits.into()]),
        }
    };
    source.walk(|events| {
        for event in events {
            known.note(event);
            if let Some(own) = signals.get(&(event.core, event.slot, event.path)) {
                changes(event, own, &mut ordered);
            }
        }
        let until = known.until();
        while let Some((at, change)) = ordered.pop(until) {
            put(&mut body, at, change).map_err(failed)?;
        }
        Ok(())
    })?;
    while let Some((at, change)) = ordered.pop(u64::MAX) {
        put(&mut body, at, change).map_err(failed)?;
    }
    Ok(body.finish().map_err(failed)?.finish()?)
}

fn digits(value: u64, bits: u8) -> Vec<u8> {
    (0..bits).rev().map(|i| b'0' + (value >> i & 1) as u8).collect()
}

fn changes(event: &Event, own: &Signals, out: &mut Ordered<Change>) {
    let number = Change::Number;
    let mut alive = |at: u64| {
        out.push(at, number(own.valid, 1, 1));
        out.push(at, number(own.wave, event.wave.into(), 32));
    };
    match event.kind {
        Kind::Issue { .. } => {
            alive(event.cycle);
            out.push(event.cycle, number(own.pc, event.pc.into(), 32));
            out.push(event.cycle, number(own.mask, event.mask, 64));
        }
        Kind::WaveStart { lanes } | Kind::PathStart { lanes } => {
            alive(event.cycle);
            out.push(event.cycle, number(own.mask, lanes, 64));
        }
        Kind::Mask { new, .. } => out.push(event.cycle, number(own.mask, new, 64)),
        Kind::Stall { cycles, reason } => {
            let signal = own.stall[reason as usize];
            out.push(event.cycle, number(signal, 1, 1));
            out.push(event.cycle.saturating_add(cycles.into()), number(signal, 0, 1));
        }
        Kind::WaveEnd | Kind::PathEnd { .. } => {
            let at = event.cycle.saturating_add(1);
            out.push(at, number(own.valid, 0, 1));
            out.push(at, Change::Unknown(own.pc, 32));
            out.push(at, number(own.mask, 0, 64));
        }
        Kind::Nop
        | Kind::Split { .. }
        | Kind::PathNew { .. }
        | Kind::PathMerge { .. }
        | Kind::SplitRefused { .. }
        | Kind::Memory { .. }
        | Kind::Barrier { .. } => {}
    }
}

type Begun = (FstBodyWriter<Output>, BTreeMap<Key, Signals>);

/// The hierarchy: core, slot, path.
fn header(names: &Names, keys: &BTreeSet<Key>, out: Output) -> Result<Begun, FstWriteError> {
    let info = FstInfo {
        start_time: 0,
        timescale_exponent: -9,
        version: names.title().chars().take(120).collect(),
        date: String::new(),
        file_type: FstFileType::Verilog,
    };
    let mut head = FstHeaderWriter::new(out, &info)?;
    let mut signals = BTreeMap::new();
    let mut before: Option<Key> = None;
    for &key in keys {
        let (core, slot, path) = key;
        if before.map(|k| k.0) != Some(core) {
            if before.is_some() {
                head.up_scope()?;
                head.up_scope()?;
            }
            head.scope(format!("core{core}"), "core", FstScopeType::Module)?;
            head.scope(format!("slot{slot}"), "slot", FstScopeType::Module)?;
        } else if before.map(|k| k.1) != Some(slot) {
            head.up_scope()?;
            head.scope(format!("slot{slot}"), "slot", FstScopeType::Module)?;
        }
        before = Some(key);
        head.scope(format!("path{path}"), "path", FstScopeType::Module)?;
        let mut var = |name: &str, bits: u32| {
            let kind = FstSignalType::bit_vec(bits);
            head.var(name, kind, FstVarType::Wire, FstVarDirection::Implicit, None)
        };
        let (valid, wave) = (var("valid", 1)?, var("wave", 32)?);
        let (pc, mask) = (var("pc", 32)?, var("mask", 64)?);
        let mut stall = [valid; StallReason::ALL.len()];
        for (signal, reason) in stall.iter_mut().zip(StallReason::ALL) {
            *signal = var(&format!("stall_{}", reason.name().replace('-', "_")), 1)?;
        }
        signals.insert(key, Signals { valid, wave, pc, mask, stall });
        head.up_scope()?;
    }
    if before.is_some() {
        head.up_scope()?;
        head.up_scope()?;
    }
    Ok((head.finish()?, signals))
}
