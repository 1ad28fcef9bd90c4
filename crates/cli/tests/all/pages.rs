//! Pages of runs and comparisons: well-formed, numbers as in `--json`, nothing loaded, hostile text kept in its place; variants
//! compared, refused and found to differ.

use super::common::{NEST, control, failure, folder, json, number, repository, stdout, wavebound};
use roxmltree::{Document, Node, ParsingOptions};
use serde_json::Value;
use std::path::Path;
use wavebound::hw::{InstructionSet, Mechanism};

fn path(name: &str, file: &str) -> String {
    folder(name).join(file).display().to_string()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).expect("a page")
}

/// The page as XML: what is open is closed, and what is quoted ends.
pub fn parse(html: &str) -> Document<'_> {
    for loads in ["src=", "@import", "url(", "http:", "https:", "<link", "<img", "<iframe"] {
        assert!(!html.contains(loads), "the page loads nothing: {loads}");
    }
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(html, options).expect("a page that is well-formed")
}

/// Digits without the spaces between them.
fn digits(text: &str) -> u64 {
    let plain: String = text.chars().filter(|c| *c != '\u{202f}').collect();
    if plain.is_empty() { 0 } else { plain.parse().unwrap_or_else(|_| panic!("a number: {text}")) }
}

fn with_class<'a, 'i>(node: Node<'a, 'i>, class: &str) -> Vec<Node<'a, 'i>> {
    let has = |n: &Node| n.attribute("class").is_some_and(|c| c.split(' ').any(|c| c == class));
    node.descendants().filter(has).collect()
}

fn text(node: Node) -> String {
    node.descendants().filter(|n| n.is_text()).filter_map(|n| n.text()).collect()
}

/// What a card says.
fn card(page: &Document, what: &str) -> String {
    let cards = with_class(page.root(), "card");
    let found = cards.into_iter().find(|c| with_class(*c, "what").first().is_some_and(|w| text(*w) == what));
    with_class(found.unwrap_or_else(|| panic!("a card {what}")), "value")
        .first()
        .map(|v| text(*v))
        .unwrap_or_default()
}

/// The sum of the first column of a view over rows whose ids begin so.
fn sum(page: &Document, rows: &str, view: &str) -> u64 {
    let found = page.descendants().filter(|n| n.has_tag_name("tr"));
    let found = found.filter(|n| n.attribute("id").is_some_and(|id| id.starts_with(rows)));
    found.filter_map(|tr| with_class(tr, view).first().map(|td| digits(&text(*td)))).sum()
}

fn total(stats: &Value, field: &str) -> u64 {
    let all = stats["pcs"].as_array().expect("instructions");
    all.iter().map(|p| number(&p[field])).sum()
}

