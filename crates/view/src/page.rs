//! What the page is told once: the traces it shows, their code, sources, and names of states.

use crate::store::Store;
use serde::Serialize;
use wb_trace::Pc;
use wb_trace::spans::State;

/// One or two traces, and the sources they came from.
pub struct View {
    pub traces: Vec<Store>,
    pub sources: Vec<Source>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Source {
    pub name: String,
    pub text: String,
}

#[derive(Serialize)]
pub struct Info<'a> {
    version: &'static str,
    states: Vec<&'static str>,
    traces: Vec<TraceOf<'a>>,
    sources: &'a [Source],
}

#[derive(Serialize)]
struct TraceOf<'a> {
    name: &'a str,
    program: &'a str,
    isa: &'a str,
    machine: &'a str,
    mechanism: &'a str,
    timed: bool,
    lanes: u32,
    partitions: u32,
    cycles: u64,
    events: u64,
    waves: usize,
    units: Vec<&'a str>,
    rows: &'a [(u16, u16)],
    code: Vec<CodeOf<'a>>,
    cut: &'a Option<String>,
    complete: bool,
    addresses: bool,
}

#[derive(Serialize)]
struct CodeOf<'a> {
    pc: Pc,
    addr: String,
    text: &'a str,
    line: u32,
    file: &'a str,
    label: &'a str,
    leads: bool,
    /// 255: never issued.
    unit: u8,
}

impl View {
    pub fn info(&self) -> Info<'_> {
        Info {
            version: env!("CARGO_PKG_VERSION"),
            states: State::names(),
            traces: self.traces.iter().map(of).collect(),
            sources: &self.sources,
        }
    }
}

fn of(store: &Store) -> TraceOf<'_> {
    let info = &store.info;
    let units = &store.index.units;
    let code = info.code.iter().enumerate().map(|(i, c)| CodeOf {
        pc: c.pc,
        addr: format!("{:#x}", c.addr),
        text: &c.text,
        line: c.line,
        file: info.file_of(c),
        label: &c.label,
        leads: c.leads,
        unit: units.get(i).copied().unwrap_or(u8::MAX),
    });
    TraceOf {
        name: &store.name,
        program: info.program.rsplit('/').next().unwrap_or(&info.program),
        isa: &info.isa,
        machine: &info.machine,
        mechanism: &info.mechanism,
        timed: info.timed,
        lanes: info.lanes.clamp(1, 64),
        partitions: info.partitions,
        cycles: store.index.cycles,
        events: store.index.events,
        waves: store.index.waves.len(),
        units: info.units.iter().map(|u| u.name.as_str()).collect(),
        rows: &store.index.rows,
        code: code.collect(),
        cut: &store.cut,
        complete: store.complete,
        addresses: store.addresses,
    }
}
