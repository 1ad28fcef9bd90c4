//! `wavebound man`, `wavebound completions`, `wavebound schema`: what shells, readers of manuals and readers of JSON are told about
//! the command. All three are made from the same definitions that the command itself runs on.

use super::{CommandResult, print, print_line};
use clap::{Args, Command};
use clap_complete::Shell;
use miette::IntoDiagnostic;
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
