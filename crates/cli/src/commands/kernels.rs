//! `wavebound kernels`: what a GCN3 program contains and what a core can hold of it.

use super::{CommandResult, Printed, print_json, print_line};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use wavebound::hw::{Machine, Needs};
use wavebound::jobs::object::{self, CompileOptions, ObjectFile};
use wavebound::objects::codeobject::{ArgKind, CodeObject, Kernel, KernelArg, names};

#[derive(Args)]
pub struct KernelsArgs {
    /// Code object, assembly or source: .co .hsaco .s .cl .hip
    file: PathBuf,
    /// Machine for which occupancy is computed
    #[arg(long, short, default_value = "gcn3")]
    machine: String,
    /// Work-items of a group, for which occupancy is computed
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1024))]
    group: u32,
    /// Print JSON (docs/json.md)
    #[arg(long)]
    json: bool,
}

#[derive(Serialize, schemars::JsonSchema)]
struct ArgJson {
    name: String,
    kind: String,
    #[serde(rename = "type")]
    type_name: String,
    offset: u32,
    size: u32,
}

#[derive(Serialize, schemars::JsonSchema)]
struct OccupancyJson {
    machine: String,
    group: u32,
    waves_per_simd: u32,
    groups_per_core: u32,
    limit: &'static str,
}

#[derive(Serialize, schemars::JsonSchema)]
struct KernelJson {
    /// Which code object of the file has it, from 1.
    part: usize,
    name: String,
    /// As C++ has it, where `name` is mangled.
    #[serde(skip_serializing_if = "Option::is_none")]
    readable: Option<String>,
    entry: u64,
    code_bytes: u64,
    vgprs: u32,
    sgprs: u32,
    lds_bytes: u32,
    scratch_bytes: u32,
    kernarg_bytes: u32,
    args: Vec<ArgJson>,
    occupancy: OccupancyJson,
}

#[derive(Serialize, schemars::JsonSchema)]
pub struct KernelsJson {
    version: u32,
    file: String,
    /// How many code objects the file has: executables may have several. Version and target are the first one's.
    code_objects: usize,
    code_object: u8,
    target: &'static str,
    kernels: Vec<KernelJson>,
}

impl Printed for KernelsJson {
    const NAME: &'static str = "kernels";
}

pub fn main(args: KernelsArgs) -> CommandResult {
    let name = args.file.display().to_string();
    let machine = wavebound::hw::load(&args.machine)?;
    let parts = object::read_all(&args.file, &CompileOptions::default())?;
    let parts: Vec<CodeObject> = parts
        .iter()
        .map(|bytes| ObjectFile::from_bytes(&name, bytes).map(|file| file.object))
        .collect::<Result<_, _>>()?;
    let Some(first) = parts.first() else { return Ok(ExitCode::SUCCESS) };
    let kernels =
        parts.iter().enumerate().flat_map(|(i, object)| object.kernels.iter().map(move |k| (i, object, k)));
    let all = KernelsJson {
        version: 1,
        file: name,
        code_objects: parts.len(),
        code_object: first.version,
        target: first.target(),
        kernels: kernels.map(|(i, object, k)| describe(i, object, k, &machine, args.group)).collect(),
    };
    if args.json {
        print_json(&all)?;
        return Ok(ExitCode::SUCCESS);
    }
    let several = match all.code_objects {
        1 => String::new(),
        n => format!("{n} code objects, "),
    };
    print_line(&format!("{}: {several}code object version {}, {}", all.file, all.code_object, all.target));
    all.kernels.iter().for_each(show);
    Ok(ExitCode::SUCCESS)
}

fn describe(part: usize, object: &CodeObject, kernel: &Kernel, machine: &Machine, group: u32) -> KernelJson {
    let d = kernel.descriptor;
    let fit = machine.occupancy(Needs {
        waves_per_group: group.div_ceil(machine.core.lanes),
        vgprs: d.vgprs(),
        sgprs: d.sgprs(),
        lds_bytes: kernel.lds_bytes,
    });
    // A partition holds no more waves than the groups of its core bring.
    let waves = fit.groups_per_core * group.div_ceil(machine.core.lanes);
    let waves_per_simd = fit.waves_per_partition.min(waves.div_ceil(machine.core.partitions));
    KernelJson {
        part: part + 1,
        name: kernel.name.clone(),
        readable: names::readable(&kernel.name),
        entry: kernel.entry,
        code_bytes: object.code_bytes(kernel),
        vgprs: d.vgprs(),
        sgprs: d.sgprs(),
        lds_bytes: kernel.lds_bytes,
        scratch_bytes: kernel.scratch_bytes,
        kernarg_bytes: kernel.kernarg_size,
        args: kernel.args.iter().map(arg).collect(),
        occupancy: OccupancyJson {
            machine: machine.name.clone(),
            group,
            waves_per_simd,
            groups_per_core: fit.groups_per_core,
            limit: fit.limit.name(),
        },
    }
}

fn arg(a: &KernelArg) -> ArgJson {
    let kind = match &a.kind {
        ArgKind::Value => "value",
        ArgKind::Buffer => "buffer",
        ArgKind::DynamicLds => "local",
        ArgKind::Hidden(name) | ArgKind::Other(name) => name,
    };
    ArgJson {
        name: a.name.clone(),
        kind: kind.to_owned(),
        type_name: a.type_name.clone(),
        offset: a.offset,
        size: a.size,
    }
}

fn show(k: &KernelJson) {
    let readable = k.readable.as_ref().map_or(String::new(), |r| format!("  {r}"));
    print_line(&format!("\n{}{readable}", k.name));
    print_line(&format!("  code       {} bytes at {:#x}", k.code_bytes, k.entry));
    print_line(&format!("  registers  {} vector, {} scalar", k.vgprs, k.sgprs));
    print_line(&format!(
        "  memory     {} bytes local, {} bytes private per lane",
        k.lds_bytes, k.scratch_bytes
    ));
    let o = &k.occupancy;
    if o.groups_per_core == 0 {
        print_line(&format!(
            "  occupancy  a group of {} does not fit on {}: {}",
            o.group, o.machine, o.limit
        ));
    } else {
        print_line(&format!(
            "  occupancy  {} waves per SIMD, {} groups of {} per core on {}, limited by {}",
            o.waves_per_simd, o.groups_per_core, o.group, o.machine, o.limit
        ));
    }
    print_line(&format!("  arguments  {} bytes", k.kernarg_bytes));
    let hidden = k.args.iter().filter(|a| a.kind.starts_with("hidden_")).count();
    for a in k.args.iter().filter(|a| !a.kind.starts_with("hidden_")) {
        let name = if a.name.is_empty() { "-" } else { &a.name };
        print_line(&format!("    {:>4} {:>3}  {:<8} {:<12} {name}", a.offset, a.size, a.kind, a.type_name));
    }
    if hidden > 0 {
        print_line(&format!("    and {hidden} hidden ones the launch fills in"));
    }
}
