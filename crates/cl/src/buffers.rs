//! Buffers: parts of device memory, which is the host's memory at the same addresses. A buffer on the program's own memory has a copy
//! on the device, which is brought up to date when the program maps and unmaps it.

use crate::codes::{Code, Outcome, refuse};
use crate::device::ALIGN;
use crate::info::{list, uint, ulong, unknown, yes};
use crate::objects::{Buffer, Context, Map, Object};
use crate::runtime::Runtime;

/// `cl_mem_flags`.
pub const READ_WRITE: u64 = 1;
pub const USE_HOST: u64 = 1 << 3;
pub const ALLOC_HOST: u64 = 1 << 4;
pub const COPY_HOST: u64 = 1 << 5;
pub const HOST_WRITE_ONLY: u64 = 1 << 7;
pub const HOST_READ_ONLY: u64 = 1 << 8;
pub const HOST_NO_ACCESS: u64 = 1 << 9;
/// Who may read and write: at most one of each group.
const DEVICE_ACCESS: u64 = 7;
const HOST_ACCESS: u64 = HOST_WRITE_ONLY | HOST_READ_ONLY | HOST_NO_ACCESS;
const HOST_POINTER: u64 = USE_HOST | ALLOC_HOST | COPY_HOST;

/// `cl_map_flags`.
pub const MAP_READ: u64 = 1;
pub const MAP_WRITE_ALL: u64 = 4;

fn at_most_one(flags: u64, of: u64) -> bool {
    (flags & of).count_ones() <= 1
}

impl Runtime {
    /// A buffer; what the program wants to be in it is copied by the caller.
    pub fn create_buffer(
        &mut self,
        context: u64,
        properties: Vec<u64>,
        flags: u64,
        bytes: u64,
        host: u64,
    ) -> Outcome<u64> {
        self.objects.get::<Context>(context)?;
        if properties.first().is_some_and(|first| *first != 0) {
            return refuse(Code::INVALID_PROPERTY);
        }
        let known = DEVICE_ACCESS | HOST_POINTER | HOST_ACCESS;
        let both = flags & USE_HOST != 0 && flags & (ALLOC_HOST | COPY_HOST) != 0;
        if flags & !known != 0
            || !at_most_one(flags, DEVICE_ACCESS)
            || !at_most_one(flags, HOST_ACCESS)
            || both
        {
            return refuse(Code::INVALID_VALUE);
        }
        if bytes == 0 || bytes > self.host.device.heap().total() / 4 {
            return refuse(Code::INVALID_BUFFER_SIZE);
        }
        if (host != 0) != (flags & (USE_HOST | COPY_HOST) != 0) {
            return refuse(Code::INVALID_HOST_PTR);
        }
        // Shared memory is where kernels find it already.
        let fits = |(at, size): &(u64, u64)| bytes <= size - (host - at);
        let shared = (flags & USE_HOST != 0).then(|| self.shared(host)).flatten().filter(fits);
        let addr = match shared {
            Some(_) => host,
            None => self.allocate(bytes).ok_or(Code::MEM_OBJECT_ALLOCATION_FAILURE)?,
        };
        self.objects.retain(context);
        Ok(self.objects.insert(Object::Buffer(Buffer {
            context,
            flags: if flags & DEVICE_ACCESS == 0 { flags | READ_WRITE } else { flags },
            addr,
            bytes,
            host: if flags & USE_HOST != 0 { host } else { 0 },
            parent: None,
            maps: Vec::new(),
            destructors: Vec::new(),
            properties,
            svm: shared.is_some(),
        })))
    }

