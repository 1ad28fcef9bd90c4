//! What the marking pass does with marks that are there already: keeps those that belong together, removes the rest,
//! and inserts what is missing. Programs in assembly, expectations by hand.

use wb_hw::MarkStyle;
use wb_isa::{SourceFile, gcn3};
use wb_objects::codeobject::{CodeObject, from_assembly};
use wb_objects::marks::{Marked, Request, Wanted, mark, sites};

fn object(body: &str) -> Vec<u8> {
    let text = format!(".kernel k\n{body}");
    let assembly = gcn3::assemble(&SourceFile::new("k.s", text)).expect("assembles");
    from_assembly(&assembly, "k.s").expect("an object")
}

fn code(bytes: &[u8]) -> Vec<String> {
    let object = CodeObject::parse(bytes).expect("object");
    let len = (object.text.end - object.text.start) as usize;
    let raw = object.bytes_at(object.text.start, len).expect("text");
    let words: Vec<u32> =
        raw.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("word"))).collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let inst = gcn3::decode(&words[at..]).expect("decodes");
        at += usize::from(inst.size / 4);
        out.push(gcn3::disassemble(&inst));
    }
    out
}

fn marked(body: &str, wanted: Wanted, style: MarkStyle) -> Marked {
    let request = Request { kernel: String::new(), wanted, style };
    let once = mark(&object(body), &request).expect("marks");
    let twice = mark(&once.bytes, &request).expect("marks again");
    assert!(once.bytes == twice.bytes && twice.notes.is_empty(), "{:?}", twice.notes);
    once
}

/// An if with an else; `{…}` are places for marks.
fn if_else(before: &str, between: &str, end: &str) -> String {
    format!(
        "s_and_saveexec_b64 s[0:1], vcc\ns_xor_b64 s[0:1], exec, s[0:1]\n{before}s_cbranch_execz other\n\
         v_mov_b32 v0, 1\nother: s_andn2_saveexec_b64 s[0:1], s[0:1]\n{between}s_cbranch_execz end\n\
         v_mov_b32 v0, 2\nend: s_or_b64 exec, exec, s[0:1]\n{end}v_mov_b32 v1, v0\ns_endpgm\n"
    )
}

const SPLIT: &str = "split exec_lo, exec_hi\n";
const MERGE: &str = "merge\n";

#[test]
fn an_if_with_an_else_gets_one_pair() {
    let done = marked(&if_else("", "", ""), Wanted::All, MarkStyle::Pws);
    assert_eq!(code(&done.bytes), code(&object(&if_else(SPLIT, "", MERGE))));
    assert_eq!((done.branches.len(), done.notes.len()), (1, 0));
}

#[test]
fn the_else_side_stands_for_its_if() {
    let plain = object(&if_else("", "", ""));
    let all = sites(&plain, "").expect("sites");
    assert_eq!(all[1].else_of, Some(all[0].addr));
    let wanted = Wanted::At(vec![format!("k.s:{}", all[1].line)]);
    let done = marked(&if_else("", "", ""), wanted, MarkStyle::Pws);
    assert_eq!(done.branches, [all[0].addr]);
}

#[test]
fn marks_by_hand_are_completed_and_cleaned() {
    // The split is there, its merge is not.
    let done = marked(&if_else(SPLIT, "", ""), Wanted::At(Vec::new()), MarkStyle::Pws);
    assert_eq!(code(&done.bytes), code(&object(&if_else(SPLIT, "", MERGE))));
    // The else side's split is redundant, and so is its merge.
    let done = marked(&if_else(SPLIT, SPLIT, "merge\nmerge\n"), Wanted::At(Vec::new()), MarkStyle::Pws);
    assert_eq!(code(&done.bytes), code(&object(&if_else(SPLIT, "", MERGE))));
    assert!(
        done.notes[0].contains("else side") && done.notes[1].contains("merge without"),
        "{:?}",
        done.notes
    );
    // Alone it stays.
    let done = marked(&if_else("", SPLIT, MERGE), Wanted::At(Vec::new()), MarkStyle::Pws);
    assert_eq!(code(&done.bytes), code(&object(&if_else("", SPLIT, MERGE))));
    // A split before nothing, a merge without a split: the line is named.
    let body = "split s4, s5\ns_nop 3\nmerge\ns_endpgm\n";
    let done = marked(body, Wanted::At(Vec::new()), MarkStyle::Pws);
    assert_eq!(code(&done.bytes), ["s_nop 3", "s_endpgm"]);
    assert!(done.notes[0].contains("k.s:2") && done.notes[1].contains("k.s:4"), "{:?}", done.notes);
    // Other lanes than EXEC are the author's choice.
    let done = marked(&if_else("split s6, s7\n", "", MERGE), Wanted::All, MarkStyle::Pws);
    assert_eq!(code(&done.bytes), code(&object(&if_else("split s6, s7\n", "", MERGE))));
}

