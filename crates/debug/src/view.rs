//! A run that stands still, as front ends see it: everything can be asked, breakpoints and focus can be changed.

use crate::breaks::Breaks;
use crate::calls::Calls;
use crate::code::{Code, Place};
use crate::context::Context;
use crate::error::DebugError;
use crate::expr::{Expr, Value};
use crate::goal::{Focus, Go, Reason};
use crate::launch::LaunchInfo;
use wb_isa::lanes::bits;
use wb_isa::{Mask, Pc};
use wb_jobs::data::Element;
use wb_sim::Inspected;

/// Who talks to the user.
pub trait Front {
    /// The run stands still: what next?
    fn stopped(&mut self, view: &mut View) -> Go;
    /// Asked now and then while it runs. True: it is to stand still.
    fn poll(&mut self, view: &mut View) -> bool;
    /// The program has printed more.
    fn printed(&mut self, text: &str);
}

/// A run that stands still.
pub struct View<'a> {
    pub now: &'a dyn Inspected,
    pub info: &'a LaunchInfo<'a>,
    pub breaks: &'a mut Breaks,
    pub focus: &'a mut Focus,
    pub calls: &'a Calls,
    pub reason: &'a Reason,
}

/// One of the functions that a lane is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub function: String,
    pub pc: Pc,
    /// Name of the file, and line.
    pub place: Option<(String, u32)>,
    /// The compiler put it into its caller.
    pub inlined: bool,
}

impl<'a> View<'a> {
    pub fn code(&self) -> &'a Code {
        self.info.code
    }

    /// What the lane in focus sees.
    pub fn context(&self) -> Result<Context<'a>, DebugError> {
        Context::new(self.now, self.info, (self.focus.wave, self.focus.path), self.focus.lane)
    }

    /// Looks at another wave; at its path that runs, and at a lane that is on there.
    pub fn look_at(&mut self, wave: u32, path: Option<usize>) -> Result<(), DebugError> {
        let paths = self.now.paths(wave);
        let current = self.now.current().filter(|c| c.0 == wave).map(|c| c.1);
        let first = current.or(paths.first().map(|p| p.path)).unwrap_or(0);
        let at = Context::new(self.now, self.info, (wave, path.unwrap_or(first)), 0)?;
        *self.focus = settle(*self.focus, wave, at.path.path, at.path.active, at.path.mask);
        Ok(())
    }

    /// Functions that the lane in focus is in, the innermost first.
    pub fn frames(&self) -> Result<Vec<Frame>, DebugError> {
        let at = self.context()?;
        Ok(frames(self.info.code, self.calls, self.focus.wave, self.focus.lane, at.path.pc))
    }

    pub fn eval(&self, text: &str) -> Result<Value, DebugError> {
        let e = Expr::parse(text)?;
        self.context()?.eval(&e)
    }

    /// Bytes of memory; fewer where there are fewer.
    pub fn memory(&self, addr: u64, bytes: u64) -> &'a [u8] {
        let memory = self.now.memory();
        if let Ok(all) = memory.read(addr, bytes) {
            return all;
        }
        // The largest part that exists, found by halves.
        let (mut low, mut high) = (0, bytes.min(1 << 32));
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if memory.read(addr, middle).is_ok() { low = middle } else { high = middle }
        }
        memory.read(addr, low).unwrap_or_default()
    }

    /// Elements `from..to` of memory at an address, as text.
    pub fn elements(&self, addr: u64, element: Element, from: u64, to: u64) -> Vec<String> {
        let size = element.bytes();
        let start = addr.saturating_add(from.saturating_mul(size));
        let bytes = self.memory(start, to.saturating_sub(from).saturating_mul(size));
        bytes.chunks_exact(size as usize).map(|c| element.show(c)).collect()
    }
}

/// A lane of a path to look at: the one from before if it is on, or the first that is.
pub fn settle(before: Focus, wave: u32, path: usize, active: Mask, mask: Mask) -> Focus {
    let lanes = if active != 0 { active } else { mask };
    let kept = before.wave == wave && before.lane < 64 && lanes >> before.lane & 1 == 1;
    let lane = if kept { before.lane } else { bits(lanes).next().unwrap_or(0) };
    Focus { wave, path, lane }
}

/// Functions around a pc of a lane, inlined ones too.
pub fn frames(code: &Code, calls: &Calls, wave: u32, lane: u32, pc: Pc) -> Vec<Frame> {
    let mut frames = Vec::new();
    let around = calls.of(wave, lane);
    let pcs = std::iter::once(pc).chain(around.iter().rev().map(|c| c.at));
    for pc in pcs {
        let place = |p: Place| (code.file_name(p.0).to_owned(), p.1);
        let mut place = code.place(pc).map(place);
        for call in code.inlined(pc) {
            let function = if call.function.is_empty() { "(inlined)" } else { &call.function };
            frames.push(Frame { function: function.to_owned(), pc, place, inlined: true });
            place = (call.line > 0).then(|| (call.file.clone(), call.line));
        }
        frames.push(Frame { function: code.function(pc).to_owned(), pc, place, inlined: false });
    }
    frames
}
