//! Times that are not known yet. A host thread that simulates some of the cores runs ahead of the levels of memory that all cores
//! share (`timed/threads.rs`): it sends them requests and learns later when those are done. Until then such a time is a number
//! beyond [`FAR`], later than every time that is known, to which a few cycles can be added and with which it can be compared. What
//! is later of two times of which one is not known is not known either.

/// Times from here on are not known yet.
pub const FAR: u64 = 1 << 62;

/// Each unknown time has so many numbers, so that cycles can be added to it and taken from it.
const SPREAD: u64 = 1 << 24;
/// Its own is in their middle.
const MIDDLE: u64 = SPREAD / 2;

/// Whether a time is known.
#[inline(always)]
pub fn is_known(time: u64) -> bool {
    time < FAR
}

/// A request to a level that all cores share.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The cycle and the core of the instruction that made it: requests are served in that order.
    pub cycle: u64,
    pub core: usize,
    /// Number of the level; none: DRAM.
    pub level: Option<usize>,
    pub addr: u64,
    pub write: bool,
    /// When it gets there.
    pub arrival: u64,
}

#[derive(Clone, Copy, Debug)]
enum Unknown {
    /// When the request of that number is done.
    Done(usize),
    /// The later one of two times.
    Later(u64, u64),
}

/// A line of a cache that is filled when a time is known.
#[derive(Clone, Copy, Debug)]
pub struct Filling {
    pub level: usize,
    pub copy: usize,
    pub way: usize,
    pub ready: u64,
}

/// What a thread has asked for since times were last told.
#[derive(Debug, Default)]
pub struct Ahead {
    pub requests: Vec<Request>,
    pub fills: Vec<Filling>,
    unknown: Vec<Unknown>,
    /// No time that is unknown now is before this cycle.
    pub horizon: u64,
}

fn number(unknown: usize) -> u64 {
    FAR + unknown as u64 * SPREAD + MIDDLE
}

impl Ahead {
    pub fn request(&mut self, request: Request) -> u64 {
        self.unknown.push(Unknown::Done(self.requests.len()));
        self.requests.push(request);
        number(self.unknown.len() - 1)
    }

    /// The later one of two times, one of which at least is unknown.
    pub fn later(&mut self, a: u64, b: u64) -> u64 {
        let (first, last) = (a.min(b), a.max(b));
        if first <= self.horizon || first == last {
            return last;
        }
        self.unknown.push(Unknown::Later(a, b));
        number(self.unknown.len() - 1)
    }

    /// What the times are, now that it is known when each request is done. Nothing is asked for any more.
    pub fn tell(&mut self, done: &[u64]) -> Times {
        let mut times = Times(Vec::with_capacity(self.unknown.len()));
        for unknown in self.unknown.drain(..) {
            let time = match unknown {
                Unknown::Done(request) => done[request],
                Unknown::Later(a, b) => times.of(a).max(times.of(b)),
            };
            debug_assert!(time >= self.horizon, "{unknown:?} is in cycle {time}, before {}", self.horizon);
            times.0.push(time);
        }
        self.requests.clear();
        times
    }
}

/// Times that were unknown.
#[derive(Debug, Default)]
pub struct Times(Vec<u64>);

impl Times {
    /// The time that a number stands for.
    #[inline]
    pub fn of(&self, time: u64) -> u64 {
        if is_known(time) {
            return time;
        }
        let from = time - FAR;
        self.0[(from / SPREAD) as usize] + from % SPREAD - MIDDLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(ahead: &mut Ahead) -> u64 {
        ahead.request(Request { cycle: 0, core: 0, level: None, addr: 0, write: false, arrival: 0 })
    }

    #[test]
    fn cycles_can_be_added_to_unknown_times() {
        let mut ahead = Ahead { horizon: 10, ..Ahead::default() };
        let [a, b] = [request(&mut ahead), request(&mut ahead)];
        assert!(!is_known(a) && !is_known(b) && is_known(1_000_000));
        let (late, known, same) = (ahead.later(a + 5, b), ahead.later(b, 9), ahead.later(b - 2, b - 2));
        let more = ahead.later(late + 1, 200);
        assert_eq!((known, same), (b, b - 2), "nothing unknown is before the horizon");
        let times = ahead.tell(&[100, 40]);
        let told = [a, b + 3, b - 2, late, late + 1, more, 7].map(|t| times.of(t));
        assert_eq!(told, [100, 43, 38, 105, 106, 200, 7]);
        let mut ahead = Ahead::default();
        let [a, b] = [request(&mut ahead), request(&mut ahead)];
        let late = ahead.later(a + 5, b);
        assert_eq!(ahead.tell(&[100, 140]).of(late), 140);
    }
}
