//! The ordinary GPU front end: a fetch policy fills a small instruction buffer per wave, independently of
//! issue. Straight-line prediction: a jump that goes elsewhere empties the buffer and what is under way.

use super::fetch_view;
use crate::memory::Hierarchy;
use crate::sched::{self, Policy};
use std::collections::VecDeque;
use wb_hw::Machine;
use wb_isa::{NO_PC, Pc};
use wb_trace::PortKind;

#[derive(Clone, Debug, Default)]
struct Buffer {
    occupied: bool,
    /// Instructions decoded and waiting.
    ready: u32,
    /// Arrival cycles of requests under way, in order.
    coming: VecDeque<u64>,
    /// Next pc to request.
    pc: Pc,
}

pub struct Decoupled {
    buffers: Vec<Buffer>,
    policies: Vec<Box<dyn Policy>>,
    partitions: usize,
    ports: u32,
    capacity: u32,
    latency: u64,
    ages: Vec<u64>,
}

impl Decoupled {
    pub fn new(machine: &Machine) -> Self {
        let f = &machine.frontend;
        let partitions = machine.core.partitions as usize;
        Decoupled {
            buffers: vec![Buffer::default(); machine.core.waves as usize],
            policies: (0..partitions).map(|_| sched::policy(f.policy)).collect(),
            partitions,
            ports: f.ports,
            capacity: f.buffer,
            latency: u64::from(f.fetch_latency) + u64::from(f.decode_latency),
            ages: Vec::new(),
        }
    }

    #[inline(always)]
    pub fn has(&self, slot: usize) -> bool {
        self.buffers[slot].ready > 0
    }

    pub fn issued(&mut self, slot: usize, pc: Pc, straight: bool) {
        let b = &mut self.buffers[slot];
        b.ready -= 1;
        if !straight {
            b.ready = 0;
            b.coming.clear();
            b.pc = pc;
        }
    }

    pub fn start(&mut self, slot: usize, pc: Pc) {
        self.buffers[slot] = Buffer { occupied: true, pc, ..Buffer::default() };
    }

    pub fn stop(&mut self, slot: usize) {
        self.buffers[slot] = Buffer::default();
    }

    fn wants(&self, slot: usize) -> bool {
        let b = &self.buffers[slot];
        b.occupied && b.pc != NO_PC && b.ready + (b.coming.len() as u32) < self.capacity
    }

    pub fn tick(
        &mut self,
        now: u64,
        core: usize,
        ages: &dyn Fn(usize) -> u64,
        next: &[Pc],
        addr: &dyn Fn(Pc) -> u64,
        memory: &mut Hierarchy,
    ) {
        // Delivered by the end of this cycle: usable in the next one.
        for b in self.buffers.iter_mut().filter(|b| b.occupied) {
            while b.coming.front().is_some_and(|&t| t <= now + 1) {
                b.coming.pop_front();
                b.ready += 1;
            }
        }
        for p in 0..self.partitions {
            let slots: Vec<usize> = (p..self.buffers.len()).step_by(self.partitions).collect();
            let bit = |want: bool, local: usize| u64::from(want) << local;
            let occupied = slots.iter().enumerate().fold(0, |m, (l, &s)| m | bit(self.buffers[s].occupied, l));
            self.ages.clear();
            self.ages.extend(slots.iter().map(|&s| ages(s)));
            for _ in 0..self.ports {
                let ready = slots.iter().enumerate().fold(0, |m, (l, &s)| m | bit(self.wants(s), l));
                let view = fetch_view(ready, occupied, &self.ages, slots.len() as u32);
                let Some(local) = self.policies[p].pick(&view) else { break };
                let b = &mut self.buffers[slots[local as usize]];
                let request = memory.access(PortKind::Fetch, core, std::iter::once(addr(b.pc)), false, now);
                let arrival = request.done.max(now) + self.latency.max(1);
                let arrival = arrival.max(b.coming.back().copied().unwrap_or(0));
                b.coming.push_back(arrival);
                b.pc = next.get(b.pc as usize).copied().unwrap_or(NO_PC);
            }
        }
    }

    pub fn idle(&mut self, cycles: u64) {
        let slots = (self.buffers.len() / self.partitions) as u32;
        for policy in &mut self.policies {
            policy.idle(&fetch_view(0, 0, &[], slots), cycles);
        }
    }

    pub fn next_event(&self, now: u64) -> u64 {
        if (0..self.buffers.len()).any(|s| self.wants(s)) {
            return now + 1;
        }
        // A delivery at t is seen by the tick of cycle t - 1.
        self.buffers.iter().filter_map(|b| b.coming.front()).map(|&t| (t - 1).max(now + 1)).min().unwrap_or(u64::MAX)
    }
}
