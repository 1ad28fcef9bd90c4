//! `wavebound workloads`, and the options by which other commands run one (docs/workloads.md).

use super::{CommandResult, Printed, print, print_json, print_line};
use clap::{Args, Subcommand, ValueEnum};
use miette::IntoDiagnostic;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use wavebound::jobs::launch::WorkloadSpec;
use wavebound::objects::codeobject::CodeObject;
use wavebound::workloads::{Input, Player, Size, Workload};

/// A workload of the benchmark suite instead of a file.
#[derive(Args, Clone)]
pub struct WorkloadArgs {
    /// Use a workload of the benchmark suite instead of a file; `wavebound workloads` lists them
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// Size of the workload's input: tiny, small, medium, large
    #[arg(long, default_value = "small", requires = "workload")]
    pub size: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum MarksArg {
    /// The workload's own marks
    Default,
    /// No marks
    None,
    /// Where splitting lowers the bound most, measured at tiny size
    Optimal,
}

impl WorkloadArgs {
    pub fn spec(&self) -> miette::Result<Option<WorkloadSpec>> {
        let Some(name) = &self.workload else { return Ok(None) };
        Ok(Some(WorkloadSpec::new(name, &self.size)?))
    }
}

#[derive(Args)]
pub struct WorkloadsArgs {
    #[command(subcommand)]
    what: Option<What>,
    /// Print JSON (docs/json.md)
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum What {
    /// Print the page of a workload: what it computes, kernels, divergence, sizes
    Show {
        /// Name of the workload
        name: String,
    },
    /// Write kernel.cl, kernel.co and the facts files that its kernels need into a folder
    Export {
        /// Name of the workload
        name: String,
        /// Folder to write into
        folder: PathBuf,
        /// Size of the input that the loop limits are for: tiny, small, medium, large
        #[arg(long, default_value = "small")]
        size: String,
    },
}

#[derive(Serialize, schemars::JsonSchema)]
pub struct WorkloadJson {
    name: &'static str,
    about: &'static str,
    kernels: Vec<String>,
    sizes: Vec<SizeJson>,
    marks: Vec<String>,
}

impl Printed for Vec<WorkloadJson> {
    const NAME: &'static str = "workloads";
}

#[derive(Serialize, schemars::JsonSchema)]
struct SizeJson {
    name: &'static str,
    input: &'static str,
}

fn kernels(w: &Workload) -> miette::Result<Vec<String>> {
    let object = CodeObject::parse(w.code).into_diagnostic()?;
    Ok(object.kernels.iter().map(|k| k.name.clone()).collect())
}

pub fn main(args: WorkloadsArgs) -> CommandResult {
    match args.what {
        None if args.json => {
            let one = |w: &Workload| {
                let sizes = Size::ALL.map(|s| SizeJson { name: s.name(), input: w.sizes[s as usize] });
                let (kernels, marks) = (kernels(w)?, w.default_marks());
                Ok(WorkloadJson { name: w.name, about: w.about, kernels, sizes: sizes.into(), marks })
            };
            print_json(&wavebound::workloads::all().iter().map(one).collect::<miette::Result<Vec<_>>>()?)?;
        }
        None => {
            print_line("workload        kernels  marks  large input                     computes");
            for w in wavebound::workloads::all() {
                let (kernels, marks) = (kernels(w)?.len(), w.default_marks().len());
                print_line(&format!(
                    "{:<15} {kernels:>7} {marks:>6}  {:<30}  {}",
                    w.name,
                    w.sizes[Size::Large as usize],
                    w.about
                ));
            }
        }
        Some(What::Show { name }) => print(wavebound::workloads::find(&name)?.page),
        Some(What::Export { name, folder, size }) => export(&name, &folder, &size)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn export(name: &str, folder: &std::path::Path, size: &str) -> miette::Result<()> {
    let (workload, size) = (wavebound::workloads::find(name)?, Size::parse(size)?);
    let object = CodeObject::parse(workload.code).into_diagnostic()?;
    let run = Player::new((workload.build)(size, Input::default())).run;
    let mut files = vec![
        ("kernel.cl".to_owned(), workload.source.as_bytes().to_vec()),
        ("kernel.co".to_owned(), workload.code.to_vec()),
    ];
    files.extend(workload.facts(&object, &run)?.into_iter().map(|(name, text)| (name, text.into_bytes())));
    std::fs::create_dir_all(folder).into_diagnostic()?;
    for (name, bytes) in files {
        let path = folder.join(name);
        wavebound::files::write(&path, bytes)?;
        print_line(&path.display().to_string());
    }
    Ok(())
}
