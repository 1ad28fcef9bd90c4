//! What is loaded of a code object.

use wb_program::Segment;

/// Loaded bytes at an address.
pub(super) fn at(segments: &[Segment], addr: u64, len: usize) -> Option<&[u8]> {
    segments.iter().find_map(|s| {
        let offset = addr.checked_sub(s.addr)? as usize;
        s.bytes.get(offset..offset.checked_add(len)?)
    })
}
