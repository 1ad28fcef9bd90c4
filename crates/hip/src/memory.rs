//! Device memory as HIP hands it out. It is the host's memory, too: `hipMalloc`, `hipHostMalloc`, managed memory and
//! variables all lie in one arena whose device addresses are host addresses.

use crate::errors::{Code, Outcome};
use crate::runtime::Runtime;
use crate::state::{Kind, Registered};
use wavebound::device::DeviceError;

/// Rows of pitched memory start at multiples of this.
pub const PITCH: u64 = 256;

impl Runtime {
    /// Device memory; 0 for nothing, as HIP does.
    pub fn malloc(&mut self, bytes: u64, kind: Kind, flags: u32) -> Outcome<u64> {
        if bytes == 0 {
            return Ok(0);
        }
        match self.host.device.alloc(bytes) {
            Ok(addr) => {
                self.memory.kinds.insert(addr, (kind, flags));
                self.host.asked(addr, bytes, "allocation", !matches!(kind, Kind::Device));
                let heap = self.host.device.heap();
                self.memory.most = self.memory.most.max(heap.total() - heap.available());
                Ok(addr)
            }
            Err(DeviceError::OutOfMemory { .. }) => {
                self.memory.refused = Some(bytes);
                Err(Code::OUT_OF_MEMORY.into())
            }
            Err(_) => Err(Code::INVALID_VALUE.into()),
        }
    }

    pub fn free(&mut self, addr: u64) -> Outcome {
        if addr == 0 {
            return Ok(());
        }
        if self.memory.kinds.remove(&addr).is_none() || !self.host.device.free(addr) {
            return Err(Code::INVALID_VALUE.into());
        }
        Ok(())
    }

    /// The allocation an address lies in: first byte, bytes, kind, flags.
    pub fn allocation(&self, addr: u64) -> Option<(u64, u64, Kind, u32)> {
        let (at, bytes) = self.host.device.heap().block(addr)?;
        let (kind, flags) = self.memory.kinds.get(&at).copied().unwrap_or((Kind::Device, 0));
        Some((at, bytes, kind, flags))
    }

    /// Whether an address is the device's own.
    pub fn in_arena(&self, addr: u64) -> bool {
        let memory = self.host.device.memory();
        addr.checked_sub(memory.origin()).is_some_and(|offset| offset < memory.size())
    }

    /// Where the device has what the program calls `addr`: registered memory has a copy.
    pub fn device_view(&self, addr: u64) -> Option<u64> {
        if self.in_arena(addr) {
            return Some(addr);
        }
        let (&host, r) = self.memory.registered.range(..=addr).next_back()?;
        (addr - host < r.bytes).then(|| r.device + (addr - host))
    }

    /// Checks one side of a copy: `device` memory must be in an allocation, with all its bytes.
    pub fn check(&self, addr: u64, bytes: u64, device: bool) -> Outcome {
        if bytes == 0 {
            return Ok(());
        }
        if addr == 0 {
            return Err(Code::INVALID_VALUE.into());
        }
        if self.in_arena(addr) {
            let (at, size, ..) = self.allocation(addr).ok_or(Code::INVALID_VALUE)?;
            return if bytes <= size - (addr - at) { Ok(()) } else { Err(Code::INVALID_VALUE.into()) };
        }
        let registered = self.device_view(addr).is_some();
        if device && !registered { Err(Code::INVALID_VALUE.into()) } else { Ok(()) }
    }

    /// Checks a copy of `kind` (hipMemcpyKind).
    pub fn check_copy(&self, dst: u64, src: u64, bytes: u64, kind: i32) -> Outcome {
        let (to_device, from_device) = match kind {
            0 | 4 => (false, false),
            1 => (true, false),
            2 => (false, true),
            3 => (true, true),
            _ => return Err(Code::INVALID_MEMCPY_DIRECTION.into()),
        };
        self.check(dst, bytes, to_device)?;
        self.check(src, bytes, from_device)
    }

    /// Registers the program's own memory.
    pub fn register(&mut self, host: u64, bytes: u64) -> Outcome {
        if host == 0 || bytes == 0 {
            return Err(Code::INVALID_VALUE.into());
        }
        if self.in_arena(host) || self.memory.registered.contains_key(&host) {
            return Err(Code::HOST_ALREADY_REGISTERED.into());
        }
        let device = self.malloc(bytes, Kind::Host, 0)?;
        self.memory.registered.insert(host, Registered { bytes, device });
        Ok(())
    }

    pub fn unregister(&mut self, host: u64) -> Outcome {
        let r = self.memory.registered.remove(&host).ok_or(Code::HOST_NOT_REGISTERED)?;
        self.free(r.device)
    }
}
