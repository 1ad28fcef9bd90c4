//! Rectangular regions of buffers.

use super::base::{address, code};
use super::enqueue::in_context;
use super::work::{Ask, submit};
use crate::buffers::{HOST_NO_ACCESS, HOST_READ_ONLY, HOST_WRITE_ONLY};
use crate::codes::{Code, Outcome, refuse};
use crate::objects::Buffer;
use crate::runtime::Runtime;
use crate::state::{Rect, Side, Work};
use std::ffi::c_void;

const READ: u32 = 0x1201;
const WRITE: u32 = 0x1202;
const COPY: u32 = 0x1203;

type Three = *const [usize; 3];

/// # Safety
/// `from` is null or points to three numbers.
unsafe fn three(from: Three) -> Outcome<[u64; 3]> {
    if from.is_null() {
        return refuse(Code::INVALID_VALUE);
    }
    // SAFETY: the caller promises them.
    Ok(unsafe { from.read_unaligned() }.map(|n| n as u64))
}

/// One side of a copy, and the bytes from its first to behind its last one. Pitches of zero are those of a packed region.
fn side(addr: u64, origin: [u64; 3], region: [u64; 3], row: usize, slice: usize) -> Outcome<(Side, u64)> {
    let row = if row == 0 { region[0] } else { row as u64 };
    let packed = row.checked_mul(region[1]).ok_or(Code::INVALID_VALUE)?;
    let slice = if slice == 0 { packed } else { slice as u64 };
    if region.contains(&0) || row < region[0] || slice < packed || !slice.is_multiple_of(row) {
        return refuse(Code::INVALID_VALUE);
    }
    let place = |[x, y, z]: [u64; 3]| y.checked_mul(row)?.checked_add(z.checked_mul(slice)?)?.checked_add(x);
    let first = place(origin).ok_or(Code::INVALID_VALUE)?;
    let last = place([region[0], region[1] - 1, region[2] - 1]).and_then(|n| n.checked_add(first));
    let last = last.ok_or(Code::INVALID_VALUE)?;
    let addr = addr.checked_add(first).ok_or(Code::INVALID_VALUE)?;
    Ok((Side { addr, row, slice }, last))
}

/// A side that is a part of a buffer.
fn inside(
    rt: &Runtime,
    buffer: u64,
    refused: u64,
    origin: [u64; 3],
    region: [u64; 3],
    pitches: [usize; 2],
) -> Outcome<Side> {
    let of = rt.objects.get::<Buffer>(buffer)?;
    if of.flags & refused != 0 {
        return refuse(Code::INVALID_OPERATION);
    }
    let (side, end) = side(of.addr, origin, region, pitches[0], pitches[1])?;
    if end > of.bytes { refuse(Code::INVALID_VALUE) } else { Ok(side) }
}

pub(super) unsafe extern "C" fn clEnqueueReadBufferRect(
    queue: *mut c_void,
    buffer: *mut c_void,
    blocking: u32,
    origin: Three,
    host_origin: Three,
    region: Three,
    row: usize,
    slice: usize,
    host_row: usize,
    host_slice: usize,
    to: *mut c_void,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    // SAFETY: the program passes lists as it says, and memory that lasts until the command is done.
    code(unsafe {
        Ask::new(queue, READ, count, list, event).and_then(|ask| {
            submit(ask.blocking(blocking), |rt, context| {
                let buffer = in_context(rt, buffer, context)?;
                let (origin, host, region) = (three(origin)?, three(host_origin)?, three(region)?);
                if to.is_null() {
                    return refuse(Code::INVALID_VALUE);
                }
                let refused = HOST_WRITE_ONLY | HOST_NO_ACCESS;
                let src = inside(rt, buffer, refused, origin, region, [row, slice])?;
                let (dst, _) = side(address(to), host, region, host_row, host_slice)?;
                Ok((vec![buffer], Work::Rect(Rect { dst, src, region }), ()))
            })
        })
    })
}

