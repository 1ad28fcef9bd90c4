//! What accesses can touch at most, on small kernels: each line is one kind of address that compilers make.

use wb_facts::access::{AccessFact, AccessShape, Local, Why, accesses};
use wb_facts::{Known, infer_gcn3};
use wb_isa::SourceFile;
use wb_isa::gcn3::isa::Gcn3;
use wb_objects::codeobject::{CodeObject, from_assembly};
use wb_objects::{gcn3_program, gcn3_setup};

/// Where the buffer of the kernels begins: in the middle of a line.
const DATA: u64 = 0x7_0000_1010;

const SHAPE: AccessShape = AccessShape { data_line: 64, scalar_line: 64, banks: 32, lanes: 64, apart: false };

/// The facts about a kernel with a buffer in s[4:5], a line of it in s[6:7], and a number s8 from memory; in order.
fn facts_of(body: &str, group: [u32; 3], grid: [u32; 3], shape: AccessShape) -> Vec<AccessFact> {
    let text = format!(
        ".kernel k\n.arg buf data\n.arg buf lined\n.lds 4096\n  s_load_dwordx4 s[4:7], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n  \
         s_load_dword s8, s[6:7], 0x0\n  s_waitcnt lgkmcnt(0)\n{body}\n  s_endpgm\n"
    );
    let source = SourceFile::new("k.s", text.as_str());
    let assembly = wb_isa::gcn3::assemble(&source).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let object = CodeObject::parse(&from_assembly(&assembly, "k.s").expect("an object")).expect("an object");
    let kernel = object.kernel("k").expect("the kernel");
    let mut setup = gcn3_setup(kernel);
    (setup.group, setup.grid, setup.work_item_dimensions) = (group, grid, 3);
    let isa = Gcn3 { setup, ..Gcn3::default() };
    let program = gcn3_program(&object, kernel, isa, 0, "k.s", Some(source)).expect("a program");
    let bytes: Vec<u8> = [DATA, DATA + 0x2ff0].iter().flat_map(|w| w.to_le_bytes()).collect();
    let known = Known { kernarg: Some(&bytes), group, grid, ..Known::default() };
    // The loads of arguments and of s8 come first.
    accesses(&program, &known, &infer_gcn3(&program, &known), shape).into_values().skip(2).collect()
}

/// The last access of a kernel of 4 groups of 256 work-items.
fn last(body: &str) -> AccessFact {
    facts_of(body, [256, 1, 1], [1024, 1, 1], SHAPE).pop().unwrap_or_else(|| panic!("no access: {body}"))
}

/// Adds the 32-bit offset in v2 to a pointer, as an address in v[2:3].
fn at(pointer: &str, high: &str) -> String {
    format!("v_mov_b32 v3, {high}\n v_add_u32 v2, vcc, {pointer}, v2\n v_addc_u32 v3, vcc, 0, v3, vcc\n")
}

fn load(offset: &str, what: &str) -> String {
    format!("{offset}\n{}{what}", at("s4", "s5"))
}

#[test]
fn lanes_side_by_side_share_lines() {
    let four = "v_lshlrev_b32 v2, 2, v0";
    // 256 bytes from the middle of a line.
    let fact = last(&load(four, "flat_load_dword v4, v[2:3]"));
    assert_eq!((fact.lines, fact.local, fact.write, fact.why), (5, Local::Never, false, None), "{fact:?}");
    assert_eq!(fact.range, Some((DATA, DATA + 1023)));
    // From the beginning of one.
    let lined = format!("{four}\n{}flat_store_dword v[2:3], v4", at("s6", "s7"));
    let fact = last(&lined);
    assert_eq!((fact.lines, fact.write), (4, true), "{fact:?}");
    for (offset, what, lines) in [
        ("v_mov_b32 v2, v0", "flat_load_ubyte v4, v[2:3]", 2),
        ("v_lshlrev_b32 v2, 4, v0", "flat_load_dwordx4 v[4:7], v[2:3]", 17),
        ("v_lshlrev_b32 v2, 6, v0", "flat_load_dword v4, v[2:3]", 64),
        ("v_mul_lo_u32 v2, v0, 20", "flat_load_dword v4, v[2:3]", 20),
        ("v_mov_b32 v2, 0x100", "flat_load_dword v4, v[2:3]", 1),
        ("v_sub_u32 v2, vcc, 0x400, v0\n v_lshlrev_b32 v2, 2, v2", "flat_load_dword v4, v[2:3]", 5),
        // The lane's number, counted.
        (
            "v_mbcnt_lo_u32_b32 v2, -1, 0\n v_mbcnt_hi_u32_b32 v2, -1, v2\n v_lshlrev_b32 v2, 3, v2",
            "flat_load_dwordx2 v[4:5], v[2:3]",
            9,
        ),
    ] {
        let fact = last(&load(offset, what));
        assert_eq!((fact.lines, fact.why), (lines, None), "{offset}: {fact:?}");
    }
}

