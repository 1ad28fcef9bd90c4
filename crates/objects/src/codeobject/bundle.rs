//! Offload bundles (`__CLANG_OFFLOAD_BUNDLE__`): several objects in one file, told by their target names.

use super::error::{CodeObjectError, known_targets};
use wb_isa::gcn3::GENERATIONS;

const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
/// What bundlers align objects to.
const PAGE: usize = 0x1000;

/// Where the object of a bundle for a target of ours is.
struct Entry {
    offset: usize,
    size: usize,
    /// Positions of the table entries: (offset field, offset).
    all: Vec<(usize, usize)>,
    /// Position of its offset field; the size follows.
    field: usize,
}

/// The object of a bundle for the first target we know, oldest first, or the bytes as they are when it is none.
pub fn unwrap(bytes: &[u8]) -> Result<&[u8], CodeObjectError> {
    unwrap_for(bytes, "")
}

/// The object for this target, or for another one of its generation, and no other one.
pub fn unwrap_for<'a>(bytes: &'a [u8], wanted: &str) -> Result<&'a [u8], CodeObjectError> {
    Ok(match find(bytes, wanted)? {
        Some(entry) => &bytes[entry.offset..entry.offset + entry.size],
        None => bytes,
    })
}

/// The file with another object in place of the one [`unwrap`] finds. What follows it keeps its alignment.
pub fn replace(bytes: &[u8], object: Vec<u8>) -> Result<Vec<u8>, CodeObjectError> {
    let Some(entry) = find(bytes, "")? else { return Ok(object) };
    let (start, end) = (entry.offset, entry.offset + entry.size);
    let more = object.len().saturating_sub(entry.size).next_multiple_of(PAGE);
    let mut out = [&bytes[..start], &object].concat();
    if end < bytes.len() {
        out.resize(end + more, 0);
        out.extend_from_slice(&bytes[end..]);
    }
    let mut put = |at: usize, value: usize| out[at..at + 8].copy_from_slice(&(value as u64).to_le_bytes());
    put(entry.field + 8, object.len());
    for (field, offset) in entry.all.into_iter().filter(|&(_, offset)| offset >= end) {
        put(field, offset + more);
    }
    Ok(out)
}

fn find(bytes: &[u8], wanted: &str) -> Result<Option<Entry>, CodeObjectError> {
    if !bytes.starts_with(MAGIC) {
        return Ok(None);
    }
    let bad = |what: &str| CodeObjectError::Bundle(what.to_owned());
    let word = |at: usize| -> Option<usize> {
        let raw = bytes.get(at..at.checked_add(8)?)?;
        usize::try_from(u64::from_le_bytes(raw.try_into().ok()?)).ok()
    };
    let count = word(MAGIC.len()).ok_or_else(|| bad("it ends in the header"))?;
    let mut at = MAGIC.len() + 8;
    let (mut names, mut all) = (Vec::new(), Vec::new());
    let mut found: Option<(usize, usize, usize, usize)> = None;
    for _ in 0..count {
        let entry = (|| Some((word(at)?, word(at + 8)?, word(at + 16)?)))()
            .ok_or_else(|| bad("it ends in the entry table"))?;
        let (offset, size, name_len) = entry;
        let name = at.checked_add(24).and_then(|from| bytes.get(from..from.checked_add(name_len)?));
        let name = String::from_utf8_lossy(name.ok_or_else(|| bad("an entry name is cut off"))?).into_owned();
        all.push((at, offset));
        let rank = rank(&name, wanted);
        if rank.is_some_and(|rank| found.is_none_or(|(best, ..)| rank < best)) {
            let object = offset.checked_add(size).and_then(|end| bytes.get(offset..end));
            if object.is_none() || offset < at + 24 + name_len {
                return Err(bad(&format!("entry {name} lies outside the file")));
            }
            found = Some((rank.unwrap_or(0), offset, size, at));
        }
        names.push(name);
        at += 24 + name_len;
    }
    let (_, offset, size, field) = found.ok_or_else(|| CodeObjectError::NoEntry {
        wanted: if wanted.is_empty() { known_targets() } else { wanted.to_owned() },
        found: names.join(", "),
    })?;
    Ok(Some(Entry { offset, size, all, field }))
}

/// How much an entry is wanted: the target that is before others of its generation, or if none is named gfx803 before what the list
/// of generations has first. None: not at all.
fn rank(name: &str, wanted: &str) -> Option<usize> {
    let (_, target) = name.contains("amdgcn").then(|| name.rsplit_once("--"))??;
    // Features such as `:xnack-` follow.
    let target = target.split(':').next()?;
    if target == wanted {
        return Some(0);
    }
    if !wanted.is_empty() {
        let same = |name: &str| GENERATIONS.iter().position(|g| g.targets.iter().any(|t| t.name == name));
        return (same(target).is_some() && same(target) == same(wanted)).then_some(1);
    }
    let usual = GENERATIONS.iter().map(|g| g.usual.name);
    let all = GENERATIONS.iter().flat_map(|g| g.targets).map(|t| t.name);
    usual.chain(all).position(|known| known == target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wanted_target_comes_first() {
        let name = |target: &str| format!("hipv4-amdgcn-amd-amdhsa--{target}");
        let best = |wanted: &str, all: &[&str]| {
            let ranked = all.iter().filter_map(|t| Some((rank(&name(t), wanted)?, *t)));
            ranked.min().map_or(String::new(), |(_, t)| t.to_owned())
        };
        assert_eq!(best("", &["gfx90a:xnack-", "gfx803", "gfx900"]), "gfx803");
        assert_eq!(best("gfx90a", &["gfx803", "gfx900", "gfx90a:sramecc+:xnack-"]), "gfx90a:sramecc+:xnack-");
        assert_eq!(best("", &["gfx1030", "gfx906", "gfx908"]), "gfx906");
        assert_eq!(best("gfx1030", &["gfx700"]), "");
        assert_eq!(best("gfx803", &["gfx900", "gfx90a"]), "", "a GPU does not run the code of another one");
        assert_eq!(best("gfx940", &["gfx941", "gfx940"]), "gfx940");
        assert_eq!(best("gfx940", &["gfx90a", "gfx942"]), "gfx942", "one of its generation");
        assert_eq!(rank("host-x86_64-unknown-linux--", ""), None);
    }
}
