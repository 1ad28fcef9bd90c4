//! Device code inside other files: executables and libraries of the host carry offload bundles in the section `.hip_fatbin`, one
//! after the other, and newer compilers compress bundles (LLVM, `CompressedOffloadBundle`). Commands take such files as they are.

use super::error::CodeObjectError;
use object::read::elf::{ElfFile64, FileHeader as _};
use object::{Endianness, Object as _, ObjectSection as _};
use std::borrow::Cow;
use std::io::Read;

const PLAIN: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
const COMPRESSED: &[u8] = b"CCOB";
const SECTION: &str = ".hip_fatbin";
const EM_AMDGPU: u16 = 0xe0;
/// Larger bundles are taken for damage.
const LARGEST: u64 = 1 << 30;

/// Whether the file is a compressed bundle.
pub fn is_compressed(bytes: &[u8]) -> bool {
    bytes.starts_with(COMPRESSED)
}

/// The bundles or code objects of a file, each once: of an executable or library of the host all that it carries, of a compressed
/// bundle what it was made from. Other files are what they are.
pub fn device_code(bytes: &[u8]) -> Result<Vec<Cow<'_, [u8]>>, CodeObjectError> {
    if is_compressed(bytes) {
        return Ok(vec![Cow::Owned(decompress(bytes)?)]);
    }
    let Some(section) = section(bytes) else { return Ok(vec![Cow::Borrowed(bytes)]) };
    let mut found: Vec<Cow<[u8]>> = Vec::new();
    let mut rest = section?;
    while let Some(at) = next(rest) {
        rest = &rest[at..];
        let (bundle, size) = if is_compressed(rest) {
            (Cow::Owned(decompress(rest)?), Header::read(rest)?.total.unwrap_or(COMPRESSED.len()))
        } else {
            let size = plain_size(rest)?;
            (Cow::Borrowed(&rest[..size]), size)
        };
        // A linker may keep two copies of what two files share.
        if !found.contains(&bundle) {
            found.push(bundle);
        }
        rest = &rest[size.clamp(1, rest.len())..];
    }
    match found.is_empty() {
        true => Err(CodeObjectError::Bundle(format!("the section {SECTION} has no bundle"))),
        false => Ok(found),
    }
}

/// The section with device code, if this is a file for the host that has one.
fn section(bytes: &[u8]) -> Option<Result<&[u8], CodeObjectError>> {
    let elf = ElfFile64::<Endianness>::parse(bytes).ok()?;
    if elf.elf_header().e_machine(elf.endian()).0 == EM_AMDGPU {
        return None;
    }
    let section = elf.section_by_name(SECTION)?;
    Some(section.data().map_err(|e| CodeObjectError::Bundle(format!("the section {SECTION}: {e}"))))
}

/// Where the next bundle begins. Those that linkers put together are aligned to pages, but nothing promises that.
fn next(bytes: &[u8]) -> Option<usize> {
    let starts = |at: usize| [PLAIN, COMPRESSED].iter().any(|magic| bytes[at..].starts_with(magic));
    (0..bytes.len()).find(|&at| (bytes[at] == b'_' || bytes[at] == b'C') && starts(at))
}

/// Bytes of a bundle, as its table says.
fn plain_size(bytes: &[u8]) -> Result<usize, CodeObjectError> {
    let bad = || CodeObjectError::Bundle("its table leads outside the file".into());
    let word = |at: usize| number(bytes, at, 8).and_then(|n| usize::try_from(n).ok());
    let count = word(PLAIN.len()).ok_or_else(bad)?;
    let (mut at, mut end) = (PLAIN.len() + 8, PLAIN.len() + 8);
    for _ in 0..count {
        let entry = || {
            let name = word(at + 16)?;
            let size = word(at)?.checked_add(word(at + 8)?)?;
            Some((at.checked_add(24)?.checked_add(name)?, size))
        };
        let (behind, last) = entry().ok_or_else(bad)?;
        at = behind;
        end = end.max(last).max(at);
    }
    if end > bytes.len() { Err(bad()) } else { Ok(end) }
}

/// A little-endian number of `size` bytes.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let raw = bytes.get(at..at.checked_add(size)?)?;
    Some(raw.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)))
}

/// What stands before the data of a compressed bundle.
struct Header {
    method: u64,
    /// Bytes of all of it; versions before 2 do not say.
    total: Option<usize>,
    /// Bytes of the bundle.
    plain: u64,
    /// Bytes of the header.
    size: usize,
}