#[test]
fn parts_of_lanes_are_close_together() {
    let lines = |offset: &str| last(&load(offset, "flat_load_dword v4, v[2:3]")).lines;
    assert_eq!(lines("v_and_b32 v2, 0xfc, v0"), 2);
    assert_eq!(lines("v_and_b32 v2, 15, v0\n v_lshlrev_b32 v2, 2, v2"), 2);
    assert_eq!(lines("v_lshrrev_b32 v2, 4, v0\n v_lshlrev_b32 v2, 2, v2"), 1);
    assert_eq!(lines("v_bfe_u32 v2, v0, 4, 4\n v_lshlrev_b32 v2, 6, v2"), 4);
    // One or the other: a clamped index.
    assert_eq!(lines("v_min_u32 v2, 0x64, v0\n v_lshlrev_b32 v2, 2, v2"), 5);
}

#[test]
fn what_comes_from_memory_is_anywhere() {
    let index = "v_lshlrev_b32 v2, 2, v0\n v_mov_b32 v3, s5\n v_add_u32 v2, vcc, s4, v2\n v_addc_u32 v3, vcc, 0, v3, vcc\n\
                 flat_load_dword v2, v[2:3]\n s_waitcnt vmcnt(0) lgkmcnt(0)\n";
    // An aligned dword is in one line, whichever.
    let fact = last(&load(&format!("{index} v_lshlrev_b32 v2, 2, v2"), "flat_load_dword v4, v[2:3]"));
    assert_eq!((fact.lines, fact.why), (64, Some(Why::Memory)), "{fact:?}");
    assert_eq!(fact.why.map(|w| w.to_string()).as_deref(), Some("index comes from memory"));
    // Bytes can be at the end of one.
    let fact = last(&load(index, "flat_load_dwordx2 v[4:5], v[2:3]"));
    assert_eq!(fact.lines, 128, "{fact:?}");
    // A byte is a small index.
    let byte = index.replace("flat_load_dword", "flat_load_ubyte");
    let fact = last(&load(&format!("{byte} v_lshlrev_b32 v2, 2, v2"), "flat_load_dword v4, v[2:3]"));
    assert_eq!((fact.lines, fact.range), (17, Some((DATA, DATA + 1023))), "{fact:?}");
    // One index for all lanes: a base.
    let shared = load("v_mov_b32 v2, s8\n v_lshl_add", "").replace("v_lshl_add", "v_lshlrev_b32 v2, 2, v2");
    let fact = last(&format!("{shared} flat_load_dword v4, v[2:3]"));
    assert_eq!(fact.lines, 1, "{fact:?}");
}

#[test]
fn indices_are_extended_with_and_without_sign() {
    let group = "s_lshl_b32 s9, s2, 8\n v_add_u32 v4, vcc, s9, v0\n";
    let signed = "v_ashrrev_i32 v5, 31, v4\n v_lshlrev_b64 v[4:5], 2, v[4:5]\n v_mov_b32 v3, s5\n\
                  v_add_u32 v2, vcc, s4, v4\n v_addc_u32 v3, vcc, v3, v5, vcc\n flat_load_dword v6, v[2:3]";
    let high = "v_mov_b32 v7, 0\n v_mov_b32 v8, v4\n v_ashrrev_i64 v[4:5], 30, v[7:8]\n v_mov_b32 v3, s5\n\
                v_add_u32 v2, vcc, s4, v4\n v_addc_u32 v3, vcc, v3, v5, vcc\n flat_load_dword v6, v[2:3]";
    for extended in [signed, high] {
        let fact = last(&format!("{group}{extended}"));
        assert_eq!((fact.lines, fact.range), (5, Some((DATA, DATA + 4095))), "{extended}: {fact:?}");
    }
    // Before the buffer.
    let minus = format!("{group}v_add_u32 v4, vcc, -1, v4\n{signed}");
    assert_eq!(last(&minus).range, Some((DATA - 4, DATA + 4091)));
    // The address moved by a constant afterwards.
    let moved = format!(
        "{group}{signed}\n v_add_u32 v8, vcc, 64, v2\n v_addc_u32 v9, vcc, 0, v3, vcc\n flat_store_dword v[8:9], v6"
    );
    assert_eq!(last(&moved).range, Some((DATA + 64, DATA + 64 + 4095)));
    assert_eq!(last(&moved).lines, 5);
}

