//! The metadata note (NT_AMDGPU_METADATA, msgpack): kernels, their descriptors' symbols, their arguments.

use super::descriptor;
use super::error::CodeObjectError;
use super::kernel::{ArgKind, Attributes, Kernel, KernelArg, Qualifiers};
use object::read::elf::{ElfFile64, FileHeader, SectionHeader};
use object::{Endianness, elf};
use serde::{Deserialize, Serialize};
use wb_isa::gcn3::{ArgHeader, ArgType, Gcn, KernelHeader};
use wb_program::Segment;

#[derive(Deserialize, Serialize, schemars::JsonSchema)]
pub(super) struct Root {
    #[serde(rename = "amdhsa.kernels", default)]
    pub kernels: Vec<KernelMeta>,
    #[serde(rename = "amdhsa.target", default)]
    pub target: String,
    #[serde(rename = "amdhsa.version", default)]
    pub version: Vec<u32>,
    #[serde(rename = "amdhsa.printf", default, skip_serializing_if = "Vec::is_empty")]
    pub printf: Vec<String>,
}

#[derive(Deserialize, Serialize, schemars::JsonSchema)]
pub(super) struct KernelMeta {
    #[serde(rename = ".name")]
    name: String,
    #[serde(rename = ".symbol")]
    symbol: String,
    #[serde(rename = ".kernarg_segment_size", default)]
    kernarg: u32,
    #[serde(rename = ".group_segment_fixed_size", default)]
    lds: u32,
    #[serde(rename = ".private_segment_fixed_size", default)]
    scratch: u32,
    #[serde(rename = ".args", default)]
    args: Vec<ArgMeta>,
    #[serde(rename = ".kernarg_segment_align", default)]
    kernarg_align: u32,
    #[serde(rename = ".wavefront_size", default)]
    wave: u32,
    #[serde(rename = ".max_flat_workgroup_size", default)]
    max_group: u32,
    #[serde(rename = ".vgpr_count", default)]
    vgprs: u32,
    #[serde(rename = ".sgpr_count", default)]
    sgprs: u32,
    #[serde(rename = ".reqd_workgroup_size", default, skip_serializing_if = "Option::is_none")]
    required_group: Option<[u32; 3]>,
    #[serde(rename = ".workgroup_size_hint", default, skip_serializing_if = "Option::is_none")]
    group_hint: Option<[u32; 3]>,
    #[serde(rename = ".vec_type_hint", default, skip_serializing_if = "String::is_empty")]
    vector_hint: String,
    #[serde(rename = ".language_version", default, skip_serializing_if = "Vec::is_empty")]
    language: Vec<u32>,
}

impl From<&KernelHeader> for KernelMeta {
    fn from(k: &KernelHeader) -> KernelMeta {
        KernelMeta {
            name: k.name.clone(),
            symbol: format!("{}.kd", k.name),
            kernarg: k.kernarg_size,
            lds: k.group_segment_fixed_size,
            scratch: k.private_segment_fixed_size,
            args: k.args.iter().map(ArgMeta::from).collect(),
            kernarg_align: 8,
            wave: 64,
            max_group: 1024,
            vgprs: k.next_free_vgpr,
            sgprs: k.sgprs(),
            required_group: None,
            group_hint: None,
            vector_hint: String::new(),
            language: Vec::new(),
        }
    }
}

#[derive(Deserialize, Serialize, schemars::JsonSchema)]
struct ArgMeta {
    #[serde(rename = ".name", default)]
    name: String,
    #[serde(rename = ".type_name", default)]
    type_name: String,
    #[serde(rename = ".offset")]
    offset: u32,
    #[serde(rename = ".size")]
    size: u32,
    #[serde(rename = ".value_kind")]
    kind: String,
    #[serde(rename = ".address_space", default, skip_serializing_if = "String::is_empty")]
    address_space: String,
    #[serde(rename = ".access", default, skip_serializing_if = "String::is_empty")]
    access: String,
    #[serde(rename = ".is_const", default, skip_serializing_if = "std::ops::Not::not")]
    is_const: bool,
    #[serde(rename = ".is_restrict", default, skip_serializing_if = "std::ops::Not::not")]
    is_restrict: bool,
    #[serde(rename = ".is_volatile", default, skip_serializing_if = "std::ops::Not::not")]
    is_volatile: bool,
}

