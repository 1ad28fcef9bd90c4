//! Returns whose address was put aside. A function that calls others keeps its return address in lanes of a vector
//! register (`v_writelane_b32`), or in other scalars, while its calls overwrite it, and fetches it back before it returns.
//! Followed register by register: a jump is a return only if what it reads is, on every way to it, what the call left.

use super::calls::Calls;
use std::collections::{BTreeMap, BTreeSet};
use wb_isa::{FlowKind, Isa, Pc};
use wb_program::Program;

/// Half of the return address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    Low,
    High,
}

/// Where the halves are: scalar registers (`s30`) and lanes (`v3:0`), by name.
type State = BTreeMap<String, Half>;

/// Jumps of the function at `entry` that return to who called it. `from` are its calls.
pub fn returns<I: Isa>(program: &Program<I>, calls: &Calls, entry: Pc, from: &[Pc]) -> BTreeSet<Pc> {
    let links: BTreeSet<Option<(String, String)>> = from
        .iter()
        .map(|&pc| operands(&program.text_at(pc), "s_swappc_b64").and_then(|o| pair(&o[0])))
        .collect();
    let (Some(Some((low, high))), 1) = (links.first().cloned(), links.len()) else { return BTreeSet::new() };
    let Some(first) = program.cfg.block_at(entry) else { return BTreeSet::new() };
    let follow = Follow { program, calls, written: BTreeMap::new() };
    follow.function(first, State::from([(low, Half::Low), (high, Half::High)]))
}

struct Follow<'a, I: Isa> {
    program: &'a Program<I>,
    calls: &'a Calls,
    /// What functions write, with all they call.
    written: BTreeMap<Pc, BTreeSet<String>>,
}

impl<I: Isa> Follow<'_, I> {
    fn function(mut self, first: usize, start: State) -> BTreeSet<Pc> {
        let blocks = self.program.cfg.reachable(Some(first));
        let mut at: BTreeMap<usize, State> = BTreeMap::from([(first, start)]);
        let mut work = vec![first];
        while let Some(b) = work.pop() {
            let mut state = at[&b].clone();
            for pc in self.program.cfg.pcs(b, &self.program.flow) {
                self.step(pc, &mut state);
            }
            for &s in &self.program.cfg.blocks[b].succs {
                let new = match at.get(&s) {
                    None => state.clone(),
                    // Only what holds on every way.
                    Some(old) => old
                        .iter()
                        .filter(|(k, v)| state.get(*k) == Some(v))
                        .map(|(k, v)| (k.clone(), *v))
                        .collect(),
                };
                if at.get(&s) != Some(&new) {
                    at.insert(s, new);
                    work.push(s);
                }
            }
        }
        let mut found = BTreeSet::new();
        for &b in &blocks {
            let Some(mut state) = at.get(&b).cloned() else { continue };
            for pc in self.program.cfg.pcs(b, &self.program.flow) {
                if matches!(self.program.flow.kind[pc as usize], FlowKind::Indirect { .. })
                    && let Some((low, high)) =
                        operands(&self.program.text_at(pc), "s_setpc_b64").and_then(|o| pair(&o[0]))
                    && state.get(&low) == Some(&Half::Low)
                    && state.get(&high) == Some(&Half::High)
                {
                    found.insert(pc);
                }
                self.step(pc, &mut state);
            }
        }
        found
    }

    /// What an instruction does to the halves.
    fn step(&mut self, pc: Pc, state: &mut State) {
        let text = self.program.text_at(pc);
        let put = moved(&text, state);
        for name in self.writes(pc) {
            let lanes = format!("{name}:");
            // Lanes other than the one that is written keep what they have.
            let keep = text.starts_with("v_writelane_b32");
            state.retain(|k, _| *k != name && (keep || !k.starts_with(&lanes)));
        }
        if let FlowKind::Call { .. } = self.program.flow.kind[pc as usize] {
            match self.calls.targets.get(&pc) {
                None => state.clear(),
                Some(&callee) => {
                    let written = self.function_writes(callee, &mut BTreeSet::new());
                    let hit = |k: &String| written.contains(k.split(':').next().unwrap_or(k));
                    state.retain(|k, _| !hit(k));
                }
            }
        }
        for (name, half) in put {
            match half {
                Some(half) => _ = state.insert(name, half),
                None => _ = state.remove(&name),
            }
        }
    }

    fn writes(&self, pc: Pc) -> Vec<String> {
        let Some(inst) = self.program.ops[pc as usize].inst.as_ref() else { return Vec::new() };
        let facts = self.program.isa.facts(inst, pc, self.program.flow.next[pc as usize]);
        facts.writes.into_iter().map(|r| self.program.isa.register_name(r)).collect()
    }

    /// Everything that a function and what it calls can write; what it restores counts as written.
    fn function_writes(&mut self, entry: Pc, inside: &mut BTreeSet<Pc>) -> BTreeSet<String> {
        if let Some(known) = self.written.get(&entry) {
            return known.clone();
        }
        let mut found = BTreeSet::new();
        if !inside.insert(entry) {
            return found;
        }
        for b in self.program.cfg.reachable(self.program.cfg.block_at(entry)) {
            for pc in self.program.cfg.pcs(b, &self.program.flow) {
                found.extend(self.writes(pc));
                if let Some(&callee) = self.calls.targets.get(&pc) {
                    found.extend(self.function_writes(callee, inside));
                }
            }
        }
        self.written.insert(entry, found.clone());
        found
    }
}

/// Places that get what another one has: halves of the address, or something else.
fn moved(text: &str, state: &State) -> Vec<(String, Option<Half>)> {
    let of = |name: &str| state.get(name).copied();
    if let Some(o) = operands(text, "s_mov_b32").filter(|o| o.len() == 2) {
        return vec![(o[0].clone(), of(&o[1]))];
    }
    if let Some(o) = operands(text, "s_mov_b64").filter(|o| o.len() == 2) {
        let (Some(to), Some(from)) = (pair(&o[0]), pair(&o[1])) else { return Vec::new() };
        return vec![(to.0, of(&from.0)), (to.1, of(&from.1))];
    }
    if let Some(o) = operands(text, "v_writelane_b32").filter(|o| o.len() == 3) {
        // A lane that is not a number could be any.
        return match o[2].parse::<u32>() {
            Ok(lane) => vec![(format!("{}:{lane}", o[0]), of(&o[1]))],
            Err(_) => {
                let lanes = format!("{}:", o[0]);
                state.keys().filter(|k| k.starts_with(&lanes)).map(|k| (k.clone(), None)).collect()
            }
        };
    }
    if let Some(o) = operands(text, "v_readlane_b32").filter(|o| o.len() == 3) {
        let half = o[2].parse::<u32>().ok().and_then(|lane| of(&format!("{}:{lane}", o[1])));
        return vec![(o[0].clone(), half)];
    }
    Vec::new()
}

/// The operands of an instruction of this name.
fn operands(text: &str, name: &str) -> Option<Vec<String>> {
    let rest = text.strip_prefix(name)?.strip_prefix(' ')?;
    Some(rest.split(',').map(|o| o.trim().to_owned()).collect())
}

/// `s[30:31]` as `s30` and `s31`.
fn pair(text: &str) -> Option<(String, String)> {
    let (low, high) = text.strip_prefix("s[")?.strip_suffix(']')?.split_once(':')?;
    let (low, high): (u32, u32) = (low.parse().ok()?, high.parse().ok()?);
    (high == low + 1).then(|| (format!("s{low}"), format!("s{high}")))
}
