//! The search for wrong proofs: random loops, what is proven about them, and runs with inputs that try to go round longest.
//! A case is its number, so that any of them can be run again.

use super::assembly::{Source, assembly};
use super::noise::Noise;
use super::rounds::Rounds;
use std::sync::OnceLock;
use wb_device::{Arg, Device, DeviceError, Dispatch, Module};
use wb_facts::{Inferred, Known, calls_of};
use wb_hw::Machine;
use wb_isa::SourceFile;
use wb_isa::gcn3::isa::Gcn3;
use wb_objects::codeobject::{CodeObject, from_assembly};
use wb_program::Program;
use wb_sim::RunOptions;

/// What became of a case.
#[derive(Clone, Debug, Default)]
pub struct Tried {
    /// Loops of the kernel, those that are proven, and how often a limit was reached.
    pub loops: usize,
    pub proved: usize,
    pub reached: usize,
    /// Ways that are proven never to be taken.
    pub never: usize,
    /// What is wrong, in words.
    pub wrong: Vec<String>,
}

impl Tried {
    pub fn add(&mut self, other: Tried) {
        self.loops += other.loops;
        self.proved += other.proved;
        self.reached += other.reached;
        self.never += other.never;
        self.wrong.extend(other.wrong);
    }
}

/// Proves something about a program: the prover, or one with a planted fault.
pub type Prover<'a> = &'a (dyn Fn(&Program<Gcn3>, &Known) -> Inferred + Sync);

/// Wave-instructions of a run at most: a loop that never ends must still show that it exceeds its limit.
const LONGEST: u64 = 30_000;
/// Limits beyond this are not tested: a run that is stopped cannot exceed them.
const TESTED: u64 = 2_000;
/// Words of the buffer that kernels read.
pub const WORDS: usize = 256;

/// What the buffer holds: input number `input` of a case.
pub fn contents(case: u64, input: u64) -> Vec<u32> {
    let mut noise = Noise::new(case ^ input.wrapping_mul(0x9e37_79b9) ^ 0xabcd);
    let kind = if input == 0 { 0 } else { noise.below(6) };
    let one = noise.number();
    (0..WORDS as u32)
        .map(|i| match kind {
            0 => noise.number(),
            1 => one,
            2 => noise.below(64) as u32,
            3 => i & 63,
            4 => 1 + (noise.below(63) as u32),
            _ => 63 - (i & 63),
        })
        .collect()
}

/// The machine of a search, with changes.
pub fn machine(sets: &[&str]) -> Result<Machine, String> {
    static PLAIN: OnceLock<Machine> = OnceLock::new();
    if let Some(machine) = PLAIN.get().filter(|_| sets.is_empty()) {
        return Ok(machine.clone());
    }
    let limit = format!("limits.cycles={LONGEST}");
    let all = sets.iter().copied().chain([limit.as_str(), "limits.memory=4194304"]);
    let sets: Vec<_> = all.map(wb_hw::parse_set).collect::<Result<_, _>>().map_err(|e| format!("{e:?}"))?;
    let machine = wb_hw::load("gcn3").and_then(|m| m.with_overrides(&sets)).map_err(|e| format!("{e:?}"))?;
    Ok(if sets.len() == 2 { PLAIN.get_or_init(|| machine).clone() } else { machine })
}

/// A case in assembly, with `inputs` contents of memory.
pub fn try_assembly(case: u64, inputs: u64, prover: Prover) -> Result<Tried, String> {
    let source = assembly(case);
    let file = SourceFile::new("loop.s", source.text.as_str());
    let assembled = wb_isa::gcn3::assemble(&file).map_err(|e| format!("{e:?}\n{}", source.text))?;
    let bytes = from_assembly(&assembled, "loop.s").map_err(|e| e.to_string())?;
    let object = CodeObject::parse(&bytes).map_err(|e| e.to_string())?;
    let mut tried = Tried::default();
    // With the launch known, and from the code alone: then the arguments are anything.
    let machine = machine(&[])?;
    for launch_known in [true, false] {
        let mut found: Option<Inferred> = None;
        for input in 0..inputs {
            let args = match launch_known || input == 0 {
                true => (source.n, source.m),
                false => {
                    let mut noise = Noise::new(case ^ input << 7);
                    (noise.number(), noise.number())
                }
            };
            let mut launch = Launch::new(&machine, &object, &source, args, &contents(case, input))
                .map_err(|e| format!("{e:?}"))?;
            if !launch.compare(launch_known, &mut found, prover, &mut tried)? {
                break;
            }
        }
    }
    Ok(tried)
}

