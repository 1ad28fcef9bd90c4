//! Facts files and FFX against a kernel with a nest of loops: places, checksums and every error with its line and hint;
//! and programs whose flow cannot be bounded.

use wb_facts::{self as facts, Counted, FactsError, FlowError, FlowFacts, Known, Origin};
use wb_isa::SourceFile;
use wb_isa::gcn3::isa::Gcn3;
use wb_objects::codeobject::{CodeObject, from_assembly};
use wb_objects::{gcn3_program, gcn3_setup};
use wb_program::Program;

/// Two loops in each other, the outer bounded by an argument and the inner by 10, and one that memory decides.
const NEST: &str = "
.kernel other
  s_endpgm
.kernel nest
.arg i32 n
.arg buf flag
  s_load_dword s4, s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 0x8
  s_mov_b32 s5, 0
  s_waitcnt lgkmcnt(0)
outer:
  s_mov_b32 s6, 0
inner:
  s_add_i32 s6, s6, 1
  s_cmp_lt_i32 s6, 10
  s_cbranch_scc1 inner
  s_add_i32 s5, s5, 1
  s_cmp_lt_i32 s5, s4
  s_cbranch_scc1 outer
wait:
  s_load_dword s7, s[8:9], 0x0
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s7, 0
  s_cbranch_scc1 wait
  s_endpgm
";

fn program(source: &str, kernel: &str) -> Program<Gcn3> {
    let file = SourceFile::new("k.s", source);
    let assembly = wb_isa::gcn3::assemble(&file).unwrap_or_else(|e| panic!("{e:?}"));
    let object = CodeObject::parse(&from_assembly(&assembly, "k.s").expect("an object")).expect("an object");
    let kernel = object.kernel(kernel).expect("the kernel");
    let isa = Gcn3 { setup: gcn3_setup(kernel), ..Gcn3::default() };
    gcn3_program(&object, kernel, isa, 0, "k.s", Some(file)).expect("a program")
}

fn nest() -> Program<Gcn3> {
    program(NEST, "nest")
}

fn sum(p: &Program<Gcn3>) -> String {
    facts::checksum(p, &facts::calls_of(p))
}

fn wrong(p: &Program<Gcn3>, text: &str) -> FactsError {
    let text = text.replace("SUM", &sum(p));
    *FlowFacts::from_toml(&text, "facts.toml", p).expect_err(&text)
}

/// What is said, where, and what to do.
fn check(error: &FactsError, line: u32, message: &str, hint: &str) {
    assert!(error.to_string().contains(message), "{error}");
    assert!(error.to_string().starts_with(&format!("{}:{line}: ", error.file)), "{error}");
    assert!(error.hint.as_ref().is_some_and(|h| h.contains(hint)), "{error}: {:?}", error.hint);
}

