//! How often each edge can be taken at most, from loop bounds and facts alone. A certificate that leaves a rest on an
//! edge pays it this often, so the limits have to be justified again here.

use crate::flow::Flow;

/// Per edge the limit, `None` if there is none. docs/certificate.md gives the argument: cut the edges of a part that
/// rows limit; between two cut edges an execution passes everything else in the part at most once.
pub fn justified(flow: &Flow) -> Vec<Option<i128>> {
    let claim = flow.claim;
    let from_facts = flow.fact_limits();
    let mut limits: Vec<Option<i128>> = vec![None; claim.edges.len()];
    let mut cut: Vec<bool> = (0..claim.edges.len()).map(|e| !flow.edge_runs(e)).collect();
    let everything: Vec<usize> = (0..claim.names.len()).filter(|&v| flow.runs[v]).collect();
    let mut work = vec![(everything, 1_i128)];
    while let Some((nodes, times)) = work.pop() {
        let part = flow.parts(&nodes, &cut);
        let mut inside: Vec<(usize, usize)> = Vec::new();
        for &v in &nodes {
            for &e in flow.out[v].iter().filter(|&&e| !cut[e]) {
                let to = claim.edges[e].to;
                if part[to] == part[v] {
                    inside.push((part[v], e));
                } else if part[to] != usize::MAX {
                    limits[e] = Some(times);
                }
            }
        }
        inside.sort_unstable();
        for group in inside.chunk_by(|a, b| a.0 == b.0) {
            let name = group[0].0;
            let edges: Vec<usize> = group.iter().map(|&(_, e)| e).collect();
            let Some((limited, pieces)) = cut_part(flow, &part, name, &edges, times, &from_facts) else {
                continue;
            };
            for (e, limit) in limited {
                limits[e] = Some(limit);
                cut[e] = true;
            }
            let members = nodes.iter().copied().filter(|&v| part[v] == name).collect();
            work.push((members, pieces));
        }
    }
    for (limit, fact) in limits.iter_mut().zip(from_facts) {
        *limit = match (*limit, fact) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
    limits
}

/// Edges to cut with their limits, and the number of pieces the executions in this part fall into.
type Cut = (Vec<(usize, i128)>, i128);

/// What to cut in the part called `name`, which executions are in at most `times` times: back edges of loops that are
/// entered only by coming into the part, or, without such a loop, edges that facts limit.
fn cut_part(
    flow: &Flow,
    part: &[usize],
    name: usize,
    edges: &[usize],
    times: i128,
    from_facts: &[Option<i128>],
) -> Option<Cut> {
    let claim = flow.claim;
    let mut limited = Vec::new();
    let mut pieces = times;
    for one in claim.loops.iter().filter(|one| part[one.header] == name) {
        let comes_in = |&e: &usize| part[claim.edges[e].from] != name && part[claim.edges[e].to] == name;
        let back: Vec<usize> = one.back.iter().copied().filter(|e| edges.binary_search(e).is_ok()).collect();
        if !back.is_empty() && one.entries.iter().all(comes_in) {
            let rounds = times.checked_mul(one.max)?;
            pieces = pieces.checked_add(rounds)?;
            limited.extend(back.iter().map(|&e| (e, rounds)));
        }
    }
    if limited.is_empty() {
        for &e in edges {
            if let Some(limit) = from_facts[e] {
                pieces = pieces.checked_add(limit)?;
                limited.push((e, limit));
            }
        }
    }
    (!limited.is_empty()).then_some((limited, pieces))
}
