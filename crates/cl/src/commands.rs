//! Work of queues. A piece of work runs as soon as nothing is in its way: what it waits for, and what came before it in a queue that
//! keeps order. Only events that the program itself completes can be in its way, and functions of the program that run just now.

use crate::codes::{Code, Outcome, refuse};
use crate::objects::{
    COMPLETE, Context, Event, OUT_OF_ORDER, Object, QUEUED, Queue, RUNNING, SUBMITTED, USER,
};
use crate::runtime::Runtime;
use crate::state::{Call, Command, Work};

/// Where work goes, of what kind it is (`cl_command_type`), and what it waits for.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    pub queue: u64,
    pub kind: u32,
    pub waits: &'a [u64],
}

/// `CL_COMMAND_BARRIER` and `CL_COMMAND_MARKER`.
pub const BARRIER: u32 = 0x1205;
pub const MARKER: u32 = 0x11FE;

impl Runtime {
    /// The context of a queue, after a look at the list of what to wait for.
    pub fn check_place(&self, place: &Place) -> Outcome<u64> {
        let context = self.objects.get::<Queue>(place.queue)?.context;
        for event in place.waits {
            let event = self.objects.get::<Event>(*event).map_err(|_| Code::INVALID_EVENT_WAIT_LIST)?;
            if event.context != context {
                return refuse(Code::INVALID_CONTEXT);
            }
        }
        Ok(context)
    }

    /// Takes in work; returns its event, with a reference for the program.
    pub fn enqueue(&mut self, place: &Place, holds: &[u64], work: Work) -> Outcome<u64> {
        let context = self.check_place(place)?;
        let now = self.host.now;
        let event = self.objects.insert(Object::Event(Event {
            context,
            queue: Some(place.queue),
            kind: place.kind,
            status: QUEUED,
            times: [now; 4],
            callbacks: Vec::new(),
        }));
        // One reference of the program, one of the work.
        [event, context, place.queue].iter().for_each(|h| self.objects.retain(*h));
        place.waits.iter().chain(holds).for_each(|h| self.objects.retain(*h));
        let everything = matches!(place.kind, BARRIER | MARKER) && place.waits.is_empty();
        let mut after = if everything { self.pending_of(place.queue) } else { Vec::new() };
        let queue = self.objects.get_mut::<Queue>(place.queue)?;
        after.extend(queue.last);
        if queue.properties & OUT_OF_ORDER == 0 || place.kind == BARRIER {
            queue.last = Some(event);
        }
        after.iter().for_each(|h| self.objects.retain(*h));
        self.pending.push(Command { event, waits: place.waits.to_vec(), after, holds: holds.to_vec(), work });
        Ok(event)
    }

    /// Events of a queue's work that is not done.
    pub fn pending_of(&self, queue: u64) -> Vec<u64> {
        let of = |event: &u64| self.objects.get::<Event>(*event).is_ok_and(|e| e.queue == Some(queue));
        self.pending.iter().map(|c| c.event).filter(of).collect()
    }

    pub fn status(&self, event: u64) -> i32 {
        self.objects.get::<Event>(event).map_or(COMPLETE, |e| e.status)
    }

    /// Takes out the first work that nothing is in the way of; the status is not zero if it cannot be done.
    pub fn next(&mut self) -> Option<(Command, i32)> {
        let ended = |list: &[u64]| list.iter().all(|e| self.status(*e) <= COMPLETE);
        let ready = |c: &Command| !matches!(c.work, Work::Running) && ended(&c.waits) && ended(&c.after);
        let at = self.pending.iter().position(ready)?;
        let failed = self.pending[at].waits.iter().any(|e| self.status(*e) < COMPLETE);
        let command = &mut self.pending[at];
        // It stays on the list until it is done: others wait for it.
        let mut taken = Command {
            event: command.event,
            waits: std::mem::take(&mut command.waits),
            after: std::mem::take(&mut command.after),
            holds: std::mem::take(&mut command.holds),
            work: Work::Running,
        };
        std::mem::swap(&mut taken.work, &mut command.work);
        let now = self.host.now;
        if let Ok(event) = self.objects.get_mut::<Event>(taken.event) {
            event.status = RUNNING;
            event.times[1..].fill(now);
        }
        let status = if failed { Code::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST.0 } else { COMPLETE };
        Some((taken, status))
    }

    /// Work has ended.
    pub fn done(&mut self, command: Command, status: i32) {
        self.pending.retain(|c| c.event != command.event);
        let now = self.host.now;
        if let Ok(event) = self.objects.get_mut::<Event>(command.event) {
            event.times[3] = now;
            if let Some(queue) = event.queue
                && let Ok(queue) = self.objects.get_mut::<Queue>(queue)
                && queue.last == Some(command.event)
            {
                queue.last = None;
            }
        }
        self.set_status(command.event, status);
        let Command { event, waits, after, holds, .. } = command;
        waits.into_iter().chain(after).chain(holds).chain([event]).for_each(|handle| self.let_go(handle));
    }

    /// An event has got its last status: who wanted to know is told.
    fn set_status(&mut self, handle: u64, status: i32) {
        let Ok(event) = self.objects.get_mut::<Event>(handle) else { return };
        event.status = status;
        for (at, function, data) in std::mem::take(&mut event.callbacks) {
            let status = Some(if at == COMPLETE { status } else { at });
            self.objects.retain(handle);
            self.calls.push(Call { function, handle, status, data });
        }
    }

    pub fn create_user_event(&mut self, context: u64) -> Outcome<u64> {
        self.objects.get::<Context>(context)?;
        self.objects.retain(context);
        let event = Event { context, kind: USER, status: SUBMITTED, ..Event::default() };
        Ok(self.objects.insert(Object::Event(event)))
    }

    pub fn set_user_status(&mut self, handle: u64, status: i32) -> Outcome {
        let event = self.objects.get::<Event>(handle)?;
        if event.kind != USER || event.queue.is_some() {
            return refuse(Code::INVALID_EVENT);
        }
        if status > COMPLETE {
            return refuse(Code::INVALID_VALUE);
        }
        if event.status <= COMPLETE {
            return refuse(Code::INVALID_OPERATION);
        }
        self.set_status(handle, status);
        Ok(())
    }

    /// Calls a function when an event has got so far; at once if it has.
    pub fn set_callback(&mut self, handle: u64, at: i32, function: u64, data: u64) -> Outcome {
        let event = self.objects.get_mut::<Event>(handle)?;
        if function == 0 || ![SUBMITTED, RUNNING, COMPLETE].contains(&at) {
            return refuse(Code::INVALID_VALUE);
        }
        if event.status > at {
            event.callbacks.push((at, function, data));
        } else {
            let status = Some(if at == COMPLETE { event.status } else { at });
            self.objects.retain(handle);
            self.calls.push(Call { function, handle, status, data });
        }
        Ok(())
    }
}
