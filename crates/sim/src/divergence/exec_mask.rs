//! GCN's execution mask (docs/mechanisms.md): the compiler serialises both sides of a divergent branch in one
//! path and masks lanes with EXEC; branches are scalar. The mechanism itself has nothing to do.

use super::mechanism::{
    Change, Context, Divergence, MechanismInfo, Reconvergence, Refusal, exit, plain, unsupported,
};
use wb_isa::Flow;

#[derive(Debug)]
pub struct ExecMask;

impl Divergence for ExecMask {
    type State = ();
    const INFO: MechanismInfo = MechanismInfo::stack(
        "none",
        "execution mask only: the compiler serialises divergent sides in one path",
        "THESIS chapter 2",
        &["gcn3"],
        Reconvergence::Marked,
    );

    fn step(&self, _state: &mut (), flow: Flow, cx: &mut Context) -> Result<Change, Refusal> {
        match flow {
            Flow::Exit { lanes } => Ok(exit(lanes, cx, |_| None)),
            _ => plain(cx.at, flow).ok_or_else(|| unsupported(flow, Self::INFO.name)),
        }
    }

    fn depth(&self, _state: &()) -> usize {
        0
    }
}