#[test]
fn a_file_names_loops_in_every_way() {
    let p = nest();
    let views = facts::loops(&p, &facts::calls_of(&p));
    assert_eq!(views.len(), 3);
    let [outer, inner, wait] = [&views[0], &views[1], &views[2]];
    assert_eq!((outer.depth, inner.depth, inner.parent), (1, 2, Some(outer.header)));
    let lines = |name: &str| NEST.lines().position(|l| l.starts_with(name)).expect("label") + 2;
    for (place, header) in [
        (format!("{:#x}", inner.addr), inner.header),
        (format!("pc {}", outer.header), outer.header),
        (outer.header.to_string(), outer.header),
        (format!("nest+{:#x}", wait.addr - p.linked(p.entry)), wait.header),
        (format!("k.s:{}", lines("wait:")), wait.header),
        // The branch that goes round.
        (format!("k.s:{}", lines("inner:") + 2), inner.header),
    ] {
        let text = format!(
            "checksum = \"{}\"\nkernel = \"nest\"\n[[loop]]\nat = \"{place}\"\nmax = 7\nwhy = \"said so\"",
            sum(&p)
        );
        let facts = FlowFacts::from_toml(&text, "f", &p).unwrap_or_else(|e| panic!("{place}: {e}"));
        assert_eq!(facts.loops.len(), 1, "{place}");
        let l = &facts.loops[0];
        assert_eq!(
            (l.header, l.max, l.origin, l.why.as_str()),
            (header, 7, Origin::User, "said so"),
            "{place}"
        );
    }
    let text = format!(
        "checksum = \"{}\"\n[[loop]]\nat = \"{:#x}\"\nmax = 0\norigin = \"observed\"\n[[fact]]\nname = \"few\"\n\
         terms = [{{ count = \"{:#x}\", factor = 2 }}, {{ rounds = \"{:#x}\", factor = -1 }}]\nlimit = 40\n",
        sum(&p),
        outer.addr,
        wait.addr,
        inner.addr
    );
    let facts = FlowFacts::from_toml(&text, "f", &p).expect("facts");
    assert_eq!(facts.loops[0].origin, Origin::Observed);
    assert_eq!(facts.facts[0].terms, [(2, Counted::Block(wait.header)), (-1, Counted::Rounds(inner.header))]);
    assert_eq!(facts.facts[0].limit, 40);
}

#[test]
fn errors_in_a_file_say_where_and_what() {
    let p = nest();
    let at = format!("{:#x}", facts::loops(&p, &facts::calls_of(&p))[0].addr);
    let head = "checksum = \"SUM\"\n";
    check(
        &wrong(&p, "checksum = \"xxh3:0123\""),
        1,
        &format!("for xxh3:0123, the code is {}", sum(&p)),
        "`wavebound facts`",
    );
    check(
        &wrong(&p, "kernel = \"other\"\nchecksum = \"SUM\""),
        1,
        "for kernel `other`, this is `nest`",
        "--kernel",
    );
    check(&wrong(&p, ""), 1, "no checksum", &sum(&p));
    check(
        &wrong(&p, &format!("{head}[[loop]]\nat = \"pc 0\"\nmax = 1")),
        3,
        "not the header of a loop",
        "loops: 0x",
    );
    check(&wrong(&p, &format!("{head}[[loop]]\nat = \"nowhere\"\nmax = 1")), 3, "no such label", "FILE:LINE");
    let twice = format!("{head}[[loop]]\nat = \"{at}\"\nmax = 1\n[[loop]]\nat = \"{at}\"\nmax = 2");
    check(&wrong(&p, &twice), 6, "limited twice", "line 3");
    check(&wrong(&p, &format!("{head}[[loop]]\nat = \"{at}\"\nmax = -3")), 4, "max = -3", "0 means");
    check(
        &wrong(&p, &format!("{head}[[loop]]\nat = \"{at}\"\nmax = 1.5")),
        4,
        "not a number",
        "whole number",
    );
    check(&wrong(&p, &format!("{head}[[loop]]\nat = \"{at}\"")), 3, "no number yet", "how often");
    check(
        &wrong(&p, &format!("{head}[[loop]]\nat = \"{at}\"\nmx = 4")),
        4,
        "unknown field",
        "did you mean `max`",
    );
    check(
        &wrong(&p, &format!("{head}[[fact]]\nname = \"f\"\nterms = [{{ factor = 1 }}]\nlimit = 1")),
        4,
        "either",
        "count",
    );
    let both = NEST.lines().position(|l| l.contains("s_cbranch_scc1 outer")).expect("line") + 1;
    // Not the line of two loops in each other here, but a line with no loop at all.
    check(
        &wrong(&p, &format!("{head}[[loop]]\nat = \"k.s:{}\"\nmax = 1", both - 1)),
        3,
        "not the header",
        "loops:",
    );
}

