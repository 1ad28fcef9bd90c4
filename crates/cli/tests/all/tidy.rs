//! Checks on the tree itself: crate dependencies point one way, files stay readable and say what they are,
//! pages have short lines and links that lead somewhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("workspace root")
}

/// What each crate may depend on (docs/ARCHITECTURE.md, "Crates"). A new crate joins here first.
const ALLOWED: &[(&str, &[&str])] = &[
    ("files", &[]),
    ("hw", &["files"]),
    ("isa", &[]),
    ("trace", &[]),
    ("check", &[]),
    ("flowproof", &["isa"]),
    ("program", &["isa"]),
    ("sanitize", &["isa"]),
    ("sim", &["hw", "isa", "program", "sanitize", "trace"]),
    ("objects", &["hw", "isa", "program"]),
    ("facts", &["flowproof", "isa", "objects", "program"]),
    ("wcet", &["facts", "hw", "isa", "program", "trace"]),
    ("proved", &["hw", "isa", "program", "wcet"]),
    ("device", &["hw", "isa", "objects", "program", "sanitize", "sim", "trace"]),
    ("workloads", &["device", "facts", "hw", "isa", "objects", "program", "sim", "trace"]),
    (
        "jobs",
        &[
            "device",
            "facts",
            "files",
            "hw",
            "isa",
            "objects",
            "program",
            "sanitize",
            "sim",
            "trace",
            "workloads",
        ],
    ),
    (
        "bound",
        &[
            "check",
            "device",
            "facts",
            "files",
            "flowproof",
            "hw",
            "isa",
            "jobs",
            "objects",
            "program",
            "proved",
            "sim",
            "trace",
            "wcet",
            "workloads",
        ],
    ),
    ("report", &["bound", "check", "facts", "files", "hw", "isa", "jobs", "program", "trace"]),
    ("schedule", &["hw", "isa", "jobs", "program", "report", "sim", "trace"]),
    ("sweep", &["bound", "files", "hw", "isa", "jobs", "report", "sim", "trace", "wcet", "workloads"]),
    ("debug", &["files", "hw", "isa", "jobs", "objects", "program", "sim", "trace"]),
    ("export", &["files", "trace"]),
    ("wavebound", &PRODUCT),
    // On top of the façade: what the command and the libraries for programs use of the product, every user can.
    ("host", &["wavebound"]),
    ("hip", &["host", "wavebound"]),
    ("hip-library", &["hip"]),
    ("cl", &["host", "wavebound"]),
    ("cl-library", &["cl"]),
    ("testgen", &PRODUCT),
    ("lab", &LABORATORY),
    ("filetests", &["hw", "isa", "jobs", "objects", "sim", "trace"]),
    ("view", &["files", "report", "trace"]),
    ("cli", &["cl", "hip", "host", "lab", "wavebound"]),
];

/// What a user's run needs.
const PRODUCT: [&str; 22] = [
    "bound",
    "check",
    "debug",
    "device",
    "export",
    "facts",
    "files",
    "flowproof",
    "hw",
    "isa",
    "jobs",
    "objects",
    "program",
    "report",
    "sanitize",
    "schedule",
    "sim",
    "sweep",
    "trace",
    "view",
    "wcet",
    "workloads",
];
/// The laboratory uses the product and the generators; nobody below uses it.
const LABORATORY: [&str; 17] = [
    "bound",
    "check",
    "device",
    "facts",
    "files",
    "hw",
    "isa",
    "jobs",
    "program",
    "report",
    "sanitize",
    "schedule",
    "sim",
    "testgen",
    "trace",
    "wcet",
    "workloads",
];

/// The `[dependencies]` of a manifest that are our own crates.
fn own_dependencies(manifest: &str) -> Vec<String> {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in manifest.lines() {
        if let Some(name) = line.trim().strip_prefix('[') {
            section = name.trim_end_matches(']').to_owned();
        } else if section == "dependencies" {
            let name = line.split(['.', ' ', '=']).next().unwrap_or("");
            match name.strip_prefix("wb-") {
                Some(own) => found.push(own.to_owned()),
                None if name == "wavebound" => found.push(name.to_owned()),
                None => {}
            }
        }
    }
    found
}

