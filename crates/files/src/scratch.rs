//! Random bytes, and a file without a name for what is needed only while the program runs.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;

/// Random bytes from the system, for names and secrets that nobody may guess.
pub fn random(bytes: &mut [u8]) -> io::Result<()> {
    File::open("/dev/urandom")?.read_exact(bytes)
}

/// A file to write and read back, in the system's folder for such files. It has no name, so nothing is left of it however the
/// program ends.
pub fn scratch() -> io::Result<File> {
    let mut name = [0; 16];
    random(&mut name)?;
    let name: String = name.iter().map(|b| format!("{b:02x}")).collect();
    let path = std::env::temp_dir().join(format!("wavebound-{name}"));
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, SeekFrom, Write};

    #[test]
    fn what_is_written_comes_back() {
        let mut file = scratch().expect("file");
        file.write_all(b"kept").expect("written");
        file.seek(SeekFrom::Start(0)).expect("start");
        let mut text = String::new();
        file.read_to_string(&mut text).expect("read");
        assert_eq!(text, "kept");
    }
}