#[test]
fn the_template_is_refused_until_it_is_filled_in() {
    let p = nest();
    let mut bytes = vec![0u8; 16];
    bytes[0] = 20;
    let known = Known { kernarg: Some(&bytes), arguments: vec![(0, "n".into())], ..Known::default() };
    let proved = facts::infer_gcn3(&p, &known).loops;
    let limits: Vec<u64> = proved.iter().map(|f| f.max).collect();
    assert_eq!(limits, [19, 9], "{proved:?}");
    assert!(
        proved[0].why.contains("s5 starts at 0") && proved[0].why.contains("s4 is 20 (argument n)"),
        "{}",
        proved[0].why
    );
    let text = facts::template(&p, &proved);
    assert_eq!(text.matches("# Proven").count(), 2, "{text}");
    let error = FlowFacts::from_toml(&text, "t", &p).expect_err("unfilled");
    assert!(error.message.contains("no number yet"), "{error}");
    let filled = text.replace("max = \"?\"", "max = 5");
    let mut facts = FlowFacts::from_toml(&filled, "t", &p).unwrap_or_else(|e| panic!("{e}\n{filled}"));
    let calls = facts::calls_of(&p);
    let Err(FlowError::Unbounded { header, .. }) = facts::require_bounds(&p, &calls, &facts) else {
        panic!("bounded")
    };
    assert_eq!(header, proved[0].header);
    facts.add(proved.clone());
    assert_eq!(facts::require_bounds(&p, &calls, &facts), Ok(()));
    // The smaller of two true limits counts.
    facts.add([facts::LoopFact { max: 3, origin: Origin::User, ..proved[0].clone() }]);
    assert_eq!(facts.bound(proved[0].header).map(|f| f.max), Some(3));
}

#[test]
fn the_checksum_is_of_the_kernel_alone() {
    let p = nest();
    let moved = NEST.replace(".kernel other\n", ".kernel other\n  s_nop 1\n  s_nop 2\n");
    assert_eq!(sum(&p), sum(&program(&moved, "nest")));
    let padded = NEST.replace(
        ".kernel other\n  s_endpgm",
        &format!(".kernel other\n{}  s_endpgm", "  s_nop 0\n".repeat(300)),
    );
    let padded = program(&padded, "nest");
    assert_ne!(p.linked(p.entry), padded.linked(padded.entry), "it stands elsewhere");
    assert_eq!(sum(&p), sum(&padded));
    for (from, to) in
        [("s_cmp_lt_i32 s6, 10", "s_cmp_lt_i32 s6, 11"), ("s_cbranch_scc1 wait", "s_cbranch_scc0 wait")]
    {
        assert_ne!(sum(&p), sum(&program(&NEST.replace(from, to), "nest")), "{to}");
    }
    assert_ne!(sum(&p), sum(&program(NEST, "other")));
}

