//! Where a run is to stop: lines, addresses, labels, memory that is written, conditions, kernels.

use crate::code::Code;
use crate::context::Context;
use crate::error::DebugError;
use crate::expr::Expr;
use wb_isa::Pc;
use wb_sim::{Did, Exact};

/// What a breakpoint waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// The beginning of a source line, with a lane on.
    Line { file: Option<String>, line: u32 },
    /// An instruction, by its address as listed.
    Address(u64),
    /// A label, function or kernel.
    Label(String),
    /// Any instruction: only the condition counts.
    Anywhere,
    /// Memory that is written, with the name it was given.
    Written { addr: u64, bytes: u64, name: String },
    /// Lanes that part.
    Diverge,
}

/// At which of its hits a breakpoint stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hits {
    #[default]
    Every,
    /// Only this one, from 1.
    Only(u64),
    From(u64),
    EachOf(u64),
}

impl Hits {
    /// `5`, `>= 5`, `> 5`, `% 5`.
    pub fn parse(text: &str) -> Result<Hits, DebugError> {
        let text = text.trim();
        let (rule, digits): (fn(u64) -> Hits, &str) = match text {
            t if t.starts_with(">=") => (Hits::From, &t[2..]),
            t if t.starts_with("==") => (Hits::Only, &t[2..]),
            t if t.starts_with('>') => (|n| Hits::From(n.saturating_add(1)), &t[1..]),
            t if t.starts_with('%') => (Hits::EachOf, &t[1..]),
            t => (Hits::Only, t),
        };
        let number = digits.trim().parse::<u64>().ok().filter(|n| *n > 0);
        number.map(rule).ok_or_else(|| {
            DebugError::new(format!("`{text}` is no number of hits"))
                .hint("hits look like 5, >= 5, > 5 or % 5")
        })
    }

