//! Numbered cases on a few threads, for the tests with random programs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const THREADS: usize = 2;

/// Gives out `0..count` to a few threads; the first failures end it.
pub fn in_parallel(count: u64, work: impl Fn(u64) -> Result<(), String> + Sync) {
    let (next, failures) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= count {
                        break;
                    }
                    if let Err(failure) = work(n) {
                        failures.lock().unwrap().push(failure);
                        next.store(count, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
