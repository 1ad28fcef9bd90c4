//! Divergent regions and what merges need to know of scalars, on the shapes compilers emit (isa-gcn3: control flow).

use wb_isa::gcn3::isa::Gcn3;
use wb_isa::{NO_PC, Pc, SourceFile};
use wb_objects::codeobject::{CodeObject, from_assembly};
use wb_objects::gcn3_program;
use wb_program::{Program, Region, RegionKind};

/// Assembles a kernel body; labels of the text are found in the program.
fn program(body: &str) -> Program<Gcn3> {
    let text = format!(".kernel k\n{body}\n");
    let source = SourceFile::new("test.s", text);
    let assembly = wb_isa::gcn3::assemble(&source).unwrap_or_else(|e| panic!("{e:?}"));
    let object = CodeObject::parse(&from_assembly(&assembly, "test.s").expect("object")).expect("parse");
    let kernel = object.kernels[0].clone();
    gcn3_program(&object, &kernel, Gcn3::default(), 0, "test", None).expect("program")
}

/// Pc of the `n`-th instruction.
fn at(p: &Program<Gcn3>, n: usize) -> Pc {
    (0..p.ops.len()).filter(|&pc| p.ops[pc].inst.is_some()).nth(n).expect("instruction") as Pc
}

fn region(p: &Program<Gcn3>, n: usize) -> &Region {
    let pc = at(p, n);
    p.flow.region(pc).unwrap_or_else(|| panic!("no region at {}", p.text_at(pc)))
}

#[test]
fn if_and_else() {
    let p = program(
        "s_and_saveexec_b64 s[6:7], vcc
         s_xor_b64 s[6:7], exec, s[6:7]
         s_cbranch_execz ELSE
         v_mov_b32 v1, 1
         ELSE: s_andn2_saveexec_b64 s[6:7], s[6:7]
         s_cbranch_execz END
         v_mov_b32 v1, 2
         END: s_or_b64 exec, exec, s[6:7]
         v_mov_b32 v2, 3
         s_endpgm",
    );
    let first = region(&p, 2);
    assert_eq!((first.kind, first.narrow), (RegionKind::If, at(&p, 0)));
    assert_eq!((first.serialise, first.reconverge), (Some(at(&p, 4)), at(&p, 8)));
    assert_eq!((first.structured, first.hazard, first.tail), (true, false, 2));
    let second = region(&p, 5);
    assert_eq!((second.kind, second.reconverge), (RegionKind::Else, at(&p, 8)));
    assert_eq!(p.flow.rpc[at(&p, 2) as usize], at(&p, 8));
}

#[test]
fn the_other_form_of_a_serialisation_block() {
    let p = program(
        "s_and_saveexec_b64 s[6:7], vcc
         s_xor_b64 s[6:7], exec, s[6:7]
         s_cbranch_execz ELSE
         v_mov_b32 v1, 1
         ELSE: s_or_saveexec_b64 s[8:9], s[6:7]
         v_mov_b32 v3, v1
         s_xor_b64 exec, exec, s[8:9]
         s_cbranch_execz END
         v_mov_b32 v1, 2
         END: s_or_b64 exec, exec, s[8:9]
         s_endpgm",
    );
    let first = region(&p, 2);
    assert_eq!((first.serialise, first.reconverge), (Some(at(&p, 4)), at(&p, 10)));
    assert_eq!((region(&p, 7).kind, region(&p, 7).reconverge), (RegionKind::Else, at(&p, 10)));
}

#[test]
fn loops_come_together_behind_them() {
    let p = program(
        "s_mov_b64 s[4:5], 0
         LOOP: v_add_u32 v1, vcc, -1, v1
         v_cmp_eq_u32 vcc, 0, v1
         s_or_b64 s[4:5], vcc, s[4:5]
         s_andn2_b64 exec, exec, s[4:5]
         s_cbranch_execnz LOOP
         s_or_b64 exec, exec, s[4:5]
         v_mov_b32 v2, 3
         s_endpgm",
    );
    let r = region(&p, 5);
    assert_eq!((r.kind, r.reconverge, r.structured), (RegionKind::Loop, at(&p, 7), false));
    assert!(r.why.contains("loop"), "{}", r.why);
}