pub(super) unsafe extern "C" fn clEnqueueWriteBufferRect(
    queue: *mut c_void,
    buffer: *mut c_void,
    blocking: u32,
    origin: Three,
    host_origin: Three,
    region: Three,
    row: usize,
    slice: usize,
    host_row: usize,
    host_slice: usize,
    from: *const c_void,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    // SAFETY: as clEnqueueReadBufferRect.
    code(unsafe {
        Ask::new(queue, WRITE, count, list, event).and_then(|ask| {
            submit(ask.blocking(blocking), |rt, context| {
                let buffer = in_context(rt, buffer, context)?;
                let (origin, host, region) = (three(origin)?, three(host_origin)?, three(region)?);
                if from.is_null() {
                    return refuse(Code::INVALID_VALUE);
                }
                let refused = HOST_READ_ONLY | HOST_NO_ACCESS;
                let dst = inside(rt, buffer, refused, origin, region, [row, slice])?;
                let (src, _) = side(address(from), host, region, host_row, host_slice)?;
                Ok((vec![buffer], Work::Rect(Rect { dst, src, region }), ()))
            })
        })
    })
}

pub(super) unsafe extern "C" fn clEnqueueCopyBufferRect(
    queue: *mut c_void,
    from: *mut c_void,
    to: *mut c_void,
    from_origin: Three,
    to_origin: Three,
    region: Three,
    from_row: usize,
    from_slice: usize,
    to_row: usize,
    to_slice: usize,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    // SAFETY: the program passes lists as it says.
    code(unsafe {
        Ask::new(queue, COPY, count, list, event).and_then(|ask| {
            submit(ask, |rt, context| {
                let (from, to) = (in_context(rt, from, context)?, in_context(rt, to, context)?);
                let (at, into, region) = (three(from_origin)?, three(to_origin)?, three(region)?);
                let src = inside(rt, from, 0, at, region, [from_row, from_slice])?;
                let dst = inside(rt, to, 0, into, region, [to_row, to_slice])?;
                if from == to
                    && ((src.row, src.slice) != (dst.row, dst.slice) || overlap(src, at, into, region))
                {
                    let same = (src.row, src.slice) == (dst.row, dst.slice);
                    return refuse(if same { Code::MEM_COPY_OVERLAP } else { Code::INVALID_VALUE });
                }
                Ok((vec![from, to], Work::Rect(Rect { dst, src, region }), ()))
            })
        })
    })
}

/// Whether two regions of one buffer share bytes: in the range of their first to last byte, and, where rows are equally far
/// apart, in every dimension.
fn overlap(pitch: Side, a: [u64; 3], b: [u64; 3], region: [u64; 3]) -> bool {
    let rows = |o: [u64; 3]| (o[0] % pitch.row, (o[1] + o[0] / pitch.row) % (pitch.slice / pitch.row).max(1));
    let slices = |o: [u64; 3]| o[2] + (o[1] + o[0] / pitch.row) / (pitch.slice / pitch.row).max(1);
    let near = |a: u64, b: u64, size: u64| a.abs_diff(b) < size;
    let ((ax, ay), (bx, by)) = (rows(a), rows(b));
    near(ax, bx, region[0]) && near(ay, by, region[1]) && near(slices(a), slices(b), region[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_checked() {
        let (packed, end) = side(1000, [0; 3], [4, 3, 2], 0, 0).expect("packed");
        assert_eq!((packed, end), (Side { addr: 1000, row: 4, slice: 12 }, 24));
        let (wide, end) = side(0, [1, 2, 1], [4, 3, 2], 10, 50).expect("wide");
        assert_eq!((wide.addr, end), (71, 71 + 4 + 20 + 50));
        for (region, row, slice) in
            [([0, 1, 1], 0, 0), ([4, 1, 1], 3, 0), ([4, 4, 1], 4, 12), ([4, 4, 1], 5, 21)]
        {
            assert!(side(0, [0; 3], region, row, slice).is_err(), "{region:?} {row} {slice}");
        }
        assert!(side(0, [u64::MAX; 3], [4, 4, 4], 0, 0).is_err());
    }

    #[test]
    fn regions_of_one_buffer_may_not_overlap() {
        let pitch = Side { addr: 0, row: 10, slice: 100 };
        assert!(overlap(pitch, [0, 0, 0], [3, 3, 0], [4, 4, 1]));
        assert!(!overlap(pitch, [0, 0, 0], [4, 0, 0], [4, 4, 1]));
        assert!(!overlap(pitch, [0, 0, 0], [0, 0, 1], [4, 4, 1]));
        assert!(!overlap(pitch, [0, 0, 0], [0, 4, 0], [4, 4, 1]));
    }
}
