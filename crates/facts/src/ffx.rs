//! Flow facts of OTAWA in XML (FFX): `<loop>` with maxcount and totalcount, at an address, a label with an offset or a
//! source line, alone or in `<function>`. maxcount counts iterations; limiting the edges back to the header by it is safe.

use super::calls::code_blocks;
use super::check::calls_of;
use super::place::{Places, Wrong, number};
use super::{Counted, FactsError, FlowFacts, LinearFact, LoopFact, Origin};
use roxmltree::{Document, Node};
use std::collections::{BTreeMap, BTreeSet};
use wb_isa::{Isa, Pc, SourceFile};
use wb_program::Program;

type Result<T> = std::result::Result<T, Box<FactsError>>;

struct Reader<'a, I: Isa> {
    file: &'a SourceFile,
    program: &'a Program<I>,
    places: Places<'a, I>,
    facts: FlowFacts,
    /// Line of the element that limited a loop.
    seen: BTreeMap<Pc, u32>,
}

pub(super) fn read<I: Isa>(file: &SourceFile, program: &Program<I>) -> Result<FlowFacts> {
    let document = Document::parse(&file.text).map_err(|e| {
        let at = e.pos();
        let before: usize = file.text.split_inclusive('\n').take(at.row as usize - 1).map(str::len).sum();
        FactsError::new(file, before..before, format!("not XML: {e}")).hint("docs/facts.md shows an FFX file")
    })?;
    let calls = calls_of(program);
    let mut reader = Reader {
        file,
        program,
        places: Places::new(program, &calls),
        facts: FlowFacts::default(),
        seen: BTreeMap::new(),
    };
    let root = document.root_element();
    if root.tag_name().name() != "flowfacts" {
        return Err(reader.error(
            &root,
            format!("the document is `{}`", root.tag_name().name()),
            "<flowfacts>…",
        ));
    }
    reader.content(&root, None, &code_blocks(program, &calls))?;
    let mut facts = reader.facts;
    facts.loops.sort_by_key(|l| l.header);
    Ok(facts)
}

impl<I: Isa> Reader<'_, I> {
    fn error(&self, node: &Node, what: impl Into<String>, hint: impl Into<String>) -> Box<FactsError> {
        let start = node.range().start;
        let end = self.file.text[start..].find('>').map_or(node.range().end, |i| start + i + 1);
        FactsError::new(self.file, start..end, what).hint(hint)
    }

    /// Loops in `flowfacts` or in a function, whose blocks are `scope`.
    fn content(&mut self, parent: &Node, function: Option<&str>, scope: &BTreeSet<usize>) -> Result<()> {
        for node in parent.children().filter(Node::is_element) {
            match node.tag_name().name() {
                "loop" => self.limit(&node, function, scope)?,
                "function" if function.is_none() => {
                    let (name, entry) = self.function(&node)?;
                    let blocks = self.program.cfg.reachable(self.program.cfg.block_at(entry));
                    self.content(&node, Some(&name), &blocks)?;
                }
                "call" => {
                    let what = "limits that hold only for one call are not supported";
                    return Err(self.error(
                        &node,
                        what,
                        "write the loop outside of <call>, with its largest count",
                    ));
                }
                other => {
                    let what = format!("`<{other}>` is not supported");
                    return Err(self.error(&node, what, "<loop> and <function> are; take the others out"));
                }
            }
        }
        Ok(())
    }

    fn function(&self, node: &Node) -> Result<(String, Pc)> {
        let wrong = |w: Wrong| self.error(node, w.what, w.hint);
        let place = self.place(node)?;
        let entry = self.places.find_block(&place).map_err(wrong)?;
        Ok((place, entry))
    }

    /// The location attributes as one of our places.
    fn place(&self, node: &Node) -> Result<String> {
        let integer = |name: &str| -> Result<Option<u64>> {
            let Some(text) = node.attribute(name) else { return Ok(None) };
            let bad = || self.error(node, format!("{name}=\"{text}\" is not a number"), "16, 020 or 0x10");
            number(text, true).map(Some).ok_or_else(bad)
        };
        if let Some(addr) = integer("address")? {
            return Ok(format!("{addr:#x}"));
        }
        if let Some(label) = node.attribute("label").or_else(|| node.attribute("name")) {
            return Ok(match integer("offset")? {
                Some(offset) => format!("{label}+{offset:#x}"),
                None => label.to_owned(),
            });
        }
        if let (Some(source), Some(line)) = (node.attribute("source"), integer("line")?) {
            return Ok(format!("{source}:{line}"));
        }
        let hint = "address=\"…\", label=\"…\" with offset=\"…\", or source=\"…\" with line=\"…\"";
        Err(self.error(node, "there is no location", hint))
    }

    fn count(&self, node: &Node, name: &str) -> Result<Option<u64>> {
        match node.attribute(name) {
            // What oRange writes for a count it could not compute.
            None | Some("NOCOMP") => Ok(None),
            Some(text) => number(text, true).map(Some).ok_or_else(|| {
                self.error(node, format!("{name}=\"{text}\" is not a count"), "a number from 0 on, or NOCOMP")
            }),
        }
    }

    fn limit(&mut self, node: &Node, function: Option<&str>, scope: &BTreeSet<usize>) -> Result<()> {
        let (max, total) = (self.count(node, "maxcount")?, self.count(node, "totalcount")?);
        let unknown = |name: &str| node.attribute(name) == Some("NOCOMP");
        if max.is_none() && total.is_none() {
            if unknown("maxcount") || unknown("totalcount") {
                return Ok(());
            }
            return Err(self.error(
                node,
                "the loop has neither maxcount nor totalcount",
                "at least one of them",
            ));
        }
        let place = self.place(node)?;
        let headers = self.places.find_loops(&place).map_err(|w| self.error(node, w.what, w.hint))?;
        let line = self.file.line_column(node.range().start).0;
        for &header in &headers {
            if !self.program.cfg.block_at(header).is_some_and(|b| scope.contains(&b)) {
                let what = format!("the loop at {place} is not in {}", function.unwrap_or("this kernel"));
                return Err(self.error(node, what, self.places.all()));
            }
            if let Some(first) = self.seen.insert(header, line) {
                let what = format!("the loop at {place} is limited twice");
                return Err(self.error(node, what, format!("line {first} limits it already")));
            }
            if let Some(max) = max {
                let why = format!("{}:{line}: maxcount", self.file.name);
                self.facts.loops.push(LoopFact { header, max, origin: Origin::Ffx, why });
            }
        }
        if let Some(total) = total {
            let Ok(limit) = i64::try_from(total) else {
                return Err(self.error(node, format!("totalcount {total} is too large"), "leave it out"));
            };
            self.facts.facts.push(LinearFact {
                name: format!("totalcount of {place}"),
                terms: headers.into_iter().map(|h| (1, Counted::Rounds(h))).collect(),
                limit,
                origin: Origin::Ffx,
            });
        }
        Ok(())
    }
}
