//! The folder in which a program and all processes it starts find our library, while the command runs: for its owner
//! alone, and gone afterwards, however the command ends. Only files that were put there are removed, by their names.

use super::api::Api;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::fs::{File, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Where the library tells about launches.
const RECORDS: &str = "records";

/// Waits until nobody holds the other end of its input, which is when the command has ended, and removes what is left.
const KEEPER: &str =
    r#"trap '' INT TERM HUP QUIT; read -r end; cd -- "$1" || exit 0; shift; rm -f -- "$@"; rmdir -- "$PWD""#;

pub(super) struct Folder {
    path: PathBuf,
    /// All that is in it.
    names: Vec<&'static str>,
    /// Removes the folder if the command is killed.
    keeper: Option<Child>,
}

impl Folder {
    pub fn new(api: &Api, library: &Path) -> miette::Result<Folder> {
        let path = create(api)?;
        let names = api.front.iter().map(|f| f.0).chain([api.library, RECORDS]).collect();
        let mut folder = Folder { path, names, keeper: None };
        folder.keeper = keeper(api, &folder.path, &folder.names);
        for (name, contents) in api.front {
            folder.put(name, &contents(&folder.path.join(api.library)))?;
        }
        folder.put(RECORDS, b"")?;
        // The library may have any name where it lies; programs look for this one.
        std::os::unix::fs::symlink(library, folder.path.join(api.library)).into_diagnostic()?;
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn records(&self) -> PathBuf {
        self.path.join(RECORDS)
    }

    fn put(&self, name: &str, bytes: &[u8]) -> miette::Result<()> {
        let path = self.path.join(name);
        let written = std::fs::write(&path, bytes)
            .and_then(|()| std::fs::set_permissions(&path, Permissions::from_mode(0o600)));
        written.into_diagnostic().wrap_err_with(|| format!("cannot write {}", path.display()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = std::fs::remove_file(self.path.join(name));
        }
        let _ = std::fs::remove_dir(&self.path);
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            let _ = keeper.wait();
        }
    }
}

/// A new folder that only its owner may enter, whatever the umask says.
fn create(api: &Api) -> miette::Result<PathBuf> {
    let parent = std::path::absolute(std::env::temp_dir()).into_diagnostic()?;
    for _ in 0..100 {
        let mut random = [0; 8];
        let read =
            File::open("/dev/urandom").and_then(|mut f| std::io::Read::read_exact(&mut f, &mut random));
        read.into_diagnostic().wrap_err("cannot read /dev/urandom")?;
        let path = parent.join(format!("wavebound-{}-{:016x}", api.command, u64::from_le_bytes(random)));
        match std::fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => {
                std::fs::set_permissions(&path, Permissions::from_mode(0o700)).into_diagnostic()?;
                return Ok(path);
            }
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => {
                return Err(e)
                    .into_diagnostic()
                    .wrap_err_with(|| format!("cannot make a folder in {} (TMPDIR)", parent.display()));
            }
        }
    }
    Err(miette!("cannot make a folder in {} (TMPDIR): all names are taken", parent.display()))
}

/// A process of its own group, which signals to ours do not reach. Without it a killed command leaves the folder behind.
fn keeper(api: &Api, folder: &Path, names: &[&str]) -> Option<Child> {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(KEEPER).arg(format!("wavebound-{}-keeper", api.command)).arg(folder).args(names);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
    command.process_group(0).spawn().ok()
}
