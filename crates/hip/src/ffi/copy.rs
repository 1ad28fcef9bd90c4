//! Copies and fills of memory, in all of HIP's forms. Device memory is host memory, so a copy is a copy; what belongs to
//! the device is checked first.

use super::work::submit;
use super::{address, call, get};
use crate::errors::{Code, Outcome, fatal};
use crate::runtime::Runtime;
use crate::state::Node;
use std::ffi::{c_int, c_uint, c_void};

/// The device's copy of registered memory is not what the host sees: copies use the program's own addresses.
fn copy(rt: &mut Runtime, dst: u64, src: u64, bytes: u64, kind: c_int, stream: u64) -> Outcome {
    rt.check_copy(dst, src, bytes, kind)?;
    submit(rt, stream, Node::Copy { dst, src, bytes })
}

fn set(rt: &mut Runtime, dst: u64, pattern: u32, size: u32, count: u64, stream: u64) -> Outcome {
    let bytes = count.checked_mul(size.into()).ok_or(Code::INVALID_VALUE)?;
    rt.check(dst, bytes, true)?;
    if bytes == 0 {
        return Ok(());
    }
    submit(rt, stream, Node::Fill { dst, pattern, size, count })
}

/// Where rows of a 2D copy are.
#[derive(Clone, Copy)]
struct Rows {
    at: u64,
    pitch: u64,
}

