//! Where the library is that programs load. It lies beside the command. In a checkout it is a package of its own, which is
//! built when it is first needed, and again when the command is newer: linking it takes as long as linking the command.

use super::api::Api;
use miette::{IntoDiagnostic, miette};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const COMMAND: &str = "wavebound-cli";

/// The library: as told, or beside the executable; in a checkout it is built.
pub fn find(api: &Api, told: Option<&Path>) -> miette::Result<PathBuf> {
    let exe = std::env::current_exe().into_diagnostic()?;
    let beside = exe.parent().map(Path::to_path_buf).unwrap_or_default();
    let root = checkout(api, &exe);
    // A command that was installed (`cargo install`) lies beside no other things that cargo built.
    let built = match &root {
        Some(root) if !is_built_there(&beside) => root.join("target/release"),
        _ => beside.clone(),
    };
    let places = match told {
        Some(path) => vec![path.to_path_buf()],
        None => [beside.clone(), beside.join("../lib"), built.clone()].map(|p| p.join(api.library)).to_vec(),
    };
    let there = || places.iter().find_map(|p| p.canonicalize().ok().filter(|p| p.is_file()));
    if told.is_none()
        && there().is_none_or(|library| older(&library, &exe))
        && let Some(root) = &root
    {
        build(api, root, &built)?;
    }
    there().ok_or_else(|| {
        miette!(
            help = format!(
                "`cargo build --release -p {}` puts {} beside wavebound; --library says where else it is",
                api.package, api.library
            ),
            "there is no {}",
            places[0].display()
        )
    })
}

/// Whether cargo builds into this folder: it marks the one around it.
fn is_built_there(folder: &Path) -> bool {
    folder.parent().is_some_and(|target| target.join("CACHEDIR.TAG").is_file())
}

/// Whether a file was written before another one; what cannot be told is not.
fn older(file: &Path, than: &Path) -> bool {
    let written = |path: &Path| path.metadata().and_then(|m| m.modified()).ok();
    matches!((written(file), written(than)), (Some(file), Some(than)) if file < than)
}

/// The checkout that the executable was built in.
fn checkout(api: &Api, exe: &Path) -> Option<PathBuf> {
    let built = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let in_target = |root: &&Path| root.join(api.manifest).is_file();
    exe.ancestors().find(in_target).or(Some(built).filter(in_target)).map(Path::to_path_buf)
}

/// Builds the library with the profile and into the folder of the executable.
fn build(api: &Api, root: &Path, beside: &Path) -> miette::Result<()> {
    let profile = match beside.file_name().and_then(|n| n.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    let target = beside.parent().unwrap_or(beside);
    super::super::tell(&format!("wavebound: building {} (once)", api.library));
    let done = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        // With the command, so that dependencies have the features they have there and are not compiled again.
        .args(["build", "--quiet", "--package", api.package, "--package", COMMAND, "--profile", profile])
        .arg("--manifest-path")
        .arg(root.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(target)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    match done {
        Ok(status) if status.success() => {
            // Cargo leaves a library that is up to date as old as it is; a new time says so.
            let library = beside.join(api.library);
            let _ = std::fs::File::options()
                .append(true)
                .open(library)
                .and_then(|f| f.set_modified(std::time::SystemTime::now()));
            Ok(())
        }
        Ok(_) => Err(miette!(
            help = format!("`cargo build -p {} -p {COMMAND}` in {} shows why", api.package, root.display()),
            "{} cannot be built",
            api.library
        )),
        Err(e) => Err(miette!(
            help = "install cargo, or give the library with --library",
            "{} must be built, but cargo cannot be started: {e}",
            api.library
        )),
    }
}
