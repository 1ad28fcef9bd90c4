//! Several observers behind one: a run takes a single `dyn Observer`, so fan-out happens here.

use crate::{Event, Observer, Touched, TraceInfo};

/// Passes every call on to each member, in order.
#[derive(Default)]
pub struct Observers<'a>(pub Vec<&'a mut dyn Observer>);

impl<'a> Observers<'a> {
    pub fn new() -> Self {
        Observers(Vec::new())
    }

    pub fn push(&mut self, observer: &'a mut dyn Observer) {
        self.0.push(observer);
    }

    /// True when nobody listens, so that the run need not collect events.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Observer for Observers<'_> {
    fn wants_code(&self) -> bool {
        self.0.iter().any(|o| o.wants_code())
    }

    fn begin(&mut self, info: &TraceInfo) {
        for observer in &mut self.0 {
            observer.begin(info);
        }
    }

    fn events(&mut self, batch: &[Event]) {
        for observer in &mut self.0 {
            observer.events(batch);
        }
    }

    fn wants_touched(&self) -> bool {
        self.0.iter().any(|o| o.wants_touched())
    }

    fn touched(&mut self, touched: &Touched) {
        for observer in self.0.iter_mut().filter(|o| o.wants_touched()) {
            observer.touched(touched);
        }
    }

    fn end(&mut self, cycles: u64) {
        for observer in &mut self.0 {
            observer.end(cycles);
        }
    }
}