#[test]
fn crate_dependencies_point_one_way() {
    let allowed: BTreeMap<_, _> = ALLOWED.iter().copied().collect();
    let mut seen = 0;
    for entry in fs::read_dir(root().join("crates")).expect("crates/") {
        let path = entry.expect("entry").path();
        let name = path.file_name().expect("name").to_string_lossy().into_owned();
        let manifest = fs::read_to_string(path.join("Cargo.toml")).expect("manifest");
        let may = allowed
            .get(name.as_str())
            .unwrap_or_else(|| panic!("crate {name} is not in the table of tidy.rs"));
        for dependency in own_dependencies(&manifest) {
            assert!(
                may.contains(&dependency.as_str()),
                "crates/{name} must not depend on {dependency}: see docs/ARCHITECTURE.md, \"Crates\""
            );
        }
        seen += 1;
    }
    assert_eq!(seen, ALLOWED.len(), "tidy.rs lists a crate that does not exist");
}

#[test]
fn the_dependency_check_can_fail() {
    let manifest = "[dependencies]\nwb-sim.workspace = true\nserde = \"1\"\n[dev-dependencies]\nwb-lab.workspace = true\n";
    assert_eq!(own_dependencies(manifest), ["sim"]);
}

pub fn sources(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("dir") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

#[test]
fn source_files_are_short_and_say_what_they_are() {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    assert!(files.len() > 50, "the walk found only {} files", files.len());
    let mut bad = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("source");
        let shown = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        if !text.starts_with("//!") {
            bad.push(format!("{shown}: starts without a //! comment"));
        }
        let lines = text.lines().count();
        if lines > 700 {
            bad.push(format!("{shown}: {lines} lines, split it by meaning"));
        }
    }
    assert!(bad.is_empty(), "\n{}", bad.join("\n"));
}

/// Calls that open files by themselves. What a user names goes through `wb-files`, which knows limits and refuses devices.
const OPENERS: [&str; 5] = ["fs::read", "read_to_string(", "File::open(", "File::create(", "OpenOptions"];
const WRITERS: [&str; 2] = ["fs::write(", "fs::rename("];

/// Files that are ours, not the user's: where they are opened, with a word of the line.
const OWN_FILES: &[(&str, &str)] = &[
    // What the process has mapped.
    ("crates/hip/src/ffi/register.rs", "/proc/self/maps"),
    ("crates/hip/src/ffi/module.rs", "/proc/self/maps"),
    ("crates/lab/src/planted/clock.rs", "/proc/self/stat"),
    // The running program, for its checksum, and the log of cases that goes on.
    ("crates/lab/src/reproduce/runner.rs", "current_exe()"),
    ("crates/lab/src/reproduce/suite/mod.rs", "OpenOptions"),
    // Folders made for one run.
    ("crates/host/src/session.rs", "OpenOptions::new().read(true).append(true)"),
    ("crates/testgen/src/random/loops/campaign.rs", "&source"),
    ("crates/cli/src/commands/host/folder.rs", "std::fs::write(&path, bytes)"),
    ("crates/cli/src/commands/host/folder.rs", "/dev/urandom"),
    ("crates/cli/src/commands/host/mod.rs", "folder.records()"),
];

/// Lines of a source that open files by themselves, without its tests.
fn openers(text: &str) -> Vec<&str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    let calls = |line: &&str| {
        // A `TraceFile` is made of a reader that somebody else opened.
        let line = line.trim_start().replace("TraceFile::open(", "");
        !line.starts_with("//")
            && !line.starts_with("use ")
            && !line.contains("fs::read_dir")
            && !line.contains("wb_files::")
            && !line.contains("wavebound::files::")
            && OPENERS.iter().chain(&WRITERS).any(|c| line.contains(c))
    };
    code.lines().filter(calls).collect()
}

#[test]
fn files_of_users_are_read_and_written_in_one_place() {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    let mut bad = Vec::new();
    let mut used = vec![false; OWN_FILES.len()];
    for path in files {
        let shown = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        let product = shown.contains("/src/")
            && !shown.contains("/tests/")
            && !shown.starts_with("crates/files/")
            && !shown.starts_with("crates/filetests/");
        if !product {
            continue;
        }
        let text = fs::read_to_string(&path).expect("source");
        for line in openers(&text) {
            let own = OWN_FILES.iter().position(|(file, word)| shown == *file && line.contains(word));
            match own {
                Some(i) => used[i] = true,
                None => bad.push(format!("{shown}: {}", line.trim())),
            }
        }
    }
    assert!(bad.is_empty(), "use wb_files::read, open or write:\n{}", bad.join("\n"));
    assert!(used.iter().all(|u| *u), "OWN_FILES lists a line that is gone: {used:?}");
}

