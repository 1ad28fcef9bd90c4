//! Textures over linear memory: texture objects, and texture references that programs bind (HIP's deprecated form).

use super::{address, call, get, pointer, put};
use crate::errors::{Code, Outcome, fatal};
use crate::runtime::Runtime;
use crate::textures::Channels;
use std::ffi::{c_int, c_uint, c_void};

/// hipResourceTypeLinear.
const LINEAR: c_int = 2;
/// hipReadModeNormalizedFloat.
const NORMALIZED: c_int = 1;

/// `hipResourceDesc` with its linear member.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Resource {
    kind: c_int,
    at: *mut c_void,
    channels: Channels,
    bytes: usize,
}

/// `hipTextureDesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TextureDesc {
    address_mode: [c_int; 3],
    filter: c_int,
    read_mode: c_int,
    srgb: c_int,
    border: [f32; 4],
    normalized_coordinates: c_int,
    anisotropy: c_uint,
    mipmap_filter: c_int,
    mipmap: [f32; 3],
}

/// `textureReference`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Reference {
    normalized: c_int,
    read_mode: c_int,
    filter: c_int,
    address_mode: [c_int; 3],
    channels: Channels,
    srgb: c_int,
    anisotropy: c_uint,
    mipmap_filter: c_int,
    mipmap: [f32; 3],
    object: *mut c_void,
    count: c_int,
    format: c_int,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipCreateTextureObject(
    to: *mut *mut c_void,
    resource: *const Resource,
    texture: *const TextureDesc,
    _view: *const c_void,
) -> c_int {
    call(|rt| {
        // SAFETY: the program passes both descriptions and room for the handle.
        unsafe {
            let (resource, texture) = (get(resource)?, get(texture)?);
            if resource.kind != LINEAR {
                return fatal(
                    "hipCreateTextureObject: only linear memory is supported, not arrays, pitched memory or mipmaps",
                );
            }
            let normalized = texture.read_mode == NORMALIZED;
            let object = rt.texture_linear(
                address(resource.at),
                resource.channels,
                resource.bytes as u64,
                normalized,
            )?;
            put(to, pointer(object))
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDestroyTextureObject(object: *mut c_void) -> c_int {
    call(|rt| rt.texture_destroy(address(object)))
}

/// `hipCreateChannelDesc` returns its structure through memory.
#[unsafe(no_mangle)]
pub extern "C" fn wavebound_hipCreateChannelDesc(
    x: c_int,
    y: c_int,
    z: c_int,
    w: c_int,
    kind: c_int,
) -> Channels {
    Channels { bits: [x, y, z, w], kind }
}

/// Binds a reference: the host's structure and the device's copy of it get the texture object.
///
/// # Safety
/// `reference` points to a texture reference of the program.
unsafe fn bind(
    rt: &mut Runtime,
    reference: *mut Reference,
    at: u64,
    channels: Channels,
    bytes: u64,
) -> Outcome {
    // SAFETY: the caller promises a reference.
    let mut r = unsafe { get(reference.cast_const()) }?;
    let (variable, size) = rt.symbol(address(reference))?;
    let (_, allocated, ..) = rt.allocation(at).ok_or(Code::INVALID_VALUE)?;
    let object = rt.texture_linear(at, channels, bytes.min(allocated), r.read_mode == NORMALIZED)?;
    if let Some(before) = rt.textures.bound.insert(address(reference), object) {
        rt.texture_destroy(before)?;
    }
    r.object = pointer(object);
    // SAFETY: the structure is the program's and ours to fill in; it is read as plain bytes.
    let raw = unsafe {
        put(reference, r)?;
        std::slice::from_raw_parts(reference.cast::<u8>(), std::mem::size_of::<Reference>())
    };
    let raw = &raw[..raw.len().min(size as usize)];
    rt.host.device.write(variable, raw).map_err(|_| Code::INVALID_VALUE)?;
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipBindTexture(
    offset: *mut usize,
    reference: *mut Reference,
    at: *const c_void,
    channels: *const Channels,
    bytes: usize,
) -> c_int {
    call(|rt| {
        // SAFETY: the program passes a reference and a description; the offset may be left out.
        unsafe {
            bind(rt, reference, address(at), get(channels)?, bytes as u64)?;
            if offset.is_null() { Ok(()) } else { put(offset, 0) }
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipUnbindTexture(reference: *const Reference) -> c_int {
    call(|rt| match rt.textures.bound.remove(&address(reference)) {
        Some(object) => rt.texture_destroy(object),
        None => Ok(()),
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGetTextureReference(
    to: *mut *const c_void,
    symbol: *const c_void,
) -> c_int {
    call(|rt| {
        rt.symbol(address(symbol))?;
        // SAFETY: the program passes room for the result.
        unsafe { put(to, symbol) }
    })
}