#[test]
fn ffx_of_otawa() {
    let p = nest();
    let views = facts::loops(&p, &facts::calls_of(&p));
    let line = NEST.lines().position(|l| l.starts_with("wait:")).expect("label") + 2;
    let text = format!(
        "<?xml version=\"1.0\"?>\n<flowfacts>\n  <loop address=\"{:#x}\" maxcount=\"12\" totalcount=\"0x20\"/>\n  \
         <function label=\"nest\">\n    <loop label=\"nest\" offset=\"{:#x}\" maxcount=\"010\"/>\n    \
         <loop source=\"k.s\" line=\"{line}\" maxcount=\"NOCOMP\" totalcount=\"9\"/>\n  </function>\n</flowfacts>\n",
        views[0].addr,
        views[1].addr - p.linked(p.entry)
    );
    let facts = FlowFacts::parse(&text, "k.ffx", &p).unwrap_or_else(|e| panic!("{e}"));
    let limits: Vec<_> = facts.loops.iter().map(|l| (l.header, l.max, l.origin)).collect();
    assert_eq!(limits, [(views[0].header, 12, Origin::Ffx), (views[1].header, 8, Origin::Ffx)]);
    assert_eq!(facts.loops[1].why, "k.ffx:5: maxcount");
    let totals: Vec<_> = facts.facts.iter().map(|f| (f.terms.clone(), f.limit)).collect();
    assert_eq!(
        totals,
        [(vec![(1, Counted::Rounds(views[0].header))], 32), (vec![(1, Counted::Rounds(views[2].header))], 9)]
    );
    let wrong = |body: &str| {
        let text = format!("<flowfacts>\n{body}\n</flowfacts>");
        *FlowFacts::from_ffx(&text, "k.ffx", &p).expect_err(body)
    };
    let at = format!("{:#x}", views[0].addr);
    check(&wrong("<loop address=\"0x4\" maxcount=\"1\"/>"), 2, "no instruction is there", "address");
    check(&wrong(&format!("<loop address=\"{at}\"/>")), 2, "neither maxcount nor totalcount", "at least one");
    check(&wrong(&format!("<loop address=\"{at}\" maxcount=\"-1\"/>")), 2, "maxcount=\"-1\"", "NOCOMP");
    check(&wrong("<loop maxcount=\"1\"/>"), 2, "no location", "offset");
    check(&wrong("<noreturn label=\"nest\"/>"), 2, "`<noreturn>`", "take the others out");
    check(
        &wrong("<function label=\"nest\"><call label=\"other\"/></function>"),
        2,
        "one call",
        "outside of <call>",
    );
    check(
        &wrong(&format!("<function label=\"other\">\n<loop address=\"{at}\" maxcount=\"1\"/></function>")),
        3,
        "not in other",
        "loops",
    );
    let twice = format!("<loop address=\"{at}\" maxcount=\"1\"/>\n<loop address=\"{at}\" maxcount=\"1\"/>");
    check(&wrong(&twice), 3, "limited twice", "line 2");
    check(&wrong("<loop"), 3, "not XML", "docs/facts.md");
}

#[test]
fn flow_that_cannot_be_bounded_is_named() {
    let irreducible = "
.kernel k
.arg i32 n
  s_load_dword s4, s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_cmp_lt_i32 s4, 3
  s_cbranch_scc1 second
first:
  s_add_i32 s4, s4, 1
second:
  s_add_i32 s4, s4, 1
  s_cmp_lt_i32 s4, 100
  s_cbranch_scc1 first
  s_endpgm
";
    let p = program(irreducible, "k");
    let error = facts::analysable(&p).expect_err("irreducible");
    let FlowError::Irreducible { entries } = &error else { panic!("{error}") };
    assert_eq!(entries.len(), 2);
    assert!(error.to_string().contains("(k.s:9)") && error.to_string().contains("(k.s:11)"), "{error}");
    assert!(error.hint().contains("one entry"));
    assert!(facts::infer_gcn3(&p, &Known::default()).loops.is_empty());

    let jump =
        program(".kernel k\n.arg buf b\n  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_setpc_b64 s[4:5]\n", "k");
    let error = facts::analysable(&jump).expect_err("a jump");
    assert!(matches!(error, FlowError::Indirect { pc: 2, .. }), "{error}");
    assert!(error.to_string().contains("k.s:4") && error.hint().contains("jump-tables"), "{error}");

    let call = ".kernel k\n.arg buf b\n  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_swappc_b64 s[30:31], s[4:5]\n  s_endpgm\n";
    let error = facts::analysable(&program(call, "k")).expect_err("a call");
    assert!(matches!(error, FlowError::UnknownCall { pc: 2, .. }), "{error}");
    assert!(error.to_string().contains("s_swappc_b64 s[30:31], s[4:5]"), "{error}");

    let unbounded = facts::require_bounds(&nest(), &facts::calls_of(&nest()), &FlowFacts::default());
    let error = unbounded.expect_err("no bounds");
    assert!(error.to_string().contains("(k.s:") && error.hint().contains("[[loop]]\nat = \"0x"), "{error}");
    assert!(error.hint().contains(&format!("checksum = \"{}\"", sum(&nest()))), "{}", error.hint());
}

