//! What a kernel leaves in memory, by walking the AST: one thread after the other up to the next exchange, nothing of
//! waves, masks or paths.

use super::super::ast::Form;
use super::super::interpret::{Thread, table};
use super::super::{SCRATCH, SLOT, prelude};
use super::WORD;
use super::ast::{Kernel, Segment, Shared, Stmt};
use std::ops::ControlFlow::{self, Break, Continue};

/// Everything a kernel writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// A slot of [`SLOT`] words per thread.
    pub slots: Vec<u32>,
    /// By [`Shared::ALL`].
    pub shared: [u32; Shared::ALL.len()],
}

/// Runs `threads` threads in groups of `group`.
pub fn run(kernel: &Kernel, threads: u32, group: u32) -> Memory {
    let table = table(WORD);
    let mut memory = Memory::default();
    for (number, first) in (0..threads).step_by(group as usize).enumerate() {
        let members = first..(first + group).min(threads);
        let mut members: Vec<Thread> =
            members.map(|thread| Thread::new(WORD, &table, thread.into())).collect();
        for thread in &mut members {
            thread.block(&prelude(), 0);
        }
        segments(&kernel.segments, number as u32, &mut members, &mut memory.shared);
        for thread in &members {
            let mut slot = [0; SLOT];
            for (word, &value) in slot.iter_mut().zip(thread.own.iter().chain(&thread.vars)) {
                *word = value as u32;
            }
            memory.slots.extend(slot);
        }
    }
    memory
}

fn segments(list: &[Segment], group: u32, members: &mut [Thread], shared: &mut [u32; 3]) {
    for segment in list {
        match segment {
            Segment::Body(body) => {
                for thread in &mut *members {
                    // No loop is around a segment's statements.
                    let _ = block(body, thread, 0, shared);
                }
            }
            Segment::Exchange { var, with } => {
                let var = usize::from(*var);
                let before: Vec<u64> = members.iter().map(|t| t.vars[var]).collect();
                for (i, thread) in members.iter_mut().enumerate() {
                    let other = i ^ usize::from(*with);
                    thread.vars[var] = before[if other < before.len() { other } else { i }];
                }
            }
            Segment::Repeat(times, inner) => {
                (0..*times).for_each(|_| segments(inner, group, members, shared));
            }
            Segment::Uniform(bit, inner) if group >> bit & 1 == 1 => segments(inner, group, members, shared),
            Segment::Uniform(..) => {}
        }
    }
}

/// Breaks when the innermost loop is left.
fn block(body: &[Stmt], t: &mut Thread, loops: usize, shared: &mut [u32; 3]) -> ControlFlow<()> {
    for stmt in body {
        match stmt {
            Stmt::Assign(var, expr) => t.vars[usize::from(*var)] = t.expr(expr),
            Stmt::Select(cond, var, expr) => {
                if t.cond(cond) {
                    t.vars[usize::from(*var)] = t.expr(expr);
                }
            }
            Stmt::Store { slot, value, .. } => t.own[t.value(slot) as usize % SCRATCH] = t.value(value),
            Stmt::Atomic(op, value) => {
                let (word, value) = (&mut shared[*op as usize], t.value(value) as u32);
                *word = match op {
                    Shared::Add => word.wrapping_add(value),
                    Shared::Xor => *word ^ value,
                    Shared::Max => value.max(*word),
                };
            }
            Stmt::If { cond, yes, no, .. } => block(if t.cond(cond) { yes } else { no }, t, loops, shared)?,
            Stmt::Loop { form, count, mask, body, .. } => {
                t.left[loops] = t.value(count) & u64::from(*mask);
                match form {
                    Form::While => {
                        while t.left[loops] != 0 {
                            t.left[loops] -= 1;
                            if block(body, t, loops + 1, shared).is_break() {
                                break;
                            }
                        }
                    }
                    Form::DoWhile => {
                        t.left[loops] += 1;
                        while block(body, t, loops + 1, shared).is_continue() {
                            t.left[loops] -= 1;
                            if t.left[loops] == 0 {
                                break;
                            }
                        }
                    }
                }
            }
            Stmt::Break(cond) => {
                if t.cond(cond) {
                    return Break(());
                }
            }
        }
    }
    Continue(())
}
