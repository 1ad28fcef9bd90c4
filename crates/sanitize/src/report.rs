//! A report. Places, lanes and addresses are told as people know them.

use crate::kind::Kind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An instruction of a program, and where it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    pub kernel: String,
    /// Empty if nobody knows.
    pub file: String,
    /// 0 if nobody knows.
    pub line: u32,
    /// Address of the instruction, as linked.
    pub address: u64,
    pub instruction: String,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self.line {
            0 => write!(f, "{} at {:#x}", self.kernel, self.address)?,
            line => write!(f, "{}:{line}", self.file)?,
        }
        if self.instruction.is_empty() { Ok(()) } else { write!(f, " ({})", self.instruction) }
    }
}

/// A work-item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Who {
    pub group: u32,
    /// Number of the wave in the launch.
    pub wave: u32,
    pub lane: u32,
    /// Number of the work-item in its group.
    pub item: u32,
}

impl std::fmt::Display for Who {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "work-item {} of group {} (wave {}, lane {})", self.item, self.group, self.wave, self.lane)
    }
}

/// The other side of a race, or where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Other {
    /// "write", "read", "atomic", "the value comes from" …
    pub what: String,
    pub place: Place,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<Who>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    pub kind: Kind,
    /// What happened, in words.
    pub message: String,
    pub place: Place,
    pub who: Who,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<Other>,
    /// Where in memory: buffer + offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// Where the host program allocated it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated: Option<String>,
    /// Number of the launch, counted from 1.
    pub launch: u32,
    /// How often it was seen.
    pub count: u64,
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        writeln!(f, "{}: {}", self.kind, self.message)?;
        writeln!(f, "    {}", self.place)?;
        write!(f, "    by {}", self.who)?;
        if let Some(memory) = &self.memory {
            write!(f, "\n    {memory}")?;
        }
        if let Some(site) = &self.allocated {
            write!(f, "\n    allocated at {site}")?;
        }
        if let Some(other) = &self.other {
            write!(f, "\n    {}: {}", other.what, other.place)?;
            if let Some(who) = &other.who {
                write!(f, "\n    by {who}")?;
            }
        }
        if self.count > 1 {
            write!(f, "\n    seen {} times, first in launch {}", self.count, self.launch)?;
        }
        Ok(())
    }
}