fn copy_rows(
    rt: &mut Runtime,
    dst: Rows,
    src: Rows,
    width: u64,
    height: u64,
    kind: c_int,
    stream: u64,
) -> Outcome {
    if width == 0 || height == 0 {
        return Ok(());
    }
    if width > dst.pitch || width > src.pitch {
        return Err(Code::INVALID_PITCH.into());
    }
    let span = |pitch: u64| pitch.checked_mul(height - 1).and_then(|n| n.checked_add(width));
    let (to, from) =
        (span(dst.pitch).ok_or(Code::INVALID_VALUE)?, span(src.pitch).ok_or(Code::INVALID_VALUE)?);
    rt.check_copy(dst.at, src.at, to.min(from), kind)?;
    rt.check_copy(dst.at, src.at, width, kind)?;
    rt.check(dst.at, if rt.in_arena(dst.at) { to } else { 0 }, false)?;
    rt.check(src.at, if rt.in_arena(src.at) { from } else { 0 }, false)?;
    let node =
        Node::Rows { dst: dst.at, dst_pitch: dst.pitch, src: src.at, src_pitch: src.pitch, width, height };
    submit(rt, stream, node)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpy(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: c_int,
) -> c_int {
    call(|rt| copy(rt, address(dst), address(src), bytes as u64, kind, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpy_spt(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: c_int,
) -> c_int {
    call(|rt| copy(rt, address(dst), address(src), bytes as u64, kind, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpyAsync(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: c_int,
    stream: *mut c_void,
) -> c_int {
    call(|rt| copy(rt, address(dst), address(src), bytes as u64, kind, address(stream)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpyAsync_spt(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: c_int,
    stream: *mut c_void,
) -> c_int {
    call(|rt| copy(rt, address(dst), address(src), bytes as u64, kind, address(stream)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpyWithStream(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: c_int,
    stream: *mut c_void,
) -> c_int {
    call(|rt| copy(rt, address(dst), address(src), bytes as u64, kind, address(stream)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpyHtoD(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
) -> c_int {
    call(|rt| copy(rt, address(dst), address(src), bytes as u64, 1, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpyDtoH(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
) -> c_int {
    call(|rt| copy(rt, address(dst), address(src), bytes as u64, 2, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpyDtoD(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
) -> c_int {
    call(|rt| copy(rt, address(dst), address(src), bytes as u64, 3, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpyHtoDAsync(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    stream: *mut c_void,
) -> c_int {
    call(|rt| copy(rt, address(dst), address(src), bytes as u64, 1, address(stream)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpyDtoHAsync(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    stream: *mut c_void,
) -> c_int {
    call(|rt| copy(rt, address(dst), address(src), bytes as u64, 2, address(stream)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpyDtoDAsync(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    stream: *mut c_void,
) -> c_int {
    call(|rt| copy(rt, address(dst), address(src), bytes as u64, 3, address(stream)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpyPeer(
    dst: *mut c_void,
    to: c_int,
    src: *const c_void,
    from: c_int,
    bytes: usize,
) -> c_int {
    call(|rt| match (to, from) {
        (0, 0) => copy(rt, address(dst), address(src), bytes as u64, 3, 0),
        _ => Err(Code::INVALID_DEVICE.into()),
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpyPeerAsync(
    dst: *mut c_void,
    to: c_int,
    src: *const c_void,
    from: c_int,
    bytes: usize,
    stream: *mut c_void,
) -> c_int {
    call(|rt| match (to, from) {
        (0, 0) => copy(rt, address(dst), address(src), bytes as u64, 3, address(stream)),
        _ => Err(Code::INVALID_DEVICE.into()),
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpy2D(
    dst: *mut c_void,
    dst_pitch: usize,
    src: *const c_void,
    src_pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
) -> c_int {
    let (to, from) = (
        Rows { at: address(dst), pitch: dst_pitch as u64 },
        Rows { at: address(src), pitch: src_pitch as u64 },
    );
    call(|rt| copy_rows(rt, to, from, width as u64, height as u64, kind, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpy2DAsync(
    dst: *mut c_void,
    dst_pitch: usize,
    src: *const c_void,
    src_pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
    stream: *mut c_void,
) -> c_int {
    let (to, from) = (
        Rows { at: address(dst), pitch: dst_pitch as u64 },
        Rows { at: address(src), pitch: src_pitch as u64 },
    );
    call(|rt| copy_rows(rt, to, from, width as u64, height as u64, kind, address(stream)))
}

/// `hipPitchedPtr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Pitched {
    pub at: *mut c_void,
    pub pitch: usize,
    pub width: usize,
    pub height: usize,
}

/// `hipExtent` and `hipPos`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Extent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// `hipMemcpy3DParms`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Copy3D {
    src_array: *mut c_void,
    src_pos: Extent,
    src: Pitched,
    dst_array: *mut c_void,
    dst_pos: Extent,
    dst: Pitched,
    extent: Extent,
    kind: c_int,
}

/// Slices one after the other; each starts where its position says.
fn copy_3d(rt: &mut Runtime, p: &Copy3D, stream: u64) -> Outcome {
    if !p.src_array.is_null() || !p.dst_array.is_null() {
        return fatal("hipMemcpy3D of arrays is not supported");
    }
    let place = |p: &Pitched, pos: &Extent, slice: usize| {
        let row = p.pitch * p.height * (pos.depth + slice) + p.pitch * pos.height + pos.width;
        Rows { at: address(p.at) + row as u64, pitch: p.pitch as u64 }
    };
    let (width, height) = (p.extent.width as u64, p.extent.height as u64);
    for slice in 0..p.extent.depth {
        let (to, from) = (place(&p.dst, &p.dst_pos, slice), place(&p.src, &p.src_pos, slice));
        copy_rows(rt, to, from, width, height, p.kind, stream)?;
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpy3D(p: *const Copy3D) -> c_int {
    // SAFETY: the program passes the parameters of the copy.
    call(|rt| copy_3d(rt, &unsafe { get(p) }?, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpy3DAsync(p: *const Copy3D, stream: *mut c_void) -> c_int {
    // SAFETY: the program passes the parameters of the copy.
    call(|rt| copy_3d(rt, &unsafe { get(p) }?, address(stream)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemset(dst: *mut c_void, value: c_int, bytes: usize) -> c_int {
    call(|rt| set(rt, address(dst), value as u32, 1, bytes as u64, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemset_spt(dst: *mut c_void, value: c_int, bytes: usize) -> c_int {
    call(|rt| set(rt, address(dst), value as u32, 1, bytes as u64, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemsetAsync(
    dst: *mut c_void,
    value: c_int,
    bytes: usize,
    stream: *mut c_void,
) -> c_int {
    call(|rt| set(rt, address(dst), value as u32, 1, bytes as u64, address(stream)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemsetD8(dst: *mut c_void, value: u8, count: usize) -> c_int {
    call(|rt| set(rt, address(dst), value.into(), 1, count as u64, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemsetD8Async(
    dst: *mut c_void,
    value: u8,
    count: usize,
    stream: *mut c_void,
) -> c_int {
    call(|rt| set(rt, address(dst), value.into(), 1, count as u64, address(stream)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemsetD16(dst: *mut c_void, value: u16, count: usize) -> c_int {
    call(|rt| set(rt, address(dst), value.into(), 2, count as u64, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemsetD16Async(
    dst: *mut c_void,
    value: u16,
    count: usize,
    stream: *mut c_void,
) -> c_int {
    call(|rt| set(rt, address(dst), value.into(), 2, count as u64, address(stream)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemsetD32(dst: *mut c_void, value: c_int, count: usize) -> c_int {
    call(|rt| set(rt, address(dst), value as u32, 4, count as u64, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemsetD32Async(
    dst: *mut c_void,
    value: c_int,
    count: usize,
    stream: *mut c_void,
) -> c_int {
    call(|rt| set(rt, address(dst), value as u32, 4, count as u64, address(stream)))
}

fn set_rows(rt: &mut Runtime, at: u64, pitch: u64, value: c_int, rows: (u64, u64), stream: u64) -> Outcome {
    let (width, height) = rows;
    if width > pitch {
        return Err(Code::INVALID_PITCH.into());
    }
    for row in 0..height {
        set(rt, at + row * pitch, value as u32, 1, width, stream)?;
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemset2D(
    dst: *mut c_void,
    pitch: usize,
    value: c_int,
    width: usize,
    height: usize,
) -> c_int {
    call(|rt| set_rows(rt, address(dst), pitch as u64, value, (width as u64, height as u64), 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemset2DAsync(
    dst: *mut c_void,
    pitch: usize,
    value: c_int,
    width: usize,
    height: usize,
    stream: *mut c_void,
) -> c_int {
    let rows = (width as u64, height as u64);
    call(|rt| set_rows(rt, address(dst), pitch as u64, value, rows, address(stream)))
}

fn set_3d(rt: &mut Runtime, p: Pitched, value: c_int, extent: Extent, stream: u64) -> Outcome {
    let slice = (p.pitch * p.height) as u64;
    for z in 0..extent.depth as u64 {
        let rows = (extent.width as u64, extent.height as u64);
        set_rows(rt, address(p.at) + z * slice, p.pitch as u64, value, rows, stream)?;
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemset3D(p: Pitched, value: c_int, extent: Extent) -> c_int {
    call(|rt| set_3d(rt, p, value, extent, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemset3DAsync(
    p: Pitched,
    value: c_int,
    extent: Extent,
    stream: *mut c_void,
) -> c_int {
    call(|rt| set_3d(rt, p, value, extent, address(stream)))
}

/// Where `bytes` bytes from `offset` of a variable are.
fn part(rt: &mut Runtime, symbol: u64, bytes: u64, offset: u64) -> Outcome<u64> {
    let (addr, size) = rt.symbol(symbol)?;
    if offset.checked_add(bytes).is_none_or(|end| end > size) {
        return Err(Code::INVALID_VALUE.into());
    }
    // What is written through must be the device's, whoever said where it is.
    rt.check(addr + offset, bytes, true)?;
    Ok(addr + offset)
}

/// Copies a variable out and back in, as a program would (fuzzing).
pub(crate) fn round_trip(rt: &mut Runtime, symbol: u64) -> Outcome {
    let (_, size) = rt.symbol(symbol)?;
    let mut room = vec![0u8; usize::try_from(size).map_err(|_| Code::INVALID_VALUE)?];
    let host = address(room.as_mut_ptr());
    from_symbol(rt, host, symbol, (size, 0), 2, 0)?;
    to_symbol(rt, symbol, host, (size, 0), 1, 0)?;
    if size > 0 {
        to_symbol(rt, symbol, host, (1, size - 1), 1, 0)?;
    }
    match to_symbol(rt, symbol, host, (1, size), 1, 0) {
        Err(_) => Ok(()),
        Ok(()) => fatal("a byte behind the end of a variable was written"),
    }
}

fn to_symbol(rt: &mut Runtime, symbol: u64, src: u64, size: (u64, u64), kind: c_int, stream: u64) -> Outcome {
    let dst = part(rt, symbol, size.0, size.1)?;
    rt.check(src, size.0, kind == 3)?;
    submit(rt, stream, Node::Copy { dst, src, bytes: size.0 })
}

fn from_symbol(
    rt: &mut Runtime,
    dst: u64,
    symbol: u64,
    size: (u64, u64),
    kind: c_int,
    stream: u64,
) -> Outcome {
    let src = part(rt, symbol, size.0, size.1)?;
    rt.check(dst, size.0, kind == 3)?;
    submit(rt, stream, Node::Copy { dst, src, bytes: size.0 })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpyToSymbol(
    symbol: *const c_void,
    src: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
) -> c_int {
    call(|rt| to_symbol(rt, address(symbol), address(src), (bytes as u64, offset as u64), kind, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpyToSymbolAsync(
    symbol: *const c_void,
    src: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
    stream: *mut c_void,
) -> c_int {
    let size = (bytes as u64, offset as u64);
    call(|rt| to_symbol(rt, address(symbol), address(src), size, kind, address(stream)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpyFromSymbol(
    dst: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
) -> c_int {
    call(|rt| from_symbol(rt, address(dst), address(symbol), (bytes as u64, offset as u64), kind, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemcpyFromSymbolAsync(
    dst: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
    stream: *mut c_void,
) -> c_int {
    let size = (bytes as u64, offset as u64);
    call(|rt| from_symbol(rt, address(dst), address(symbol), size, kind, address(stream)))
}

/// Managed memory is where it is: nothing to bring.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemPrefetchAsync(
    ptr: *const c_void,
    bytes: usize,
    _device: c_int,
    _stream: *mut c_void,
) -> c_int {
    call(|rt| rt.check(address(ptr), bytes as u64, true))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemAdvise(
    ptr: *const c_void,
    bytes: usize,
    _advice: c_uint,
    _device: c_int,
) -> c_int {
    call(|rt| rt.check(address(ptr), bytes as u64, true))
}