#[test]
fn a_page_has_the_numbers_of_the_run() {
    let (page, control) = (path("page-run", "nest.html"), control());
    let v = json(&[&["run", &control, "--json", "--html", &page], NEST].concat());
    let stats = &v["stats"];
    // Every cycle of a path is an issue or a stall.
    let stalls: u64 = stats["stall_cycles"].as_object().expect("reasons").values().map(number).sum();
    assert_eq!(total(stats, "cycles"), number(&stats["wave_instructions"]) + stalls);
    assert_eq!(total(stats, "stall_cycles"), stalls);
    for (reason, cycles) in stats["stall_cycles"].as_object().expect("reasons") {
        let all = stats["pcs"].as_array().expect("instructions");
        assert_eq!(all.iter().map(|p| number(&p["stalls"][reason])).sum::<u64>(), number(cycles), "{reason}");
    }
    let busy: u64 = stats["units"].as_array().expect("units").iter().map(|u| number(&u["busy_cycles"])).sum();
    assert_eq!(total(stats, "busy_cycles"), busy);
    // Accesses by instruction are those of the ports.
    let of_port = |field: &str| -> u64 {
        let ports = stats["memory"].as_array().expect("ports").iter();
        ports.filter(|p| p["port"] != "lds" && p["port"] != "fetch").map(|p| number(&p[field])).sum()
    };
    for field in ["accesses", "writes", "lines", "hits", "misses", "evictions"] {
        let all = stats["pcs"].as_array().expect("instructions").iter();
        let sum: u64 = all.filter(|p| !p["memory"].is_null()).map(|p| number(&p["memory"][field])).sum();
        assert_eq!(sum, of_port(field), "{field}");
    }
    let html = read(&page);
    let page = parse(&html);
    assert_eq!(digits(&card(&page, "cycles")), number(&stats["cycles"]));
    assert_eq!(digits(&card(&page, "wave-instructions")), number(&stats["wave_instructions"]));
    assert_eq!(digits(&card(&page, "lost lane-cycles")), number(&stats["lane_cycles_lost"]));
    assert_eq!(digits(&card(&page, "stall cycles")), stalls);
    assert_eq!(sum(&page, "p0-a", "c-cycles"), total(stats, "cycles"), "the assembly adds up");
    assert_eq!(sum(&page, "p0-a", "c-count"), number(&stats["wave_instructions"]));
    assert_eq!(sum(&page, "p0-l0-", "c-cycles"), total(stats, "cycles"), "and so does the source");
    assert!(html.contains("control.cl") && html.contains("Occupancy") && html.contains("wave slots"));
    // Links lead somewhere.
    let ids: Vec<&str> = page.descendants().filter_map(|n| n.attribute("id")).collect();
    for link in page.descendants().filter_map(|n| n.attribute("href")) {
        assert!(ids.contains(&link.trim_start_matches('#')), "{link}");
    }
}

#[test]
fn accesses_that_are_next_to_each_other_are_ideal() {
    let source = path("page-ideal", "gather.s");
    let code = |offset: &str| {
        format!(
            ".kernel gather\n.arg buf x\n  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  {offset}\n  s_waitcnt lgkmcnt(0)\n  \
             v_mov_b32 v3, s5\n  v_add_u32 v2, vcc, s4, v1\n  v_addc_u32 v3, vcc, 0, v3, vcc\n  flat_load_dword v4, v[2:3]\n  s_endpgm\n"
        )
    };
    // 64 lanes read four bytes each: 256 bytes are four lines of 64, unless all read the same.
    for (offset, lines, ideal) in [
        ("v_lshlrev_b32 v1, 2, v0", 4, 4),
        ("v_lshlrev_b32 v1, 6, v0", 64, 4),
        ("v_lshrrev_b32 v1, 6, v0", 1, 1),
    ] {
        std::fs::write(&source, code(offset)).expect("a file");
        let v = json(&["run", &source, "--json", "--grid", "64", "--group", "64", "--arg", "buf:u32:1024"]);
        let all = v["stats"]["pcs"].as_array().expect("instructions");
        let load =
            all.iter().find(|p| p["text"].as_str().is_some_and(|t| t.starts_with("flat_load"))).expect("it");
        let memory = &load["memory"];
        assert_eq!((number(&memory["lines"]), number(&memory["ideal_lines"])), (lines, ideal), "{load}");
    }
}

/// Text of a program cannot leave its place: not in a table, not in the script's data.
#[test]
fn hostile_source_stays_text() {
    let dir = folder("page-hostile");
    let source = dir.join("a<b>&'.s").display().to_string();
    let text = ".kernel evil\n.arg buf x\n  s_nop 0 ; </script><script>alert(1)</script> & \"<b>\" ]]> <!--\n  s_endpgm\n";
    std::fs::write(&source, text).expect("a file");
    let page = dir.join("page.html").display().to_string();
    stdout(&["run", &source, "--grid", "64", "--group", "64", "--arg", "buf:u32:64", "--html", &page]);
    let html = read(&page);
    let parsed = parse(&html);
    assert!(html.contains("&lt;/script&gt;&lt;script&gt;alert(1)"), "the text is there, as text");
    let scripts: Vec<Node> = parsed.descendants().filter(|n| n.has_tag_name("script")).collect();
    assert_eq!(scripts.len(), 2, "data and our script");
    assert!(scripts.iter().all(|s| !self::text(*s).contains("alert(1)")));
}