    fn stops(self, count: u64) -> bool {
        match self {
            Hits::Every => true,
            Hits::Only(n) => count == n,
            Hits::From(n) => count >= n,
            Hits::EachOf(n) => count.is_multiple_of(n.max(1)),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Break {
    pub id: u32,
    pub what: What,
    /// As written, and as understood.
    pub condition: Option<(String, Expr)>,
    pub hits: Hits,
    pub enabled: bool,
    /// Gone after its first stop.
    pub once: bool,
    /// Hits since the launch began, as far as they were looked at.
    pub count: u64,
    /// Where it stands in the code of the launch.
    pub pcs: Vec<Pc>,
    /// What memory had before the instruction.
    before: Vec<u8>,
}

/// Bytes whose old values are kept.
const KEPT: u64 = 64;

impl Break {
    pub fn text(&self, code: &Code) -> String {
        let place = match &self.what {
            What::Line { file, line } => match file
                .as_deref()
                .or_else(|| self.pcs.first().map(|&pc| code.file_name(code.place(pc).map_or(0, |p| p.0))))
            {
                Some(file) => format!("line {}:{line}", wb_jobs::last_part(file)),
                None => format!("line {line}"),
            },
            What::Address(addr) => format!("address {addr:#x}"),
            What::Label(name) => format!("label {name}"),
            What::Anywhere => "anywhere".to_owned(),
            What::Written { addr, bytes, name } => format!("{name} written ({bytes} bytes at {addr:#x})"),
            What::Diverge => "lanes part".to_owned(),
        };
        let condition = self.condition.as_ref().map_or(String::new(), |(text, _)| format!(" if {text}"));
        let hits = match self.hits {
            Hits::Every => String::new(),
            Hits::Only(n) => format!(", hit {n}"),
            Hits::From(n) => format!(", from hit {n} on"),
            Hits::EachOf(n) => format!(", every {n} hits"),
        };
        let off = if self.enabled { "" } else { ", disabled" };
        format!("{place}{condition}{hits}{off}")
    }
}

/// A stop that a breakpoint asks for.
#[derive(Clone, Debug)]
pub struct Hit {
    pub id: u32,
    /// The lane that meets the condition, or wrote.
    pub lane: Option<u32>,
    /// What happened, where that is more than arriving.
    pub note: String,
}

/// All breakpoints.
#[derive(Default)]
pub struct Breaks {
    pub list: Vec<Break>,
    last: u32,
    /// By pc: some breakpoint stands there.
    marked: Vec<bool>,
}

impl Breaks {
    /// Adds one; tells its number. It must stand somewhere in the code.
    pub fn add(&mut self, what: What, condition: Option<&str>, code: &Code) -> Result<u32, DebugError> {
        let condition = condition
            .map(|text| Ok::<_, DebugError>((text.trim().to_owned(), Expr::parse(text)?)))
            .transpose()?;
        let pcs = resolve(&what, code)?;
        self.last += 1;
        let id = self.last;
        let (hits, before) = (Hits::default(), Vec::new());
        self.list.push(Break {
            id,
            what,
            condition,
            hits,
            enabled: true,
            once: false,
            count: 0,
            pcs,
            before,
        });
        self.mark();
        Ok(id)
    }

    pub fn remove(&mut self, id: u32) -> bool {
        let before = self.list.len();
        self.list.retain(|b| b.id != id);
        self.mark();
        self.list.len() < before
    }

    pub fn get_mut(&mut self, id: u32) -> Option<&mut Break> {
        self.list.iter_mut().find(|b| b.id == id)
    }

    /// Another launch: places are found again in its code, and hits are counted anew.
    pub fn enter(&mut self, code: &Code) {
        for b in &mut self.list {
            b.pcs = resolve(&b.what, code).unwrap_or_default();
            b.count = 0;
        }
        self.mark();
    }

    pub fn mark(&mut self) {
        self.marked.clear();
        for pc in self.list.iter().filter(|b| b.enabled).flat_map(|b| &b.pcs) {
            let pc = *pc as usize;
            if self.marked.len() <= pc {
                self.marked.resize(pc + 1, false);
            }
            self.marked[pc] = true;
        }
    }

    /// Nothing can stop the run.
    pub fn is_quiet(&self) -> bool {
        self.list.iter().all(|b| !b.enabled)
    }

    /// Hits have to be counted from the beginning on.
    pub fn counts(&self) -> bool {
        self.list.iter().any(|b| b.enabled && b.hits != Hits::Every)
    }

    pub fn watches(&self) -> bool {
        self.list.iter().any(|b| b.enabled && matches!(b.what, What::Written { .. }))
    }

    pub fn anywhere(&self) -> bool {
        self.list.iter().any(|b| b.enabled && b.what == What::Anywhere)
    }

    pub fn is_marked(&self, pc: Pc) -> bool {
        self.marked.get(pc as usize).copied().unwrap_or(false)
    }

    /// Those that stop before the instruction that is due. A condition that makes no sense there does not hold, but for one thing:
    /// it is said once, with the stop.
    pub fn before(&mut self, at: &Context) -> Vec<Hit> {
        let mut hits = Vec::new();
        for b in self.list.iter_mut().filter(|b| b.enabled) {
            let here = match b.what {
                What::Line { .. } => at.path.active != 0 && b.pcs.contains(&at.path.pc),
                What::Address(_) | What::Label(_) => b.pcs.contains(&at.path.pc),
                What::Anywhere => true,
                What::Written { .. } | What::Diverge => false,
            };
            if here {
                hits.extend(b.hit(at, None, String::new()));
            }
        }
        hits
    }

    /// Keeps what memory has now, to tell later what it had.
    pub fn keep(&mut self, at: &Context) {
        for b in self.list.iter_mut().filter(|b| b.enabled) {
            if let What::Written { addr, bytes, .. } = b.what {
                b.before.clear();
                b.before.extend_from_slice(at.read(addr, bytes.min(KEPT)).unwrap_or_default());
            }
        }
    }

    /// Those that an instruction meets by what it did.
    pub fn after(&self, did: &Did) -> Vec<(u32, Option<u32>)> {
        let mut met = Vec::new();
        for b in self.list.iter().filter(|b| b.enabled) {
            match b.what {
                What::Written { addr, bytes, .. } => {
                    let touches = |w: &&Exact| {
                        w.addr < addr.saturating_add(bytes) && addr < w.addr.saturating_add(w.bytes.into())
                    };
                    if let Some(write) = did.written.iter().find(touches) {
                        met.push((b.id, write.lane));
                    }
                }
                What::Diverge if did.parted().is_some() => met.push((b.id, None)),
                What::Diverge | What::Line { .. } | What::Address(_) | What::Label(_) | What::Anywhere => {}
            }
        }
        met
    }

    /// Whether one that was met stops, now that the run can be looked at.
    pub fn confirm(&mut self, id: u32, lane: Option<u32>, at: &Context) -> Option<Hit> {
        let b = self.list.iter_mut().find(|b| b.id == id)?;
        let note = match &b.what {
            What::Written { addr, bytes, name } => {
                let now = at.read(*addr, (*bytes).min(KEPT)).unwrap_or_default();
                let hex = |bytes: &[u8]| bytes.iter().rev().map(|b| format!("{b:02x}")).collect::<String>();
                match bytes {
                    1..=8 => format!("{name}: 0x{} → 0x{}", hex(&b.before), hex(now)),
                    _ => format!("{name} was written"),
                }
            }
            What::Diverge => "lanes parted".to_owned(),
            What::Line { .. } | What::Address(_) | What::Label(_) | What::Anywhere => String::new(),
        };
        b.hit(at, lane, note)
    }

    /// Takes away those that were for one stop.
    pub fn stopped(&mut self, hits: &[Hit]) {
        self.list.retain(|b| !(b.once && hits.iter().any(|h| h.id == b.id)));
        self.mark();
    }
}

impl Break {
    fn hit(&mut self, at: &Context, lane: Option<u32>, note: String) -> Option<Hit> {
        let lane = match &self.condition {
            Some((_, e)) => Some(at.lane_where(e).ok().flatten()?),
            None => lane,
        };
        self.count += 1;
        self.hits.stops(self.count).then_some(Hit { id: self.id, lane, note })
    }
}

fn resolve(what: &What, code: &Code) -> Result<Vec<Pc>, DebugError> {
    match what {
        What::Line { file, line } => Ok(code.line_starts(file.as_deref(), *line)?.1),
        What::Address(addr) => {
            match code.by_address(*addr) {
                Some(pc) => Ok(vec![pc]),
                None => Err(DebugError::new(format!("no instruction begins at {addr:#x}"))
                    .hint("`disasm` lists them")),
            }
        }
        What::Label(name) => match code.label(name) {
            Some(pc) => Ok(vec![pc]),
            None => {
                let known: Vec<&str> = code.labels.iter().map(|l| l.0.as_str()).take(12).collect();
                Err(DebugError::new(format!("there is no label, function or kernel `{name}`"))
                    .hint(format!("labels: {}", known.join(" "))))
            }
        },
        What::Anywhere | What::Written { .. } | What::Diverge => Ok(Vec::new()),
    }
}