#[test]
fn groups_of_two_dimensions() {
    // Rows of 64 words: 16 of them are 64 bytes, four rows are in a wave.
    let tile = load(
        "v_lshlrev_b32 v2, 6, v1\n v_add_u32 v2, vcc, v2, v0\n v_lshlrev_b32 v2, 2, v2",
        "flat_load_dword v4, v[2:3]",
    );
    let lines = |group, grid| facts_of(&tile, group, grid, SHAPE).pop().expect("an access").lines;
    assert_eq!(lines([16, 16, 1], [64, 64, 1]), 8, "each row straddles");
    assert_eq!(lines([64, 4, 1], [64, 64, 1]), 5, "a row");
    // Groups at the edge of the grid are smaller: lanes have other ids.
    assert!(lines([16, 16, 1], [60, 64, 1]) > 8);
}

#[test]
fn lanes_that_were_off_keep_what_they_had() {
    let inner = |restore: &str| {
        load(
            &format!(
                "v_lshlrev_b32 v2, 6, v0\n v_cmp_gt_u32 vcc, s8, v0\n s_and_saveexec_b64 s[12:13], vcc\n v_lshlrev_b32 v2, 2, v0\n{restore}"
            ),
            "flat_load_dword v4, v[2:3]",
        )
    };
    assert_eq!(last(&inner("")).lines, 5, "only lanes with the new one");
    let both = last(&inner("s_or_b64 exec, exec, s[12:13]\n"));
    assert_eq!(both.lines, 64, "{both:?}");
    // Masks inside of masks: back to those lanes that have it.
    let nested = inner(
        "v_cmp_lt_u32 vcc, s8, v0\n s_and_saveexec_b64 s[14:15], vcc\n v_mov_b32 v9, 0\n s_or_b64 exec, exec, s[14:15]\n",
    );
    assert_eq!(last(&nested).lines, 5, "{:?}", last(&nested));
}

/// A base that changes from round to round, in lanes that leave at different times.
#[test]
fn rounds_are_not_confused() {
    let rounds = "s_mov_b32 s10, 0\n s_mov_b64 s[14:15], exec\n v_mov_b32 v5, v0\nl:\n s_lshl_b32 s11, s10, 8\n\
                  v_lshlrev_b32 v2, 2, v0\n v_add_u32 v2, vcc, s11, v2\nINSIDE\n\
                  v_add_u32 v5, vcc, -1, v5\n s_add_u32 s10, s10, 1\n\
                  v_cmp_lt_i32 vcc, 0, v5\n s_and_b64 exec, exec, vcc\n s_cbranch_execnz l\n s_mov_b64 exec, s[14:15]\n";
    let inside = rounds.replace("INSIDE", "v_add_u32 v6, vcc, s4, v2\n v_mov_b32 v7, s5\n v_addc_u32 v7, vcc, 0, v7, vcc\n flat_load_dword v8, v[6:7]");
    assert_eq!(last(&inside).lines, 5, "{:?}", last(&inside));
    let after = load(&rounds.replace("INSIDE", ""), "flat_load_dword v4, v[2:3]");
    assert!(last(&after).lines > 60, "{:?}", last(&after));
    // A pointer that moves on.
    let pointer = format!(
        "v_lshlrev_b32 v2, 2, v0\n{}s_mov_b32 s10, 0\nl:\n flat_load_dword v4, v[2:3]\n v_add_u32 v2, vcc, 64, v2\n\
         v_addc_u32 v3, vcc, 0, v3, vcc\n s_add_u32 s10, s10, 1\n s_cmp_lt_u32 s10, 9\n s_cbranch_scc1 l\n",
        at("s4", "s5")
    );
    assert_eq!(last(&pointer).lines, 5, "{:?}", last(&pointer));
}

