//! Kernels of version 2: their headers (`amd_kernel_code_t`), and the metadata note (NT_AMD_HSA_METADATA, YAML) with names,
//! sizes and kinds of arguments. Offsets are not in it; they follow from sizes and alignments.

use super::descriptor::{Descriptor, u32_at, u64_at};
use super::error::CodeObjectError;
use super::image::at;
use super::kernel::{ArgKind, Kernel, KernelArg};
use super::metadata::note;
use object::elf::STT_LOOS;
use object::{Endianness, Object, ObjectSymbol, SymbolFlags, read::elf::ElfFile64};
use serde::Deserialize;
use wb_isa::gcn3::Gcn;
use wb_program::Segment;

#[derive(Deserialize)]
struct Root {
    #[serde(rename = "Kernels", default)]
    kernels: Vec<KernelMeta>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct KernelMeta {
    name: String,
    #[serde(default)]
    args: Vec<ArgMeta>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ArgMeta {
    #[serde(default)]
    name: String,
    #[serde(default)]
    type_name: String,
    size: u32,
    align: u32,
    value_kind: String,
}

const NT_AMD_HSA_METADATA: u32 = 10;

/// Version 2: a symbol of type AMDGPU_HSA_KERNEL stands at an `amd_kernel_code_t`.
pub fn kernels(elf: &ElfFile64<Endianness>, segments: &[Segment]) -> Result<Vec<Kernel>, CodeObjectError> {
    let arguments = arguments(elf)?;
    let mut kernels: Vec<Kernel> = Vec::new();
    for symbol in elf.symbols().chain(elf.dynamic_symbols()) {
        let SymbolFlags::Elf { st_info, .. } = symbol.flags() else { continue };
        let Ok(name) = symbol.name() else { continue };
        if st_info.st_type().0 != STT_LOOS || kernels.iter().any(|k| k.name == name) {
            continue;
        }
        let wrong = |what: &str| CodeObjectError::Kernel { kernel: name.to_owned(), what: what.to_owned() };
        let header =
            at(segments, symbol.address(), 256).ok_or_else(|| wrong("its header is not in the file"))?;
        if u32_at(header, 0) != 1 {
            return Err(wrong("unknown amd_kernel_code_t version"));
        }
        let kernarg_size = u64_at(header, 72);
        kernels.push(Kernel {
            name: name.to_owned(),
            entry: symbol.address().wrapping_add(u64_at(header, 16)),
            descriptor: Descriptor {
                gcn: Gcn::Gfx8,
                rsrc1: u32_at(header, 48),
                rsrc2: u32_at(header, 52),
                rsrc3: 0,
                properties: u32_at(header, 56) & 0xffff,
            },
            kernarg_size: u32::try_from(kernarg_size).map_err(|_| wrong("impossible argument size"))?,
            args: arguments.iter().find(|a| a.0 == name).map_or_else(Vec::new, |a| a.1.clone()),
            lds_bytes: u32_at(header, 64),
            scratch_bytes: u32_at(header, 60),
            version: 2,
            attributes: Default::default(),
        });
    }
    Ok(kernels)
}

/// Arguments per kernel name; nothing where the object has no such note.
fn arguments(elf: &ElfFile64<Endianness>) -> Result<Vec<(String, Vec<KernelArg>)>, CodeObjectError> {
    let Some(text) = note(elf, b"AMD", NT_AMD_HSA_METADATA)? else { return Ok(Vec::new()) };
    let text = std::str::from_utf8(text).map_err(|e| CodeObjectError::Metadata(e.to_string()))?;
    parse(text.trim_end_matches('\0'))
}

fn parse(text: &str) -> Result<Vec<(String, Vec<KernelArg>)>, CodeObjectError> {
    let root: Root = serde_saphyr::from_str(text).map_err(|e| CodeObjectError::Metadata(e.to_string()))?;
    root.kernels.into_iter().map(|k| Ok((k.name.clone(), layout(k)?))).collect()
}

fn layout(kernel: KernelMeta) -> Result<Vec<KernelArg>, CodeObjectError> {
    let mut end = 0u32;
    let mut args = Vec::new();
    for arg in kernel.args {
        let offset = end.checked_next_multiple_of(arg.align.max(1));
        let placed = offset.and_then(|offset| Some((offset, offset.checked_add(arg.size)?)));
        let (offset, next) = placed.ok_or_else(|| CodeObjectError::Kernel {
            kernel: kernel.name.clone(),
            what: format!("argument {} is too large", arg.name),
        })?;
        end = next;
        let ArgMeta { name, type_name, size, value_kind, .. } = arg;
        args.push(KernelArg {
            name,
            type_name,
            offset,
            size,
            kind: kind(&value_kind),
            qualifiers: Default::default(),
        });
    }
    Ok(args)
}

fn kind(name: &str) -> ArgKind {
    match name {
        "ByValue" => ArgKind::Value,
        "GlobalBuffer" => ArgKind::Buffer,
        "DynamicSharedPointer" => ArgKind::DynamicLds,
        hidden if hidden.starts_with("Hidden") => ArgKind::Hidden(snake_case(hidden)),
        other => ArgKind::Other(snake_case(other)),
    }
}

/// `HiddenGlobalOffsetX` as later versions write it.
fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_follow_from_sizes() {
        let text = "---\nKernels:\n  - Name: k\n    Args:\n\
            \x20     - {Size: 1, Align: 1, ValueKind: ByValue, Name: a, TypeName: uchar}\n\
            \x20     - {Size: 8, Align: 8, ValueKind: GlobalBuffer}\n\
            \x20     - {Size: 4, Align: 4, ValueKind: DynamicSharedPointer}\n\
            \x20     - {Size: 8, Align: 8, ValueKind: HiddenGlobalOffsetX}\n...\n";
        let kernels = parse(text).expect("metadata");
        assert_eq!(kernels[0].0, "k");
        let places: Vec<(u32, ArgKind)> = kernels[0].1.iter().map(|a| (a.offset, a.kind.clone())).collect();
        let hidden = ArgKind::Hidden("hidden_global_offset_x".into());
        let kinds = [ArgKind::Value, ArgKind::Buffer, ArgKind::DynamicLds, hidden];
        assert_eq!(places, [0, 8, 16, 24].into_iter().zip(kinds).collect::<Vec<_>>());
        assert!(parse("Kernels: 3").is_err());
        let huge = "Kernels: [{Name: k, Args: [{Size: 4294967295, Align: 1, ValueKind: ByValue}, \
            {Size: 9, Align: 8, ValueKind: ByValue}]}]";
        assert!(parse(huge).is_err_and(|e| e.to_string().contains("too large")));
    }
}