/// Cases in OpenCL C, compiled: what [`super::opencl`] wrote for them is in `object`.
pub fn try_opencl(
    object: &[u8],
    cases: impl IntoIterator<Item = u64>,
    inputs: u64,
    prover: Prover,
) -> Result<Vec<(u64, Tried)>, String> {
    let object = CodeObject::parse(object).map_err(|e| e.to_string())?;
    let machine = machine(&[])?;
    let mut all = Vec::new();
    for case in cases {
        let mut tried = Tried::default();
        let mut noise = Noise::new(case ^ 0xc2);
        let (lanes, first) = (noise.pick(&[1, 7, 64, 64, 64]), (noise.number(), noise.number()));
        for launch_known in [true, false] {
            let mut found: Option<Inferred> = None;
            for input in 0..inputs {
                let other = (noise.number(), noise.number());
                let args = if launch_known || input == 0 { first } else { other };
                let mut device = Device::new(machine.clone());
                let told = |e: DeviceError| format!("{e:?}");
                let module = device.place("loops.co", object.clone(), None).map_err(told)?;
                let out = buffer(&mut device, &[0; 64]).map_err(told)?;
                let data = buffer(&mut device, &contents(case, input)).map_err(told)?;
                let value = |v: u32| Arg::Value(v.to_le_bytes().to_vec());
                let dispatch = Dispatch {
                    kernel: format!("k{case}"),
                    grid: [lanes, 1, 1],
                    group: [lanes, 1, 1],
                    args: vec![Arg::Buffer(out), Arg::Buffer(data), value(args.0), value(args.1)],
                    dynamic_lds: 0,
                    opencl: Default::default(),
                };
                let mut launch = Launch { device, module, dispatch };
                if !launch.compare(launch_known, &mut found, prover, &mut tried)? {
                    break;
                }
            }
        }
        all.push((case, tried));
    }
    Ok(all)
}

/// A kernel in place with its arguments.
struct Launch {
    device: Device,
    module: Module,
    dispatch: Dispatch,
}

impl Launch {
    fn new(
        machine: &Machine,
        object: &CodeObject,
        source: &Source,
        args: (u32, u32),
        words: &[u32],
    ) -> Result<Launch, Box<dyn std::error::Error>> {
        let mut device = Device::new(machine.clone());
        let module = device.place("loop.s", object.clone(), None)?;
        let data = buffer(&mut device, words)?;
        let value = |v: u32| Arg::Value(v.to_le_bytes().to_vec());
        let dispatch = Dispatch {
            kernel: "k".into(),
            grid: [source.lanes, 1, 1],
            group: [source.lanes, 1, 1],
            args: vec![value(args.0), value(args.1), Arg::Buffer(data)],
            dynamic_lds: 0,
            opencl: Default::default(),
        };
        Ok(Launch { device, module, dispatch })
    }

    /// Runs it and compares what happens with what is proven, which is found out first if `found` has nothing yet. False if
    /// nothing that a run could contradict is proven.
    fn compare(
        &mut self,
        launch_known: bool,
        found: &mut Option<Inferred>,
        prover: Prover,
        tried: &mut Tried,
    ) -> Result<bool, String> {
        let told = |e: DeviceError| format!("{e:?}");
        let prepared = self.device.prepare(&self.module, &self.dispatch).map_err(told)?;
        let program = &prepared.program;
        let args = self.module.kernel(&self.dispatch.kernel).map_err(told)?.args.clone();
        let first = found.is_none();
        let inferred = found.get_or_insert_with(|| match launch_known {
            true => prover(program, &Known::launch(program, &prepared.kernarg, &args)),
            false => prover(program, &Known::default()),
        });
        if first {
            tried.loops += wb_facts::loops(program, &calls_of(program)).len();
            tried.proved += inferred.loops.len();
            tried.never += inferred.never.len();
        }
        let worth = !inferred.never.is_empty() || inferred.loops.iter().any(|l| l.max <= TESTED);
        if worth {
            let mut seen = Rounds::new(program, false);
            // A run that does not end, or a fault, still has gone round.
            let options = RunOptions { timed: false, ..RunOptions::default() };
            _ = self.device.run(&prepared, options, Some(&mut seen));
            judge(&seen, inferred, tried);
        }
        self.device.finish(prepared);
        Ok(worth)
    }
}

/// Puts words into a device's memory.
fn buffer(device: &mut Device, words: &[u32]) -> Result<u64, DeviceError> {
    let addr = device.alloc(4 * words.len() as u64)?;
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    device.write(addr, &bytes)?;
    Ok(addr)
}

fn judge(seen: &Rounds, inferred: &Inferred, tried: &mut Tried) {
    for fact in &inferred.loops {
        let most = seen.most.get(&fact.header).copied().unwrap_or(0);
        tried.reached += usize::from(most == fact.max);
        if most > fact.max {
            tried.wrong.push(format!(
                "the loop at pc {} went round {most} times, proven {}: {}",
                fact.header, fact.max, fact.why
            ));
        }
    }
    for way in &inferred.never {
        if seen.ways.contains_key(&(way.from, way.to)) {
            tried.wrong.push(format!("the way from pc {} to {} was taken: {}", way.from, way.to, way.why));
        }
    }
}
