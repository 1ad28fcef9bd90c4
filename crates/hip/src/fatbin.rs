//! Fat binaries as hipcc embeds them: a wrapper that points to an offload bundle. How long a bundle is only its own
//! table tells, so it is read with the end of the mapped memory as the limit (LLVM, ClangOffloadBundler).

use std::ops::Range;
use wavebound::hw::Machine;
use wavebound::isa::gcn3::GFX8;
use wavebound::objects::codeobject::{device_code, is_compressed};

/// First word of the wrapper (`HIPF`), and the version we know.
pub const MAGIC: u32 = 0x4849_5046;
pub const VERSION: u32 = 1;

const BUNDLE: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";

/// The code object for a target in a bundle or a bare object; a message says why there is none.
pub fn code_object(bytes: &[u8], target: &str) -> Result<Vec<u8>, String> {
    if is_compressed(bytes) {
        let bundles = device_code(bytes).map_err(|e| e.to_string())?;
        let first = bundles.first().ok_or("the device code is empty")?;
        return code_object(first, target);
    }
    if bytes.starts_with(b"\x7fELF") {
        return Ok(elf(bytes).to_vec());
    }
    if !bytes.starts_with(BUNDLE) {
        return Err("the device code is no offload bundle and no code object".into());
    }
    let found = wavebound::objects::codeobject::unbundle_for(bytes, target);
    found
        .map(<[u8]>::to_vec)
        .map_err(|e| format!("{e}; build with --offload-arch={target}, or choose another machine"))
}

/// The GPU that a machine is.
pub fn target(machine: &Machine) -> &str {
    if machine.arch.is_empty() { GFX8.usual.name } else { &machine.arch }
}

/// An ELF file ends with its section headers, as linkers write it; the rest of the memory is not its own.
fn elf(bytes: &[u8]) -> &[u8] {
    let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let half = |at: usize| Some(u64::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    let end = (|| word(0x28)?.checked_add(half(0x3a)?.checked_mul(half(0x3c)?)?))();
    end.and_then(|end| bytes.get(..usize::try_from(end).ok()?)).unwrap_or(bytes)
}

/// Up to where memory can be read from `addr` on, as `/proc/self/maps` says.
pub fn readable(maps: &str, addr: u64) -> Option<u64> {
    let range = |line: &str| -> Option<(Range<u64>, bool)> {
        let mut words = line.split_whitespace();
        let (from, to) = words.next()?.split_once('-')?;
        let hex = |text| u64::from_str_radix(text, 16).ok();
        Some((hex(from)?..hex(to)?, words.next()?.starts_with('r')))
    };
    let mut end = None;
    for (range, readable) in maps.lines().filter_map(range) {
        match end {
            None if readable && range.contains(&addr) => end = Some(range.end),
            Some(before) if readable && range.start == before => end = Some(range.end),
            Some(_) => break,
            None => {}
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_binaries_are_errors() {
        for bytes in [&b""[..], b"CCOB....", b"garbage", b"__CLANG_OFFLOAD_BUNDLE__", b"\x7fELF"] {
            let result = code_object(bytes, "");
            assert!(result.is_err() || bytes.starts_with(b"\x7fELF"), "{bytes:?}");
        }
        let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
        bundle.extend(u64::MAX.to_le_bytes());
        assert!(code_object(&bundle, "gfx803").is_err());
        assert!(code_object(b"CCOBxxxx", "gfx803").unwrap_err().contains("is not known"));
    }

    #[test]
    fn neighbouring_mappings_are_one() {
        let maps = "1000-2000 r--p 0 0:0 1 /x\n2000-3000 rw-p 0 0:0 1 /x\n3000-4000 ---p 0 0:0 1\n5000-6000 r--p 0 0:0 1\n";
        assert_eq!(readable(maps, 0x1800), Some(0x3000));
        assert_eq!(readable(maps, 0x3800), None);
        assert_eq!(readable(maps, 0x5fff), Some(0x6000));
        assert_eq!(readable("rubbish\n", 1), None);
    }
}
