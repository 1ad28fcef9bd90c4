//! Lookup tables observers share: pc to code line, and state per core and slot. Both grow with what
//! was seen, not with what a (possibly damaged) header claims.

use std::collections::BTreeMap;

use crate::{CodeLine, NO_PC, Pc};

/// Finds the line of [`crate::TraceInfo::code`] for a pc: an array where pcs are dense, a tree otherwise.
#[derive(Clone, Debug, Default)]
pub struct PcIndex {
    dense: Vec<u32>,
    sparse: BTreeMap<Pc, u32>,
}

const NONE: u32 = u32::MAX;

impl PcIndex {
    pub fn new(code: &[CodeLine]) -> Self {
        let limit = code.len() * 8 + 1024;
        let mut index = PcIndex::default();
        for (i, line) in code.iter().enumerate() {
            let i = i as u32;
            let pc = line.pc as usize;
            if line.pc == NO_PC {
                continue;
            }
            if pc < limit {
                if index.dense.len() <= pc {
                    index.dense.resize(pc + 1, NONE);
                }
                if index.dense[pc] == NONE {
                    index.dense[pc] = i;
                }
            } else {
                index.sparse.entry(line.pc).or_insert(i);
            }
        }
        index
    }

    /// Position in the code list of the instruction at `pc`.
    #[inline]
    pub fn find(&self, pc: Pc) -> Option<usize> {
        match self.dense.get(pc as usize) {
            Some(&NONE) => None,
            Some(&i) => Some(i as usize),
            None => self.sparse.get(&pc).map(|&i| i as usize),
        }
    }
}

/// A value per core and slot, made when first asked for.
#[derive(Clone, Debug)]
pub struct SlotTable<T> {
    cores: Vec<Vec<T>>,
}

impl<T> Default for SlotTable<T> {
    fn default() -> Self {
        SlotTable { cores: Vec::new() }
    }
}

impl<T: Default> SlotTable<T> {
    #[inline]
    pub fn get_mut(&mut self, core: u16, slot: u16) -> &mut T {
        let (core, slot) = (core as usize, slot as usize);
        if self.cores.len() <= core {
            self.cores.resize_with(core + 1, Vec::new);
        }
        let slots = &mut self.cores[core];
        if slots.len() <= slot {
            slots.resize_with(slot + 1, T::default);
        }
        &mut slots[slot]
    }

    pub fn get(&self, core: u16, slot: u16) -> Option<&T> {
        self.cores.get(core as usize)?.get(slot as usize)
    }

    /// All entries made so far as (core, slot, value), in that order.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u16, &T)> {
        self.cores.iter().enumerate().flat_map(|(core, slots)| {
            slots.iter().enumerate().map(move |(slot, value)| (core as u16, slot as u16, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_sparse_pcs() {
        let line = |pc| CodeLine { pc, ..CodeLine::default() };
        let code = [line(0), line(4), line(4), line(u32::MAX - 1), line(NO_PC)];
        let index = PcIndex::new(&code);
        assert_eq!(index.find(0), Some(0));
        assert_eq!(index.find(1), None);
        assert_eq!(index.find(4), Some(1));
        assert_eq!(index.find(u32::MAX - 1), Some(3));
        assert_eq!(index.find(NO_PC), None);
    }

    #[test]
    fn slots_grow() {
        let mut table = SlotTable::<u32>::default();
        *table.get_mut(1, 2) = 7;
        assert_eq!(table.get(1, 2), Some(&7));
        assert_eq!(table.get(0, 0), None);
        assert_eq!(table.iter().count(), 3);
    }
}
