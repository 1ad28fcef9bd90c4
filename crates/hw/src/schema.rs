//! The fields of a machine file as a table, so that a wrong name, type or word is reported with its
//! path and what is allowed there. Tests hold the table to the serde structures in machine.rs.

use crate::error::{HwError, nearest, suggest};
use crate::mechanism::{InstructionSet, Mechanism};
use crate::policy::Policy;

/// One key of a machine file.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub name: &'static str,
    pub kind: Kind,
    /// Has no default: a file without `base` must give it.
    pub required: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    U32,
    U64,
    Text,
    Word(&'static [&'static str]),
    /// A list of strings.
    Texts,
    /// Instruction class to number.
    Map,
    Table(&'static [Field]),
    /// Tables with a `name`, addressed by it.
    Named(&'static [Field]),
}

const fn must(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: true }
}

const fn may(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: false }
}

use Kind::{Map, Named, Table, Text, Texts, U32, U64, Word};

const POLICY: Kind = Word(&Policy::WORDS);

/// Every field of a machine file, in the order of machine.rs.
pub const SCHEMA: &[Field] = &[
    must("name", Text),
    must("description", Text),
    must("isa", Word(&InstructionSet::NAMES)),
    may("arch", Text),
    may("clock_mhz", U32),
    must("cores", U32),
    may("dispatch", Word(&["round-robin", "fill"])),
    must("core", Table(CORE)),
    must("frontend", Table(FRONTEND)),
    must("issue", Table(&[must("policy", POLICY), must("width", U32)])),
    must("divergence", Table(DIVERGENCE)),
    may("split", Table(SPLIT)),
    must("memory", Table(MEMORY)),
    must("dram", Table(DRAM)),
    must("limits", Table(&[must("cycles", U64), must("memory", U64), must("stack_depth", U32)])),
    must("units", Named(UNIT)),
    may("caches", Named(CACHE)),
];

const CORE: &[Field] = &[
    must("lanes", U32),
    must("waves", U32),
    must("partitions", U32),
    may("registers", U32),
    may("register_file", U32),
    may("scalar_register_file", U32),
    may("lds_bytes", U32),
    may("lds_banks", U32),
    may("barriers", U32),
];

const FRONTEND: &[Field] = &[
    must("kind", Word(&["perfect", "decoupled", "coordinated"])),
    may("policy", POLICY),
    may("ports", U32),
    may("buffer", U32),
    may("after_miss", Word(&["go-on", "wait"])),
    may("fetch_latency", U32),
    may("decode_latency", U32),
    may("branch_penalty", U32),
    may("resolution", U32),
    may("unresolved", Word(&["go-on", "wait", "stall"])),
    may("requests", U32),
];

const DIVERGENCE: &[Field] = &[
    must("mechanism", Word(&Mechanism::NAMES)),
    may("first", Word(&["taken", "not-taken", "larger", "smaller"])),
    may("push_cycles", U32),
    may("pop_cycles", U32),
    may("choice", Word(&["marked", "opportunistic"])),
    may("reconverge", Word(&["default", "never", "region-end", "anywhere", "mask-stack"])),
    may("threshold", U32),
    may("quantum", U32),
    may("rows", U32),
    may("fetch_group", U32),
    may("slice", U32),
    may("table", U32),
    may("memory", Word(&["never", "aggressive", "lazy", "revive"])),
    may("ahead", Word(&["branch", "unlimited"])),
];

const SPLIT: &[Field] = &[
    may("contexts", U32),
    may("units", Word(&["shared", "extra", "reprovisioned"])),
    may("registers", Word(&["shared", "own"])),
    may("split_cycles", U32),
    may("merge_cycles", U32),
];

const MEMORY: &[Field] = &[
    must("data", Text),
    may("sampler", Text),
    may("scalar", Text),
    may("instruction", Text),
    may("lds_latency", U32),
    may("request_latency", U32),
    may("response_latency", U32),
];

const DRAM: &[Field] = &[
    must("latency", U32),
    must("bandwidth", U32),
    may("line", U32),
    may("banks", U32),
    may("row_bytes", U32),
    may("row_hit_latency", U32),
];

const UNIT: &[Field] = &[
    must("name", Text),
    must("classes", Texts),
    may("scope", Word(&["core", "partition", "split"])),
    may("count", U32),
    may("lanes", U32),
    may("latency", U32),
    may("latencies", Map),
    may("interval", U32),
    may("intervals", Map),
    may("depth", U32),
    may("port", Word(&["none", "data", "sampler", "scalar", "lds"])),
];

const CACHE: &[Field] = &[
    must("name", Text),
    may("shared_by", U32),
    must("size", U32),
    may("line", U32),
    must("ways", U32),
    must("latency", U32),
    may("ports", U32),
    may("write", Word(&["free", "through"])),
    must("next", Text),
];

pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Path of entry `index` of a list of named tables: by name where it has one, else `units[2]`.
pub(crate) fn entry_path(list: &str, index: usize, name: &str) -> String {
    if plain_name(name) { format!("{list}.{name}") } else { format!("{list}[{index}]") }
}

/// Names that can stand in a path: no dots, brackets or blanks, and not a number.
pub(crate) fn plain_name(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        && !name.chars().all(|c| c.is_ascii_digit())
}

/// Finds `key` among `fields`, or says which exist at `path`.
pub(crate) fn find(fields: &'static [Field], path: &str, key: &str) -> Result<&'static Field, HwError> {
    fields.iter().find(|f| f.name == key).ok_or_else(|| {
        let names: Vec<_> = fields.iter().map(|f| f.name).collect();
        let here = if path.is_empty() { "fields of a machine".into() } else { format!("fields of `{path}`") };
        HwError::field(join(path, key), "no such field").help(suggest(key, &here, &names))
    })
}

pub(crate) fn wrong_type(path: &str, found: &str, kind: Kind) -> HwError {
    HwError::field(path, format!("expected {}, found {found}", kind.describe()))
}

pub(crate) fn check_word(path: &str, word: &str, allowed: &[&str]) -> Result<(), HwError> {
    if allowed.contains(&word) {
        return Ok(());
    }
    let e = HwError::field(path, format!("`{word}` is not one of {}", allowed.join(", ")));
    Err(match nearest(word, allowed.iter().copied()) {
        Some(n) => e.help(format!("did you mean `{n}`?")),
        None => e,
    })
}

pub(crate) fn check_number(path: &str, n: i128, kind: Kind) -> Result<i64, HwError> {
    let max = if matches!(kind, U64) { i64::MAX } else { i64::from(u32::MAX) };
    i64::try_from(n)
        .ok()
        .filter(|n| (0..=max).contains(n))
        .ok_or_else(|| HwError::field(path, format!("{n} is out of range; a whole number from 0 to {max}")))
}

impl Kind {
    pub fn describe(self) -> String {
        match self {
            U32 | U64 => "a whole number".into(),
            Text => "a string".into(),
            Word(w) => format!("one of {}", w.join(", ")),
            Texts => "a list of strings".into(),
            Map => "a table of numbers by instruction class".into(),
            Table(_) => "a table".into(),
            Named(_) => "a list of tables with a `name`".into(),
        }
    }
}