#[test]
fn several_launches_have_an_overview() {
    let page = path("page-launches", "bfs.html");
    let v = json(&["run", "--workload", "bfs", "--size", "tiny", "--json", "--html", &page]);
    let launches = v["launches"].as_array().expect("launches").len();
    let html = read(&page);
    let parsed = parse(&html);
    let first = parsed.descendants().find(|n| n.has_tag_name("section")).expect("a section");
    let rows = first.descendants().filter(|n| n.has_tag_name("tr")).count();
    assert_eq!(rows, launches + 1, "a row for each, and the head");
    let parts = parsed.descendants().filter(|n| n.has_tag_name("section")).count() - 1;
    assert_eq!(parts, launches.min(8));
    assert!(html.contains("kernel.cl") && html.contains("get_global_id"), "the source of the suite is there");
    assert_eq!(launches > 8, html.contains("more are only rows"), "what is left out is said");
    assert_eq!(digits(&card(&parsed, "cycles")), number(&v["totals"]["cycles"]));
}

#[test]
fn other_instruction_sets_have_pages() {
    let page = path("page-harp", "harp.html");
    let program = repository("crates/lab/programs/pdom-2.harp");
    stdout(&["run", &program, "--machine", "harp-pdom", "--html", &page]);
    let html = read(&page);
    parse(&html);
    assert!(html.contains("pdom-2.harp") && html.contains("Timeline"));
    stdout(&["run", &program, "--machine", "harp-pdom", "--untimed", "--html", &page]);
    let html = read(&page);
    parse(&html);
    assert!(
        html.contains("steps (untimed)") && !html.contains("Timeline"),
        "without cycles there is no timeline"
    );
}

/// A workload on a lane-pc machine under every mechanism: equal results, bits of state, and the table as Parquet.
#[test]
fn mechanisms_of_lane_pc_machines_are_compared() {
    let (csv, parquet) = (path("compare-lanepc", "nw.csv"), path("compare-lanepc", "nw.parquet"));
    let files = ["--csv", &csv, "--parquet", &parquet, "--json"];
    let v = json(
        &[&["compare", "--workload", "nw", "--size", "tiny", "--machine", "lanepc"][..], &files].concat(),
    );
    assert_eq!(v["equal"], true, "{v}");
    let variants = v["variants"].as_array().unwrap();
    let of =
        |name: &str| variants.iter().find(|v| v["mechanism"] == name).unwrap_or_else(|| panic!("no {name}"));
    assert_eq!(of("simt-stack")["state_bits"], 0);
    // Two pcs, 32 lanes and one of 32 waves in each of 16 entries.
    assert_eq!(of("dws-meng")["state_bits"], 16 * (2 * 32 + 32 + 5));
    for name in ["lwm", "tbc", "vws", "sbi-swi"] {
        assert!(of(name)["state_bits"].as_u64().unwrap() > 0 && of(name)["refused"].is_null(), "{name}");
    }
    let text = std::fs::read_to_string(&csv).unwrap();
    assert!(text.lines().next().unwrap().contains(",splits,state_bits,"), "{text}");
    assert_eq!(text.lines().count(), variants.len() + 1);
    assert!(std::fs::read(&parquet).unwrap().starts_with(b"PAR1"));
}

