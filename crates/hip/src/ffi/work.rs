//! Doing a piece of work: now, later as part of a graph, or all work of a graph.

use super::{move_bytes, with};
use crate::errors::Outcome;
use crate::runtime::Runtime;
use crate::state::Node;
use std::ffi::c_void;

/// Does a piece of work now. Memory the program registered is copied to the device and back.
fn perform(rt: &mut Runtime, node: &Node) -> Outcome {
    match node {
        Node::Launch(spec) => {
            let registered: Vec<_> = rt.memory.registered.iter().map(|(h, r)| (*h, *r)).collect();
            for (host, r) in &registered {
                // SAFETY: registered memory exists until it is unregistered, and so does its copy.
                unsafe { move_bytes(r.device, *host, r.bytes) };
                rt.host.filled(r.device, r.bytes);
            }
            rt.launch(spec)?;
            for (host, r) in &registered {
                // SAFETY: as above.
                unsafe { move_bytes(*host, r.device, r.bytes) };
            }
        }
        Node::Copy { dst, src, bytes } => {
            // SAFETY: both sides were checked when the work was described.
            unsafe { move_bytes(*dst, *src, *bytes) };
            rt.host.copied(*dst, *src, *bytes);
        }
        Node::Rows { dst, dst_pitch, src, src_pitch, width, height } => {
            for row in 0..*height {
                // SAFETY: as above, row by row.
                unsafe { move_bytes(dst + row * dst_pitch, src + row * src_pitch, *width) };
                rt.host.copied(dst + row * dst_pitch, src + row * src_pitch, *width);
            }
        }
        Node::Fill { dst, pattern, size, count } => {
            fill(*dst, *pattern, *size, *count);
            rt.host.filled(*dst, count * u64::from(*size));
        }
        Node::Record(event) => return rt.event_record(*event, 0),
        Node::Host { .. } | Node::Empty => {}
    }
    Ok(())
}

/// Does a piece of work, or keeps it for a graph if its stream is being captured.
pub(super) fn submit(rt: &mut Runtime, stream: u64, node: Node) -> Outcome {
    match rt.capturing(stream)? {
        Some(nodes) => {
            nodes.push(node);
            Ok(())
        }
        None => perform(rt, &node),
    }
}

/// Work of a graph. Functions of the host run without holding the runtime: they may call it.
pub(super) fn perform_all(nodes: &[Node]) -> Outcome {
    for node in nodes {
        match node {
            Node::Host { function, argument } => {
                type HostFunction = unsafe extern "C" fn(*mut c_void);
                // SAFETY: the program passed this address as a function of this type.
                unsafe {
                    let function: HostFunction = std::mem::transmute(*function as *const c_void);
                    function(*argument as *mut c_void);
                }
            }
            node => with(|rt| perform(rt, node))?,
        }
    }
    Ok(())
}

/// Repeats a pattern of 1, 2 or 4 bytes.
fn fill(dst: u64, pattern: u32, size: u32, count: u64) {
    let bytes = pattern.to_le_bytes();
    let size = size.clamp(1, 4) as usize;
    // SAFETY: the range was checked to be the device's when the work was described.
    let room = unsafe { std::slice::from_raw_parts_mut(dst as *mut u8, count as usize * size) };
    match size {
        1 => room.fill(bytes[0]),
        _ => room.chunks_exact_mut(size).for_each(|c| c.copy_from_slice(&bytes[..size])),
    }
}