#[test]
fn the_check_of_files_can_fail() {
    assert_eq!(openers("let x = std::fs::read(path)?;\n// std::fs::read(x)\n").len(), 1);
    assert_eq!(
        openers("    std::fs::write(&path, text)?;\n#[cfg(test)]\nmod tests { fs::read(x) }").len(),
        1
    );
    assert_eq!(openers("wb_files::read(path, Kind::Data)?; fs::read_dir(x)").len(), 0);
    assert_eq!(openers("TraceFile::open(reader)").len(), 0);
    assert_eq!(openers("TraceFile::open(File::open(path)?)").len(), 1);
}

/// Where a reader starts: from here links lead to every page.
const FIRST_PAGES: [&str; 3] = ["README.md", "docs/commands.md", "docs/ARCHITECTURE.md"];

/// The Markdown files of the tree, named from its top.
fn pages() -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["", "docs", "docs/workloads", "filetests"] {
        for entry in fs::read_dir(root().join(folder)).expect("folder") {
            let path = entry.expect("entry").path();
            if path.extension().is_some_and(|e| e == "md") {
                found.push(path.strip_prefix(root()).expect("below the top").display().to_string());
            }
        }
    }
    found.sort();
    found
}

/// The lines of a page outside of fenced code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(i, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((i + 1, line))
    })
}

/// Numbers of the lines with more than 140 characters. Tables and addresses of web pages do not count.
fn long_lines(text: &str) -> Vec<usize> {
    let length = |line: &str| -> usize {
        line.split(' ').filter(|word| !word.contains("://")).map(|word| word.chars().count() + 1).sum()
    };
    let long = |&(_, line): &(usize, &str)| !line.trim_start().starts_with('|') && length(line) > 141;
    prose(text).filter(long).map(|(number, _)| number).collect()
}

/// The targets of a page's links that lie in the tree.
fn links(text: &str) -> Vec<&str> {
    prose(text)
        .flat_map(|(_, line)| line.split("](").skip(1))
        .filter_map(|rest| rest.split(')').next())
        .filter(|target| !target.contains("://"))
        .collect()
}

/// The anchors that a page's headings have on the web.
fn anchors(text: &str) -> Vec<String> {
    let anchor = |heading: &str| -> String {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    prose(text)
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(_, line)| anchor(line.trim_start_matches('#').trim()))
        .collect()
}

#[test]
fn lines_of_pages_are_short() {
    let mut bad = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(root().join(&page)).expect("page");
        bad.extend(long_lines(&text).iter().map(|line| format!("{page}:{line}")));
    }
    assert!(bad.is_empty(), "lines of more than 140 characters, one idea each:\n{}", bad.join("\n"));
}

/// The pages a page links to; what is wrong with its links goes to `bad`.
fn linked(page: &str, bad: &mut Vec<String>) -> Vec<String> {
    let text = fs::read_to_string(root().join(page)).expect("page");
    let folder = root().join(page).parent().expect("a folder").to_owned();
    let mut found = Vec::new();
    for link in links(&text) {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let path = if file.is_empty() { root().join(page) } else { folder.join(file) };
        let Ok(path) = path.canonicalize() else {
            bad.push(format!("{page}: there is no {link}"));
            continue;
        };
        if !anchor.is_empty() {
            let target = fs::read_to_string(&path).expect("page");
            if !anchors(&target).iter().any(|a| a == anchor) {
                bad.push(format!("{page}: no heading is {link}"));
            }
        }
        found.push(path.strip_prefix(root()).unwrap_or(&path).display().to_string());
    }
    found.retain(|name| name.ends_with(".md"));
    found
}

#[test]
fn links_of_pages_lead_somewhere_and_to_every_page() {
    let mut bad = Vec::new();
    let mut seen: Vec<String> = FIRST_PAGES.map(str::to_owned).to_vec();
    let mut next = 0;
    while next < seen.len() {
        for name in linked(&seen[next].clone(), &mut bad) {
            if !seen.contains(&name) {
                seen.push(name);
            }
        }
        next += 1;
    }
    bad.extend(pages().iter().filter(|p| !seen.contains(p)).map(|p| format!("no link leads to {p}")));
    assert!(bad.is_empty(), "\n{}", bad.join("\n"));
}

#[test]
fn every_command_has_its_part_on_the_page_of_commands() {
    let help = std::process::Command::new(env!("CARGO_BIN_EXE_wavebound")).arg("--help").output();
    let help = String::from_utf8(help.expect("wavebound").stdout).expect("text");
    let (_, list) = help.split_once("Commands:\n").expect("a list of commands");
    let names = list.lines().take_while(|l| !l.is_empty()).filter_map(|l| l.strip_prefix("  "));
    let names = names.filter(|l| !l.starts_with(' ')).filter_map(|l| l.split(' ').next());
    let page = fs::read_to_string(root().join("docs/commands.md")).expect("the page");
    let parts = anchors(&page);
    let missing: Vec<_> = names.filter(|n| *n != "help" && !parts.iter().any(|p| p == n)).collect();
    assert!(parts.len() > 15 && missing.is_empty(), "docs/commands.md has no part {missing:?}");
}

