//! The names: what the stock library exports is in our table with the same version, and the library in front exports
//! exactly that. The stock library comes from Debian's packages; without it, only under CI is that a failure.

use object::read::elf::{ElfFile64, FileHeader, Sym, VersionTable};
use object::{Endianness, elf};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

type Names = BTreeMap<String, String>;

/// Functions a shared library exports, with their versions.
fn exports(bytes: &[u8]) -> Names {
    let file = ElfFile64::<Endianness>::parse(bytes).expect("ELF");
    let (endian, header) = (file.endian(), file.elf_header());
    let sections = header.sections(endian, bytes).expect("sections");
    let symbols = sections.symbols(endian, bytes, elf::SHT_DYNSYM).expect("symbols");
    let versions: VersionTable<_> =
        sections.versions(endian, bytes).expect("versions").expect("has versions");
    let mut out = Names::new();
    for (index, symbol) in symbols.enumerate() {
        if symbol.is_undefined(endian) || symbol.st_type() != elf::STT_FUNC {
            continue;
        }
        let name = symbol.name(endian, symbols.strings()).expect("name");
        let version = versions.version(versions.version_index(endian, index).index()).expect("version");
        let version = version.map(|v| String::from_utf8_lossy(v.name()).into_owned()).unwrap_or_default();
        out.insert(String::from_utf8_lossy(name).into_owned(), version);
    }
    out
}

/// A line of our tables.
struct Row {
    name: String,
    version: String,
    /// Our function, if we have it.
    function: Option<String>,
}

fn rows(text: &str) -> Vec<Row> {
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert!(matches!(words[..], [_, _, "yes" | "no"] | [_, _, "yes", _]), "`{line}`");
        let function = words.get(3).unwrap_or(&words[0]);
        Row {
            name: words[0].to_owned(),
            version: words[1].to_owned(),
            function: (words[2] == "yes").then(|| (*function).to_owned()),
        }
    };
    text.lines().filter(|l| !l.starts_with('#')).map(row).collect()
}

fn wanted(texts: &[&str]) -> Names {
    texts.iter().flat_map(|text| rows(text)).map(|row| (row.name, row.version)).collect()
}

#[test]
fn the_libraries_in_front_have_the_names_and_versions_of_the_tables() {
    assert_eq!(exports(wb_hip::SHIMS[0].1), wanted(&[wb_hip::NAMES]));
    assert_eq!(exports(wb_hip::SHIMS[1].1), wanted(&[wb_hip::NAMES, wb_hip::NAMES6]));
}

#[test]
fn the_table_has_the_names_and_versions_of_the_stock_library() {
    let path = Path::new("/usr/lib/x86_64-linux-gnu/libamdhip64.so.5");
    let Ok(bytes) = std::fs::read(path) else {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "libamdhip64-5 is missing: scripts/install-test-tools.sh"
        );
        eprintln!("no stock library: names are not compared");
        return;
    };
    let stock = exports(&bytes);
    assert!(stock.len() > 300, "only {} names", stock.len());
    assert_eq!(stock, wanted(&[wb_hip::NAMES]));
}

/// Every name marked `yes` is a function of `ffi`, and every function of it is marked.
#[test]
fn names_are_marked_as_they_are() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ffi");
    let mut defined = Vec::new();
    for entry in std::fs::read_dir(folder).expect("ffi") {
        let text = std::fs::read_to_string(entry.expect("entry").path()).expect("source");
        for part in text.split("fn wavebound_").skip(1) {
            defined.push(part.split('(').next().unwrap_or("").to_owned());
        }
    }
    defined.retain(|name| name != "missing");
    defined.sort();
    let all = [wb_hip::NAMES, wb_hip::NAMES6].into_iter().flat_map(rows);
    let marked: BTreeSet<String> = all.filter_map(|row| row.function).collect();
    assert_eq!(defined, marked.iter().cloned().collect::<Vec<_>>());
    assert!(marked.len() > 150, "{} names are ours", marked.len());
}
