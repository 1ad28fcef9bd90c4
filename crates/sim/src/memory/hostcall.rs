//! Calls of kernels to the host through the hostcall buffer of ROCm's device libraries (`hostcall_impl.cl`): a wave takes
//! a packet, fills it in, rings a bell with `s_sendmsg`, and waits until the host clears the packet's flag.

use std::collections::BTreeMap;

/// Sizes of a packet's header and payload, of the buffer and of the bell (an HSA signal).
pub(super) const HEADER: u64 = 24;
pub(super) const PAYLOAD: u64 = 64 * 64;
pub(super) const BUFFER: u64 = 64;
pub(super) const SIGNAL: u64 = 128;
/// Services: printing, piece by piece, and memory for device-side malloc.
pub(super) const PRINTF: u64 = 2;
pub(super) const DEVICE_MEMORY: u64 = 3;

/// What kernels said, in the order they finished saying it.
#[derive(Clone, Debug, Default)]
pub struct HostCalls {
    pub(super) buffer: u64,
    pub(super) packets: u64,
    /// Messages that are not finished yet, by number.
    pub(super) open: BTreeMap<u64, Vec<u64>>,
    pub(super) next: u64,
    /// Messages of `printf`: where to (0 standard output, 1 standard error), then format and arguments as they came.
    pub messages: Vec<Vec<u64>>,
}

impl HostCalls {
    /// Bytes of device memory for `packets` packets (a power of two).
    pub fn bytes(packets: u64) -> u64 {
        BUFFER + SIGNAL + packets * (HEADER + PAYLOAD)
    }

    /// One piece of a message: bit 0 begins, bit 1 ends, bits 5 to 7 count the words, the rest is the message's number.
    pub(super) fn piece(&mut self, words: [u64; 8]) -> u64 {
        let control = words[0];
        let number = if control & 1 != 0 {
            self.next += 1;
            self.next
        } else {
            control >> 8
        };
        let count = (control >> 5 & 7) as usize;
        self.open.entry(number).or_default().extend(&words[1..=count]);
        if control & 2 != 0
            && let Some(message) = self.open.remove(&number)
        {
            self.messages.push(message);
        }
        number << 8 | control & 0xfc
    }
}