/// Functions that are called by name are found, their returns too, and their loops belong to the kernel.
#[test]
fn calls_that_are_known_are_followed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/gcn3/calls.O2.co");
    let object = CodeObject::parse(&std::fs::read(path).expect("fixture")).expect("object");
    let kernel = object.kernel("coprime").expect("kernel");
    let isa = Gcn3 { setup: gcn3_setup(kernel), ..Gcn3::default() };
    let p = gcn3_program(&object, kernel, isa, 0, "", None).expect("program");
    assert_eq!(facts::analysable(&p), Ok(()));
    let calls = facts::calls_of(&p);
    let callees: Vec<&str> = calls.callees().into_keys().filter_map(|pc| p.label_at(pc)).collect();
    assert!(callees.contains(&"gcd"), "{callees:?}");
    let inside = facts::loops(&p, &calls).iter().filter(|l| l.header < p.entry).count();
    assert_eq!(inside, 1, "the loop of gcd");
    assert!(!calls.returns.is_empty());
}

/// A function that calls another puts its return address into lanes meanwhile. Every way to lose it on the road must be
/// noticed: such a jump is no return.
#[test]
fn return_addresses_in_lanes_are_followed_and_lost_ones_noticed() {
    let source = |save: [&str; 2], restore: [&str; 2], inner: &str| {
        format!(
            ".kernel k\n.arg buf b\n  s_getpc_b64 s[4:5]\n  s_add_u32 s4, s4, 16\n  s_addc_u32 s5, s5, 0\n  \
             s_swappc_b64 s[30:31], s[4:5]\n  s_endpgm\nouter:\n  {}\n  {}\n  s_getpc_b64 s[4:5]\n  s_add_u32 s4, s4, 32\n  \
             s_addc_u32 s5, s5, 0\n  s_swappc_b64 s[30:31], s[4:5]\n  {}\n  {}\n  s_setpc_b64 s[30:31]\ninner:\n  {inner}\n  \
             s_setpc_b64 s[30:31]\n",
            save[0], save[1], restore[0], restore[1]
        )
    };
    let save = ["v_writelane_b32 v3, s30, 0", "v_writelane_b32 v3, s31, 1"];
    let restore = ["v_readlane_b32 s31, v3, 1", "v_readlane_b32 s30, v3, 0"];
    let quiet = "v_mov_b32 v4, 0";
    let found = |save, restore, inner| facts::analysable(&program(&source(save, restore, inner), "k"));
    assert_eq!(found(save, restore, quiet), Ok(()));
    let lost = [
        // The halves change places.
        (save, ["v_readlane_b32 s30, v3, 1", "v_readlane_b32 s31, v3, 0"], quiet),
        // One half is of another lane, or another register.
        (save, ["v_readlane_b32 s31, v3, 2", "v_readlane_b32 s30, v3, 0"], quiet),
        (save, ["v_readlane_b32 s31, v5, 1", "v_readlane_b32 s30, v3, 0"], quiet),
        // One half is never saved, or its lane is written again.
        (["v_writelane_b32 v3, s30, 0", "v_writelane_b32 v3, s29, 1"], restore, quiet),
        (["v_writelane_b32 v3, s31, 1", "v_writelane_b32 v3, s30, 1"], restore, quiet),
        // The lane is not known.
        ([save[0], "v_writelane_b32 v3, s31, 1\n  v_writelane_b32 v3, 7, s9"], restore, quiet),
        // The function that is called overwrites what was put aside.
        (save, restore, "v_mov_b32 v3, 0"),
    ];
    for (save, restore, inner) in lost {
        let error = found(save, restore, inner).expect_err("the address is lost");
        assert!(matches!(error, FlowError::Indirect { .. }), "{error}: {save:?} {restore:?} {inner}");
        assert!(error.hint().contains("-amdgpu-function-calls=0"), "{}", error.hint());
    }
}
