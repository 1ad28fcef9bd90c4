//! Oldest first: the ready wave that was launched first, whatever went before.

use super::policy::{Policy, View};

#[derive(Debug)]
pub struct OldestFirst;

impl Policy for OldestFirst {
    fn pick(&mut self, view: &View) -> Option<u32> {
        view.oldest_ready()
    }

    fn takes_the_only_one(&self) -> bool {
        true
    }
}
