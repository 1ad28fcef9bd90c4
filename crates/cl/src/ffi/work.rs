//! Commands: taking them in, doing their work one after the other as long as nothing is in the way, and waiting for them.

use super::base::{NEWS, address, lock, pointer, put, wait_list, with};
use crate::codes::{Code, Outcome, refuse};
use crate::commands::Place;
use crate::runtime::Runtime;
use crate::state::{Command, Rect, Work};
use std::ffi::c_void;
use std::sync::PoisonError;
use wb_host::ffi::move_bytes;

enum Step {
    Idle,
    Done,
    /// A function of the program, which runs without holding the runtime.
    Outside(Command),
}

/// Does all work that can be done now.
pub(super) fn drive() {
    loop {
        let step = with(|rt| {
            let Some((command, status)) = rt.next() else { return Ok(Step::Idle) };
            if status == 0 {
                if is_outside(&command.work) {
                    return Ok(Step::Outside(command));
                }
                perform(rt, &command.work)?;
            }
            rt.done(command, status);
            Ok(Step::Done)
        });
        match step {
            Ok(Step::Outside(command)) => {
                call_out(&command.work);
                let _ = with(|rt| {
                    rt.done(command, 0);
                    Ok(())
                });
            }
            Ok(Step::Done) => {}
            Ok(Step::Idle) | Err(_) => break,
        }
        NEWS.notify_all();
    }
    NEWS.notify_all();
}

fn is_outside(work: &Work) -> bool {
    match work {
        Work::Native { .. } => true,
        Work::Free { function, .. } => *function != 0,
        _ => false,
    }
}

fn call_out(work: &Work) {
    match work {
        Work::Native { function, arguments } => {
            // Arguments may be anything: words are aligned for all of it.
            let mut words = vec![0u128; arguments.len().div_ceil(16)];
            type Native = unsafe extern "C" fn(*mut c_void);
            // SAFETY: the words have room for the bytes; the program passed this address as a function of this type.
            unsafe {
                std::ptr::copy_nonoverlapping(arguments.as_ptr(), words.as_mut_ptr().cast(), arguments.len());
                let function: Native = std::mem::transmute(pointer(*function));
                function(if arguments.is_empty() { std::ptr::null_mut() } else { words.as_mut_ptr().cast() });
            }
        }
        Work::Free { queue, pointers, function, data } => {
            type Free = unsafe extern "C" fn(*mut c_void, u32, *mut *mut c_void, *mut c_void);
            let mut list: Vec<*mut c_void> = pointers.iter().map(|p| pointer(*p)).collect();
            // SAFETY: the program passed this address as a function of this type; the list lives until it returns.
            unsafe {
                let function: Free = std::mem::transmute(pointer(*function));
                function(pointer(*queue), list.len() as u32, list.as_mut_ptr(), pointer(*data));
            }
        }
        _ => {}
    }
}

fn perform(rt: &mut Runtime, work: &Work) -> Outcome {
    match work {
        Work::Nothing | Work::Running | Work::Native { .. } => {}
        Work::Copy { dst, src, bytes } => {
            // SAFETY: ranges of buffers were checked when the work came, and are held; the program promises its own.
            unsafe { move_bytes(*dst, *src, *bytes) };
            rt.host.copied(*dst, *src, *bytes);
        }
        Work::Rect(rect) => copy_rows(rt, rect),
        Work::Fill { dst, pattern, bytes } => {
            fill(*dst, pattern, *bytes);
            rt.host.filled(*dst, *bytes);
        }
        Work::Launch(spec) => rt.launch(spec)?,
        Work::Free { pointers, .. } => pointers.iter().for_each(|p| rt.free_shared(*p)),
    }
    Ok(())
}

fn copy_rows(rt: &mut Runtime, Rect { dst, src, region: [width, rows, slices] }: &Rect) {
    for slice in 0..*slices {
        for row in 0..*rows {
            let to = dst.addr + slice * dst.slice + row * dst.row;
            let from = src.addr + slice * src.slice + row * src.row;
            // SAFETY: as above, row by row.
            unsafe { move_bytes(to, from, *width) };
            rt.host.copied(to, from, *width);
        }
    }
}

/// Repeats a pattern.
fn fill(dst: u64, pattern: &[u8], bytes: u64) {
    if bytes == 0 || pattern.is_empty() {
        return;
    }
    // SAFETY: the range was checked to be the device's when the work came, and is held.
    let room = unsafe { std::slice::from_raw_parts_mut(dst as *mut u8, bytes as usize) };
    room.chunks_exact_mut(pattern.len()).for_each(|c| c.copy_from_slice(pattern));
}

/// What every command says: queue, kind, what to wait for, where its event goes, and whether to wait for its end.
pub(super) struct Ask {
    pub queue: u64,
    kind: u32,
    waits: Vec<u64>,
    event: *mut *mut c_void,
    blocking: bool,
}

impl Ask {
    /// # Safety
    /// `list` is null or points to `count` handles.
    pub(super) unsafe fn new(
        queue: *mut c_void,
        kind: u32,
        count: u32,
        list: *const *mut c_void,
        event: *mut *mut c_void,
    ) -> Outcome<Ask> {
        // SAFETY: passed on.
        let waits = unsafe { wait_list(count, list) }?;
        Ok(Ask { queue: address(queue), kind, waits, event, blocking: false })
    }

    pub(super) fn blocking(mut self, blocking: u32) -> Ask {
        self.blocking = blocking != 0;
        self
    }
}

/// Takes in a command that `make` describes: handles it needs, and what to do. `make` also returns something for the caller.
///
/// # Safety
/// `ask.event` is null or room for a handle.
pub(super) unsafe fn submit<T>(
    ask: Ask,
    make: impl FnOnce(&mut Runtime, u64) -> Outcome<(Vec<u64>, Work, T)>,
) -> Outcome<T> {
    let place = Place { queue: ask.queue, kind: ask.kind, waits: &ask.waits };
    let (event, made) = with(|rt| {
        let context = rt.check_place(&place)?;
        let (holds, work, made) = make(rt, context)?;
        Ok((rt.enqueue(&place, &holds, work)?, made))
    })?;
    // SAFETY: the caller promises room.
    unsafe { put(ask.event, pointer(event)) };
    drive();
    let status = if ask.blocking { wait(&[event]) } else { 0 };
    if ask.event.is_null() {
        with(|rt| {
            rt.let_go(event);
            Ok(())
        })?;
    }
    if status < 0 { refuse(Code(status)) } else { Ok(made) }
}

/// Waits until events have their last status; returns the first error.
pub(super) fn wait(events: &[u64]) -> i32 {
    drive();
    let mut guard = lock();
    loop {
        let Some(runtime) = guard.as_ref() else { return 0 };
        if events.iter().all(|e| runtime.status(*e) <= 0) {
            return events.iter().map(|e| runtime.status(*e)).find(|s| *s < 0).unwrap_or(0);
        }
        guard = NEWS.wait(guard).unwrap_or_else(PoisonError::into_inner);
    }
}
