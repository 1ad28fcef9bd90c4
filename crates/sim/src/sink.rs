//! Where events go: collected in batches, handed to the observer, nothing at all without one.

use wb_trace::{Event, Observer, Touched};

const BATCH: usize = 4096;

pub(crate) struct Sink<'a> {
    batch: Vec<Event>,
    observer: Option<&'a mut dyn Observer>,
    wants_touched: bool,
}

impl<'a> Sink<'a> {
    pub fn new(observer: Option<&'a mut dyn Observer>) -> Self {
        let capacity = if observer.is_some() { BATCH } else { 0 };
        let wants_touched = observer.as_ref().is_some_and(|o| o.wants_touched());
        Sink { batch: Vec::with_capacity(capacity), observer, wants_touched }
    }

    /// Whether somebody observes. Nobody should build an event otherwise.
    #[inline(always)]
    pub fn on(&self) -> bool {
        self.observer.is_some()
    }

    #[inline]
    pub fn push(&mut self, event: Event) {
        self.batch.push(event);
        if self.batch.len() >= BATCH {
            self.flush();
        }
    }

    /// Whether the observer is told of the memory that instructions touch.
    pub fn wants_touched(&self) -> bool {
        self.wants_touched
    }

    pub fn touched(&mut self, touched: &Touched) {
        if let Some(observer) = &mut self.observer {
            observer.touched(touched);
        }
    }

    fn flush(&mut self) {
        if let Some(observer) = &mut self.observer {
            observer.events(&self.batch);
        }
        self.batch.clear();
    }

    pub fn end(&mut self, cycles: u64) {
        self.flush();
        if let Some(observer) = &mut self.observer {
            observer.end(cycles);
        }
    }
}

/// A run that ends in an error still shows what led to it.
impl Drop for Sink<'_> {
    fn drop(&mut self) {
        if !self.batch.is_empty() {
            self.flush();
        }
    }
}
