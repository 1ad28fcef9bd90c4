//! Builds `libamdhip64.so.5` and `libamdhip64.so.6`, which HIP programs link: for every name the stock library exports, with the version it has
//! there, a jump into `libwavebound_hip.so`, or to a message that the name is missing. rustc gives a shared library a
//! version script of its own, which cannot be combined with named versions; hence a library in front.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The names: name, version, `yes` if we have it, and our function if it has another name; and what HIP 6 has more or otherwise.
const NAMES: &str = "src/names.txt";
const NAMES6: &str = "src/names6.txt";

struct Name<'a> {
    name: &'a str,
    version: &'a str,
    ours: bool,
    function: &'a str,
}

fn main() {
    println!("cargo:rerun-if-changed={NAMES}");
    println!("cargo:rerun-if-changed={NAMES6}");
    println!("cargo:rerun-if-env-changed=CC");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    let target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("ARCH") != "x86_64" || target("OS") != "linux" {
        // `wavebound hip` says that it does not work here.
        for soname in ["libamdhip64.so.5", "libamdhip64.so.6"] {
            fs::write(out.join(soname), []).expect("write");
        }
        return;
    }
    let text = fs::read_to_string(NAMES).expect("names.txt");
    let later = fs::read_to_string(NAMES6).expect("names6.txt");
    let names = |text: &'static str| text.lines().filter(|l| !l.starts_with('#')).filter_map(parse);
    let (text, later): (&'static str, &'static str) = (text.leak(), later.leak());
    let five: BTreeMap<&str, Name> = names(text).map(|n| (n.name, n)).collect();
    let mut six: BTreeMap<&str, Name> = names(text).map(|n| (n.name, n)).collect();
    six.extend(names(later).map(|n| (n.name, n)));
    // The library behind does not exist yet: link against one that only has its names.
    let all: Vec<&Name> = five.values().chain(six.values()).collect();
    fs::write(out.join("stub.s"), stubs(&all)).expect("write");
    link(&out, "stub.s", "libwavebound_hip.so", &[]);
    for (soname, names) in [("libamdhip64.so.5", five), ("libamdhip64.so.6", six)] {
        let names: Vec<&Name> = names.values().collect();
        fs::write(out.join("shim.s"), jumps(&names)).expect("write");
        fs::write(out.join("versions"), versions(&names)).expect("write");
        link(&out, "shim.s", soname, &["-Wl,--version-script=versions", "-L.", "-lwavebound_hip"]);
    }
}

fn parse(line: &str) -> Option<Name<'_>> {
    let mut words = line.split_whitespace();
    let (name, version, ours) = (words.next()?, words.next()?, words.next()? == "yes");
    Some(Name { name, version, ours, function: words.next().unwrap_or(name) })
}

fn jumps(names: &[&Name]) -> String {
    let mut text = String::from(".text\n");
    for Name { name, ours, function, .. } in names {
        text += &format!(".globl {name}\n.type {name}, @function\n{name}:\n");
        if *ours {
            text += &format!("    jmp *wavebound_{function}@GOTPCREL(%rip)\n");
        } else {
            text += &format!("    leaq .L{name}(%rip), %rdi\n    jmp *wavebound_missing@GOTPCREL(%rip)\n");
        }
    }
    text += ".section .rodata\n";
    for Name { name, .. } in names.iter().filter(|n| !n.ours) {
        text += &format!(".L{name}: .asciz \"{name}\"\n");
    }
    text + ".section .note.GNU-stack, \"\", @progbits\n"
}

fn stubs(names: &[&Name]) -> String {
    let ours = names.iter().filter(|n| n.ours).map(|n| n.function).chain(std::iter::once("missing"));
    let ours: BTreeSet<&str> = ours.collect();
    let one =
        |name| format!(".globl wavebound_{name}\n.type wavebound_{name}, @function\nwavebound_{name}: ret\n");
    let text: String = ours.into_iter().map(one).collect();
    format!(".text\n{text}.section .note.GNU-stack, \"\", @progbits\n")
}

/// Every version contains the one before it.
fn versions(names: &[&Name]) -> String {
    let mut by_version: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for n in names {
        by_version.entry(n.version).or_default().push(n.name);
    }
    let (mut text, mut before) = (String::new(), "");
    for (version, names) in by_version {
        let local = if before.is_empty() { " local: *;" } else { "" };
        text += &format!("{version} {{ global: {};{local} }} {before};\n", names.join("; "));
        before = version;
    }
    text
}

fn link(out: &Path, source: &str, soname: &str, more: &[&str]) {
    let cc = env::var("CC").unwrap_or_else(|_| "cc".into());
    let status = Command::new(&cc)
        .current_dir(out)
        .args(["-shared", "-nostdlib", "-o", soname, source])
        .arg(format!("-Wl,-soname,{soname}"))
        .args(more)
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{cc} could not link {soname}: {status}"),
        Err(e) => panic!("cannot start {cc}, which links {soname}: {e}; set CC to a C compiler"),
    }
}
