//! Streams and events. Everything runs when it is called, in order, whatever its stream: a legal order of the program's
//! work. Events hold moments of simulated time.

use crate::errors::{Code, Outcome};
use crate::runtime::Runtime;
use crate::state::{Event, Node, Stream};

/// The default stream's names: null, legacy, per thread.
const DEFAULT: [u64; 3] = [0, 1, 2];
/// Events that keep no time.
const NO_TIMING: u32 = 2;

impl Runtime {
    pub fn stream_create(&mut self, flags: u32, priority: i32) -> u64 {
        let handle = self.streams.handle();
        self.streams.list.insert(handle, Stream { flags, priority, capture: None });
        handle
    }

    pub fn stream(&self, handle: u64) -> Outcome<Stream> {
        if DEFAULT.contains(&handle) {
            return Ok(Stream::default());
        }
        Ok(self.streams.list.get(&handle).cloned().ok_or(Code::INVALID_HANDLE)?)
    }

    pub fn stream_destroy(&mut self, handle: u64) -> Outcome {
        self.streams.list.remove(&handle).map(drop).ok_or_else(|| Code::INVALID_HANDLE.into())
    }

    /// Where captured work of a stream goes; none if the stream works.
    pub fn capturing(&mut self, stream: u64) -> Outcome<Option<&mut Vec<Node>>> {
        let Some(capture) = self.stream(stream)?.capture else { return Ok(None) };
        Ok(self.streams.captures.get_mut(&capture))
    }

    pub fn begin_capture(&mut self, handle: u64) -> Outcome {
        let capture = self.streams.handle();
        let stream = self.streams.list.get_mut(&handle).ok_or(Code::CAPTURE_UNSUPPORTED)?;
        if stream.capture.is_some() {
            return Err(Code::ILLEGAL_STATE.into());
        }
        stream.capture = Some(capture);
        self.streams.captures.insert(capture, Vec::new());
        Ok(())
    }

    /// Ends a capture, also of streams that joined it; returns the graph.
    pub fn end_capture(&mut self, handle: u64) -> Outcome<u64> {
        let capture = self.stream(handle)?.capture.ok_or(Code::ILLEGAL_STATE)?;
        let nodes = self.streams.captures.remove(&capture).unwrap_or_default();
        for stream in self.streams.list.values_mut().filter(|s| s.capture == Some(capture)) {
            stream.capture = None;
        }
        for event in self.streams.events.values_mut().filter(|e| e.captured == Some(capture)) {
            event.captured = None;
        }
        let graph = self.streams.handle();
        self.streams.graphs.insert(graph, nodes);
        Ok(graph)
    }

    pub fn event_create(&mut self, flags: u32) -> u64 {
        let handle = self.streams.handle();
        self.streams.events.insert(handle, Event { flags, ..Event::default() });
        handle
    }

    pub fn event_destroy(&mut self, handle: u64) -> Outcome {
        self.streams.events.remove(&handle).map(drop).ok_or_else(|| Code::INVALID_HANDLE.into())
    }

    pub fn event(&self, handle: u64) -> Outcome<Event> {
        Ok(self.streams.events.get(&handle).copied().ok_or(Code::INVALID_HANDLE)?)
    }

    pub fn event_record(&mut self, handle: u64, stream: u64) -> Outcome {
        self.event(handle)?;
        if let Some(nodes) = self.capturing(stream)? {
            nodes.push(Node::Record(handle));
        }
        let (captured, now) = (self.stream(stream)?.capture, self.host.now);
        let event = self.streams.events.get_mut(&handle).ok_or(Code::INVALID_HANDLE)?;
        event.captured = captured;
        if captured.is_none() {
            event.at = Some(now);
        }
        Ok(())
    }

    /// A stream that waits for an event of a capture joins it.
    pub fn stream_wait(&mut self, handle: u64, event: u64) -> Outcome {
        let captured = self.event(event)?.captured;
        self.stream(handle)?;
        if let (Some(capture), Some(stream)) = (captured, self.streams.list.get_mut(&handle)) {
            stream.capture = Some(capture);
        }
        Ok(())
    }

    pub fn elapsed(&self, start: u64, stop: u64) -> Outcome<f32> {
        let (start, stop) = (self.event(start)?, self.event(stop)?);
        if (start.flags | stop.flags) & NO_TIMING != 0 {
            return Err(Code::INVALID_HANDLE.into());
        }
        match (start.at, stop.at) {
            (Some(from), Some(to)) => Ok(self.host.milliseconds(from, to) as f32),
            _ => Err(Code::INVALID_HANDLE.into()),
        }
    }
}
