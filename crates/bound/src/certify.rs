//! The certificate of a bound: the proof of a wave's bound, and what binds it to code, machine, launches, times and limits
//! (docs/certificate.md). `wb-check` reads it, with types of its own.

use crate::measured::MeasuredKernel;
use crate::result::{LaunchRow, Status};
use crate::shape::{Shape, hex};
use crate::source::{Source, hash};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use wb_facts::{BranchSide, HomogeneousFact, LoopFact};
use wb_isa::{NO_PC, Pc};
use wb_wcet::ipet::Certificate;
use wb_wcet::measure::{END, Measured, PlanEdge, START, Unmeasured};
use wb_wcet::wave::WaveBound;

const FORMAT: &str = "wavebound-certificate";
const VERSION: u32 = 2;

/// Everything a certificate is made of.
pub(crate) struct Certified<'a> {
    pub measured_kernel: &'a MeasuredKernel,
    pub measured: &'a Measured,
    pub bound: &'a WaveBound,
    pub limits: &'a [LoopFact],
    /// Branches whose splits are counted on.
    pub sure: &'a BTreeSet<Pc>,
    pub status: Status,
    pub unmeasured: Unmeasured,
}

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    version: u32,
    /// Free text.
    about: BTreeMap<&'static str, String>,
    binding: Binding,
    proof: &'a Certificate,
}

#[derive(Serialize)]
struct Binding {
    status: Status,
    code: CodePart,
    machine: MachinePart,
    times: TimesPart,
    launches: Vec<LaunchPart>,
    total: u64,
    graph: GraphPart,
    limits: Vec<LimitPart>,
    left_out: Vec<LeftOut>,
    untaken: Vec<Step>,
    assumed: Option<u64>,
    splits: Vec<Pc>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    homogeneous: Vec<MaskPart>,
    calls: Vec<Pc>,
}

#[derive(Serialize)]
struct CodePart {
    isa: String,
    kernel: String,
    checksum: String,
}

#[derive(Serialize)]
struct MachinePart {
    name: String,
    mechanism: String,
    contexts: u32,
    lanes: u32,
    hash: String,
}

#[derive(Serialize)]
struct TimesPart {
    origin: &'static str,
    runs: u32,
    inputs: Option<u32>,
    files: Vec<FilePart>,
}

#[derive(Serialize)]
struct FilePart {
    name: String,
    hash: String,
}

#[derive(Serialize)]
struct LaunchPart {
    count: u64,
    runs: u32,
    bound: u64,
    shapes: Vec<ShapePart>,
}

#[derive(Serialize)]
struct ShapePart {
    hash: String,
    grid: [u32; 3],
    group: [u32; 3],
    vgprs: u32,
    sgprs: u32,
    lds_bytes: u32,
    arguments: String,
    data: Vec<String>,
    groups: u64,
    waves_per_group: u32,
    cores: u64,
    groups_per_core: u64,
    limit: &'static str,
    rounds: u64,
}

#[derive(Serialize)]
struct GraphPart {
    pcs: Vec<Option<Pc>>,
    via: Vec<Option<Pc>>,
    points: Vec<Pc>,
}

#[derive(Serialize)]
struct LimitPart {
    pc: Pc,
    max: u64,
    origin: &'static str,
    why: String,
    whole: bool,
}

/// A branch with a homogeneous mask.
#[derive(Serialize)]
struct MaskPart {
    pc: Pc,
    side: Option<&'static str>,
    why: String,
}

#[derive(Serialize)]
struct LeftOut {
    from: Option<Pc>,
    via: Option<Pc>,
    to: Option<Pc>,
    reason: &'static str,
    why: String,
}

/// A step that no run took.
#[derive(Serialize)]
struct Step {
    from: Pc,
    to: Option<Pc>,
}

