//! Kernels from a list of numbers, as in [`super::super::generate`]: zero stands for the simplest choice and a list
//! that has run out gives zeros, so that a shorter list is a smaller kernel.

use super::super::MAX_LOOPS;
use super::super::ast::{Cond, Form, Simple, Value};
use super::super::generate::Generator;
use super::ast::{Kernel, LoopShape, Segment, Serial, Shape, Shared, Stmt};

const MAX_STATEMENTS: u32 = 48;
const MAX_DEPTH: u32 = 4;
/// Ways out of a loop besides its count.
const MAX_BREAKS: usize = 2;

/// The kernel a list of choices stands for.
pub fn generate(numbers: &[u16]) -> Kernel {
    let mut g = Kernels { g: Generator::expressions(numbers), statements: 0, depth: 0 };
    let mut segments = Vec::new();
    while !g.g.choices.is_over() && g.statements < MAX_STATEMENTS && segments.len() < 8 {
        segments.push(g.segment(0));
    }
    Kernel { segments }
}

struct Kernels<'a> {
    g: Generator<'a>,
    statements: u32,
    depth: u32,
}

impl Kernels<'_> {
    fn below(&mut self, n: u32) -> u32 {
        self.g.choices.below(n)
    }

    fn segment(&mut self, nested: u32) -> Segment {
        match self.below(10) {
            6 | 7 => {
                Segment::Exchange { var: self.g.var(), with: [1, 2, 5, 32, 63, 64][self.below(6) as usize] }
            }
            8 if nested < 2 && self.g.trips <= 4 => {
                let times = 1 + self.below(3) as u8;
                self.g.trips *= u32::from(times);
                let inner = self.segments(nested);
                self.g.trips /= u32::from(times);
                Segment::Repeat(times, inner)
            }
            9 if nested < 2 => Segment::Uniform(self.below(2) as u8, self.segments(nested)),
            _ => Segment::Body(self.block(false)),
        }
    }

    fn segments(&mut self, nested: u32) -> Vec<Segment> {
        (0..1 + self.below(3)).map(|_| self.segment(nested + 1)).collect()
    }

    /// `looped`: the body of a loop, where breaks may stand.
    fn block(&mut self, looped: bool) -> Vec<Stmt> {
        let mut body = Vec::new();
        let mut breaks = 0;
        while self.statements < MAX_STATEMENTS && !self.g.choices.is_over() {
            let kind = self.below(28);
            // Deeper blocks are shorter.
            if kind <= self.depth {
                break;
            }
            self.statements += 1;
            if kind == 27 && looped && breaks < MAX_BREAKS {
                breaks += 1;
                body.push(Stmt::Break(self.g.cond()));
            } else {
                body.push(self.statement(kind));
            }
        }
        body
    }

    fn statement(&mut self, kind: u32) -> Stmt {
        let nested = self.depth < MAX_DEPTH;
        match kind {
            8 => {
                let (cond, var) = (self.g.cond(), self.g.var());
                Stmt::Select(cond, var, self.g.plain())
            }
            9..=11 => {
                let (slot, value) = (self.g.value(), self.g.value());
                Stmt::Store { slot, value, atomic: self.below(4) == 3 }
            }
            12 => Stmt::Atomic(Shared::ALL[self.below(3) as usize], self.g.value()),
            13..=19 if nested => {
                let shape = self.shape();
                let cond = self.test();
                let yes = self.inner(false);
                let no = if kind >= 16 { self.inner(false) } else { Vec::new() };
                Stmt::If { cond, yes, no, shape }
            }
            20..=25 if nested && usize::from(self.g.loops) < MAX_LOOPS => self.a_loop(),
            _ => {
                let var = self.g.var();
                Stmt::Assign(var, self.g.expr())
            }
        }
    }

    /// Half of the conditions are on the thread's number, so that most waves diverge.
    fn test(&mut self) -> Cond {
        match self.below(2) {
            0 => self.g.cond(),
            _ => Cond::Is(Simple::Less(Value::Thread, Value::Const(1 + self.below(14) as i16))),
        }
    }

    fn shape(&mut self) -> Shape {
        let n = self.below(12);
        Shape {
            no_skip: n >= 10,
            no_skip_else: n == 9 || n == 11,
            serial: if n.is_multiple_of(2) { Serial::AndNot } else { Serial::OrXor },
        }
    }

    fn a_loop(&mut self) -> Stmt {
        let form = if self.below(2) == 0 { Form::While } else { Form::DoWhile };
        let shape = match (form, self.below(2)) {
            (Form::While, 1) => LoopShape::Header,
            _ => LoopShape::Rotated,
        };
        let count = self.g.value();
        let mask = self.g.trip_mask();
        let outside = self.g.trips;
        self.g.trips *= u32::from(mask) + 1;
        self.g.loops += 1;
        let body = self.inner(true);
        self.g.loops -= 1;
        self.g.trips = outside;
        Stmt::Loop { form, count, mask, shape, body }
    }

    fn inner(&mut self, looped: bool) -> Vec<Stmt> {
        self.depth += 1;
        let body = self.block(looped);
        self.depth -= 1;
        body
    }
}
