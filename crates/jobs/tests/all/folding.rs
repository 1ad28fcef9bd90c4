//! Clang computes operations on constants while it compiles; the machine computes the same operations on values from memory. Both must
//! agree, for every generation. Compiler and simulator share nothing but the instruction set.

use crate::compilers::has_compiler;
use wb_hw::InstructionSet;
use wb_jobs::args::{ArgSpec, Argument};
use wb_jobs::data::{Array, Element};
use wb_jobs::object::{self, CompileOptions};
use wb_jobs::{Job, JobError, JobSpec};
use wb_sim::RunOptions;

/// Operations on floats: the C text with `A`, `B`, `C` for operands, and how many it takes.
const FLOATS: [(&str, usize); 29] = [
    ("A + B", 2),
    ("A - B", 2),
    ("A * B", 2),
    ("fma(A, B, C)", 3),
    ("fmin(A, B)", 2),
    ("fmax(A, B)", 2),
    ("floor(A)", 1),
    ("ceil(A)", 1),
    ("trunc(A)", 1),
    ("rint(A)", 1),
    ("fabs(A)", 1),
    ("copysign(A, B)", 2),
    ("(float)(half)A", 1),
    ("(float)(double)A", 1),
    ("(float)((double)A * (double)B)", 2),
    ("(float)fma((double)A, (double)B, (double)C)", 3),
    ("(float)((half)A + (half)B)", 2),
    ("(float)((half)A * (half)B)", 2),
    ("__builtin_amdgcn_fmed3f(A, B, C)", 3),
    ("__builtin_amdgcn_fractf(A)", 1),
    ("__builtin_amdgcn_frexp_mantf(A)", 1),
    ("__builtin_amdgcn_ldexpf(A, 3)", 1),
    ("__builtin_amdgcn_ldexpf(A, -5)", 1),
    ("__builtin_amdgcn_cubeid(A, B, C)", 3),
    ("__builtin_amdgcn_cubema(A, B, C)", 3),
    ("__builtin_amdgcn_cubesc(A, B, C)", 3),
    ("__builtin_amdgcn_cubetc(A, B, C)", 3),
    ("A == B ? 1.0f : 2.0f", 2),
    ("A < B ? A : C", 3),
];

/// Operations on bits, signed and unsigned.
const INTEGERS: [(&str, usize); 34] = [
    ("A + B", 2),
    ("A - B", 2),
    ("A * B", 2),
    ("mul_hi(A, B)", 2),
    ("(uint)mul_hi((int)A, (int)B)", 2),
    ("(uint)((int)A >> (B & 31))", 2),
    ("A >> (B & 31)", 2),
    ("A << (B & 31)", 2),
    ("(uint)((ulong)A * B >> 7)", 2),
    ("(uint)((((ulong)A << 32) | B) >> (C & 63))", 3),
    ("(uint)(((long)(((ulong)A << 32) | B)) >> (C & 63))", 3),
    ("popcount(A)", 1),
    ("clz(A)", 1),
    ("min(A, B)", 2),
    ("(uint)max((int)A, (int)B)", 2),
    ("(A & B) | (~A & C)", 3),
    ("add_sat(A, B)", 2),
    ("(uint)sub_sat((int)A, (int)B)", 2),
    ("(uint)(ushort)(A + B)", 2),
    ("(uint)(int)(short)(A * B)", 2),
    ("B ? A / B : 7u", 2),
    ("B ? A % B : 7u", 2),
    ("(B && !(A == 0x80000000u && B == ~0u)) ? (uint)((int)A / (int)B) : 7u", 2),
    ("__builtin_amdgcn_ubfe(A, B, C)", 3),
    ("__builtin_amdgcn_sbfe(A, B, C)", 3),
    ("__builtin_amdgcn_alignbyte(A, B, C)", 3),
    ("__builtin_amdgcn_alignbit(A, B, C)", 3),
    ("__builtin_amdgcn_perm(A, B, C)", 3),
    ("__builtin_amdgcn_lerp(A, B, C)", 3),
    ("__builtin_amdgcn_sad_u8(A, B, C)", 3),
    ("__builtin_amdgcn_msad_u8(A, B, C)", 3),
    ("(uint)__builtin_amdgcn_class(as_float(A), B & 1023)", 2),
    ("(uint)__builtin_amdgcn_frexp_expf(as_float(A))", 1),
    ("as_uint(__builtin_amdgcn_cvt_pkrtz(as_float(A), as_float(B)))", 2),
];

/// Signed zeros, denormals, ends of ranges, numbers near one, infinities, NaNs, and bits of no kind.
const VALUES: [u32; 24] = [
    0,
    0x8000_0000,
    1,
    0x807f_ffff,
    0x0080_0000,
    0x3f80_0000,
    0xbf80_0001,
    0x3f7f_ffff,
    0x4049_0fdb,
    0xc2f6_e979,
    0x4b00_0001,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x477f_e000,
    0x3380_0000,
    7,
    31,
    0xffff_ffff,
    0x7fff_ffff,
    0x1234_5678,
    0xfedc_ba98,
];

struct Case {
    text: String,
    values: [u32; 3],
}

fn cases() -> Vec<Case> {
    let mut out = Vec::new();
    let mut next = 7u32;
    for (list, float) in [(&FLOATS[..], true), (&INTEGERS[..], false)] {
        for (text, operands) in list {
            for k in 0..20 {
                let values = [0, 1, 2].map(|i| {
                    next = next.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let n = if *operands == 1 { k } else { (next >> 8) as usize + i };
                    VALUES[n % VALUES.len()]
                });
                let text = if float { format!("as_uint((float)({text}))") } else { (*text).to_owned() };
                out.push(Case { text, values });
            }
        }
    }
    out
}

