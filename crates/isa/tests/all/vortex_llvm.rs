//! LLVM 19 as a witness for the RISC-V part of Vortex: encodings, disassembly and assembly of generated instructions
//! are what llvm-mc says. With CI=true the tool must be there.

use std::io::Write as _;
use std::process::{Command, Stdio};
use wb_isa::SourceFile;
use wb_isa::vortex::{CSRS, DYNAMIC, File, Format, Inst, Op, TABLE, Target, assemble, text};

const MC: &str = "llvm-mc-19";
const ARGS: [&str; 2] = ["-triple=riscv32", "-mattr=+m,+a,+f,+zicsr,+zifencei,+zicond"];

fn available() -> bool {
    let there = Command::new(MC).arg("--version").output().is_ok();
    if !there {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{MC} must be installed in CI");
        println!("skipped: {MC} is not installed");
    }
    there
}

fn run(extra: &[&str], input: &str) -> (String, String) {
    let mut child = Command::new(MC)
        .args(ARGS)
        .args(extra)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("llvm-mc starts");
    let mut stdin = child.stdin.take().expect("stdin");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let out = child.wait_with_output().expect("llvm-mc ends");
    let _ = writer.join();
    (String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned())
}

/// What llvm-mc prints for each word; none where it knows no instruction.
fn disassemble(words: &[u32]) -> Vec<Option<String>> {
    // A word between instructions that stand out keeps track when one is refused.
    let marker = "\tlui\tt6, 703710";
    let mark = 0xabcd_efb7u32;
    let line = |w: u32| w.to_le_bytes().map(|b| format!("{b:#04x}")).join(" ") + "\n";
    let input: String = words.iter().map(|w| line(*w) + &line(mark)).collect();
    let (out, _) = run(&["--disassemble"], &input);
    let mut all = Vec::new();
    let mut last = None;
    for line in out.lines().filter(|l| l.starts_with('\t') && !l.starts_with("\t.")) {
        if line == marker {
            all.push(last.take());
        } else {
            last = Some(line.trim().replace('\t', " "));
        }
    }
    assert_eq!(all.len(), words.len(), "every word has its marker");
    all
}

/// The word llvm-mc makes of each line.
fn llvm_words(lines: &[String]) -> Vec<u32> {
    let (out, errors) = run(&["-show-encoding"], &(lines.join("\n") + "\n"));
    assert!(errors.is_empty(), "{}", &errors[..errors.len().min(2000)]);
    out.lines()
        .filter_map(|l| l.split_once("encoding: [")?.1.split_once(']'))
        .map(|(bytes, _)| {
            let bytes =
                bytes.split(',').map(|b| u8::from_str_radix(b.trim_start_matches("0x"), 16).expect("byte"));
            let bytes: Vec<u8> = bytes.collect();
            u32::from_le_bytes(bytes.try_into().expect("four bytes"))
        })
        .collect()
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 8
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn inst(&mut self, op: Op) -> Inst {
        let e = op.entry();
        let mut register = |file: File| match (file, self.below(3)) {
            (File::None, _) => 0,
            (_, 0) => self.below(2) as u8,
            _ => self.below(32) as u8,
        };
        let [rd, rs1, rs2, rs3] = e.files.map(&mut register);
        let mut inst = Inst { rd, rs1, rs2, rs3, ..Inst::new(op) };
        if self.below(4) == 0 && e.files[2] != File::None {
            inst.rs2 = inst.rs1;
        }
        match e.format {
            Format::Immediate | Format::Load | Format::Store => {
                inst.imm = match self.below(2) {
                    0 => [0, 1, -1, 255, -2048, 2047][self.below(6) as usize],
                    _ => self.below(4096) as i32 - 2048,
                };
            }
            Format::Shift => inst.imm = self.below(32) as i32,
            Format::Branch => inst.imm = (self.below(4096) as i32 - 2048) * 2,
            Format::Jump => inst.imm = (self.below(1 << 20) as i32 - (1 << 19)) * 2,
            Format::Upper => inst.imm = self.below(1 << 20) as i32,
            // `fence` without an effect is another instruction to LLVM.
            Format::Fence => inst.imm = self.below(256) as i32,
            Format::Csr | Format::CsrImmediate => {
                // Vortex's own have names only here.
                let known: Vec<u32> = CSRS.iter().filter(|c| !c.1.starts_with("vx_")).map(|c| c.0).collect();
                inst.imm = known[self.below(known.len() as u64) as usize] as i32;
                if e.format == Format::CsrImmediate {
                    inst.rs1 = self.below(32) as u8;
                }
            }
            Format::Atomic | Format::Reserve => inst.rm = self.below(4) as u8,
            Format::Round2 | Format::Round3 | Format::Round4 => {
                inst.rm = [0, 1, 2, 3, 4, DYNAMIC][self.below(6) as usize];
            }
            _ => {}
        }
        inst
    }
}

