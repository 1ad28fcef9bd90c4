//! The graph of a kernel as data: what JSON shows, and what text and drawings are made of.

use serde::Serialize;
use wb_isa::Pc;

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Instruction {
    pub pc: Pc,
    pub addr: u64,
    pub text: String,
    /// `file:line`, empty where unknown.
    pub source: String,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Block {
    pub number: usize,
    pub first: Pc,
    pub last: Pc,
    pub addr: u64,
    /// Symbol or label at its first instruction.
    pub label: String,
    /// Source lines in order, each once.
    pub lines: Vec<String>,
    pub dominator: Option<usize>,
    pub post_dominator: Option<usize>,
    /// Header of the innermost loop around it.
    #[serde(rename = "loop")]
    pub inner: Option<usize>,
    pub instructions: Vec<Instruction>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    /// `next` (falls through) or `taken`.
    pub way: &'static str,
    /// What decides: `always`, `scalar` (the whole wave), `mask` (whether a lane is on), `lanes` (each lane) or `stack`
    /// (the mask stack).
    pub on: &'static str,
    /// Goes back to the header of a loop.
    pub back: bool,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct LoopJson {
    pub header: usize,
    pub pc: Pc,
    pub addr: u64,
    pub source: String,
    pub depth: u32,
    pub parent: Option<usize>,
    pub blocks: Vec<usize>,
    pub latches: Vec<usize>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct RegionJson {
    /// Block and pc of the branch.
    pub block: usize,
    pub pc: Pc,
    pub addr: u64,
    pub kind: &'static str,
    /// Block in which the second side begins.
    pub serialise: Option<usize>,
    /// Block in which the lanes are together again, and the first pc there with all of them.
    pub reconverge: Option<usize>,
    pub reconverge_pc: Option<Pc>,
    pub markable: bool,
    /// Its lanes never come together again: marked with `split_end`.
    pub ends: bool,
    pub why: &'static str,
}

/// Loops and regions within each other, with the blocks that are in none of their children.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Tree {
    /// `kernel`, `loop` or `region`.
    pub kind: &'static str,
    /// Entry, header, or block of the branch.
    pub block: usize,
    pub blocks: Vec<usize>,
    pub children: Vec<Tree>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct CallJson {
    pub block: usize,
    pub pc: Pc,
    /// Block where the function begins; null if it is not known.
    pub callee: Option<usize>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct KernelGraph {
    pub version: u32,
    pub file: String,
    pub isa: &'static str,
    pub kernel: String,
    pub checksum: String,
    pub entry: usize,
    pub blocks: Vec<Block>,
    pub edges: Vec<Edge>,
    pub loops: Vec<LoopJson>,
    pub regions: Vec<RegionJson>,
    pub tree: Tree,
    pub calls: Vec<CallJson>,
    /// Why no bound can be computed, if so.
    pub problem: Option<String>,
}
