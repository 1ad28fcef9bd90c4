//! `--capture KERNEL[:N]` of `hip` and `cl`: one launch of a program as a launch file, with its code object and all of device memory, so that
//! every other command can run, bound, split and draw it. Everything gets the addresses it had: the same bytes, and the same cycles.

use crate::launch::Work;
use crate::options::Capture;
use crate::records::{Record, short_name};
use crate::session::Session;
use miette::{Report, miette};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use wavebound::device::{Arg, Dispatch, Module};
use wavebound::files;
use wavebound::jobs::data::{Array, Element};

/// A file of data, with its header.
const LARGEST: u64 = (1 << 30) - 4096;

/// Device memory before a launch: first address and contents of each block.
pub(crate) struct Before(Vec<(u64, Vec<u8>)>);

/// A block of memory in the launch file.
struct Block<'a> {
    name: String,
    addr: u64,
    bytes: &'a [u8],
}

impl Session {
    /// Whether this launch of a kernel is to be captured; counts the launches.
    pub(crate) fn wants(&mut self, kernel: &str) -> bool {
        let Some(capture) = &self.options.capture else { return false };
        if capture.kernel != kernel && capture.kernel != short_name(kernel) {
            return false;
        }
        self.capturing += 1;
        self.capturing == capture.number
    }

    /// Copies what is in use.
    pub(crate) fn before(&self) -> Before {
        let read = |(addr, bytes)| Some((addr, self.device.read(addr, bytes).ok()?.to_vec()));
        Before(self.device.heap().blocks_in_use().filter_map(read).collect())
    }

    /// Writes the launch; `cycles`: it ended well and took so many.
    pub(crate) fn capture(
        &mut self,
        before: &Before,
        work: &Work,
        cycles: Option<u64>,
    ) -> Result<(), Report> {
        let Some(Capture { folder, number, .. }) = self.options.capture.clone() else { return Ok(()) };
        let Work { module, object, dispatch, .. } = *work;
        files::make_folder(&folder)?;
        files::write(&folder.join("program.co"), object)?;
        let names = names(before, module, dispatch);
        let (program, blocks): (Vec<Block>, Vec<Block>) = before
            .0
            .iter()
            .map(|(addr, bytes)| Block { name: names[addr].clone(), addr: *addr, bytes })
            .partition(|block| block.addr == module.block());
        let mut text = self.head(&short_name(&dispatch.kernel), number, cycles);
        let _ = writeln!(text, "\n[memory]\norigin = \"{:#x}\"", self.device.memory().origin());
        let _ = writeln!(text, "program = \"{:#x}\"", module.block());
        if let Some(block) = program.first() {
            let _ = writeln!(text, "program_data = \"{}\"", data(&folder, &block.name, block.bytes)?);
        }
        if self.device.hostcall != 0 {
            let _ = writeln!(text, "hostcall = \"{:#x}\"", self.device.hostcall);
        }
        if self.device.printf != 0 {
            let _ = writeln!(text, "printf = \"{:#x}\"", self.device.printf);
        }
        for block in &blocks {
            let _ = writeln!(text, "\n[buffers.{}]\naddress = \"{:#x}\"", block.name, block.addr);
            // Nobody listens to calls of a captured launch.
            if block.addr == self.device.hostcall || block.bytes.iter().all(|b| *b == 0) {
                let _ = writeln!(text, "type = \"u8\"\nlength = {}", length(block.bytes.len())?);
            } else {
                let _ = writeln!(text, "from = \"{}\"", data(&folder, &block.name, block.bytes)?);
            }
        }
        text += &launch(dispatch, &names);
        if cycles.is_some() {
            for block in blocks.iter().filter(|block| block.addr != self.device.hostcall) {
                let after = self.device.read(block.addr, block.bytes.len() as u64)?;
                if after != block.bytes {
                    let file = data(&folder, &format!("{}-after", block.name), after)?;
                    let _ = writeln!(text, "\n[[expect]]\nbuffer = \"{}\"\nfrom = \"{file}\"", block.name);
                }
            }
        }
        let file = folder.join("launch.toml");
        files::write(&file, text)?;
        self.record(&Record::Captured { file: file.display().to_string() });
        Ok(())
    }

