//! Serving calls of kernels to the host: the buffer in device memory, and the packets in it.

use super::device::DeviceMemory;
use super::hostcall::{BUFFER, DEVICE_MEMORY, HEADER, HostCalls, PAYLOAD, PRINTF, SIGNAL};
use wb_isa::MemFault;
use wb_isa::lanes::bits;

impl HostCalls {
    /// Lays out the buffer at `at`, all packets free. A packet is told by its number plus a tag, so that none is 0.
    pub fn new(memory: &mut DeviceMemory, at: u64, packets: u64) -> Result<HostCalls, MemFault> {
        let (signal, headers) = (at + BUFFER, at + BUFFER + SIGNAL);
        let payloads = headers + packets * HEADER;
        let fields = [headers, payloads, signal, packets + packets - 1, 0, packets - 1];
        for (i, value) in fields.into_iter().enumerate() {
            memory.write(at + 8 * i as u64, &value.to_le_bytes())?;
        }
        for i in 0..packets {
            let before = if i == 0 { 0 } else { packets + i - 1 };
            memory.write(headers + i * HEADER, &before.to_le_bytes())?;
        }
        // A bell with a mailbox makes the device send its message; the mailbox is in the signal itself.
        memory.write(signal + 16, &(signal + 64).to_le_bytes())?;
        Ok(HostCalls { buffer: at, packets, ..HostCalls::default() })
    }

    /// Serves all packets that are ready, oldest first.
    pub(super) fn serve(&mut self, memory: &mut DeviceMemory) -> Result<(), String> {
        let fault = |e: MemFault| e.to_string();
        let headers = word(memory, self.buffer)?;
        let payloads = word(memory, self.buffer + 8)?;
        let mut at = word(memory, self.buffer + 32)?;
        memory.write(self.buffer + 32, &0u64.to_le_bytes()).map_err(fault)?;
        let mut ready = Vec::new();
        while at != 0 && ready.len() <= self.packets as usize {
            let number = at & (self.packets - 1);
            ready.push(number);
            at = word(memory, headers + number * HEADER)?;
        }
        for number in ready.into_iter().rev() {
            let (header, payload) = (headers + number * HEADER, payloads + number * PAYLOAD);
            let (lanes, service) = (word(memory, header + 8)?, word(memory, header + 16)? & 0xffff_ffff);
            for lane in bits(lanes) {
                let slot = payload + u64::from(lane) * 64;
                match service {
                    PRINTF => {
                        let mut words = [0; 8];
                        for (i, w) in words.iter_mut().enumerate() {
                            *w = word(memory, slot + 8 * i as u64)?;
                        }
                        let answer = self.piece(words);
                        memory.write(slot, &answer.to_le_bytes()).map_err(fault)?;
                    }
                    DEVICE_MEMORY => return Err("malloc and free in kernels are not supported".into()),
                    other => {
                        return Err(format!(
                            "the kernel calls service {other} of the host, which is not known"
                        ));
                    }
                }
            }
            memory.write(header + 20, &0u32.to_le_bytes()).map_err(fault)?;
        }
        Ok(())
    }
}

fn word(memory: &DeviceMemory, addr: u64) -> Result<u64, String> {
    let bytes = memory.read(addr, 8).map_err(|e| e.to_string())?;
    Ok(bytes.try_into().map_or(0, u64::from_le_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays a wave with lanes 0 and 2 that prints "hi" in two pieces.
    #[test]
    fn a_message_comes_in_pieces() {
        let mut memory = DeviceMemory::new(1 << 16);
        let mut calls = HostCalls::new(&mut memory, 256, 4).expect("room");
        let at = |i: u64| 256 + 8 * i;
        let get = |m: &DeviceMemory, addr| word(m, addr).expect("word");
        let (headers, payloads) = (get(&memory, at(0)), get(&memory, at(1)));
        let packet = get(&memory, at(3));
        let number = packet & get(&memory, at(5));
        let header = headers + number * HEADER;
        let mut call = |memory: &mut DeviceMemory, words: [[u64; 3]; 2]| -> [u64; 2] {
            let mut put = |addr, value: u64| memory.write(addr, &value.to_le_bytes()).expect("write");
            put(header, 0);
            put(header + 8, 0b101);
            put(header + 16, PRINTF | 1 << 32);
            for (slot, words) in [0, 2].into_iter().zip(words) {
                for (i, w) in words.into_iter().enumerate() {
                    put(payloads + number * PAYLOAD + slot * 64 + 8 * i as u64, w);
                }
            }
            put(at(4), packet);
            calls.serve(memory).expect("served");
            assert_eq!(get(memory, header + 16) >> 32, 0, "the flag is cleared");
            [0, 2].map(|slot| get(memory, payloads + number * PAYLOAD + slot * 64))
        };
        let begin = call(&mut memory, [[33, 0, 0], [33, 0, 0]]);
        assert_ne!(begin[0], begin[1], "every lane has its own message");
        let text = u64::from_le_bytes(*b"hi\n\0\0\0\0\0");
        let end = begin.map(|d| [d & !0xe0 | 1 << 5 | 2, text, 0]);
        call(&mut memory, end);
        assert_eq!(calls.messages, [[0, text], [0, text]]);
    }

    #[test]
    fn what_is_not_known_is_an_error() {
        let mut memory = DeviceMemory::new(1 << 16);
        let mut calls = HostCalls::new(&mut memory, 0, 2).expect("room");
        let header = BUFFER + SIGNAL;
        memory.write(header + 8, &1u64.to_le_bytes()).expect("write");
        memory.write(header + 16, &77u32.to_le_bytes()).expect("write");
        memory.write(32, &2u64.to_le_bytes()).expect("write");
        assert!(calls.serve(&mut memory).unwrap_err().contains("77"));
    }
}