/// The expression with its operands written in.
fn written(case: &Case, operand: impl Fn(usize) -> String) -> String {
    let float = case.text.starts_with("as_uint((float)(");
    let mut out = String::new();
    let letters: Vec<char> = case.text.chars().collect();
    for (at, &letter) in letters.iter().enumerate() {
        let alone = |i: Option<usize>| {
            i.and_then(|i| letters.get(i)).is_none_or(|c| !c.is_ascii_alphanumeric() && *c != '_')
        };
        let which = ['A', 'B', 'C'].iter().position(|l| *l == letter);
        match which.filter(|_| alone(at.checked_sub(1)) && alone(Some(at + 1))) {
            Some(i) if float => out += &format!("as_float({})", operand(i)),
            Some(i) => out += &operand(i),
            None => out.push(letter),
        }
    }
    out
}

fn source(cases: &[Case]) -> String {
    let mut text = String::from(
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n\
         #pragma OPENCL FP_CONTRACT OFF\n",
    );
    text += "kernel void folded(global uint *to) {\n";
    for (n, case) in cases.iter().enumerate() {
        text += &format!("to[{n}] = {};\n", written(case, |i| format!("{:#x}u", case.values[i])));
    }
    text += "}\nkernel void run(global uint *to, global const volatile uint *from) {\n";
    for (n, case) in cases.iter().enumerate() {
        text += &format!("to[{n}] = {};\n", written(case, |i| format!("from[{}]", 3 * n + i)));
    }
    text + "}\n"
}

/// A NaN's payload is nobody's business; of two packed halves neither is.
fn same(case: &Case, a: u32, b: u32) -> bool {
    let nan = |bits: u32| bits & 0x7fff_ffff > 0x7f80_0000;
    let half = |bits: u32| if bits & 0x7fff > 0x7c00 { 0x7e00 } else { bits & 0xffff };
    let float = case.text.starts_with("as_uint((float)(");
    let halves = case.text.contains("pkrtz");
    a == b || float && nan(a) && nan(b) || halves && half(a) == half(b) && half(a >> 16) == half(b >> 16)
}

/// Cases in which clang and the machine are known not to agree: on gfx803 single precision flushes denormals, which clang's constants
/// do not; and LLVM takes the larger of two numbers for the median of them and a NaN, the ISA document the smaller.
fn apart(machine: &str, case: &Case, folded: u32) -> bool {
    let float = case.text.starts_with("as_uint((float)(");
    let denormal = |bits: u32| bits & 0x7f80_0000 == 0 && bits & 0x7f_ffff != 0;
    let nan = |bits: u32| bits & 0x7fff_ffff > 0x7f80_0000;
    machine == "gcn3" && float && (denormal(folded) || case.values.into_iter().any(denormal))
        || machine == "gcn3" && case.text.contains("as_float") && case.values.into_iter().any(denormal)
        || case.text.contains("fmed3") && case.values.into_iter().any(nan)
}

/// The words that a kernel leaves in its first buffer, and how many instructions that took.
fn results(code: &[u8], kernel: &str, machine: &str, args: &[&[u32]]) -> (Vec<u32>, u64) {
    let buffer = |words: &&[u32]| {
        let bytes = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        ArgSpec::Ready(Argument::Buffer(Array {
            element: Element::U32,
            shape: vec![words.len() as u64],
            bytes,
        }))
    };
    let spec = JobSpec {
        isa: Some(InstructionSet::Gcn3),
        machine: machine.to_owned(),
        kernel: kernel.to_owned(),
        grid3: [1; 3],
        group3: [1; 3],
        args: args.iter().map(buffer).collect(),
        ..JobSpec::default()
    };
    let explained = |e: JobError| format!("{machine} {kernel}: {:?}", miette::Report::new(e));
    let job = Job::from_bytes("folding.cl", code, &spec).map_err(explained).expect("a job");
    let options = RunOptions { timed: false, ..RunOptions::default() };
    let outcome = job.run(options, None).map_err(explained).expect("a run");
    let to = job.find_buffer("arg0").expect("a buffer");
    let bytes = outcome.memory.read(to.addr, to.bytes).expect("memory");
    let word = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    (bytes.chunks_exact(4).map(word).collect(), outcome.wave_instructions)
}

#[test]
fn the_compiler_computes_the_same() {
    if !has_compiler() {
        return;
    }
    let cases = cases();
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("folding.cl");
    wb_files::write(&path, source(&cases)).expect("written");
    let from: Vec<u32> = cases.iter().flat_map(|case| case.values).collect();
    let zeros = vec![0; cases.len()];
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for machine in ["gcn3", "vega", "mi200", "mi300"] {
        let options = CompileOptions::for_machine(&wb_hw::preset(machine).expect("preset"));
        let code = object::read(&path, &options).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
        let (folded, few) = results(&code, "folded", machine, &[&zeros]);
        let (run, many) = results(&code, "run", machine, &[&zeros, &from]);
        // If the compiler left it to the machine, nothing would be compared.
        assert!(few * 4 < many, "{machine}: {few} of {many} instructions are left");
        for ((case, a), b) in cases.iter().zip(folded).zip(run) {
            if apart(machine, case, a) {
                continue;
            }
            compared += 1;
            if !same(case, a, b) {
                let what = format!("{machine}: {} of {:08x?}", case.text, case.values);
                wrong.push(format!("{what}: clang {a:08x}, the machine {b:08x}"));
            }
        }
    }
    println!("{compared} of {} results compared, {} differ", 4 * cases.len(), wrong.len());
    assert!(compared > 4500, "{compared}");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
}
