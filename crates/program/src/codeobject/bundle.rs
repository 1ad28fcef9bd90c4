//! Offload bundles (`__CLANG_OFFLOAD_BUNDLE__`): several objects in one file, told by their target names.

use super::CodeObjectError;

const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";

/// The gfx803 object of a bundle, or the bytes as they are when it is none.
pub fn unwrap(bytes: &[u8]) -> Result<&[u8], CodeObjectError> {
    if !bytes.starts_with(MAGIC) {
        return Ok(bytes);
    }
    let bad = |what: &str| CodeObjectError::Bundle(what.to_owned());
    let mut at = MAGIC.len();
    let mut word = || -> Option<u64> {
        let raw = bytes.get(at..at + 8)?;
        at += 8;
        Some(u64::from_le_bytes(raw.try_into().ok()?))
    };
    let count = word().ok_or_else(|| bad("it ends in the header"))?;
    let mut names = Vec::new();
    let mut rest = at;
    for _ in 0..count {
        let field = |i: usize| -> Option<usize> {
            let raw = bytes.get(rest + 8 * i..rest + 8 * i + 8)?;
            usize::try_from(u64::from_le_bytes(raw.try_into().ok()?)).ok()
        };
        let entry = (|| Some((field(0)?, field(1)?, field(2)?)))()
            .ok_or_else(|| bad("it ends in the entry table"))?;
        let (offset, size, name_len) = entry;
        let name = rest.checked_add(24).and_then(|from| bytes.get(from..from.checked_add(name_len)?));
        let name = String::from_utf8_lossy(name.ok_or_else(|| bad("an entry name is cut off"))?).into_owned();
        rest += 24 + name_len;
        if name.contains("amdgcn") && name.contains("gfx803") {
            let object = offset.checked_add(size).and_then(|end| bytes.get(offset..end));
            return object.ok_or_else(|| bad(&format!("entry {name} lies outside the file")));
        }
        names.push(name);
    }
    Err(CodeObjectError::NoEntry(names.join(", ")))
}
