//! Kernels: straight and divergent statements of one thread, and segments around them that a whole group passes
//! together: exchanges through local memory, uniform loops and branches.

use super::super::ast::{Cond, Expr, Form, Value};
use std::fmt::{self, Display, Formatter};

/// How a divergent if looks in assembly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The branches that jump over a side no lane takes are left out, as LLVM does before short sides.
    pub no_skip: bool,
    pub no_skip_else: bool,
    pub serial: Serial,
}

/// How the second side begins (branch serialisation block).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Serial {
    /// `s_andn2_saveexec`
    #[default]
    AndNot,
    /// `s_or_saveexec` and `s_xor exec`
    OrXor,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoopShape {
    /// Test at the end, `s_cbranch_execnz` back.
    #[default]
    Rotated,
    /// Test at the head, `s_cbranch_execz` back to the block that collects lanes.
    Header,
}

/// Operations on the words all threads share; each word has one operation, so that the order does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    Add,
    Xor,
    Max,
}

impl Shared {
    pub const ALL: [Shared; 3] = [Shared::Add, Shared::Xor, Shared::Max];
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    Assign(u8, Expr),
    /// By `v_cndmask`.
    Select(Cond, u8, Expr),
    /// The thread's own word; `atomic`: by an exchange.
    Store {
        slot: Value,
        value: Value,
        atomic: bool,
    },
    Atomic(Shared, Value),
    If {
        cond: Cond,
        yes: Vec<Stmt>,
        no: Vec<Stmt>,
        shape: Shape,
    },
    Loop {
        form: Form,
        count: Value,
        mask: u8,
        shape: LoopShape,
        body: Vec<Stmt>,
    },
    /// Leaves the innermost loop; stands in its body, not in an if.
    Break(Cond),
}

/// What a group does together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    Body(Vec<Stmt>),
    /// A variable becomes that of thread `number xor with` of the group, if there is one.
    Exchange {
        var: u8,
        with: u8,
    },
    /// A loop all threads run equally often.
    Repeat(u8, Vec<Segment>),
    /// Groups whose number has the bit.
    Uniform(u8, Vec<Segment>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    pub segments: Vec<Segment>,
}

impl Kernel {
    /// Whether the group uses local memory.
    pub fn exchanges(&self) -> bool {
        fn any(segments: &[Segment]) -> bool {
            segments.iter().any(|s| match s {
                Segment::Body(_) => false,
                Segment::Exchange { .. } => true,
                Segment::Repeat(_, inner) | Segment::Uniform(_, inner) => any(inner),
            })
        }
        any(&self.segments)
    }
}

impl Display for Kernel {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        segments(f, &self.segments, 0)
    }
}

fn segments(f: &mut Formatter, list: &[Segment], indent: usize) -> fmt::Result {
    let pad = "    ".repeat(indent);
    for segment in list {
        match segment {
            Segment::Body(body) => block(f, body, indent)?,
            Segment::Exchange { var, with } => writeln!(f, "{pad}exchange v{var} with ^{with}")?,
            Segment::Repeat(n, inner) => {
                writeln!(f, "{pad}repeat {n} {{")?;
                segments(f, inner, indent + 1)?;
                writeln!(f, "{pad}}}")?;
            }
            Segment::Uniform(bit, inner) => {
                writeln!(f, "{pad}in groups with bit {bit} {{")?;
                segments(f, inner, indent + 1)?;
                writeln!(f, "{pad}}}")?;
            }
        }
    }
    Ok(())
}

fn block(f: &mut Formatter, body: &[Stmt], indent: usize) -> fmt::Result {
    let pad = "    ".repeat(indent);
    for stmt in body {
        match stmt {
            Stmt::Assign(v, e) => writeln!(f, "{pad}v{v} = {e}")?,
            Stmt::Select(c, v, e) => writeln!(f, "{pad}v{v} = {c} ? {e} : v{v}")?,
            Stmt::Store { slot, value, atomic } => {
                let how = if *atomic { " (exchange)" } else { "" };
                writeln!(f, "{pad}own[{slot}] = {value}{how}")?;
            }
            Stmt::Atomic(op, value) => writeln!(f, "{pad}shared {op:?} {value}")?,
            Stmt::If { cond, yes, no, shape } => {
                writeln!(f, "{pad}if {cond} {{ // {shape:?}")?;
                block(f, yes, indent + 1)?;
                if !no.is_empty() {
                    writeln!(f, "{pad}}} else {{")?;
                    block(f, no, indent + 1)?;
                }
                writeln!(f, "{pad}}}")?;
            }
            Stmt::Loop { form, count, mask, shape, body } => {
                writeln!(f, "{pad}{form:?} ({count} & {mask}) {{ // {shape:?}")?;
                block(f, body, indent + 1)?;
                writeln!(f, "{pad}}}")?;
            }
            Stmt::Break(c) => writeln!(f, "{pad}if {c} break")?,
        }
    }
    Ok(())
}
