//! Named pieces of device memory, and what `NAME[:COUNT[:TYPE]]` stands for.

use super::element::Element;
use crate::error::{JobError, refused};

/// A named piece of device memory.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub name: String,
    pub addr: u64,
    pub bytes: u64,
    pub element: Element,
}

/// Whether a name says how much memory it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Exact,
    Open,
}

impl Buffer {
    /// What `NAME[:COUNT[:TYPE]]` stands for, given how to find the name and whether more than it has can be shown:
    /// what follows a label belongs to the program, too.
    pub fn select(
        what: &str,
        find: impl FnOnce(&str) -> Result<(Buffer, Extent), JobError>,
    ) -> Result<Buffer, JobError> {
        let mut parts = what.split(':');
        let name = parts.next().unwrap_or("");
        let help = "NAME, NAME:COUNT or NAME:COUNT:TYPE";
        let number = |c: &str| {
            c.parse::<u64>()
                .map_err(|_| refused!(Buffer, help = help, "`{what}`: `{c}` is not a number of elements"))
        };
        let count: Option<u64> = parts.next().filter(|c| !c.is_empty()).map(number).transpose()?;
        let element = match parts.next() {
            None => None,
            Some(t) => Some(
                Element::parse(t)
                    .ok_or_else(|| refused!(Buffer, help = Element::NAMES, "no element type `{t}`"))?,
            ),
        };
        if let Some(more) = parts.next() {
            return Err(refused!(Buffer, help = help, "`{what}`: `:{more}` is too much"));
        }
        let (mut buffer, extent) = find(name)?;
        // As it was asked for: by name or by position.
        name.clone_into(&mut buffer.name);
        if let Some(element) = element {
            buffer.element = element;
        }
        if let Some(count) = count {
            let bytes = count.saturating_mul(buffer.element.bytes());
            if extent == Extent::Exact && bytes > buffer.bytes {
                let has = buffer.bytes / buffer.element.bytes();
                return Err(refused!(
                    Buffer,
                    "`{what}`: {name} has {has} elements of {}",
                    buffer.element.name()
                ));
            }
            buffer.bytes = bytes;
        }
        Ok(buffer)
    }
}