/// What is printed as JSON has a schema: the list of `wavebound schema` is complete.
#[test]
fn every_json_output_has_a_schema() {
    let listed = std::process::Command::new(env!("CARGO_BIN_EXE_wavebound")).arg("schema").output();
    let listed = String::from_utf8(listed.expect("wavebound").stdout).expect("text");
    let mut files = Vec::new();
    sources(&root().join("crates/cli/src"), &mut files);
    let printed: usize = files
        .iter()
        .map(|f| fs::read_to_string(f).expect("source").matches("impl Printed for ").count())
        .sum();
    assert!(printed > 20);
    assert_eq!(
        listed.lines().count(),
        printed,
        "a type is printed that `OUTPUTS` in manual.rs does not list"
    );
}

#[test]
fn the_checks_of_pages_can_fail() {
    let long = "word ".repeat(30);
    assert_eq!(long_lines(&format!("short\n{long}\n| {long}|\n```\n{long}\n```\n- {long}\n")), [2, 7]);
    assert_eq!(long_lines(&format!("see https://example.org/{}\n", "x".repeat(140))), Vec::<usize>::new());
    assert_eq!(links("[a](b.md) and [c](d.md#e)\n```\n[f](g.md)\n```\n[h](https://i)"), ["b.md", "d.md#e"]);
    assert_eq!(
        anchors("## What differs, and why\ntext\n# `run --json`"),
        ["what-differs-and-why", "run---json"]
    );
}

/// Lines of code that name a target of AMD GPUs.
fn names_a_target(text: &str) -> Vec<&str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    code.lines().filter(|l| !l.trim_start().starts_with("//") && l.contains("gfx8")).collect()
}

/// Generations of GCN are told apart in one file; another one is a table of differences there.
#[test]
fn one_file_knows_generations() {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    let known = "crates/isa/src/gcn3/generation.rs";
    for path in files {
        let shown = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        let found = fs::read_to_string(&path).expect("source");
        let found = names_a_target(&found);
        if shown == known {
            assert!(!found.is_empty(), "{known} is elsewhere now");
        } else if shown.contains("/src/") && !shown.contains("/tests/") {
            assert!(found.is_empty(), "{shown}: {found:?}");
        }
    }
}

/// Licences that a dependency may have: each allows what ours (MIT OR Apache-2.0) does. An expression needs one of its choices.
const LICENCES: [&str; 11] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "Unlicense",
    "Unicode-3.0",
    "Zlib",
];

/// Whether an SPDX expression of `OR`, `AND` and parentheses is met by the licences above.
fn allowed(expression: &str) -> bool {
    let text = expression.replace('/', " OR ").replace(['(', ')'], "");
    text.split(" AND ").all(|all| all.split(" OR ").any(|one| LICENCES.contains(&one.trim())))
}

/// Every package that is built here has a licence that we can take: those of other systems need not be on this machine.
/// Advisories need the network: `cargo audit` reads them.
#[test]
fn licences_of_dependencies_are_known() {
    let cargo = |arguments: &[&str]| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = std::process::Command::new(cargo).args(arguments).current_dir(root()).output();
        let output = output.expect("cargo");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let version = String::from_utf8(cargo(&["-vV"])).expect("text");
    let host = version.lines().find_map(|l| l.strip_prefix("host: ")).expect("a host");
    let arguments = ["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host];
    let metadata: serde_json::Value = serde_json::from_slice(&cargo(&arguments)).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 50, "only {} packages", packages.len());
    let wrong = packages.iter().filter(|p| !allowed(p["license"].as_str().unwrap_or("")));
    let wrong: Vec<String> = wrong.map(|p| format!("{}: {}", p["name"], p["license"])).collect();
    assert!(wrong.is_empty(), "look at these licences:\n{}", wrong.join("\n"));
}

#[test]
fn the_check_of_licences_can_fail() {
    assert!(
        allowed("MIT OR GPL-3.0")
            && allowed("(MIT OR Apache-2.0) AND Unicode-3.0")
            && allowed("MIT/Apache-2.0")
    );
    assert!(!allowed("GPL-3.0") && !allowed("MIT AND GPL-3.0") && !allowed(""));
}
