//! The points of a kernel as trace files write them.

use crate::error::{BoundError, refused};
use crate::kernel::AnalysedKernel;
use std::collections::BTreeMap;
use wb_isa::Pc;
use wb_wcet::measure::At;

/// `start`, `end`, `pc 148` or an address.
pub(super) fn point(
    text: &str,
    kernel: &AnalysedKernel,
    places: &BTreeMap<u64, Pc>,
    place: &str,
) -> Result<At, BoundError> {
    let found = match text {
        "start" => return Ok(At::Start),
        "end" => return Ok(At::End),
        _ => match (text.strip_prefix("0x"), text.strip_prefix("pc")) {
            (Some(hex), _) => u64::from_str_radix(hex, 16).ok().and_then(|addr| places.get(&addr).copied()),
            (_, Some(pc)) => pc.trim().trim_start_matches('=').parse().ok(),
            _ => None,
        },
    };
    found.filter(|pc| kernel.code.contains_key(pc)).map(At::Pc).ok_or_else(|| {
        refused!(Times, help = "a point is `start`, `end`, `pc 148`, or an address as `wavebound cfg` and --list-points show it: 0x2650",
            "{place}: kernel {} has no point `{text}`",
            kernel.name
        )
    })
}

/// The point as it is written.
pub(super) fn point_name(kernel: &AnalysedKernel, at: At) -> String {
    match at {
        At::Start => "start".into(),
        At::End => "end".into(),
        At::Pc(pc) => format!("{:#x}", kernel.place(pc).addr),
    }
}
