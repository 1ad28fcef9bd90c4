//! Graphs: captured from a stream or built node by node, instantiated, launched.

use super::launch::spec;
use super::work::perform_all;
use super::{Dim3, address, call, code, get, pointer, put, with};
use crate::errors::{Code, Outcome};
use crate::state::Node;
use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

/// hipStreamCaptureStatus.
const NONE: c_int = 0;
const ACTIVE: c_int = 1;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipStreamBeginCapture(stream: *mut c_void, _mode: c_int) -> c_int {
    call(|rt| rt.begin_capture(address(stream)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipStreamEndCapture(stream: *mut c_void, to: *mut *mut c_void) -> c_int {
    call(|rt| {
        let graph = rt.end_capture(address(stream))?;
        // SAFETY: the program passes room for the handle; so in all functions below.
        unsafe { put(to, pointer(graph)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipStreamIsCapturing(stream: *mut c_void, to: *mut c_int) -> c_int {
    call(|rt| {
        let status = if rt.stream(address(stream))?.capture.is_some() { ACTIVE } else { NONE };
        // SAFETY: room for the result.
        unsafe { put(to, status) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipStreamGetCaptureInfo(
    stream: *mut c_void,
    to: *mut c_int,
    id: *mut c_ulonglong,
) -> c_int {
    call(|rt| {
        let capture = rt.stream(address(stream))?.capture;
        // SAFETY: room for the results; the number may be left out.
        unsafe {
            put(to, if capture.is_some() { ACTIVE } else { NONE })?;
            if id.is_null() { Ok(()) } else { put(id, capture.unwrap_or(0)) }
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipThreadExchangeStreamCaptureMode(mode: *mut c_int) -> c_int {
    // SAFETY: the program passes a mode and room for the one before, which is global.
    call(|_| unsafe {
        get(mode)?;
        put(mode, 0)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGraphCreate(to: *mut *mut c_void, _flags: c_uint) -> c_int {
    // SAFETY: room for the handle.
    call(|rt| unsafe { put(to, pointer(rt.graph_create())) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGraphDestroy(graph: *mut c_void) -> c_int {
    call(|rt| rt.graph_destroy(address(graph)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGraphInstantiate(
    to: *mut *mut c_void,
    graph: *mut c_void,
    _error_node: *mut *mut c_void,
    _log: *mut c_char,
    _log_size: usize,
) -> c_int {
    call(|rt| {
        let exec = rt.graph_instantiate(address(graph))?;
        // SAFETY: room for the handle.
        unsafe { put(to, pointer(exec)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGraphInstantiateWithFlags(
    to: *mut *mut c_void,
    graph: *mut c_void,
    _flags: c_ulonglong,
) -> c_int {
    call(|rt| {
        let exec = rt.graph_instantiate(address(graph))?;
        // SAFETY: room for the handle.
        unsafe { put(to, pointer(exec)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGraphExecDestroy(exec: *mut c_void) -> c_int {
    call(|rt| rt.exec_destroy(address(exec)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGraphLaunch(exec: *mut c_void, stream: *mut c_void) -> c_int {
    let nodes = with(|rt| {
        let nodes = rt.exec_nodes(address(exec))?;
        match rt.capturing(address(stream))? {
            Some(list) => {
                list.extend(nodes);
                Ok(Vec::new())
            }
            None => Ok(nodes),
        }
    });
    code(nodes.and_then(|nodes| perform_all(&nodes)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGraphGetNodes(
    graph: *mut c_void,
    nodes: *mut *mut c_void,
    count: *mut usize,
) -> c_int {
    call(|rt| {
        let found = rt.graph_nodes(address(graph))?.len();
        if !nodes.is_null() {
            return Err(Code::NOT_SUPPORTED.into());
        }
        // SAFETY: room for the number.
        unsafe { put(count, found) }
    })
}

/// Adds a node and tells its handle. Nodes run in the order they are added, so dependencies must come first, as they do.
///
/// # Safety
/// `to` is null or room for a handle.
unsafe fn add(to: *mut *mut c_void, graph: *mut c_void, node: Outcome<Node>) -> c_int {
    call(|rt| {
        let handle = rt.graph_add(address(graph), node?)?;
        // SAFETY: passed on.
        unsafe { put(to, pointer(handle)) }
    })
}

/// `hipKernelNodeParams`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelParams {
    block: Dim3,
    extra: *const *const c_void,
    function: *const c_void,
    grid: Dim3,
    params: *const *const c_void,
    shared: c_uint,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGraphAddKernelNode(
    to: *mut *mut c_void,
    graph: *mut c_void,
    _dependencies: *const *mut c_void,
    _count: usize,
    params: *const KernelParams,
) -> c_int {
    let node = with(|rt| {
        // SAFETY: the program passes the parameters, with an address for each argument.
        let spec = unsafe {
            let p = get(params)?;
            spec(rt, address(p.function), p.grid.into(), p.block.into(), p.shared.into(), p.params, p.extra)
        }?;
        Ok(Node::Launch(spec))
    });
    // SAFETY: room for the handle.
    unsafe { add(to, graph, node) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGraphAddMemcpyNode1D(
    to: *mut *mut c_void,
    graph: *mut c_void,
    _dependencies: *const *mut c_void,
    _count: usize,
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: c_int,
) -> c_int {
    let (dst, src, bytes) = (address(dst), address(src), bytes as u64);
    let node = with(|rt| {
        rt.check_copy(dst, src, bytes, kind)?;
        Ok(Node::Copy { dst, src, bytes })
    });
    // SAFETY: room for the handle.
    unsafe { add(to, graph, node) }
}

/// `hipMemsetParams`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemsetParams {
    dst: *mut c_void,
    element: c_uint,
    height: usize,
    pitch: usize,
    value: c_uint,
    width: usize,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGraphAddMemsetNode(
    to: *mut *mut c_void,
    graph: *mut c_void,
    _dependencies: *const *mut c_void,
    _count: usize,
    params: *const MemsetParams,
) -> c_int {
    let node = with(|rt| {
        // SAFETY: the program passes the parameters.
        let p = unsafe { get(params) }?;
        if p.height > 1 || !matches!(p.element, 1 | 2 | 4) {
            return Err(Code::NOT_SUPPORTED.into());
        }
        rt.check(address(p.dst), p.width as u64 * u64::from(p.element), true)?;
        Ok(Node::Fill { dst: address(p.dst), pattern: p.value, size: p.element, count: p.width as u64 })
    });
    // SAFETY: room for the handle.
    unsafe { add(to, graph, node) }
}

/// `hipHostNodeParams`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HostParams {
    function: *const c_void,
    argument: *mut c_void,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGraphAddHostNode(
    to: *mut *mut c_void,
    graph: *mut c_void,
    _dependencies: *const *mut c_void,
    _count: usize,
    params: *const HostParams,
) -> c_int {
    // SAFETY: the program passes the parameters.
    let node = unsafe { get(params) }.and_then(|p| match p.function.is_null() {
        true => Err(Code::INVALID_VALUE.into()),
        false => Ok(Node::Host { function: address(p.function), argument: address(p.argument) }),
    });
    // SAFETY: room for the handle.
    unsafe { add(to, graph, node) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGraphAddEmptyNode(
    to: *mut *mut c_void,
    graph: *mut c_void,
    _dependencies: *const *mut c_void,
    _count: usize,
) -> c_int {
    // SAFETY: room for the handle.
    unsafe { add(to, graph, Ok(Node::Empty)) }
}