    /// What it is, the program and the machine.
    fn head(&self, kernel: &str, number: usize, cycles: Option<u64>) -> String {
        let options = &self.options;
        let machine = &self.device.machine;
        let mut text =
            format!("# Launch {number} of {kernel}, captured by `wavebound {} --capture`.\n", self.command);
        let _ = match cycles {
            Some(cycles) if !options.untimed => writeln!(
                text,
                "# It took {cycles} cycles on {} ({}).",
                machine.name, machine.divergence.mechanism
            ),
            Some(_) => writeln!(text, "# It ran untimed."),
            None => writeln!(text, "# It failed: there is nothing to expect."),
        };
        if options.split_all || !options.split_at.is_empty() {
            text += "# Branches were marked there: give --split-all or --split-at again.\n";
        }
        text += "object = \"program.co\"\n";
        let named = if options.machine.is_empty() { "gcn3" } else { &options.machine };
        let _ = writeln!(text, "machine = {}", quoted(named));
        let mut sets: Vec<String> = options.sets.iter().map(|set| quoted(set)).collect();
        sets.push(quoted(&format!("limits.memory={}", machine.limits.memory)));
        let _ = writeln!(text, "set = [{}]", sets.join(", "));
        text
    }
}

/// Every block has a name: of the argument that points to its first byte, or a number.
fn names(before: &Before, module: &Module, dispatch: &Dispatch) -> BTreeMap<u64, String> {
    let mut names = BTreeMap::from([(module.block(), "program".to_owned())]);
    for (i, arg) in dispatch.args.iter().enumerate() {
        if let Arg::Buffer(addr) = arg
            && before.0.iter().any(|b| b.0 == *addr)
        {
            names.entry(*addr).or_insert_with(|| format!("arg{i}"));
        }
    }
    for (i, (addr, _)) in before.0.iter().enumerate() {
        names.entry(*addr).or_insert_with(|| format!("other{i}"));
    }
    names
}

/// A length as launch files have it: numbers of more than 32 bits are products.
fn length(bytes: usize) -> Result<String, Report> {
    const PART: usize = 256;
    match u32::try_from(bytes) {
        Ok(n) => Ok(n.to_string()),
        Err(_) if bytes.is_multiple_of(PART) && bytes / PART <= u32::MAX as usize => {
            Ok(format!("[{}, {PART}]", bytes / PART))
        }
        Err(_) => Err(miette!("a buffer of {bytes} bytes is too large for a launch file")),
    }
}

/// Writes bytes as `NAME.npy`; returns the file's name.
fn data(folder: &Path, name: &str, bytes: &[u8]) -> Result<String, Report> {
    if bytes.len() as u64 > LARGEST {
        let help = "files of data have at most 1 GiB";
        return Err(miette!(help = help, "a buffer of {} bytes has contents", bytes.len()));
    }
    let file = PathBuf::from(name).with_extension("npy");
    let array =
        Array { element: Element::Unsigned(1), shape: vec![bytes.len() as u64], bytes: bytes.to_vec() };
    array.write(&folder.join(&file))?;
    Ok(file.display().to_string())
}

/// `[[launch]]`.
fn launch(dispatch: &Dispatch, names: &BTreeMap<u64, String>) -> String {
    let hex = |bytes: &[u8]| {
        let digits: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        format!("hex:{digits}")
    };
    let arg = |arg: &Arg| {
        quoted(&match arg {
            Arg::Buffer(addr) => names.get(addr).cloned().unwrap_or_else(|| hex(&addr.to_le_bytes())),
            Arg::Value(bytes) => hex(bytes),
            Arg::Local(bytes) => format!("local:{bytes}"),
        })
    };
    let args: Vec<String> = dispatch.args.iter().map(arg).collect();
    format!(
        "\n[[launch]]\nkernel = {}\ngrid = {:?}\ngroup = {:?}\nargs = [{}]\ndynamic_lds = {}\noffset = {:?}\ndimensions = {}\n",
        quoted(&dispatch.kernel),
        dispatch.grid,
        dispatch.group,
        args.join(", "),
        dispatch.dynamic_lds,
        dispatch.opencl.offset,
        dispatch.dimensions()
    )
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
