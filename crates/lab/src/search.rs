//! Cases of a search on several threads: each is looked at once, what is found is added up, the first failure ends it.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Looks at every case and adds up what is found; `progress` is told of every case.
pub fn over<T: Default + Send>(
    cases: Range<u64>,
    threads: usize,
    one: impl Fn(u64) -> Result<T, String> + Sync,
    add: impl Fn(&mut T, T) + Sync,
    progress: &(dyn Fn() + Sync),
) -> Result<T, String> {
    let next = AtomicU64::new(cases.start);
    let found = Mutex::new(T::default());
    let failed: Mutex<Option<String>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let case = next.fetch_add(1, Ordering::Relaxed);
                    let over = failed.lock().unwrap_or_else(PoisonError::into_inner).is_some();
                    if case >= cases.end || over {
                        return;
                    }
                    match one(case) {
                        Ok(one) => add(&mut found.lock().unwrap_or_else(PoisonError::into_inner), one),
                        Err(e) => {
                            *failed.lock().unwrap_or_else(PoisonError::into_inner) =
                                Some(format!("case {case}: {e}"));
                        }
                    }
                    progress();
                }
            });
        }
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(e) => Err(e),
        None => Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner)),
    }
}
