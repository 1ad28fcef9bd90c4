//! The Vortex kernels of fixtures/vortex: how to launch them, and what they must compute. Sizes are chosen so that the
//! numbers of wave-instructions come near table I of the SWAS document; results are compared bit for bit.

mod inputs;
mod reference;

pub use inputs::Inputs;

use miette::{Report, miette};
use wb_jobs::{Job, JobSpec};
use wb_sim::Outcome;

type Reference = fn(&Inputs) -> Vec<(usize, Vec<u8>)>;

/// A kernel with its arguments.
pub struct VortexKernel {
    pub name: &'static str,
    elf: &'static [u8],
    pub args: Vec<String>,
    /// Wave-instructions of the kernel that SWAS table I prints.
    pub published: Option<u64>,
    /// Only branches on which lanes agree, or between split and join.
    pub for_vortex: bool,
    /// What buffers hold afterwards: argument number and contents, from all buffers before the run.
    reference: Reference,
}

fn list(args: &[&str]) -> Vec<String> {
    args.iter().map(|&a| a.to_owned()).collect()
}

macro_rules! elf {
    ($name:literal) => {
        include_bytes!(concat!("../../../../fixtures/vortex/", $name, ".elf")).as_slice()
    };
}

/// The six benchmarks of SWAS table I.
pub fn swas() -> Vec<VortexKernel> {
    let options = 42 * 1024;
    let array = |fill: &str| format!("buf:f32:{options}:{fill}");
    let kernel = |name, elf, args: Vec<String>, published, reference| VortexKernel {
        name,
        elf,
        args,
        published: Some(published),
        for_vortex: true,
        reference,
    };
    vec![
        kernel(
            "blackscholes",
            elf!("blackscholes"),
            [
                list(&["u32:1024", "u32:42", "f32:0.02", "f32:0.3"]),
                vec![array("uniform=5..30,1"), array("uniform=1..100,2"), array("uniform=0.25..10,3")],
                vec![array("zero"), array("zero")],
            ]
            .concat(),
            192_052,
            reference::blackscholes,
        ),
        kernel(
            "hotspot",
            elf!("hotspot"),
            list(&[
                "u32:1024",
                "u32:5",
                "u32:9",
                "f32:0.01",
                "f32:0.1",
                "f32:0.2",
                "f32:0.05",
                "f32:80",
                "buf:f32:9216:uniform=300..350,4",
                "buf:f32:9216:uniform=0..10,5",
                "buf:f32:9216",
            ]),
            17_554,
            reference::hotspot,
        ),
        kernel(
            "hotspot3d",
            elf!("hotspot3d"),
            list(&[
                "u32:1024",
                "u32:5",
                "u32:27",
                "f32:0.4",
                "f32:0.1",
                "f32:0.12",
                "f32:0.08",
                "f32:0.5",
                "f32:0.01",
                "buf:f32:27648:uniform=300..350,6",
                "buf:f32:27648:uniform=0..10,7",
                "buf:f32:27648",
            ]),
            39_971,
            reference::hotspot3d,
        ),
        kernel(
            "kmeans",
            elf!("kmeans"),
            list(&[
                "u32:1024",
                "u32:25",
                "u32:34",
                "buf:f32:34816:random=8",
                "buf:f32:850:random=9",
                "buf:u32:1024",
            ]),
            164_077,
            reference::kmeans,
        ),
        kernel(
            "psort",
            elf!("psort"),
            list(&["u32:1024", "buf:f32:1024:uniform=-4..4,10", "buf:f32:1024"]),
            492_237,
            reference::psort,
        ),
        sgemm(1024, 5, 4, Some(1_728)),
    ]
}

/// A product of 2^`log_columns` rows and as many columns, `k` terms each; `tasks` elements.
pub fn sgemm(tasks: u32, log_columns: u32, k: u32, published: Option<u64>) -> VortexKernel {
    let n: u32 = 1 << log_columns;
    let pitch = k.max(n);
    let args = vec![
        format!("u32:{tasks}"),
        format!("u32:{log_columns}"),
        format!("u32:{k}"),
        format!("u32:{pitch}"),
        format!("buf:f32:{}:uniform=-1..1,11", n * pitch),
        format!("buf:f32:{}:uniform=-1..1,12", k * n),
        format!("buf:f32:{tasks}"),
    ];
    VortexKernel {
        name: "sgemm",
        elf: elf!("sgemm"),
        args,
        published,
        for_vortex: true,
        reference: reference::sgemm,
    }
}

/// Kernels that try out control flow, local memory and what lanes tell each other.
pub fn trials() -> Vec<VortexKernel> {
    let trial = |name, elf, args: &[&str], for_vortex, reference| VortexKernel {
        name,
        elf,
        args: list(args),
        published: None,
        for_vortex,
        reference,
    };
    let input = "buf:u32:1024:uniform=0..1000,13";
    vec![
        trial(
            "diverge",
            elf!("diverge"),
            &["u32:1024", "buf:u32:1024:uniform=0..200,14", "buf:u32:1024"],
            true,
            reference::diverge,
        ),
        trial("reduce", elf!("reduce"), &["u32:1024", input, "buf:u32:2"], true, reference::reduce),
        trial("branchy", elf!("branchy"), &["u32:1000", input, "buf:u32:1024"], false, reference::branchy),
    ]
}

impl VortexKernel {
    pub fn job(&self, spec: &JobSpec) -> Result<Job, Report> {
        let spec = JobSpec {
            isa: Some(wb_hw::InstructionSet::Vortex),
            args: self.args.iter().map(|a| a.as_str().into()).collect(),
            ..spec.clone()
        };
        Ok(Job::from_bytes(&format!("{}.elf", self.name), self.elf, &spec)?)
    }

    /// Compares what a run left in memory with the reference, bit for bit.
    pub fn check(&self, job: &Job, outcome: &Outcome) -> Result<(), Report> {
        let before = job.memory()?;
        let number = |name: &str| name.trim_start_matches("arg").parse().unwrap_or(usize::MAX);
        let mut buffers = Vec::new();
        for b in &job.buffers {
            let bytes = before.read(b.addr, b.bytes).map_err(|e| miette!("{e}"))?;
            buffers.push((number(&b.name), bytes.to_vec()));
        }
        let expected = (self.reference)(&Inputs {
            args: self.args.iter().map(|a| a.as_str().into()).collect(),
            buffers,
        });
        for (arg, want) in expected {
            let Some(b) = job.buffers.iter().find(|b| number(&b.name) == arg) else { continue };
            let got = outcome.memory.read(b.addr, b.bytes).map_err(|e| miette!("{e}"))?;
            if let Some(at) = want.chunks(4).zip(got.chunks(4)).position(|(w, g)| w != g) {
                let show = |bytes: &[u8]| b.element.show(&bytes[4 * at..4 * at + 4]);
                return Err(miette!(
                    "{}: element {at} of argument {arg} is {}, the reference says {}",
                    self.name,
                    show(got),
                    show(&want)
                ));
            }
        }
        Ok(())
    }
}
