//! The names: what the stock library exports is in our table with the same version, and the library in front exports
//! exactly that. The stock library comes from Debian's packages; without it, only under CI is that a failure.

use object::read::elf::{ElfFile64, FileHeader, Sym, VersionTable};
use object::{Endianness, elf};
use std::collections::BTreeMap;
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

/// Our table: name, version, whether we have it.
fn table() -> Vec<(String, String, bool)> {
    let lines = wb_hip::NAMES.lines().filter(|l| !l.starts_with('#'));
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert!(words.len() == 3 && matches!(words[2], "yes" | "no"), "names.txt: `{line}`");
        (words[0].to_owned(), words[1].to_owned(), words[2] == "yes")
    };
    lines.map(row).collect()
}

fn wanted() -> Names {
    table().into_iter().map(|(name, version, _)| (name, version)).collect()
}

#[test]
fn the_library_in_front_has_the_names_and_versions_of_the_table() {
    assert_eq!(exports(wb_hip::SHIM), wanted());
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
    assert_eq!(stock, wanted());
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
    let marked: Vec<String> = table().into_iter().filter(|row| row.2).map(|row| row.0).collect();
    assert_eq!(defined, marked);
    assert!(marked.len() > 150, "{} names are ours", marked.len());
}
