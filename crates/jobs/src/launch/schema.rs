//! The fields of a launch file, as written. Unknown fields are errors; places are kept for messages.

use super::LaunchError;
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use toml::Spanned;
use wb_isa::SourceFile;

#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchFile {
    /// .co, .s, .cl or .hip, from the folder of the launch file.
    pub object: Spanned<String>,
    /// Preset, or a machine file from the folder of the launch file.
    pub machine: Option<Spanned<String>>,
    /// Machine fields to change, as for --set.
    #[serde(default)]
    pub set: Vec<String>,
    #[serde(default)]
    pub compile: CompileTable,
    /// Where everything was when the launch was captured.
    pub memory: Option<Spanned<MemoryTable>>,
    #[serde(default)]
    pub buffers: BTreeMap<String, Spanned<BufferTable>>,
    #[serde(default)]
    pub launch: Vec<Spanned<LaunchTable>>,
    #[serde(default)]
    pub expect: Vec<Spanned<ExpectTable>>,
    #[serde(default)]
    pub output: Vec<Spanned<OutputTable>>,
}

/// `[compile]`: how to compile a source; as the options of `wavebound compile`.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompileTable {
    pub level: Option<Spanned<u8>>,
    #[serde(default)]
    pub default_flow: bool,
    pub code_object: Option<Spanned<u8>>,
    #[serde(default)]
    pub defines: Vec<String>,
    #[serde(default)]
    pub includes: Vec<PathBuf>,
    #[serde(default)]
    pub extra: Vec<String>,
}

/// `[memory]`: device memory as it was when the launch was captured (`wavebound hip --capture`). Addresses are in quotes, since they
/// may be larger than TOML's numbers.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryTable {
    /// Its first address.
    pub origin: Spanned<String>,
    /// The block in which the program lies, and what was in it.
    pub program: Spanned<String>,
    pub program_data: Option<Spanned<String>>,
    /// The buffer through which kernels call the host.
    pub hostcall: Option<Spanned<String>>,
    /// The buffer that kernels print into.
    pub printf: Option<Spanned<String>>,
}

/// `[buffers.NAME]`.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferTable {
    /// Type of an element; may be left out with an .npy file.
    #[serde(rename = "type")]
    pub element: Option<Spanned<String>>,
    /// Elements, in total or by dimension; may be left out with a file or values.
    pub length: Option<Spanned<Size>>,
    /// A fill (`iota`, `random=7`, …) or a file (.npy, or raw bytes).
    pub from: Option<Spanned<String>>,
    pub values: Option<Spanned<Vec<toml::Value>>>,
    /// Where it lies; only with `[memory]`.
    pub address: Option<Spanned<String>>,
}

/// `[[launch]]`: a kernel, or a loop over `body`.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchTable {
    pub kernel: Option<Spanned<String>>,
    pub grid: Option<Spanned<Size>>,
    pub group: Option<Spanned<Size>>,
    #[serde(default)]
    pub args: Vec<Spanned<String>>,
    #[serde(default)]
    pub dynamic_lds: u32,
    /// What is added to every work-item's global number (OpenCL).
    #[serde(default)]
    pub offset: [u64; 3],
    /// Dimensions of the range (OpenCL); 0: those in which the grid has more than one work-item.
    #[serde(default)]
    pub dimensions: u32,
    /// How often.
    pub repeat: Option<Spanned<u64>>,
    /// Again while this number in a buffer, cleared before each round, is not zero: `NAME` or `NAME[INDEX]`.
    #[serde(rename = "while")]
    pub flag: Option<Spanned<String>>,
    /// Most rounds of `while`; more are an error.
    pub max: Option<Spanned<u64>>,
    #[serde(default)]
    pub body: Vec<Spanned<LaunchTable>>,
}

/// `[[expect]]`.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectTable {
    pub buffer: Spanned<String>,
    pub from: Option<Spanned<String>>,
    pub values: Option<Spanned<Vec<toml::Value>>>,
    /// First element that is compared.
    #[serde(default)]
    pub at: u64,
    /// Allowed difference: absolute, relative to the expected value, in units in the last place. One that
    /// holds is enough.
    pub abs: Option<f64>,
    pub rel: Option<f64>,
    pub ulp: Option<u64>,
}

/// `[[output]]`.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputTable {
    pub buffer: Spanned<String>,
    pub file: PathBuf,
}

impl LaunchFile {
    pub fn parse(file: &SourceFile) -> Result<LaunchFile, LaunchError> {
        toml::from_str(&file.text).map_err(|e| {
            let message = e.message().to_owned();
            let hint = hint(&message);
            let error = LaunchError::new(file, e.span(), message);
            match hint {
                Some(hint) => error.hint(hint),
                None => error,
            }
        })
    }
}

/// A suggestion for `unknown field …, expected one of …`.
fn hint(message: &str) -> Option<String> {
    let rest = message.strip_prefix("unknown field `")?;
    let (word, known) = rest.split_once('`')?;
    let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    let near = wb_isa::diag::nearest(word, known);
    near.map(|near| format!("did you mean `{near}`?"))
}

/// A size: a number, or one to three of them in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size(pub Vec<u32>);

impl Size {
    /// Three dimensions, ones where none is given.
    pub fn three(&self) -> [u32; 3] {
        let at = |i: usize| self.0.get(i).copied().unwrap_or(1);
        [at(0), at(1), at(2)]
    }

    pub fn elements(&self) -> u64 {
        self.0.iter().fold(1u64, |n, &d| n.saturating_mul(d.into()))
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SizeVisitor)
    }
}

struct SizeVisitor;

impl<'de> Visitor<'de> for SizeVisitor {
    type Value = Size;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number like 1024, or a list of up to three like [64, 64]")
    }

    fn visit_i64<E: de::Error>(self, v: i64) -> Result<Size, E> {
        let n = u32::try_from(v)
            .map_err(|_| E::custom(format!("a size of {v}: it must be 0 to {}", u32::MAX)))?;
        Ok(Size(vec![n]))
    }

    fn visit_u64<E: de::Error>(self, v: u64) -> Result<Size, E> {
        self.visit_i64(i64::try_from(v).unwrap_or(i64::MAX))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Size, A::Error> {
        let mut list = Vec::new();
        while let Some(n) = seq.next_element::<u32>()? {
            list.push(n);
        }
        if list.is_empty() || list.len() > 3 {
            return Err(de::Error::invalid_length(list.len(), &self));
        }
        Ok(Size(list))
    }
}