impl From<&ArgHeader> for ArgMeta {
    fn from(a: &ArgHeader) -> ArgMeta {
        let (kind, type_name) = match a.ty {
            ArgType::Buffer => ("global_buffer", "buf"),
            ArgType::Local => ("dynamic_shared_pointer", "local"),
            ArgType::Value(name) => ("by_value", name),
        };
        let (name, size) = (a.name.clone(), a.ty.bytes());
        ArgMeta {
            name,
            type_name: type_name.into(),
            offset: a.offset,
            size,
            kind: kind.into(),
            address_space: String::new(),
            access: String::new(),
            is_const: false,
            is_restrict: false,
            is_volatile: false,
        }
    }
}

impl From<ArgMeta> for KernelArg {
    fn from(a: ArgMeta) -> KernelArg {
        let kind = match a.kind.as_str() {
            "by_value" => ArgKind::Value,
            "global_buffer" => ArgKind::Buffer,
            "dynamic_shared_pointer" => ArgKind::DynamicLds,
            hidden if hidden.starts_with("hidden_") => ArgKind::Hidden(hidden.to_owned()),
            other => ArgKind::Other(other.to_owned()),
        };
        let qualifiers = Qualifiers {
            address_space: a.address_space,
            access: a.access,
            is_const: a.is_const,
            is_restrict: a.is_restrict,
            is_volatile: a.is_volatile,
        };
        KernelArg { name: a.name, type_name: a.type_name, offset: a.offset, size: a.size, kind, qualifiers }
    }
}

pub(super) const NT_AMDGPU_METADATA: u32 = 32;

/// The kernels, and the formats they print with.
pub fn kernels(
    elf: &ElfFile64<Endianness>,
    segments: &[Segment],
    symbols: &[(String, u64)],
    version: u8,
    gcn: Gcn,
) -> Result<(Vec<Kernel>, Vec<String>), CodeObjectError> {
    let note = note(elf, b"AMDGPU", NT_AMDGPU_METADATA)?
        .ok_or_else(|| CodeObjectError::Metadata("there is none".into()))?;
    let root: Root = rmp_serde::from_slice(note).map_err(|e| CodeObjectError::Metadata(e.to_string()))?;
    let kernels = root.kernels.into_iter().map(|meta| kernel(meta, segments, symbols, version, gcn));
    Ok((kernels.collect::<Result<_, _>>()?, root.printf))
}

fn kernel(
    meta: KernelMeta,
    segments: &[Segment],
    symbols: &[(String, u64)],
    version: u8,
    gcn: Gcn,
) -> Result<Kernel, CodeObjectError> {
    let wrong = |what: String| CodeObjectError::Kernel { kernel: meta.name.clone(), what };
    let addr = symbols.iter().find(|s| s.0 == meta.symbol).map(|s| s.1);
    let addr = addr.ok_or_else(|| wrong(format!("symbol {} is missing", meta.symbol)))?;
    let (descriptor, entry, lds, scratch, kernarg) = descriptor::read(segments, addr, gcn)
        .ok_or_else(|| wrong("its descriptor is not in the file".into()))?;
    Ok(Kernel {
        entry,
        descriptor,
        kernarg_size: meta.kernarg.max(kernarg),
        lds_bytes: lds.max(meta.lds),
        scratch_bytes: scratch.max(meta.scratch),
        version,
        name: meta.name,
        args: meta.args.into_iter().map(KernelArg::from).collect(),
        attributes: Attributes {
            required_group: meta.required_group,
            group_hint: meta.group_hint,
            vector_hint: meta.vector_hint,
            largest_group: meta.max_group,
            language: meta.language,
        },
    })
}

/// What the first note of that name and type holds.
pub(super) fn note<'d>(
    elf: &ElfFile64<'d, Endianness>,
    name: &[u8],
    kind: u32,
) -> Result<Option<&'d [u8]>, CodeObjectError> {
    let bad = |e: object::Error| CodeObjectError::Metadata(e.to_string());
    let (endian, data) = (elf.endian(), elf.data());
    let sections = elf.elf_header().sections(endian, data).map_err(bad)?;
    for section in sections.iter() {
        if section.sh_type(endian) != elf::SHT_NOTE {
            continue;
        }
        let Some(mut notes) = section.notes(endian, data).map_err(bad)? else { continue };
        while let Some(note) = notes.next().map_err(bad)? {
            if note.name() == name && note.n_type(endian).0 == kind {
                return Ok(Some(note.desc()));
            }
        }
    }
    Ok(None)
}
