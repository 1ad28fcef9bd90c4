//! GCN's execution mask (docs/mechanisms.md): the compiler serialises both sides of a divergent branch in one
//! path and masks lanes with EXEC; branches are scalar. The mechanism itself has nothing to do.

use super::mechanism::{Change, Context, Divergence, Refusal, exit, plain, unsupported};
use wb_hw::Mechanism;
use wb_isa::Flow;

#[derive(Debug)]
pub struct ExecMask;

impl Divergence for ExecMask {
    fn step(&mut self, flow: Flow, cx: &mut Context) -> Result<Change, Refusal> {
        match flow {
            Flow::Exit { lanes } => Ok(exit(lanes, cx, |_| None)),
            _ => plain(cx.at, flow).ok_or_else(|| unsupported(flow, Mechanism::ExecMask)),
        }
    }

    fn follows_masks(&self) -> bool {
        true
    }

    fn depth(&self) -> usize {
        0
    }
}
