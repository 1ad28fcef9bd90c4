//! Which branches a user means: addresses, pcs, labels, source lines, and marks in the source. What cannot be
//! marked is explained, with the branches that can.

use super::code::Code;
use super::{MarkError, Site};
use crate::rewrite::Edits;
use std::collections::BTreeSet;
use wb_hw::MarkStyle;
use wb_isa::{FlowKind, Pc};

/// Candidates that a message names.
const SHOWN: usize = 12;

/// The branches at the given places.
pub(super) fn resolve(
    code: &Code,
    places: &[String],
    style: MarkStyle,
    notes: &mut Vec<String>,
) -> Result<BTreeSet<Pc>, MarkError> {
    let mut out = BTreeSet::new();
    for place in places {
        let wrong =
            |what: String| MarkError::Place { place: place.clone(), what, hint: candidates(code, style) };
        let found = find(code, place).map_err(wrong)?;
        let usable: Vec<Pc> = found.iter().filter(|s| s.usable(style)).map(|s| s.pc).collect();
        for s in found.iter().filter(|s| !s.usable(style)) {
            let what = format!("the branch at {}: {}", s.place(), s.why);
            if usable.is_empty() {
                return Err(wrong(what));
            }
            notes.push(format!("{what}; left alone"));
        }
        out.extend(usable);
    }
    Ok(out)
}

/// Branches a place stands for; several where a line was compiled more than once.
fn find<'a>(code: &'a Code, place: &str) -> Result<Vec<&'a Site>, String> {
    let at = |pc: Pc| code.sites.iter().find(|s| s.pc == pc);
    if let Some(hex) = place.strip_prefix("0x") {
        let addr = u64::from_str_radix(hex, 16).map_err(|_| "not an address".to_owned())?;
        let site = code.pc(addr).and_then(at);
        return site.map(|s| vec![s]).ok_or_else(|| "there is no branch on the mask at this address".into());
    }
    if let Ok(pc) = place.parse::<Pc>() {
        return at(pc).map(|s| vec![s]).ok_or_else(|| "there is no branch on the mask at this pc".into());
    }
    if let Some((file, line)) = place.rsplit_once(':') {
        let line: u32 = line.parse().map_err(|_| "FILE:LINE needs a number".to_owned())?;
        let same = |s: &&Site| s.line == line && (s.file == file || s.file.ends_with(&format!("/{file}")));
        let found: Vec<&Site> = code.sites.iter().filter(same).collect();
        return if found.is_empty() {
            Err("no branch on the mask comes from this line".into())
        } else {
            Ok(found)
        };
    }
    let (name, offset) = place.split_once('+').unwrap_or((place, "0"));
    let offset = match offset.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => offset.parse(),
    };
    let offset = offset.map_err(|_| "LABEL+OFFSET needs a number of bytes".to_owned())?;
    let symbol = code.object.symbols.iter().find(|s| s.0 == name && code.pc(s.1).is_some());
    let from =
        symbol.and_then(|s| s.1.checked_add(offset)).ok_or_else(|| "there is no such label".to_owned())?;
    let owner = code.pc(from).map_or("", |pc| code.function(pc));
    let behind = code.sites.iter().find(|s| s.addr >= from && s.function == owner);
    behind.map(|s| vec![s]).ok_or_else(|| "no branch on the mask follows in this function".into())
}

/// The branches that can be marked, for a hint.
fn candidates(code: &Code, style: MarkStyle) -> String {
    let all: Vec<String> = code.sites.iter().filter(|s| s.usable(style)).map(Site::place).collect();
    match all.len() {
        0 => "no branch here can be marked; `wavebound split FILE --list` says why".into(),
        n if n > SHOWN => format!(
            "branches that can be marked: {}, and {} more (--list)",
            all[..SHOWN].join(", "),
            n - SHOWN
        ),
        _ => format!("branches that can be marked: {}", all.join(", ")),
    }
}

/// The branches around the source's marks; the marks themselves go.
pub(super) fn from_source(
    code: &Code,
    style: MarkStyle,
    edits: &mut Edits,
    notes: &mut Vec<String>,
) -> Result<BTreeSet<Pc>, MarkError> {
    let mut out = BTreeSet::new();
    let mut first = None;
    for mark in code.source_marks() {
        edits.remove.insert(mark);
        let what = match around(code, mark) {
            Ok(site) if site.usable(style) => {
                out.insert(site.pc);
                continue;
            }
            Ok(site) => format!("its branch at {} cannot be marked: {}", site.place(), site.why),
            Err(what) => what,
        };
        let place = code.place(mark);
        notes.push(format!("{place}: the mark is dropped, {what}"));
        first.get_or_insert((place, what));
    }
    match first {
        Some((place, what)) if out.is_empty() => {
            Err(MarkError::Place { place, what, hint: candidates(code, style) })
        }
        _ => Ok(out),
    }
}

/// The branch that decides whether the mark is reached.
fn around(code: &Code, mark: Pc) -> Result<&Site, String> {
    let cfg = &code.program.cfg;
    let unreachable = || "it cannot be reached".to_owned();
    let block = cfg.block_at(mark).ok_or_else(unreachable)?;
    let decides = |&b: &usize| cfg.blocks[b].succs.len() > 1 && !cfg.post_dominates(block, b);
    let above = std::iter::successors(cfg.idom[block], |&b| cfg.idom[b]).find(decides);
    let branch = above.map(|b| cfg.blocks[b].last);
    match branch.map(|pc| (pc, code.program.flow.kind[pc as usize])) {
        Some((pc, FlowKind::MaskBranch { .. })) => {
            code.sites.iter().find(|s| s.pc == pc).ok_or_else(unreachable)
        }
        Some((pc, _)) => Err(format!("the branch at {} is uniform: its lanes always agree", code.place(pc))),
        None => Err("it does not stand in the body of a branch".into()),
    }
}