/// A launch file with a source: compiled for the machine that the file names, under every mechanism that it has.
#[test]
fn launch_files_are_compared_on_lane_pc_machines() {
    if !super::gcn3::has_compiler() {
        return;
    }
    let (file, source) = (path("compare-launches", "collatz.toml"), path("compare-launches", "collatz.cl"));
    let kernel = "kernel void collatz(global const uint *in, global uint *out) {\n\
                  uint i = get_global_id(0), n = in[i] + 1, steps = 0;\n\
                  for (; n != 1; steps++) n = n & 1 ? 3 * n + 1 : n / 2;\n\
                  out[i] = steps;\n}\n";
    let launch = "object = \"collatz.cl\"\nmachine = \"lanepc\"\n\
                  [buffers.in]\ntype = \"u32\"\nlength = 128\nfrom = \"iota\"\n\
                  [buffers.out]\ntype = \"u32\"\nlength = 128\n\
                  [[launch]]\nkernel = \"collatz\"\ngrid = 128\ngroup = 64\nargs = [\"in\", \"out\"]\n\
                  [[expect]]\nbuffer = \"out\"\nvalues = [0, 1, 7, 2, 5, 8, 16, 3]\n";
    std::fs::write(&source, kernel).unwrap();
    std::fs::write(&file, launch).unwrap();
    let v = json(&["compare", &file, "--json"]);
    assert_eq!(v["equal"], true, "{v}");
    let variants = v["variants"].as_array().unwrap();
    for mechanism in Mechanism::of(InstructionSet::Riscv) {
        let found = variants.iter().find(|v| v["mechanism"] == mechanism.name());
        let found = found.unwrap_or_else(|| panic!("no {mechanism}"));
        assert!(found["refused"].is_null(), "{found}");
    }
    // Lanes that part run in parallel where a mechanism lets them.
    let cycles = |name: &str| {
        let found = variants.iter().find(|v| v["mechanism"] == name);
        number(&found.unwrap_or_else(|| panic!("no {name}"))["stats"]["cycles"])
    };
    assert!(cycles("sbi") < cycles("simt-stack"), "{v}");
}

#[test]
fn variants_are_compared() {
    let (page, csv, control) = (path("compare", "nest.html"), path("compare", "nest.csv"), control());
    let wanted =
        ["--mechanisms", "none,pws,pdom,dws", "--s", "1,2", "--json", "--html", &page, "--csv", &csv];
    let v = json(&[&["compare", &control], NEST, &wanted].concat());
    let names: Vec<&str> =
        v["variants"].as_array().expect("variants").iter().filter_map(|v| v["name"].as_str()).collect();
    assert_eq!(names, ["none", "pws S=1", "pws S=2", "pdom", "dws S=1", "dws S=2"]);
    assert_eq!((&v["equal"], &v["variants"][0]["speed_up"]), (&true.into(), &1.0.into()));
    assert!(
        v["variants"][3]["refused"].as_str().is_some_and(|w| w.contains("pdom")),
        "{}",
        v["variants"][3]["refused"]
    );
    // The same as `run` says, marks included.
    let alone = json(
        &[&["run", &control], NEST, &["--json", "--mechanism", "pws", "--s", "2", "--split-all"]].concat(),
    );
    assert_eq!(v["variants"][2]["stats"]["cycles"], alone["stats"]["cycles"]);
    assert!(number(&v["variants"][2]["stats"]["contexts"]["started"]) > 0, "marked branches split");
    let html = read(&page);
    parse(&html);
    assert!(html.contains("refused:") && html.contains("control.cl") && html.contains("results in memory"));
    let lines: Vec<String> = read(&csv).lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 7);
    assert!(lines[0].starts_with("variant,mechanism,contexts,policy,cycles,speed_up"), "{}", lines[0]);
    assert!(
        lines[1]
            .starts_with(&format!("none,none,,,{},1.000000", number(&v["variants"][0]["stats"]["cycles"])))
    );
    let table = stdout(&[&["compare", &control], NEST, &["--vary", "core.waves=4,8,nonsense"]].concat());
    assert!(
        table.contains("none core.waves=8") && table.contains("refused:") && table.contains("are equal"),
        "{table}"
    );
}