    pub fn create_sub_buffer(&mut self, parent: u64, flags: u64, origin: u64, bytes: u64) -> Outcome<u64> {
        let of = self.objects.get::<Buffer>(parent)?.clone();
        if of.parent.is_some() {
            return refuse(Code::INVALID_MEM_OBJECT);
        }
        if flags & !(DEVICE_ACCESS | HOST_ACCESS) != 0
            || !at_most_one(flags, DEVICE_ACCESS)
            || !at_most_one(flags, HOST_ACCESS)
        {
            return refuse(Code::INVALID_VALUE);
        }
        // A part allows no more than the whole does.
        let access = of.flags & DEVICE_ACCESS;
        let wider = access != READ_WRITE && flags & DEVICE_ACCESS != 0 && flags & DEVICE_ACCESS != access;
        let host = of.flags & HOST_ACCESS;
        let wider_host = host != 0 && flags & HOST_ACCESS & !(host | HOST_NO_ACCESS) != 0;
        let end = origin.checked_add(bytes);
        if wider || wider_host || end.is_none_or(|end| end > of.bytes) {
            return refuse(Code::INVALID_VALUE);
        }
        if bytes == 0 {
            return refuse(Code::INVALID_BUFFER_SIZE);
        }
        if !origin.is_multiple_of(ALIGN) {
            return refuse(Code::MISALIGNED_SUB_BUFFER_OFFSET);
        }
        let inherited = |mask: u64| if flags & mask == 0 { of.flags & mask } else { flags & mask };
        self.objects.retain(parent);
        self.objects.retain(of.context);
        Ok(self.objects.insert(Object::Buffer(Buffer {
            context: of.context,
            flags: inherited(DEVICE_ACCESS) | inherited(HOST_ACCESS) | of.flags & HOST_POINTER,
            addr: of.addr + origin,
            bytes,
            host: if of.host == 0 { 0 } else { of.host + origin },
            parent: Some((parent, origin)),
            maps: Vec::new(),
            destructors: Vec::new(),
            properties: Vec::new(),
            svm: of.svm,
        })))
    }

    /// A part of a buffer: its address on the device. `refused`: flags of buffers that do not allow this to the host.
    pub fn part(&self, buffer: u64, offset: u64, bytes: u64, refused: u64) -> Outcome<u64> {
        let buffer = self.objects.get::<Buffer>(buffer)?;
        if buffer.flags & refused != 0 {
            return refuse(Code::INVALID_OPERATION);
        }
        match offset.checked_add(bytes) {
            Some(end) if end <= buffer.bytes && bytes > 0 => Ok(buffer.addr + offset),
            _ => refuse(Code::INVALID_VALUE),
        }
    }

    /// Notes that a part is mapped: the pointer for the program, and where kernels find it.
    pub fn map(&mut self, handle: u64, flags: u64, offset: u64, bytes: u64) -> Outcome<(u64, u64)> {
        if flags & !7 != 0 || (flags & MAP_WRITE_ALL != 0 && flags & 3 != 0) {
            return refuse(Code::INVALID_VALUE);
        }
        let reads = if flags & MAP_READ != 0 { HOST_WRITE_ONLY | HOST_NO_ACCESS } else { 0 };
        let writes = if flags & 6 != 0 { HOST_READ_ONLY | HOST_NO_ACCESS } else { 0 };
        let addr = self.part(handle, offset, bytes, reads | writes)?;
        let buffer = self.objects.get_mut::<Buffer>(handle)?;
        let pointer = if buffer.host == 0 { addr } else { buffer.host + offset };
        buffer.maps.push(Map { pointer, offset, bytes, flags });
        Ok((pointer, addr))
    }

    /// Ends a map: what it was, and where kernels find it.
    pub fn unmap(&mut self, handle: u64, pointer: u64) -> Outcome<(Map, u64)> {
        let buffer = self.objects.get_mut::<Buffer>(handle)?;
        let at = buffer.maps.iter().position(|m| m.pointer == pointer).ok_or(Code::INVALID_VALUE)?;
        let map = buffer.maps.remove(at);
        Ok((map, buffer.addr + map.offset))
    }

    pub fn buffer_info(&self, handle: u64, name: u32) -> Outcome<Vec<u8>> {
        let buffer = self.objects.get::<Buffer>(handle)?;
        match name {
            // CL_MEM_TYPE: a buffer.
            0x1100 => uint(0x10F0),
            0x1101 => ulong(buffer.flags),
            0x1102 => ulong(buffer.bytes),
            0x1103 => ulong(buffer.host),
            0x1104 => uint(buffer.maps.len() as u32),
            0x1105 => uint(self.objects.count(handle)),
            0x1106 => ulong(buffer.context),
            0x1107 => ulong(buffer.parent.map_or(0, |p| p.0)),
            0x1108 => ulong(buffer.parent.map_or(0, |p| p.1)),
            0x1109 => yes(buffer.svm),
            0x110A => list(&buffer.properties),
            _ => unknown(),
        }
    }
}
