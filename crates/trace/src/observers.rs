//! Several observers behind one: a run takes a single `dyn Observer`, so fan-out happens here.

use crate::{Event, Fork, Observer, Touched, TraceInfo};
use std::any::Any;

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

    fn fork(&self) -> Option<Box<dyn Fork>> {
        let forks: Option<Vec<Box<dyn Fork>>> = self.0.iter().map(|o| o.fork()).collect();
        forks.map(|forks| Box::new(Forks(forks)) as Box<dyn Fork>)
    }

    fn join(&mut self, fork: Box<dyn Any>) {
        if let Ok(forks) = fork.downcast::<Forks>() {
            self.0.iter_mut().zip(forks.0).for_each(|(observer, fork)| observer.join(fork));
        }
    }
}

/// The observers of a part of a run.
struct Forks(Vec<Box<dyn Fork>>);

impl Observer for Forks {
    fn events(&mut self, batch: &[Event]) {
        self.0.iter_mut().for_each(|observer| observer.events(batch));
    }
}