/// A kernel that stores the clock: what it leaves depends on the machine.
#[test]
fn results_that_differ_are_found() {
    let source = path("compare-clock", "clock.s");
    let text = ".kernel clock\n.arg buf x\n  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_memtime s[2:3]\n  v_lshlrev_b32 v1, 2, v0\n  \
        s_waitcnt lgkmcnt(0)\n  v_mov_b32 v4, s2\n  v_mov_b32 v3, s5\n  v_add_u32 v2, vcc, s4, v1\n  v_addc_u32 v3, vcc, 0, v3, vcc\n  \
        flat_store_dword v[2:3], v4\n  s_endpgm\n";
    std::fs::write(&source, text).expect("a file");
    let base = ["compare", &source, "--grid", "64", "--group", "64", "--arg", "buf:u32:64"];
    let vary = ["--vary", "frontend.fetch_latency=1,9"];
    let why = failure(&[&base[..], &vary].concat());
    assert!(
        why.contains("x[0] is") && why.contains("64 of 64 elements differ") && why.contains("--racy"),
        "{why}"
    );
    let table = stdout(&[&base[..], &vary, &["--racy"]].concat());
    assert!(table.contains("results DIFFER"), "{table}");
    assert!(
        stdout(&[&base[..], &["--policies", "oldest-first,oldest-first"]].concat()).contains("are equal")
    );
}

#[test]
fn a_comparison_refuses_what_it_does_not_understand() {
    let control = control();
    let base = [&["compare", &control], NEST].concat();
    assert!(
        failure(&[&base[..], &["--mechanisms", "magic"]].concat()).contains("there is no mechanism `magic`")
    );
    assert!(failure(&[&base[..], &["--vary", "core.waves"]].concat()).contains("FIELD=LIST"));
    let many =
        "--vary=core.waves=".to_owned() + &(1..300).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    assert!(failure(&[&base[..], &[&many]].concat()).contains("more than 256"));
    assert!(failure(&[&base[..], &["--mechanisms", "pdom"]].concat()).contains("no variant ran"));
    let nowhere = Path::new("/nonexistent/page.html").display().to_string();
    assert!(!wavebound(&[&base[..], &["--html", &nowhere]].concat()).status.success());
}

/// Code of HIP's headers is counted where the user's file calls it; the user's own headers stay what they are.
#[test]
fn library_code_is_counted_where_it_is_called() {
    let headers = Path::new("/usr/include/hip/hip_runtime.h").exists();
    if !super::gcn3::has_compiler() || !headers {
        return;
    }
    let dir = folder("page-inlined");
    let own = "__device__ inline float helper(float x) {\n    return sinf(x) * 2.0f;\n}\n";
    let kernel = "#include <hip/hip_runtime.h>\n#include \"own.h\"\n\
        extern \"C\" __global__ void k(float *p) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
        p[i] = helper(p[i]) + __shfl_xor(p[i], 1);\n}\n";
    std::fs::write(dir.join("own.h"), own).expect("a file");
    std::fs::write(dir.join("k.hip"), kernel).expect("a file");
    let (source, page) = (dir.join("k.hip").display().to_string(), dir.join("k.html").display().to_string());
    let args = ["--grid", "64", "--group", "64", "--arg", "buf:f32:64:iota", "--json", "--html", &page];
    let v = json(&[&["run", &source], &args[..]].concat());
    let ran =
        v["stats"]["pcs"].as_array().expect("instructions").iter().filter(|p| number(&p["executed"]) > 0);
    let places: Vec<(&str, u64, &str)> = ran
        .map(|p| {
            let file = p["file"].as_str().and_then(|f| f.rsplit('/').next()).unwrap_or("");
            (file, number(&p["line"]), p["inner"].as_str().unwrap_or(""))
        })
        .collect();
    assert!(places.iter().all(|p| p.1 == 0 || ["k.hip", "own.h"].contains(&p.0)), "{places:?}");
    let from = |file: &str, line: u64, header: &str| {
        places.iter().any(|p| (p.0, p.1) == (file, line) && p.2.contains(header))
    };
    assert!(from("k.hip", 5, "functions.h"), "the shuffle is called in line 5: {places:?}");
    assert!(from("own.h", 2, "math.h"), "the sine is called in the user's header: {places:?}");
    let html = read(&page);
    parse(&html);
    assert!(html.contains("__shfl_xor(p[i], 1)") && html.contains(" from amd_"), "the assembly says both");
}