#[test]
fn banks_of_local_memory() {
    let passes = |offset: &str, what: &str| {
        let fact = last(&format!("{offset}\n {what}"));
        assert_eq!(fact.local, Local::Always);
        fact.passes
    };
    let read = "ds_read_b32 v4, v2";
    assert_eq!(passes("v_lshlrev_b32 v2, 2, v0", read), 2, "two rows of banks");
    assert_eq!(
        passes("v_and_b32 v2, 63, v0\n v_lshlrev_b32 v2, 3, v2", read),
        4,
        "every bank twice in each half"
    );
    assert_eq!(passes("v_and_b32 v2, 31, v0\n v_lshlrev_b32 v2, 7, v2", read), 64, "all in one bank");
    assert_eq!(passes("v_mov_b32 v2, 8", read), 2, "one dword for all lanes");
    assert_eq!(passes("s_lshl_b32 s9, s8, 2\n v_mov_b32 v2, s9", read), 2, "wherever it is");
    assert_eq!(passes("v_mov_b32 v2, s8", read), 4, "perhaps across two dwords");
    assert_eq!(passes("v_and_b32 v2, 15, v0\n v_mul_lo_u32 v2, v2, 4", read), 2, "few dwords");
    assert_eq!(passes("v_lshlrev_b32 v2, 2, v0", "ds_read2_b32 v[4:5], v2 offset1:1"), 4, "four rows");
    // Lanes that a mask leaves can meet others than before.
    let masked = "v_lshlrev_b32 v2, 2, v0\n v_cmp_gt_u32 vcc, s8, v0\n s_and_saveexec_b64 s[12:13], vcc";
    assert_eq!(passes(masked, read), 3);
    let fact = last("v_lshlrev_b32 v2, 2, v0\n ds_add_u32 v2, v0");
    assert!(fact.write && fact.passes >= 4, "{fact:?}");
}

/// A remainder of the work-item's number, as compilers compute it.
fn remainder(by: u32) -> String {
    let magic = (1u64 << 32).div_ceil(u64::from(by));
    format!(
        "s_mov_b32 s9, {magic:#x}\n v_mul_hi_u32 v3, v0, s9\n v_mul_lo_u32 v3, v3, {by}\n v_sub_u32 v2, vcc, v0, v3\n"
    )
}

#[test]
fn numbers_known_lane_by_lane() {
    // A row of 13 words, wherever; quotients are few.
    let fact =
        last(&load(&format!("{} v_lshlrev_b32 v2, 6, v2", remainder(13)), "flat_load_dword v4, v[2:3]"));
    assert_eq!((fact.lines, fact.why), (13, None), "{fact:?}");
    assert_eq!(fact.range, Some((DATA, DATA + 12 * 64 + 3)));
    let moved = format!(
        "{} s_and_b32 s8, s8, 0xff\n v_add_u32 v2, vcc, s8, v2\n v_lshlrev_b32 v2, 2, v2",
        remainder(13)
    );
    assert_eq!(last(&load(&moved, "flat_load_dword v4, v[2:3]")).lines, 2, "the base does not matter");
    // Banks: 13 dwords, each in a bank of its own.
    let passes = |offset: String| last(&format!("{offset}\n ds_read_b32 v4, v2")).passes;
    assert_eq!(passes(format!("{} v_lshlrev_b32 v2, 2, v2", remainder(13))), 2);
    assert_eq!(passes(format!("{} v_lshlrev_b32 v2, 7, v2", remainder(13))), 26, "all in one bank");
    // 16 bits, and parts of registers.
    let short = "v_mul_lo_u16 v2, 3, v0\n v_and_b32_sdwa v2, v2, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:BYTE_0\n";
    let fact = last(&load(short, "flat_load_ubyte v4, v[2:3]"));
    assert_eq!((fact.why, fact.range), (None, Some((DATA, DATA + 255))), "{fact:?}");
    // Most of all waves: the second one begins in the middle of a line.
    let fact = last(&load(
        "v_mov_b32 v2, 5\n v_lshrrev_b32 v3, 6, v0\n v_cmp_lt_u32 vcc, 2, v3\n v_cndmask_b32 v2, v2, v0, vcc\n v_lshlrev_b32 v2, 6, v2",
        "flat_load_dword v4, v[2:3]",
    ));
    assert_eq!((fact.lines, fact.why), (64, None), "{fact:?}");
}