#[test]
fn a_mask_nobody_saved() {
    let p = program("s_and_b64 exec, exec, vcc\ns_cbranch_execz END\nv_mov_b32 v1, 1\nEND: s_endpgm");
    let r = region(&p, 1);
    assert_eq!((r.kind, r.reconverge, r.structured), (RegionKind::Unsaved, NO_PC, false));
    assert_eq!((r.ends, r.only_ends(), r.why), (Some(at(&p, 3)), true, ""));
    // Lanes are switched on again, and it cannot be told that these are among them.
    let p = program(
        "s_and_b64 exec, exec, vcc\ns_cbranch_execz END\nv_mov_b32 v1, 1\nEND: s_or_b64 exec, exec, s[4:5]\ns_endpgm",
    );
    let r = region(&p, 1);
    assert_eq!((r.ends, r.markable()), (None, false));
    assert!(r.why.contains("saved"), "{}", r.why);
}

/// Compilers leave the last restoring of the mask out.
#[test]
fn sides_that_end_with_the_kernel() {
    let body = |second: &str, end: &str| {
        program(&format!(
            "s_and_saveexec_b64 s[4:5], vcc
             s_xor_b64 s[4:5], exec, s[4:5]
             s_cbranch_execz ELSE
             v_mov_b32 v1, 1
             ELSE: {second}
             s_cbranch_execz END
             v_mov_b32 v1, 2
             END: {end}"
        ))
    };
    for second in [
        "s_andn2_saveexec_b64 s[4:5], s[4:5]",
        "s_or_saveexec_b64 s[4:5], s[4:5]\ns_xor_b64 exec, exec, s[4:5]",
    ] {
        let p = body(second, "s_endpgm");
        let r = region(&p, 2);
        assert_eq!((r.reconverge, r.structured, r.why), (NO_PC, false, ""));
        assert!(r.ends.is_some() && !r.only_ends() && r.serialise.is_some());
    }
    // A return from a function is no end, and lanes that are looked at must be together.
    let second = "s_andn2_saveexec_b64 s[4:5], s[4:5]";
    for (end, why) in [
        ("s_setpc_b64 s[30:31]", "switches the lanes on again"),
        ("v_readfirstlane_b32 s0, v1\ns_endpgm", "running together"),
    ] {
        let r = region(&body(second, end), 2).clone();
        assert_eq!(r.ends, None);
        assert!(r.why.contains(why), "{}", r.why);
    }
}

#[test]
fn code_that_counts_on_lanes_running_together() {
    let body = |after: &str| {
        format!(
            "s_and_saveexec_b64 s[6:7], vcc\ns_cbranch_execz END\nv_mov_b32 v1, 1
             END: s_or_b64 exec, exec, s[6:7]\n{after}\ns_endpgm"
        )
    };
    let hazard = |after: &str| region(&program(&body(after)), 1).hazard;
    assert!(!hazard("v_mov_b32 v2, v1"));
    assert!(hazard("v_readfirstlane_b32 s0, v1"));
    assert!(hazard("ds_read_b32 v2, v1"), "no barrier in the program: one wave per group");
    assert!(!hazard("s_barrier\nds_read_b32 v2, v1"));
}

#[test]
fn scalars_read_as_masks_and_as_values() {
    let p = program(
        "v_nop
         s_and_b64 s[10:11], s[4:5], s[6:7]
         s_or_b64 exec, exec, s[10:11]
         s_add_u32 s12, s8, 1
         s_mov_b64 s[14:15], s[16:17]
         s_load_dword s0, s[14:15], 0x0
         v_mov_b32 v1, s12
         s_endpgm",
    );
    let needed = p.needed(at(&p, 0));
    let is = |n: usize| (needed.is_live(n), needed.is_value(n));
    assert_eq!((is(4), is(7)), ((true, false), (true, false)), "operands of a mask are masks");
    assert_eq!(is(8), (true, true));
    assert_eq!((is(16), is(17)), ((true, true), (true, true)), "a copied pointer is a value");
    assert_eq!(
        (is(10), is(12), is(20)),
        ((false, false), (false, false), (false, false)),
        "written first, or unused"
    );
}
