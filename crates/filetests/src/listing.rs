//! `test asm`: bytes and listing of a program, and the ways from source to bytes and back.

use std::path::Path;
use wb_hw::InstructionSet;
use wb_isa::harp::{self, Arch, Encoding, Harp};
use wb_isa::{AsmError, Isa, SourceFile, gcn3, guppy, vortex};
use wb_jobs::object::{ListingOptions, ObjectFile, listing};

fn messages(errors: Vec<AsmError>) -> String {
    errors.iter().map(|e| e.message.clone()).collect::<Vec<_>>().join("\n")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ")
}

/// A listing of a program by its name and text, or what a round trip changes.
pub type List = fn(&str, &str) -> Result<String, String>;

/// How programs are listed that are not for an architecture of their own, as HARP's are.
const LISTS: [(InstructionSet, List); 3] =
    [(InstructionSet::Guppy, guppy), (InstructionSet::Vortex, vortex), (InstructionSet::Gcn3, gcn3)];

/// The first `test asm` of an instruction set says here what its round trips are.
pub fn of(isa: InstructionSet) -> Result<List, String> {
    let list = LISTS.iter().find(|l| l.0 == isa).map(|l| l.1);
    list.ok_or_else(|| {
        format!("`test asm` does not know round trips of {isa}: add them to filetests/src/listing.rs")
    })
}

/// The same registers in the other encoding.
pub fn counterpart(arch: &Arch) -> Arch {
    let encoding = if arch.encoding == Encoding::Word { Encoding::Byte } else { Encoding::Word };
    Arch { encoding, ..*arch }
}

pub fn harp(name: &str, text: &str, arch: &Arch) -> Result<String, String> {
    let file = SourceFile::new(name, text);
    let image = harp::assemble_program(&file, arch).map_err(messages)?;
    round_trips(&file, &image)?;
    let isa = Harp::new(*arch)?;
    let mut out = String::new();
    let label = |pc| image.symbol_at(isa.addr_of(pc)).map(str::to_owned);
    for (base, bytes) in &image.segments {
        let mut at = 0;
        while at < bytes.len() {
            let addr = base + at as u64;
            for (name, _) in image.symbols.iter().filter(|s| s.1 == addr) {
                out.push_str(&format!("{name}:\n"));
            }
            let is_text = image.text.iter().any(|r| r.contains(&addr));
            let (size, text) = match isa.pc_of(addr).filter(|_| is_text) {
                Some(pc) => {
                    let (inst, size) = isa.decode_at(&bytes[at..]).map_err(|e| e.to_string())?;
                    (size as usize, isa.show(&inst, pc, &label))
                }
                None => {
                    let next = image.symbols.iter().map(|s| s.1).chain(image.text.iter().map(|r| r.start));
                    let end = next.filter(|&a| a > addr).min().map_or(bytes.len(), |a| (a - base) as usize);
                    (end.min(bytes.len()).min(at + 8) - at, String::new())
                }
            };
            let line = format!("{addr:4x}  {:26}{text}", hex(&bytes[at..at + size]));
            out.push_str(line.trim_end());
            out.push('\n');
            at += size;
        }
    }
    Ok(out)
}

/// Disassembling and assembling, and writing and reading the object, change nothing.
fn round_trips(file: &SourceFile, image: &harp::Image) -> Result<(), String> {
    let text = harp::disassemble(image);
    let again = harp::assemble_program(&SourceFile::new("disassembly", text.as_str()), &image.arch)
        .map_err(|e| format!("the disassembly does not assemble: {}\n{text}", messages(e)))?;
    if (&again.segments, again.entry, &again.text) != (&image.segments, image.entry, &image.text) {
        return Err(format!("disassembling and assembling changes the image\n{text}"));
    }
    let object = harp::assemble(file, &image.arch).map_err(messages)?;
    let object = harp::Object::from_bytes(&object.to_bytes()).map_err(|e| e.to_string())?;
    let linked = harp::link(&[object]).map_err(|e| e.to_string())?;
    if (&linked.segments, linked.entry, &linked.symbols) != (&image.segments, image.entry, &image.symbols) {
        return Err("writing the object and linking it changes the image".into());
    }
    Ok(())
}

pub fn gcn3(name: &str, text: &str) -> Result<String, String> {
    let words = |text: &str| {
        let file = SourceFile::new(name, text);
        let assembly = gcn3::assemble(&file).map_err(messages)?;
        let object = ObjectFile::from_bytes(name, text.as_bytes()).map_err(|e| e.to_string())?;
        Ok::<_, String>((assembly.words, object))
    };
    let (code, object) = words(text)?;
    let list = |assembly| {
        let options = ListingOptions { assembly, ..ListingOptions::default() };
        listing(&object, Path::new(name), &options).map_err(|e| e.to_string())
    };
    let again = gcn3::assemble(&SourceFile::new("disassembly", list(true)?)).map_err(messages)?;
    if again.words != code {
        return Err(format!("disassembling and assembling changes the code\n{}", list(true)?));
    }
    list(false)
}

pub fn guppy(name: &str, text: &str) -> Result<String, String> {
    let mut module = guppy::assemble(&SourceFile::new(name, text)).map_err(messages)?;
    let bytes = module.to_bytes();
    if guppy::Module::from_bytes(&bytes).map_err(|e| e.to_string())? != module {
        return Err("writing the module and reading it changes it".into());
    }
    let listing = module.disassemble();
    let mut again = guppy::assemble(&SourceFile::new("disassembly", listing.as_str()))
        .map_err(|e| format!("the disassembly does not assemble: {}\n{listing}", messages(e)))?;
    // Lines of the source are not part of the meaning.
    module.lines.clear();
    again.lines.clear();
    let bytes = module.to_bytes();
    if again.to_bytes() != bytes {
        return Err(format!("disassembling and assembling changes the module\n{listing}"));
    }
    let rows: Vec<String> = bytes.chunks(24).map(hex).collect();
    Ok(format!("{}\n\n{listing}", rows.join("\n")))
}

pub fn vortex(name: &str, text: &str) -> Result<String, String> {
    let image = |text: &str| {
        vortex::assemble(&SourceFile::new(name, text)).map_err(|e| format!("{}\n{text}", messages(e)))
    };
    let first = image(text)?;
    let list =
        |assembly| wb_jobs::vortex::listing(name, text.as_bytes(), assembly).map_err(|e| e.to_string());
    let again = image(&list(true)?)?;
    if (&again.segments, again.entry) != (&first.segments, first.entry) {
        return Err(format!("disassembling and assembling changes the image\n{}", list(true)?));
    }
    let whole = wb_objects::RiscvImage::from_assembly(&first, name);
    let read = wb_objects::RiscvImage::from_elf(&whole.to_elf()).map_err(|e| e.to_string())?;
    if (&read.segments, read.entry, &read.symbols) != (&whole.segments, whole.entry, &whole.symbols) {
        return Err("writing the ELF file and reading it changes the image".into());
    }
    list(false)
}
