//! Statistics of a run small enough to count by hand.

use wb_trace::*;

fn info() -> TraceInfo {
    let line = |pc: u32, text: &str, branch| CodeLine {
        pc,
        addr: 0x100 + u64::from(pc) * 4,
        text: text.into(),
        line: pc + 1,
        label: String::new(),
        branch,
        ..CodeLine::default()
    };
    TraceInfo {
        program: "by-hand".into(),
        isa: "harp".into(),
        machine: "small".into(),
        mechanism: "pdom".into(),
        timed: true,
        lanes: 4,
        cores: 1,
        partitions: 1,
        slots: 2,
        units: vec![UnitInfo {
            name: "alu".into(),
            instances: 2,
            port: "none".into(),
            ..UnitInfo::default()
        }],
        classes: vec!["int".into()],
        line_bytes: Vec::new(),
        lds_banks: 0,
        files: Vec::new(),
        code: vec![
            line(0, "addi", false),
            line(1, "split", true),
            line(2, "add", false),
            line(3, "join", false),
            line(4, "mask_nz", true),
        ],
        ..TraceInfo::default()
    }
}

fn at(cycle: u64, pc: Pc, mask: Mask, kind: Kind) -> Event {
    Event { cycle, core: 0, slot: 0, wave: 0, path: 0, pc, mask, kind }
}

fn issue(cycle: u64, pc: Pc, mask: Mask, instance: u8, busy: u16) -> Event {
    at(cycle, pc, mask, Kind::Issue { unit: 0, instance, class: 0, busy })
}

/// One wave: full, split 2 + 1 of three live lanes, switch, join, one mask test, end; 12 cycles.
fn events() -> Vec<Event> {
    let live = 0b0111;
    let mask = |new, origin, cause| Kind::Mask { new, live, origin, cause };
    vec![
        at(0, 0, 0, Kind::WaveStart { lanes: live }),
        issue(0, 0, live, 0, 1),
        at(1, 1, live, Kind::Stall { cycles: 2, reason: StallReason::Dependency }),
        issue(3, 1, live, 0, 1),
        at(3, 1, live, Kind::Split { taken: 0b0011, other: 0b0100 }),
        at(3, 1, live, Kind::PathNew { at: 2, lanes: 0b0100 }),
        at(3, 1, live, mask(0b0011, 1, MaskCause::Diverge)),
        issue(4, 2, 0b0011, 1, 2),
        issue(5, 3, 0b0011, 0, 1),
        at(5, 3, 0b0011, mask(0b0100, 1, MaskCause::Switch)),
        issue(6, 2, 0b0100, 1, 2),
        at(
            6,
            2,
            0b0100,
            Kind::Memory {
                port: PortKind::Data,
                write: true,
                lines: 3,
                hits: 1,
                misses: 2,
                evictions: 1,
                done: 9,
            },
        ),
        issue(7, 3, 0b0100, 0, 1),
        at(7, 3, 0b0100, Kind::PathMerge { lanes: 0b0011 }),
        at(7, 3, 0b0100, mask(live, NO_PC, MaskCause::Reconverge)),
        issue(8, 4, live, 0, 1),
        at(8, 4, live, mask(0b0001, 4, MaskCause::MaskTest)),
        at(9, 0, 0b0001, Kind::Stall { cycles: 1, reason: StallReason::Memory }),
        issue(10, 0, 0b0001, 0, 1),
        // A uniform split does not count as divergence.
        at(10, 1, 0b0001, Kind::Split { taken: 0b0001, other: 0 }),
        at(11, 0, 0b0001, Kind::WaveEnd),
    ]
}

fn stats() -> Stats {
    let mut statistics = Statistics::new();
    statistics.begin(&info());
    for batch in events().chunks(5) {
        statistics.events(batch);
    }
    statistics.end(12);
    statistics.stats()
}

#[test]
fn totals() {
    let s = stats();
    assert_eq!((s.cycles, s.waves, s.wave_instructions), (12, 1, 8));
    assert_eq!(s.lane_instructions, 3 + 3 + 2 + 2 + 1 + 1 + 3 + 1);
    assert_eq!(s.ipc, 8.0 / 12.0);
    assert_eq!(s.lane_utilisation, 16.0 / 32.0);
    // The split costs 1 + 1 + 2 + 2, the mask test 2.
    assert_eq!(s.lane_cycles_lost, 8);
    assert_eq!(s.stall_cycles.get(StallReason::Dependency), 2);
    assert_eq!(s.stall_cycles.get(StallReason::Memory), 1);
    assert_eq!(s.stall_cycles.total(), 3);
    assert_eq!((s.splits, s.merges, s.max_paths), (1, 1, 2));
    let data = &s.memory[0];
    assert_eq!((data.accesses, data.writes, data.lines), (1, 1, 3));
    assert_eq!((data.hits, data.misses, data.evictions), (1, 2, 1));
    assert_eq!(s.memory.len(), 5);
    assert_eq!(s.units.len(), 2);
    assert_eq!((s.units[0].instructions, s.units[0].busy_cycles), (6, 6));
    assert_eq!((s.units[1].instructions, s.units[1].busy_cycles), (2, 4));
    assert_eq!(s.units[1].utilisation, 4.0 / 12.0);
}

#[test]
fn tables_by_instruction() {
    let s = stats();
    let pcs: Vec<_> = s.pcs.iter().map(|p| (p.executed, p.lane_cycles_lost, p.stall_cycles)).collect();
    assert_eq!(pcs, [(2, 2, 1), (1, 0, 2), (2, 3, 0), (2, 3, 0), (1, 0, 0)]);
    assert_eq!(s.pcs[0].mean_active_lanes, 2.0);
    assert_eq!((s.pcs[2].addr, s.pcs[2].line, s.pcs[2].text.as_str()), (0x108, 3, "add"));
    let branches: Vec<_> =
        s.branches.iter().map(|b| (b.pc, b.executed, b.diverged, b.lane_cycles_lost)).collect();
    assert_eq!(branches, [(1, 1, 1, 6), (4, 1, 1, 2)]);
}

#[test]
fn as_text_and_json() {
    let s = stats();
    let table = s.table();
    for line in [
        "by-hand  (small, harp, pdom)",
        "cycles                          12",
        "lane use                    50.0 %",
        "  dependency                     2    66.7 %",
        "       0x104      2          1          1     3.0            6  split",
    ] {
        assert!(table.lines().any(|l| l == line), "{line:?} not in\n{table}");
    }
    let json = serde_json::to_string(&s).unwrap();
    assert!(json.contains(r#""stall_cycles":{"dependency":2,"memory":1,"unit":0,"fetch":0,"#), "{json}");
    assert_eq!(json, serde_json::to_string(&stats()).unwrap());
}

#[test]
fn nothing_happened() {
    let s = Statistics::new().stats();
    assert_eq!((s.cycles, s.ipc, s.lane_utilisation), (0, 0.0, 0.0));
    assert!(s.table().contains("cycles") || s.table().contains("steps"));
}

#[test]
fn pcs_outside_the_listing_are_kept() {
    let mut statistics = Statistics::new();
    statistics.begin(&info());
    statistics.events(&[
        issue(0, 77, 1, 9, 1),
        Event { core: 3, slot: 9, path: 5, ..issue(1, 77, 3, 0, 1) },
        issue(2, NO_PC, 1, 0, 1),
    ]);
    let s = statistics.stats();
    assert_eq!(s.cycles, 3);
    let row = s.pcs.iter().find(|p| p.pc == 77).unwrap();
    assert_eq!((row.executed, row.mean_active_lanes), (2, 1.5));
}