fn base_isa() -> Vec<Op> {
    TABLE.iter().filter(|e| !e.name.starts_with("vx_")).map(|e| e.op).collect()
}

#[test]
fn generated_instructions_read_the_same() {
    if !available() {
        return;
    }
    let (ops, mut random) = (base_isa(), Random(0x1234_5678_9abc));
    let insts: Vec<Inst> = (0..24_000).map(|i| random.inst(ops[i % ops.len()])).collect();
    let words: Vec<u32> = insts.iter().map(Inst::encode).collect();
    let mut wrong = Vec::new();
    for (inst, theirs) in insts.iter().zip(disassemble(&words)) {
        let ours = text(inst, &Target::Distance);
        if theirs.as_deref() != Some(&ours) {
            wrong.push(format!("{:#010x}: ours `{ours}`, LLVM {theirs:?}", inst.encode()));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}

#[test]
fn our_text_assembles_to_the_same_words() {
    if !available() {
        return;
    }
    let (ops, mut random) = (base_isa(), Random(0xfeed_5678_9abc));
    let insts: Vec<Inst> = (0..12_000).map(|i| random.inst(ops[i % ops.len()])).collect();
    let lines: Vec<String> = insts.iter().map(|i| text(i, &Target::Distance)).collect();
    let theirs = llvm_words(&lines);
    let ours = assemble(&SourceFile::new("t.vx", lines.join("\n"))).expect("it assembles");
    assert_eq!(theirs.len(), insts.len());
    for (i, (inst, word)) in insts.iter().zip(theirs).enumerate() {
        assert_eq!(inst.encode(), word, "{}", lines[i]);
        let at = i * 4;
        assert_eq!(ours.segments[0].1[at..at + 4], word.to_le_bytes(), "{}", lines[i]);
    }
}

/// Any bits: what decodes is what LLVM decodes, for the opcodes of RV32IMAF.
#[test]
fn the_same_words_are_instructions() {
    if !available() {
        return;
    }
    let opcodes = [
        0x03, 0x07, 0x0f, 0x13, 0x17, 0x23, 0x27, 0x2f, 0x33, 0x37, 0x43, 0x47, 0x4b, 0x4f, 0x53, 0x63, 0x67,
        0x6f, 0x73,
    ];
    let mut random = Random(77);
    let words: Vec<u32> = (0..20_000)
        .map(|i| {
            let mut word = random.next() as u32;
            // Most of the space is undefined: be near what is.
            if i % 2 == 0 {
                let ops = base_isa();
                word = random.inst(ops[i / 2 % ops.len()]).encode() ^ 1 << (7 + random.below(25));
            }
            word & !0x7f | opcodes[random.below(opcodes.len() as u64) as usize]
        })
        .collect();
    let mut wrong = Vec::new();
    for (&word, theirs) in words.iter().zip(disassemble(&words)) {
        let ours = Inst::decode(word).ok();
        let name = theirs.as_deref().and_then(|t| t.split_whitespace().next()).unwrap_or("");
        // Of the privileged architecture, and a fence that is a hint of its own.
        let not_ours =
            ["mret", "sret", "uret", "wfi", "sfence.vma", "fence.tso", "dret", "mnret"].contains(&name);
        // LLVM 19 decodes shifts by more than 31, which RV32 reserves.
        let long_shift = ["slli", "srli", "srai"].contains(&name) && word >> 25 & 1 == 1;
        if ours.is_some() != (theirs.is_some() && !not_ours && !long_shift) {
            wrong.push(format!("{word:#010x}: ours {ours:?}, LLVM {theirs:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}