impl Header {
    fn read(bytes: &[u8]) -> Result<Header, CodeObjectError> {
        let bad = |what: &str| CodeObjectError::Bundle(what.to_owned());
        let field = |at: usize, size: usize| {
            number(bytes, at, size).ok_or_else(|| bad("it ends in the header of what is compressed"))
        };
        let (version, method) = (field(4, 2)?, field(6, 2)?);
        // Magic, version, method; then the size of the file, of the bundle, and a hash of eight bytes.
        let (total, plain, size) = match version {
            1 => (None, field(8, 4)?, 20),
            2 => (Some(field(8, 4)?), field(12, 4)?, 24),
            3 => (Some(field(8, 8)?), field(16, 8)?, 32),
            _ => return Err(bad(&format!("version {version} of compressed bundles is not known"))),
        };
        let total = total.map(|n| n as usize).filter(|n| *n <= bytes.len() && *n >= size);
        if version > 1 && total.is_none() {
            return Err(bad("its size is not that of the file"));
        }
        if plain > LARGEST {
            return Err(bad(&format!("it says that it has {plain} bytes; the limit is {LARGEST}")));
        }
        Ok(Header { method, total, plain, size })
    }
}

fn decompress(bytes: &[u8]) -> Result<Vec<u8>, CodeObjectError> {
    let header = Header::read(bytes)?;
    let end = header.total.unwrap_or(bytes.len());
    let data = bytes.get(header.size..end).unwrap_or_default();
    let size = header.plain as usize;
    let plain = match header.method {
        0 => miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(data, size).map_err(|e| e.to_string()),
        1 => zstd_frame(data, header.plain).map_err(|e| e.to_string()),
        other => Err(format!("method {other} is not known")),
    };
    let plain = plain.map_err(|e| CodeObjectError::Bundle(format!("it cannot be decompressed: {e}")))?;
    match plain.len() == size && plain.starts_with(PLAIN) {
        true => Ok(plain),
        false => Err(CodeObjectError::Bundle("what is compressed is no offload bundle".into())),
    }
}

/// The first frame, of at most `size` bytes. What follows it is not looked at: the first version does not say where it ends.
fn zstd_frame(data: &[u8], size: u64) -> std::io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    zstd::Decoder::with_buffer(data)?.single_frame().take(size).read_to_end(&mut plain)?;
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle(object: &[u8]) -> Vec<u8> {
        let name = b"hipv4-amdgcn-amd-amdhsa--gfx803";
        let mut out = PLAIN.to_vec();
        let offset = PLAIN.len() + 8 + 24 + name.len();
        for n in [1, offset, object.len(), name.len()] {
            out.extend((n as u64).to_le_bytes());
        }
        out.extend(name);
        out.extend(object);
        out
    }

    fn packed(version: u16, method: u16, plain: &[u8]) -> Vec<u8> {
        let data = match method {
            0 => miniz_oxide::deflate::compress_to_vec_zlib(plain, 6),
            _ => zstd::bulk::compress(plain, 3).expect("compressed"),
        };
        let mut out = COMPRESSED.to_vec();
        out.extend(version.to_le_bytes());
        out.extend(method.to_le_bytes());
        let (size, total) = (plain.len() as u64, data.len() as u64);
        match version {
            1 => out.extend((size as u32).to_le_bytes()),
            2 => [total + 24, size].iter().for_each(|n| out.extend((*n as u32).to_le_bytes())),
            _ => [total + 32, size].iter().for_each(|n| out.extend(n.to_le_bytes())),
        }
        out.extend(7u64.to_le_bytes());
        out.extend(data);
        out
    }

    #[test]
    fn compressed_bundles_are_what_they_were() {
        let plain = bundle(&[9; 5000]);
        for (version, method) in [(1, 0), (1, 1), (2, 0), (2, 1), (3, 1)] {
            let packed = packed(version, method, &plain);
            let code = device_code(&packed).expect("decompressed");
            assert_eq!(code, [Cow::Borrowed(plain.as_slice())], "version {version}, method {method}");
            // In memory something follows.
            let mut more = packed.clone();
            more.extend([0; 300]);
            let code = device_code(&more).expect("decompressed");
            assert_eq!(code, [Cow::Borrowed(plain.as_slice())], "version {version}, method {method}");
        }
    }

    #[test]
    fn damage_is_an_error() {
        let whole = packed(2, 1, &bundle(&[9; 5000]));
        for cut in 0..whole.len() {
            if cut < 4 {
                assert_eq!(device_code(&whole[..cut]).expect("anything else").len(), 1);
            } else {
                assert!(device_code(&whole[..cut]).is_err(), "cut at {cut}");
            }
        }
        let mut huge = whole.clone();
        huge[12..16].fill(0xff);
        assert!(device_code(&huge).unwrap_err().to_string().contains("the limit is"));
        for (at, what) in [(4, "version 119"), (6, "method 119")] {
            let mut strange = whole.clone();
            strange[at] = 119;
            let error = device_code(&strange).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
        assert!(device_code(&packed(2, 1, &[1; 100])).unwrap_err().to_string().contains("no offload bundle"));
        assert!(plain_size(&bundle(&[1; 10])[..60]).is_err());
    }

    #[test]
    fn bundles_follow_each_other() {
        let (a, b) = (bundle(&[1; 100]), bundle(&[2; 50]));
        let mut section = a.clone();
        section.resize(4096, 0);
        section.extend(&b);
        let first = plain_size(&section).expect("a size");
        assert_eq!(first, a.len());
        assert_eq!(next(&section[first..]), Some(4096 - first));
    }
}