/// Two regions inside each other, ended by one instruction after the other; a loop goes round behind the outer end.
#[test]
fn nested_regions_merge_from_the_inside() {
    let nested = |s: &str, m: &str| {
        format!(
            "s_and_saveexec_b64 s[0:1], vcc\n{s}s_cbranch_execz out\nv_mov_b32 v0, 1\n\
             s_and_saveexec_b64 s[2:3], s[4:5]\n{s}s_cbranch_execz in\nv_mov_b32 v0, 2\n\
             in: s_or_b64 exec, exec, s[2:3]\n{m}out: s_or_b64 exec, exec, s[0:1]\n{m}again: s_sub_i32 s9, s9, 1\n\
             s_cmp_lg_u32 s9, 0\ns_cbranch_scc1 again\ns_endpgm\n"
        )
    };
    let done = marked(&nested("", ""), Wanted::All, MarkStyle::Pws);
    // Who skips the inner region does not merge for it, who goes round the loop does not merge at all.
    assert_eq!(code(&done.bytes), code(&object(&nested(SPLIT, MERGE))));
}

#[test]
fn the_mode_bit_is_set_and_cleared_on_both_ways() {
    let set = |n: u32| format!("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 21, 1), {n}\n");
    let body = "s_and_saveexec_b64 s[0:1], vcc\ns_cbranch_execz end\nv_mov_b32 v0, 1\n\
                end: s_or_b64 exec, exec, s[0:1]\ns_endpgm\n";
    let by_hand = format!(
        "s_and_saveexec_b64 s[0:1], vcc\n{}s_cbranch_execz end\n{}v_mov_b32 v0, 1\n\
         end: {}s_or_b64 exec, exec, s[0:1]\ns_endpgm\n",
        set(1),
        set(0),
        set(0)
    );
    let done = marked(body, Wanted::All, MarkStyle::Thesis);
    assert_eq!(code(&done.bytes), code(&object(&by_hand)));
    assert!(sites(&done.bytes, "").expect("sites")[0].mode);
}

#[test]
fn source_marks_find_their_branch() {
    let body = |m: &str| {
        format!(
            "s_and_saveexec_b64 s[0:1], vcc\ns_cbranch_execz end\nv_mov_b32 v0, 1\n{m}v_mov_b32 v2, 1\n\
             end: s_or_b64 exec, exec, s[0:1]\ns_endpgm\n"
        )
    };
    let request = |bytes: &[u8]| {
        mark(bytes, &Request { kernel: String::new(), wanted: Wanted::Source, style: MarkStyle::Pws })
    };
    let done = request(&object(&body("s_nop 0x5b1\n"))).expect("marks");
    let all = marked(&body(""), Wanted::All, MarkStyle::Pws);
    assert_eq!(code(&done.bytes), code(&all.bytes));
    let uniform = "s_cbranch_scc0 end\ns_nop 0x5b1\nend: s_endpgm\n";
    let error = request(&object(uniform)).expect_err("uniform").to_string();
    assert!(error.contains("k.s:3") && error.contains("uniform"), "{error}");
    let bare = "s_nop 0x5b1\ns_endpgm\n";
    let error = request(&object(bare)).expect_err("no branch").to_string();
    assert!(error.contains("not stand in the body of a branch"), "{error}");
}
