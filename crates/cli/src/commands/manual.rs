//! `wavebound man`, `wavebound completions`, `wavebound schema`: what shells, readers of manuals and readers of JSON are told about
//! the command. All three are made from the same definitions that the command itself runs on.

use super::json::Printed;
use super::{CommandResult, print, print_line};
use super::{
    campaign, check_bound, compare, facts, host, info, kernels, launches, place, run, split, sweep,
    synthetic, wcet, workloads, worst,
};
use clap::{Args, Command};
use clap_complete::Shell;
use miette::{IntoDiagnostic, miette};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct ManArgs {
    /// Write wavebound.1 and a page for every command into this folder, e.g. ~/.local/share/man/man1; without it the first page is
    /// printed
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell that completes
    shell: Shell,
}

#[derive(Args)]
pub struct SchemaArgs {
    /// The output to describe, e.g. run or wcet; without a name they are listed
    name: Option<String>,
    /// Write all schemas into this folder, NAME.json each
    #[arg(long, short, value_name = "FOLDER", conflicts_with = "name")]
    output: Option<PathBuf>,
}

pub fn man(args: ManArgs, command: Command) -> CommandResult {
    let command = command.name("wavebound");
    let Some(folder) = args.output else {
        print(&String::from_utf8_lossy(&page(command)?));
        return Ok(ExitCode::SUCCESS);
    };
    wavebound::files::make_folder(&folder)?;
    let mut pages = 0;
    let mut write = |name: &str, command: Command| -> miette::Result<()> {
        pages += 1;
        Ok(wavebound::files::write(&folder.join(format!("{name}.1")), page(command)?)?)
    };
    for sub in command.get_subcommands().filter(|s| !s.is_hide_set()) {
        let name = format!("wavebound-{}", sub.get_name());
        // The name that the page shows, and how the command is written.
        let sub = sub.clone().bin_name(format!("wavebound {}", sub.get_name()));
        write(&name, sub.name(name.clone()))?;
    }
    write("wavebound", command)?;
    print_line(&format!("{pages} pages in {}", folder.display()));
    Ok(ExitCode::SUCCESS)
}

fn page(command: Command) -> miette::Result<Vec<u8>> {
    let mut out = Vec::new();
    clap_mangen::Man::new(command).render(&mut out).into_diagnostic()?;
    Ok(out)
}

pub fn completions(args: CompletionsArgs, mut command: Command) -> CommandResult {
    let mut out = Vec::new();
    clap_complete::generate(args.shell, &mut command, "wavebound", &mut out);
    print(&String::from_utf8_lossy(&out));
    Ok(ExitCode::SUCCESS)
}

/// A kind of JSON that a command prints.
struct Output {
    name: &'static str,
    schema: fn() -> schemars::Schema,
}

const fn of<T: Printed>() -> Output {
    Output { name: T::NAME, schema: schema_of::<T> }
}

fn schema_of<T: Printed>() -> schemars::Schema {
    schemars::generate::SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<T>()
}

/// All of them, by name. A test looks for outputs that are not listed.
const OUTPUTS: [Output; 32] = [
    of::<Vec<wb_lab::bench::Measurement>>(),
    of::<campaign::CampaignJson<'_>>(),
    of::<wavebound::KernelBound>(),
    of::<campaign::ExactJson>(),
    of::<campaign::LoopsJson>(),
    of::<wb_lab::planted::Report>(),
    of::<campaign::ProvedJson>(),
    of::<wavebound::report::flow::KernelGraph>(),
    of::<check_bound::CheckBoundJson<'_>>(),
    of::<compare::show::CompareJson<'_>>(),
    of::<facts::FactsJson>(),
    of::<host::report::ProgramJson<'_>>(),
    of::<kernels::KernelsJson>(),
    of::<Vec<wavebound::Machine>>(),
    of::<Vec<info::PolicyJson>>(),
    of::<wavebound::Machine>(),
    of::<Vec<info::Row>>(),
    of::<wavebound::schedule::Prediction>(),
    of::<Vec<wb_lab::reproduce::FindingJson<'_>>>(),
    of::<run::RunJson>(),
    of::<launches::LaunchesJson>(),
    of::<split::SplitJson>(),
    of::<split::ListJson>(),
    of::<place::PlacedJson<'_>>(),
    of::<sweep::SweepJson<'_>>(),
    of::<sweep::dry_run::DryJson<'_>>(),
    of::<sweep::show::ShowJson<'_>>(),
    of::<synthetic::SyntheticJson>(),
    of::<wcet::WcetJson<'_>>(),
    of::<wcet::PointsJson>(),
    of::<Vec<workloads::WorkloadJson>>(),
    of::<worst::WorstJson>(),
];

pub fn schema(args: SchemaArgs) -> CommandResult {
    let text = |o: &Output| -> miette::Result<String> {
        let mut schema = (o.schema)();
        schema.insert("title".to_owned(), format!("wavebound {}", o.name).into());
        Ok(serde_json::to_string_pretty(&schema).into_diagnostic()? + "\n")
    };
    match (&args.name, &args.output) {
        (None, None) => OUTPUTS.iter().for_each(|o| print_line(o.name)),
        (Some(name), _) => match OUTPUTS.iter().find(|o| o.name == name) {
            Some(output) => print(&text(output)?),
            None => {
                let names: Vec<&str> = OUTPUTS.iter().map(|o| o.name).collect();
                return Err(miette!(help = names.join(", "), "there is no JSON output `{name}`"));
            }
        },
        (None, Some(folder)) => {
            wavebound::files::make_folder(folder)?;
            for o in &OUTPUTS {
                wavebound::files::write(&folder.join(format!("{}.json", o.name)), text(o)?)?;
            }
            print_line(&format!("{} schemas in {}", OUTPUTS.len(), folder.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_in_order_and_have_one_name_each() {
        assert!(OUTPUTS.windows(2).all(|w| w[0].name < w[1].name));
        for o in &OUTPUTS {
            let schema = (o.schema)();
            let kind = schema.get("type").and_then(|t| t.as_str());
            assert!(matches!(kind, Some("object" | "array")), "{}: {kind:?}", o.name);
        }
    }
}
