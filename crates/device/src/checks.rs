//! A device whose kernels are checked ([`wb_sanitize`]): the checker learns of every block of memory, and what is known of a kernel.

use crate::dispatch::{Arg, Dispatch};
use crate::kernarg::explicit;
use crate::{Device, Module};
use wb_objects::codeobject::Kernel;
use wb_sanitize::{Array, Block, Checker};

/// Lanes of a wave for which compilers leave out barriers.
const WAVE: u32 = 64;

/// Bytes between arguments in local memory.
const LOCAL_GAP: u32 = 256;

/// Bytes of freed blocks that nobody gets yet, so that uses of them are found.
const HELD: u64 = 1 << 28;

impl Device {
    /// From now on kernels are checked. What is allocated already has a value; `module` is the program that is in place.
    pub fn check(&mut self, mut checker: Checker, module: Option<&Module>) {
        for (at, bytes) in self.heap.blocks_in_use() {
            checker.allocated(at, Block { bytes, ..Block::default() });
            checker.written(at, bytes);
        }
        if let Some(module) = module {
            checker.internal(module.block());
        }
        self.memory.checker = Some(Box::new(checker));
        self.heap.hold_back(HELD.min(self.heap.total() / 4));
    }

    pub fn checker(&mut self) -> Option<&mut Checker> {
        self.memory.checker.as_deref_mut()
    }

    /// A new block. Nobody has written it, unless it is the runtime's own: what kernels find there is told elsewhere.
    pub(crate) fn checks_block(&mut self, at: u64, bytes: u64, internal: bool) {
        if let Some(checker) = &mut self.memory.checker {
            checker.allocated(at, Block { bytes, internal, ..Block::default() });
        }
    }

    /// Bytes between arguments in local memory: who leaves one does not come into the next. None where they do not fit.
    pub(crate) fn local_gap(&self, kernel: &Kernel, dispatch: &Dispatch) -> u32 {
        let sizes = dispatch.args.iter().filter_map(|arg| match arg {
            Arg::Local(bytes) => Some(bytes.saturating_add(LOCAL_GAP + 16)),
            _ => None,
        });
        let all = sizes.fold(kernel.lds_bytes.saturating_add(dispatch.dynamic_lds), u32::saturating_add);
        if self.memory.checker.is_some() && all <= self.machine.core.lds_bytes { LOCAL_GAP } else { 0 }
    }

    /// A block is not the program's.
    pub fn own_block(&mut self, at: u64) {
        if let Some(checker) = &mut self.memory.checker {
            checker.internal(at);
        }
    }
}

/// What a checker should know of a kernel: its arrays, and whether its lanes go in step.
pub(crate) fn kernel(module: &Module, kernel: &Kernel, dispatch: &Dispatch, gap: u32) -> wb_sanitize::Kernel {
    let arrays = |private: bool| {
        let mine = module.object.arrays.iter().filter(|a| a.private == private);
        let mine = mine.filter(|a| a.function == kernel.entry);
        let array = |a: &wb_objects::codeobject::DebugArray| Array {
            name: a.name.clone(),
            offset: a.offset,
            bytes: a.bytes,
        };
        mine.map(array).collect::<Vec<Array>>()
    };
    let mut local = arrays(false);
    let mut end = kernel.lds_bytes;
    for (slot, arg) in explicit(kernel).zip(&dispatch.args) {
        if let Arg::Local(bytes) = arg {
            let offset = end.saturating_add(gap).next_multiple_of(16);
            end = offset.saturating_add(*bytes);
            // Without debug information for the others nothing is said about any.
            if !local.is_empty() || kernel.lds_bytes == 0 {
                local.push(Array { name: slot.name.clone(), offset: offset.into(), bytes: (*bytes).into() });
            }
        }
    }
    let attributes = &kernel.attributes;
    let required = attributes.required_group.map(|group| group.iter().product::<u32>());
    let largest = required.unwrap_or(attributes.largest_group);
    wb_sanitize::Kernel {
        local_whole: kernel.lds_bytes == 0 && dispatch.dynamic_lds == 0,
        local,
        private: arrays(true),
        aligned: module.object.aligned,
        in_step: (1..=WAVE).contains(&largest),
    }
}
