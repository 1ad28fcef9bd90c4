//! The clock of the examples that measure speed.

use std::time::Duration;

/// Time that this thread has been running: others on the computer change it little.
pub fn computed() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
