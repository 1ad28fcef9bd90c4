//! `wavebound machines` and `wavebound mechanisms`.

use super::{CommandResult, Printed, print, print_json, print_line};
use clap::{Args, Subcommand};
use serde::Serialize;
use std::process::ExitCode;
use wavebound::hw::{Field, InstructionSet, Kind, Machine, Mechanism, Policy};

#[derive(Args)]
pub struct MachinesArgs {
    #[command(subcommand)]
    what: Option<What>,
    /// Print JSON (docs/json.md)
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum What {
    /// Print a machine as TOML; save and edit it to make your own
    Show {
        /// Preset, or .toml file
        name: String,
        /// Change any field, e.g. --set core.waves=4
        #[arg(long = "set", value_name = "FIELD=VALUE")]
        sets: Vec<String>,
    },
    /// List the scheduling policies
    Policies,
    /// List every field of a machine file with its type and allowed values
    Fields,
}

pub fn machines(args: MachinesArgs) -> CommandResult {
    match args.what {
        None => list(args.json)?,
        Some(What::Show { name, sets }) => {
            let sets = sets.iter().map(|s| wavebound::hw::parse_set(s)).collect::<Result<Vec<_>, _>>()?;
            let machine = wavebound::hw::load(&name)?.with_overrides(&sets)?;
            if args.json {
                print_json(&machine)?;
            } else {
                print(&machine.to_toml());
            }
        }
        Some(What::Policies) => policies(args.json)?,
        Some(What::Fields) => fields("", wavebound::hw::SCHEMA),
    }
    Ok(ExitCode::SUCCESS)
}

fn list(json: bool) -> miette::Result<()> {
    let machines = wavebound::hw::presets()
        .iter()
        .map(|p| wavebound::hw::preset(p.name))
        .collect::<Result<Vec<_>, _>>()?;
    if json {
        return print_json(&machines);
    }
    print_line("machine         isa    cores × waves × lanes  mechanism   description");
    for m in &machines {
        let shape = format!("{} × {} × {}", m.cores, m.core.waves, m.core.lanes);
        let mechanism = &m.divergence.mechanism;
        print_line(&format!("{:<15} {:<6} {shape:<22} {mechanism:<11} {}", m.name, m.isa, m.description));
    }
    Ok(())
}

/// Dotted field names as `--set` takes them.
fn fields(prefix: &str, list: &[Field]) {
    for f in list {
        let name = format!("{prefix}{}", f.name);
        let kind = match f.kind {
            Kind::U32 | Kind::U64 => "number".to_owned(),
            Kind::Text => "text".to_owned(),
            Kind::Texts => "list of names".to_owned(),
            Kind::Map => "class = number".to_owned(),
            Kind::Word(words) => words.join(" | "),
            Kind::Table(inner) => {
                fields(&format!("{name}."), inner);
                continue;
            }
            Kind::Named(inner) => {
                fields(&format!("{name}.NAME."), inner);
                continue;
            }
        };
        let need = if f.required { "required" } else { "" };
        print_line(&format!("{name:<34} {need:<9} {kind}"));
    }
}

/// An issue or fetch policy.
#[derive(Serialize, schemars::JsonSchema)]
pub struct PolicyJson {
    name: &'static str,
    also: &'static [&'static str],
    summary: &'static str,
}

impl Printed for Machine {
    const NAME: &'static str = "machines-show";
}

impl Printed for Vec<Machine> {
    const NAME: &'static str = "machines";
}

impl Printed for Vec<PolicyJson> {
    const NAME: &'static str = "machines-policies";
}

impl Printed for Vec<Row> {
    const NAME: &'static str = "mechanisms";
}

fn policies(json: bool) -> miette::Result<()> {
    if json {
        let one = |p: &Policy| {
            let p = p.info();
            PolicyJson { name: p.name, also: p.also, summary: p.rule }
        };
        return print_json(&Policy::ALL.iter().map(one).collect::<Vec<_>>());
    }
    for p in Policy::ALL.map(Policy::info) {
        print_line(&format!("{:<24} {:<10} {}", p.name, p.also.join(", "), p.rule));
    }
    Ok(())
}

#[derive(Args)]
pub struct MechanismsArgs {
    /// Print JSON (docs/json.md)
    #[arg(long)]
    json: bool,
}

#[derive(Serialize, schemars::JsonSchema)]
pub struct Row {
    name: &'static str,
    isas: &'static [InstructionSet],
    summary: &'static str,
    source: &'static str,
    separate_entities: bool,
    parallel_splits: bool,
    across_waves: bool,
    reconvergence_at_some_post_dominators: bool,
    reconvergence_at_any_post_dominator: bool,
    two_level_scheduling: bool,
}

pub fn mechanisms(args: MechanismsArgs) -> CommandResult {
    let rows: Vec<Row> = Mechanism::ALL
        .into_iter()
        .map(Mechanism::info)
        .map(|m| Row {
            name: m.name,
            isas: m.isas,
            summary: m.summary,
            source: m.source,
            separate_entities: m.separate_entities,
            parallel_splits: m.parallel,
            across_waves: m.across_waves,
            reconvergence_at_some_post_dominators: m.reconvergence.at_some(),
            reconvergence_at_any_post_dominator: m.reconvergence.at_any(),
            two_level_scheduling: m.two_level_scheduling,
        })
        .collect();
    if args.json {
        print_json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    for r in &rows {
        print_line(&format!(
            "{:<12} {:<8} {} [{}]",
            r.name,
            r.isas.iter().map(|i| i.name()).collect::<Vec<_>>().join(","),
            r.summary,
            r.source
        ));
    }
    type Property = fn(&Row) -> bool;
    let table: [(&str, Property); 6] = [
        ("paths as separate schedulable entities", |r| r.separate_entities),
        ("parallel execution of paths", |r| r.parallel_splits),
        ("parallel execution across waves", |r| r.across_waves),
        ("reconvergence at some post-dominators", |r| r.reconvergence_at_some_post_dominators),
        ("reconvergence at any post-dominator", |r| r.reconvergence_at_any_post_dominator),
        ("two-level scheduling", |r| r.two_level_scheduling),
    ];
    print_line("");
    let head: String = rows.iter().map(|r| format!("{:>12}", r.name)).collect();
    print_line(&format!("{:<40}{head}", "property (THESIS Table 3.1)"));
    for (name, property) in table {
        let cells: String =
            rows.iter().map(|r| format!("{:>12}", if property(r) { "yes" } else { "-" })).collect();
        print_line(&format!("{name:<40}{cells}"));
    }
    Ok(ExitCode::SUCCESS)
}
