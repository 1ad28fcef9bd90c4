//! Oldest first: the ready wave that was launched first, whatever went before.

use super::policy::{Choice, Policy, View};

#[derive(Debug)]
pub struct OldestFirst;

impl Policy for OldestFirst {
    fn pick(&mut self, view: &View) -> Option<u32> {
        view.oldest_ready()
    }

    fn choice(&self) -> Choice {
        Choice::Oldest
    }
}
