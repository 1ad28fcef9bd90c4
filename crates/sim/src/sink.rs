//! Where events go: collected in batches, handed to the observer, nothing at all without one.

use wb_trace::{Event, Observer};

const BATCH: usize = 4096;

pub(crate) struct Sink<'a> {
    batch: Vec<Event>,
    observer: Option<&'a mut dyn Observer>,
}

impl<'a> Sink<'a> {
    pub fn new(observer: Option<&'a mut dyn Observer>) -> Self {
        let capacity = if observer.is_some() { BATCH } else { 0 };
        Sink { batch: Vec::with_capacity(capacity), observer }
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