impl Certified<'_> {
    /// The document; its last field is a digest of all bytes before it.
    pub fn certificate(&self) -> String {
        let kernel = &self.measured_kernel.kernel;
        let about = BTreeMap::from([
            ("program", kernel.file.clone()),
            ("times", self.measured_kernel.source.meaning().to_owned()),
            ("made by", format!("wavebound {}", env!("CARGO_PKG_VERSION"))),
        ]);
        let binding = self.binding();
        let document =
            Document { format: FORMAT, version: VERSION, about, binding, proof: &self.bound.certificate };
        let text = serde_json::to_string(&document).unwrap_or_default();
        seal(text.strip_suffix('}').unwrap_or(&text))
    }

    fn binding(&self) -> Binding {
        let (measured_kernel, kernel) = (self.measured_kernel, &self.measured_kernel.kernel);
        let launches = self.launches();
        let machine = &kernel.machine;
        let whole = |pc: Pc| kernel.plan.loops.iter().any(|l| l.header == pc && l.node.is_none());
        let inputs = |l: &LaunchPart| l.shapes.iter().map(|s| s.data.len() as u32).sum();
        let most = launches.iter().map(inputs).max().unwrap_or(0);
        let files = measured_kernel.source.files().into_iter().map(|(name, hash)| FilePart { name, hash });
        Binding {
            status: self.status,
            code: CodePart {
                isa: machine.isa.name().to_owned(),
                kernel: kernel.name.clone(),
                checksum: kernel.checksum.clone(),
            },
            machine: MachinePart {
                name: machine.name.clone(),
                mechanism: machine.divergence.mechanism.name().to_owned(),
                contexts: machine.split.contexts,
                lanes: machine.core.lanes,
                hash: hash(machine.to_toml().as_bytes()),
            },
            times: TimesPart {
                origin: measured_kernel.source.name(),
                runs: launches.iter().map(|l| l.runs).max().unwrap_or(0),
                inputs: (!matches!(measured_kernel.source, Source::Trace { .. })).then_some(most),
                files: files.collect(),
            },
            total: launches.iter().fold(0, |sum: u64, l| sum.saturating_add(l.count.saturating_mul(l.bound))),
            launches,
            graph: self.graph(),
            limits: self
                .limits
                .iter()
                .map(|l| LimitPart {
                    pc: l.header,
                    max: l.max,
                    origin: l.origin.name(),
                    why: l.why.clone(),
                    whole: whole(l.header),
                })
                .collect(),
            left_out: self.left_out(),
            untaken: self.untaken(),
            assumed: match self.unmeasured {
                Unmeasured::Cost(cycles) if !self.measured.coverage.gaps.is_empty() => Some(cycles),
                Unmeasured::Cost(_) | Unmeasured::Exclude | Unmeasured::Error => None,
            },
            splits: self.sure.iter().copied().collect(),
            homogeneous: self.masks(),
            calls: kernel.plan.calls.iter().filter(|c| kernel.winds(c.1)).map(|c| c.0).collect(),
        }
    }

    /// Launches with the same geometries and arguments are one entry with their number.
    fn launches(&self) -> Vec<LaunchPart> {
        let mut groups: Vec<(Vec<String>, Vec<&LaunchRow>)> = Vec::new();
        for row in &self.measured_kernel.launches {
            let mut key: Vec<String> = row.shapes.iter().map(|(s, _)| s.hash()).collect();
            key.sort();
            match groups.iter_mut().find(|(k, _)| *k == key) {
                Some((_, rows)) => rows.push(row),
                None => groups.push((key, vec![row])),
            }
        }
        groups.iter().map(|(_, rows)| self.launch(rows)).collect()
    }

    fn launch(&self, rows: &[&LaunchRow]) -> LaunchPart {
        let mut shapes: Vec<(&Shape, Vec<String>)> = Vec::new();
        for (shape, data) in rows.iter().flat_map(|r| &r.shapes) {
            let at = shapes.iter().position(|(s, _)| *s == shape).unwrap_or_else(|| {
                shapes.push((shape, Vec::new()));
                shapes.len() - 1
            });
            let known = &mut shapes[at].1;
            // What a trace or a table says was not measured with the data at hand.
            for d in data.iter().filter(|_| matches!(self.measured_kernel.source, Source::Runs)) {
                if !known.contains(d) {
                    known.push(d.clone());
                }
            }
        }
        let inputs: usize = shapes.iter().map(|(_, data)| data.len()).sum();
        let runs = rows.iter().map(|r| r.runs).max().unwrap_or(0).max(inputs as u32);
        let given = matches!(self.measured_kernel.source, Source::Table { .. });
        LaunchPart {
            count: rows.len() as u64,
            runs: if given { 0 } else { runs },
            bound: rows.first().map_or(0, |r| r.bound),
            shapes: shapes.into_iter().map(|(shape, data)| part(shape, data)).collect(),
        }
    }

    fn graph(&self) -> GraphPart {
        let plan = &self.measured_kernel.kernel.plan;
        let via = |&e: &usize| plan.edges[e].via.map(|p| plan.pieces[p].first);
        let mut points: Vec<Pc> = plan.nodes.iter().copied().filter(|&pc| pc != NO_PC).collect();
        points.sort_unstable();
        GraphPart {
            pcs: self.bound.node_origin.iter().map(|&n| self.pc(n)).collect(),
            via: self.bound.edge_origin.iter().map(via).collect(),
            points,
        }
    }

    /// Place of a node of the plan.
    fn pc(&self, node: usize) -> Option<Pc> {
        (node != START && node != END).then(|| self.measured_kernel.kernel.plan.nodes[node])
    }

    /// Masks that the proof takes to be homogeneous.
    fn masks(&self) -> Vec<MaskPart> {
        let kernel = &self.measured_kernel.kernel;
        let used = kernel.homogeneous();
        let all = kernel.facts.homogeneous.iter().filter(|h| used.contains(&h.branch));
        let part = |h: &HomogeneousFact| MaskPart {
            pc: h.branch,
            side: h.side.map(BranchSide::name),
            why: h.why.clone(),
        };
        all.map(part).collect()
    }

    fn untaken(&self) -> Vec<Step> {
        let gaps = self.measured.coverage.gaps.iter();
        gaps.map(|g| Step { from: g.from, to: (g.to != NO_PC).then_some(g.to) }).collect()
    }

    /// Ways out of points that are reached, which the proof does not contain, each with the reason.
    fn left_out(&self) -> Vec<LeftOut> {
        let plan = &self.measured_kernel.kernel.plan;
        let there: BTreeSet<usize> = self.bound.edge_origin.iter().copied().collect();
        let mut reached = BTreeSet::from([START]);
        loop {
            let next = there.iter().map(|&e| plan.edges[e]).filter(|e| reached.contains(&e.from));
            let more: Vec<usize> = next.map(|e| e.to).filter(|to| !reached.contains(to)).collect();
            if more.is_empty() {
                break;
            }
            reached.extend(more);
        }
        let mut list = Vec::new();
        for (e, edge) in plan.edges.iter().enumerate() {
            if there.contains(&e) || !reached.contains(&edge.from) {
                continue;
            }
            let PlanEdge { from, via, to } = *edge;
            let (reason, why) = self.reason(e);
            list.push(LeftOut {
                from: self.pc(from),
                via: via.map(|p| plan.pieces[p].first),
                to: self.pc(to),
                reason,
                why,
            });
        }
        list
    }

    fn reason(&self, edge: usize) -> (&'static str, String) {
        let kernel = &self.measured_kernel.kernel;
        if !kernel.plan.possible(edge, &kernel.never()) {
            let why: Vec<&str> = kernel.never.iter().map(|n| n.why.as_str()).collect();
            return ("infeasible", why.join("; "));
        }
        let (reason, why) = self.reason_of_runs(edge);
        (reason, why.to_owned())
    }

    fn reason_of_runs(&self, edge: usize) -> (&'static str, &'static str) {
        let plan = &self.measured_kernel.kernel.plan;
        let PlanEdge { from, to, .. } = plan.edges[edge];
        let zero = |pc: Pc| self.limits.iter().any(|l| l.header == pc && l.max == 0);
        let back = plan.loops.iter().any(|l| {
            let inside = plan.piece_at(plan.nodes[from]).is_some_and(|p| l.pieces.contains(&p));
            l.node == Some(to) && inside && zero(l.header)
        });
        let coverage = &self.measured.coverage;
        if back {
            ("limit", "the loop never goes back to its header")
        } else if plan.skips.contains(&edge) || coverage.gaps.is_empty() && !coverage.never_skipped.is_empty()
        {
            ("skip", "no run skipped this side")
        } else {
            ("not-taken", "no run took this way")
        }
    }
}

fn part(shape: &Shape, data: Vec<String>) -> ShapePart {
    ShapePart {
        hash: shape.hash(),
        grid: shape.grid,
        group: shape.group,
        vgprs: shape.needs.vgprs,
        sgprs: shape.needs.sgprs,
        lds_bytes: shape.needs.lds_bytes,
        arguments: hex(&shape.arguments),
        data,
        groups: shape.groups,
        waves_per_group: shape.needs.waves_per_group,
        cores: shape.seats.cores,
        groups_per_core: shape.seats.groups_per_core,
        limit: shape.limit,
        rounds: shape.groups.div_ceil(shape.at_once().max(1)),
    }
}

/// Adds the digest to a document without its last bracket.
fn seal(body: &str) -> String {
    format!("{body},\"digest\":\"{}\"}}", hash(body.as_bytes()))
}
