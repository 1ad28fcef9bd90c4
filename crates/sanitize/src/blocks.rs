//! What has been allocated: which bytes programs may touch, to the byte, and what they are called.

use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub struct Block {
    pub bytes: u64,
    /// As the host calls it; empty if it has no name.
    pub name: String,
    /// Where the host program asked for it.
    pub site: Option<String>,
    /// Code, arguments and what else the runtime needs: not the program's own.
    pub internal: bool,
}

/// Blocks by their first address.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    used: BTreeMap<u64, Block>,
    /// Given back, and not used again since.
    freed: BTreeMap<u64, Block>,
    /// First byte and the byte behind of the block that was asked for last.
    last: (u64, u64),
    /// Nothing was ever allocated: then everything may be touched.
    any: bool,
}

/// Why an access is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    Outside,
    Freed,
}

impl Blocks {
    pub fn add(&mut self, at: u64, block: Block) {
        let end = at + block.bytes.max(1);
        let gone: Vec<u64> = self
            .freed
            .range(..end)
            .filter(|(from, b)| *from + b.bytes.max(1) > at)
            .map(|(a, _)| *a)
            .collect();
        for from in gone {
            self.freed.remove(&from);
        }
        self.used.insert(at, block);
        self.any = true;
    }

    pub fn remove(&mut self, at: u64) -> Option<u64> {
        let block = self.used.remove(&at)?;
        self.last = (0, 0);
        let bytes = block.bytes;
        if !block.internal {
            self.freed.insert(at, block);
        }
        Some(bytes)
    }

    pub fn get_mut(&mut self, at: u64) -> Option<&mut Block> {
        self.used.get_mut(&at)
    }

    /// Whether all of an access may be made.
    #[inline]
    pub fn allows(&mut self, addr: u64, bytes: u64) -> Result<(), Wrong> {
        let end = addr.wrapping_add(bytes);
        if addr >= self.last.0 && end <= self.last.1 || !self.any {
            return Ok(());
        }
        match self.used.range(..=addr).next_back() {
            Some((&at, block)) if end <= at + block.bytes && end >= addr => {
                self.last = (at, at + block.bytes);
                Ok(())
            }
            _ => {
                let old = self.freed.range(..=addr).next_back();
                let freed = old.is_some_and(|(at, block)| addr < at + block.bytes.max(1));
                Err(if freed { Wrong::Freed } else { Wrong::Outside })
            }
        }
    }

    /// Whether an address is in a block.
    pub fn has(&self, addr: u64) -> bool {
        self.used.range(..=addr).next_back().is_some_and(|(at, block)| addr < at + block.bytes)
    }

    /// Whether an address is in a block of the runtime: what compilers do there is their business.
    pub fn is_internal(&self, addr: u64) -> bool {
        let before = self.used.range(..=addr).next_back();
        before.is_some_and(|(at, block)| block.internal && addr < at + block.bytes)
    }

    /// The program's own blocks.
    pub fn own(&self) -> impl Iterator<Item = (u64, &Block)> {
        self.used.iter().filter(|(_, block)| !block.internal).map(|(at, block)| (*at, block))
    }

    /// An address as people know it, and where its block was allocated.
    pub fn describe(&self, addr: u64) -> (String, Option<String>) {
        let name = |at: u64, block: &Block| match block.name.is_empty() {
            true if block.internal => format!("memory of the runtime at {at:#x}"),
            true => format!("the buffer at {at:#x}"),
            false => format!("`{}`", block.name),
        };
        let before = self.used.range(..=addr).next_back();
        if let Some((at, block)) = before
            && addr < at + block.bytes.max(1)
        {
            return (
                format!("{} + {} of {} bytes", name(*at, block), addr - at, block.bytes),
                block.site.clone(),
            );
        }
        let old =
            self.freed.range(..=addr).next_back().filter(|(at, block)| addr < **at + block.bytes.max(1));
        if let Some((at, block)) = old {
            let text =
                format!("{} + {} of {} bytes, which was freed", name(*at, block), addr - at, block.bytes);
            return (text, block.site.clone());
        }
        let behind = self.used.range(addr..).next();
        let near = |gap: u64| gap < 1 << 20;
        match (before, behind) {
            (Some((at, block)), _) if near(addr - at - block.bytes) => {
                let past = addr - at - block.bytes;
                let text = format!(
                    "{} + {}: {past} bytes behind its end ({} bytes)",
                    name(*at, block),
                    addr - at,
                    block.bytes
                );
                (text, block.site.clone())
            }
            (_, Some((at, block))) if near(at - addr) => (
                format!("{} bytes before {} ({} bytes)", at - addr, name(*at, block), block.bytes),
                block.site.clone(),
            ),
            _ => (format!("address {addr:#x}, far from every buffer"), None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(bytes: u64, name: &str) -> Block {
        Block { bytes, name: name.into(), ..Block::default() }
    }

    #[test]
    fn accesses_are_checked_to_the_byte() {
        let mut b = Blocks::default();
        assert_eq!(b.allows(5, 4), Ok(()), "nothing is known");
        b.add(0x1000, block(100, "x"));
        b.add(0x3000, block(8, ""));
        assert_eq!(b.allows(0x1060, 4), Ok(()));
        assert_eq!(b.allows(0x1061, 4), Err(Wrong::Outside));
        assert_eq!(b.allows(0xffc, 4), Err(Wrong::Outside));
        assert_eq!(b.allows(0xffe, 4), Err(Wrong::Outside));
        assert_eq!(b.describe(0x1064).0, "`x` + 100: 0 bytes behind its end (100 bytes)");
        assert_eq!(b.describe(0xff0).0, "16 bytes before `x` (100 bytes)");
        b.remove(0x1000);
        assert_eq!(b.allows(0x1010, 4), Err(Wrong::Freed));
        assert!(b.describe(0x1010).0.ends_with("which was freed"));
        b.add(0x1040, block(4, "y"));
        assert_eq!(b.allows(0x1010, 4), Err(Wrong::Outside), "used again in part");
    }
}