#[test]
fn masks_known_lane_by_lane() {
    let masked = |limit: u32, what: &str| {
        last(&format!(
            "v_lshlrev_b32 v2, 2, v0\n v_cmp_gt_u32 vcc, {limit}, v0\n s_and_saveexec_b64 s[12:13], vcc\n s_cbranch_execz e\n {what}\ne:\n"
        ))
    };
    assert_eq!(masked(1, "ds_read_b32 v4, v2").passes, 1);
    assert_eq!(masked(20, "ds_read_b32 v4, v2").passes, 1);
    assert_eq!(masked(64, "ds_read_b32 v4, v2").passes, 2);
    let load = format!("{}flat_load_dword v4, v[2:3]", at("s6", "s7"));
    assert_eq!((masked(16, &load).lines, masked(17, &load).lines), (1, 2));
    assert_eq!(masked(16, &load).range, Some((DATA + 0x2ff0, DATA + 0x2ff0 + 63)));
}

/// Rounds that lanes leave: each has its own numbers.
#[test]
fn rounds_told_apart() {
    let body = format!(
        "s_movk_i32 s10, 0x271\n v_mov_b32 v0, v0\nl:\n {} v_lshlrev_b32 v2, 7, v2\n ds_read_b32 v4, v2\n\
         v_add_u32 v0, vcc, 0x100, v0\n v_cmp_gt_u32 vcc, s10, v0\n s_and_b64 exec, exec, vcc\n s_cbranch_execnz l\n",
        remainder(13)
    );
    let fact = last(&body);
    assert_eq!((fact.passes, fact.why), (26, None), "{fact:?}");
}

/// A pointer moves on in a counted loop: it lies between where it was and as many steps further.
#[test]
fn pointers_that_loops_move_on() {
    let rounds = |step: &str, back: &str| {
        last(&format!(
            "s_mov_b64 s[10:11], s[4:5]\n s_mov_b32 s12, 0\nl:\n s_load_dword s13, s[10:11], 0x4\n s_waitcnt lgkmcnt(0)\n\
             {step} s_add_u32 s12, s12, 1\n s_cmp_lt_u32 s12, 9\n {back}\n"
        ))
        .range
    };
    let on = "s_add_u32 s10, s10, 16\n s_addc_u32 s11, s11, 0\n";
    let again = "s_cbranch_scc1 l";
    assert_eq!(rounds(on, again), Some((DATA + 4, DATA + 4 + 8 * 16 + 3)));
    // Twice in a round, or back.
    assert_eq!(rounds(&format!("{on}{on}"), again), Some((DATA + 4, DATA + 4 + 8 * 32 + 3)));
    let down = "s_add_u32 s10, s10, -4\n s_addc_u32 s11, s11, -1\n";
    assert_eq!(rounds(down, again), Some((DATA + 4 - 32, DATA + 4 + 3)));
    // By a number that is not known, or as often as memory says.
    assert_eq!(rounds("s_add_u32 s10, s10, s8\n s_addc_u32 s11, s11, 0\n", again), None);
    assert_eq!(rounds(on, "s_cmp_lg_u32 s12, s13\n s_cbranch_scc1 l"), None);
}

#[test]
fn scalar_loads_and_paths_apart() {
    let scalar = |body: &str| last(body).lines;
    assert_eq!(scalar("s_load_dwordx8 s[12:19], s[4:5], 0x30"), 1);
    assert_eq!(scalar("s_load_dwordx8 s[12:19], s[4:5], 0x20"), 2);
    assert_eq!(last("s_load_dwordx4 s[12:15], s[4:5], 0x10").range, Some((DATA + 16, DATA + 31)));
    assert_eq!(scalar("s_load_dwordx2 s[12:13], s[4:5], s8"), 2, "anywhere");
    // A base from memory may be another one in a path that ran apart.
    let body = load(
        "v_lshlrev_b32 v2, 2, v0\n v_and_b32 v2, 0xff, v2\n s_lshl_b32 s9, s8, 2\n v_add_u32 v2, vcc, s9, v2",
        "flat_load_dword v4, v[2:3]",
    );
    let lines = |apart| {
        facts_of(&body, [256, 1, 1], [1024, 1, 1], AccessShape { apart, ..SHAPE }).pop().expect("one").lines
    };
    assert!(lines(false) <= 10 && lines(true) == 64, "{} {}", lines(false), lines(true));
}
