//! The facts file in TOML (docs/facts.md): checksum, kernel, `[[loop]]` limits, `[[fact]]` linear facts and
//! `[[homogeneous]]` masks. Unknown fields, stale checksums, places that are no loops or branches and numbers still to be
//! filled in are errors with their line.

use super::calls::Calls;
use super::check::calls_of;
use super::place::{Places, Wrong};
use super::{
    BranchSide, Counted, FactsError, FlowFacts, HomogeneousFact, LinearFact, LoopFact, Origin, checksum,
};
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;
use wb_isa::{Isa, Pc, SourceFile};
use wb_program::Program;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileTable {
    checksum: Option<Spanned<String>>,
    kernel: Option<Spanned<String>>,
    #[serde(default, rename = "loop")]
    loops: Vec<Spanned<LoopTable>>,
    #[serde(default, rename = "fact")]
    facts: Vec<Spanned<FactTable>>,
    #[serde(default)]
    homogeneous: Vec<HomogeneousTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoopTable {
    at: Spanned<String>,
    max: Option<Spanned<toml::Value>>,
    #[serde(default)]
    why: String,
    /// `user` (default) or `observed`.
    origin: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FactTable {
    name: String,
    terms: Vec<Spanned<TermTable>>,
    limit: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HomogeneousTable {
    at: Spanned<String>,
    /// `first` or `second`, if it is always the same.
    side: Option<Spanned<String>>,
    #[serde(default, alias = "reason")]
    why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TermTable {
    count: Option<Spanned<String>>,
    rounds: Option<Spanned<String>>,
    #[serde(default = "one")]
    factor: i64,
}

fn one() -> i64 {
    1
}

type Result<T> = std::result::Result<T, Box<FactsError>>;

struct Reader<'a, I: Isa> {
    file: &'a SourceFile,
    places: Places<'a, I>,
}

pub(super) fn read<I: Isa>(file: &SourceFile, program: &Program<I>) -> Result<FlowFacts> {
    let table: FileTable = toml::from_str(&file.text).map_err(|e| {
        let error = FactsError::new(file, e.span().unwrap_or(0..0), e.message());
        match suggestion(e.message()) {
            Some(hint) => error.hint(hint),
            None => error,
        }
    })?;
    let calls = calls_of(program);
    same_code(file, &table, program, &calls)?;
    let reader = Reader { file, places: Places::new(program, &calls) };
    let mut facts = FlowFacts::default();
    let mut seen: Vec<(Pc, Range<usize>)> = Vec::new();
    for l in &table.loops {
        for fact in reader.loop_fact(l)? {
            let span = l.get_ref().at.span();
            if let Some((_, first)) = seen.iter().find(|s| s.0 == fact.header) {
                let line = file.line_column(first.start).0;
                let what = format!("the loop at `{}` is limited twice", l.get_ref().at.get_ref());
                return Err(FactsError::new(file, span, what).hint(format!("line {line} limits it already")));
            }
            seen.push((fact.header, span));
            facts.loops.push(fact);
        }
    }
    facts.loops.sort_by_key(|l| l.header);
    for f in &table.facts {
        facts.facts.push(reader.linear(f)?);
    }
    for h in &table.homogeneous {
        for fact in reader.homogeneous(h)? {
            if facts.homogeneous.iter().any(|known| known.branch == fact.branch) {
                let what = format!("the branch at `{}` is called homogeneous twice", h.at.get_ref());
                return Err(FactsError::new(file, h.at.span(), what));
            }
            facts.homogeneous.push(fact);
        }
    }
    facts.homogeneous.sort_by_key(|h| h.branch);
    Ok(facts)
}

/// A suggestion for `unknown field …, expected one of …`.
fn suggestion(message: &str) -> Option<String> {
    let rest = message.strip_prefix("unknown field `")?;
    let (word, known) = rest.split_once('`')?;
    let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    wb_isa::diag::nearest(word, known).map(|near| format!("did you mean `{near}`?"))
}

/// The file is for this kernel as it is now.
fn same_code<I: Isa>(
    file: &SourceFile,
    table: &FileTable,
    program: &Program<I>,
    calls: &Calls,
) -> Result<()> {
    if let Some(kernel) = table.kernel.as_ref().filter(|k| *k.get_ref() != program.kernel) {
        let what = format!("the facts are for kernel `{}`, this is `{}`", kernel.get_ref(), program.kernel);
        let hint = "choose the kernel with --kernel, or write a file for this one with `wavebound facts`";
        return Err(FactsError::new(file, kernel.span(), what).hint(hint));
    }
    let now = checksum(program, calls);
    let again = "check the facts against the code as it is now: `wavebound facts` writes a new file";
    match &table.checksum {
        Some(old) if *old.get_ref() == now => Ok(()),
        Some(old) => {
            let what = format!("the facts are stale: they are for {}, the code is {now}", old.get_ref());
            Err(FactsError::new(file, old.span(), what).hint(again))
        }
        None => {
            let what = "there is no checksum: nothing says which code the facts are for";
            Err(FactsError::new(file, 0..0, what).hint(format!("for this code: checksum = \"{now}\"")))
        }
    }
}

impl<I: Isa> Reader<'_, I> {
    fn wrong(&self, span: Range<usize>, wrong: Wrong) -> Box<FactsError> {
        FactsError::new(self.file, span, wrong.what).hint(wrong.hint)
    }

    fn loop_fact(&self, table: &Spanned<LoopTable>) -> Result<Vec<LoopFact>> {
        let l = table.get_ref();
        let at = l.at.get_ref();
        let headers = self.places.find_loops(at).map_err(|w| self.wrong(l.at.span(), w))?;
        let missing = |span| {
            let what = format!("the loop at `{at}` has no number yet");
            let hint = "max = how often the loop goes round at most, each time it is entered (edges back to its header)";
            FactsError::new(self.file, span, what).hint(hint)
        };
        let max = l.max.as_ref().ok_or_else(|| missing(l.at.span()))?;
        let max = match max.get_ref() {
            toml::Value::Integer(n) => u64::try_from(*n).map_err(|_| {
                let what = format!("max = {n}: a loop cannot go round less than 0 times");
                FactsError::new(self.file, max.span(), what)
                    .hint("0 means that it never goes back to its header")
            })?,
            toml::Value::String(s) if s.trim() == "?" => return Err(missing(max.span())),
            other => {
                let what = format!("max = {other}: this is not a number");
                return Err(
                    FactsError::new(self.file, max.span(), what).hint("a whole number, like max = 100")
                );
            }
        };
        let origin = match l.origin.as_ref().map(|o| (o.get_ref().as_str(), o.span())) {
            None | Some(("user", _)) => Origin::User,
            Some(("observed", _)) => Origin::Observed,
            Some((other, span)) => {
                let what = format!("origin = \"{other}\"");
                let hint = "user: you vouch for the limit; observed: it was only seen in runs";
                return Err(FactsError::new(self.file, span, what).hint(hint));
            }
        };
        Ok(headers.into_iter().map(|header| LoopFact { header, max, origin, why: l.why.clone() }).collect())
    }

    fn homogeneous(&self, table: &HomogeneousTable) -> Result<Vec<HomogeneousFact>> {
        let found = self.places.find_branches(table.at.get_ref());
        let branches = found.map_err(|w| self.wrong(table.at.span(), w))?;
        let side = match table.side.as_ref().map(|s| (s.get_ref().as_str(), s.span())) {
            None => None,
            Some(("first", _)) => Some(BranchSide::First),
            Some(("second", _)) => Some(BranchSide::Second),
            Some((other, span)) => {
                let what = format!("side = \"{other}\"");
                let hint =
                    "first: all lanes that come there go into the side behind the branch; second: none does";
                return Err(FactsError::new(self.file, span, what).hint(hint));
            }
        };
        let fact = |branch| HomogeneousFact { branch, side, why: table.why.clone() };
        Ok(branches.into_iter().map(fact).collect())
    }

    fn linear(&self, table: &Spanned<FactTable>) -> Result<LinearFact> {
        let f = table.get_ref();
        let mut terms = Vec::new();
        for term in &f.terms {
            let t = term.get_ref();
            let what = match (&t.count, &t.rounds) {
                (Some(at), None) => vec![Counted::Block(
                    self.places.find_block(at.get_ref()).map_err(|w| self.wrong(at.span(), w))?,
                )],
                (None, Some(at)) => {
                    let found = self.places.find_loops(at.get_ref()).map_err(|w| self.wrong(at.span(), w))?;
                    found.into_iter().map(Counted::Rounds).collect()
                }
                _ => {
                    let what = "a term counts either a block or the rounds of a loop";
                    let hint = "{ count = \"0x2650\", factor = 1 } or { rounds = \"0x2650\", factor = 1 }";
                    return Err(FactsError::new(self.file, term.span(), what).hint(hint));
                }
            };
            terms.extend(what.into_iter().map(|w| (t.factor, w)));
        }
        if terms.is_empty() {
            let what = format!("the fact `{}` counts nothing", f.name);
            let hint = "terms = [{ count = \"0x2650\", factor = 1 }, …]";
            return Err(FactsError::new(self.file, table.span(), what).hint(hint));
        }
        Ok(LinearFact { name: f.name.clone(), terms, limit: f.limit, origin: Origin::User })
    }
}
