//! Arguments of kernels written in assembly: the `.arg` lines.

/// What an argument of a kernel written in assembly is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgType {
    /// Address of a buffer.
    Buffer,
    /// Offset of local memory whose size the launch gives.
    Local,
    /// A number by value: its type.
    Value(&'static str),
}

/// One `.arg` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgHeader {
    pub name: String,
    pub ty: ArgType,
    /// Byte offset in the argument segment.
    pub offset: u32,
}

pub(super) const VALUES: [(&str, u32); 11] = [
    ("u8", 1),
    ("i8", 1),
    ("u16", 2),
    ("i16", 2),
    ("f16", 2),
    ("u32", 4),
    ("i32", 4),
    ("f32", 4),
    ("u64", 8),
    ("i64", 8),
    ("f64", 8),
];

impl ArgType {
    pub(super) fn parse(text: &str) -> Option<ArgType> {
        match text {
            "buf" => Some(ArgType::Buffer),
            "local" => Some(ArgType::Local),
            _ => VALUES.iter().find(|v| v.0 == text).map(|v| ArgType::Value(v.0)),
        }
    }

    pub fn bytes(self) -> u32 {
        match self {
            ArgType::Buffer => 8,
            ArgType::Local => 4,
            ArgType::Value(name) => VALUES.iter().find(|v| v.0 == name).map_or(4, |v| v.1),
        }
    }
}
