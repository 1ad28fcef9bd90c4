//! Static facts and single-line disassembly.

use super::*;
use crate::{FlowKind, Isa};

fn facts(source: &str) -> crate::Facts {
    let harp = Harp::new(arch("4w8/2")).unwrap();
    let image = image("4w8/2", source);
    let (inst, _) = harp.decode_at(&image.segments[0].1).unwrap();
    harp.facts(&inst, 0, 1)
}

#[test]
fn control_flow_kinds() {
    for (source, flow) in [
        ("jmpi #8", FlowKind::Jump(3)),
        ("@p0 ? jmpi #8", FlowKind::Branch(3)),
        ("jali %r7, #8", FlowKind::Call { target: Some(3), conditional: false }),
        ("@p0 ? jalr %r7, %r1", FlowKind::Call { target: None, conditional: true }),
        ("jalis %r7, %r1, #8", FlowKind::Call { target: Some(3), conditional: false }),
        ("jalrs %r7, %r1, %r2", FlowKind::Call { target: None, conditional: false }),
        ("jmpr %r7", FlowKind::Indirect { conditional: false }),
        ("@p1 ? jmprt %r7", FlowKind::Indirect { conditional: true }),
        ("jmpru %r7", FlowKind::Indirect { conditional: false }),
        ("reti", FlowKind::Indirect { conditional: false }),
        ("trap", FlowKind::Next),
        ("halt", FlowKind::Exit { conditional: false }),
        ("@p0 ? halt", FlowKind::Exit { conditional: true }),
        ("split", FlowKind::Split),
        ("join", FlowKind::Join),
        ("bar %r0, %r1", FlowKind::Barrier),
        ("wspawn %r0, %r1, %r2", FlowKind::Spawn),
        ("add %r0, %r1, %r2", FlowKind::Next),
    ] {
        assert_eq!(facts(source).flow, flow, "{source}");
    }
}

#[test]
fn registers_and_classes() {
    let harp = Harp::new(arch("4w8/2")).unwrap();
    assert_eq!(harp.register_count(), 10);
    assert_eq!([harp.register_name(7), harp.register_name(9)], ["%r7", "@p1"]);
    for (source, class, reads, writes) in [
        ("add %r0, %r1, %r1", "alu", vec![1], vec![0]),
        ("@p1 ? st %r0, %r1, #4", "mem", vec![9, 0, 1], vec![]),
        ("ld %r0, %r1, #4", "mem", vec![1], vec![0]),
        ("andp @p0, @p1, @p0", "alu", vec![9, 8], vec![8]),
        ("rtop @p1, %r3", "alu", vec![3], vec![9]),
        ("split", "control", vec![8], vec![]),
        ("@p1 ? split", "control", vec![9], vec![]),
        ("wspawn %r0, %r1, %r2", "system", vec![1, 2], vec![]),
        ("muli %r0, %r1, #2", "mul", vec![1], vec![0]),
        ("mod %r0, %r1, %r2", "div", vec![1, 2], vec![0]),
        ("fdiv %r0, %r1, %r2", "fpdiv", vec![1, 2], vec![0]),
        ("fneg %r0, %r1", "fp", vec![1], vec![0]),
        ("clone %r3", "control", vec![3, 0, 1, 2, 4, 5, 6, 7], (0..8).collect()),
        ("tid %r3", "alu", vec![], vec![3]),
    ] {
        let facts = facts(source);
        assert_eq!(harp.classes()[facts.class as usize], class, "{source}");
        assert_eq!((facts.reads, facts.writes), (reads, writes), "{source}");
    }
}

#[test]
fn text_of_one_instruction() {
    let harp = Harp::new(arch("4b8/2")).unwrap();
    let image = image("4b8/2", "@p1 ? jmpi here\nnop\nhere: addi %r1, %r2, #-3");
    let (inst, size) = harp.decode_at(&image.segments[0].1).unwrap();
    assert_eq!(size, 6);
    let label = |pc: Pc| (pc == 8).then(|| "here".to_string());
    assert_eq!(harp.show(&inst, 0, &label), "@p1 ? jmpi here");
    assert_eq!(harp.show(&inst, 1, &label), "@p1 ? jmpi #2");
    let (inst, _) = harp.decode_at(image.bytes_at(8).unwrap()).unwrap();
    assert_eq!(harp.show(&inst, 8, &label), "addi %r1, %r2, #-3");
    assert_eq!(harp.addr_of(8), 8);
    assert_eq!(Harp::new(arch("4w8/1")).unwrap().pc_of(6), None);
}
