//! Random loops in OpenCL C, for what compilers make of them: tests and steps that do not fit each other, several counters of
//! every width, break and continue, loops in loops, conditions that differ between lanes, limits from arguments and memory.

use super::noise::Noise;
use std::fmt::Write;

struct Writer {
    noise: Noise,
    text: String,
    depth: usize,
    loops: u32,
    statements: u32,
    /// The counter that the open loop uses more often than others.
    favourite: &'static str,
}

/// Counters and their types.
const COUNTERS: [(&str, &str); 6] =
    [("i", "int"), ("u", "uint"), ("h", "ushort"), ("s", "short"), ("q", "ulong"), ("x", "uint")];
const RELS: [&str; 6] = ["<", "<=", ">", ">=", "!=", "=="];

/// Kernels of the cases, `k` and their number, each with `out`, `a`, `n` and `m`.
pub fn opencl(cases: impl IntoIterator<Item = u64>) -> String {
    let mut text = String::new();
    for case in cases {
        let mut w = Writer {
            noise: Noise::new(case ^ 0xc1),
            text: String::new(),
            depth: 1,
            loops: 0,
            statements: 0,
            favourite: "i",
        };
        w.kernel();
        _ = write!(
            text,
            "__kernel void k{case}(__global uint *out, __global const uint *a, uint n, uint m) {{\n{}}}\n\n",
            w.text
        );
    }
    text
}

impl Writer {
    fn line(&mut self, text: &str) {
        let indent = "  ".repeat(self.depth);
        _ = writeln!(self.text, "{indent}{text}");
    }

    fn kernel(&mut self) {
        self.line("uint lane = get_local_id(0), v = a[lane], w = a[64 + lane], sum = 0;");
        for (name, ty) in COUNTERS {
            let first = self.first();
            self.line(&format!("{ty} {name} = {first};"));
        }
        for _ in 0..1 + self.noise.below(2) {
            self.looped(0);
        }
        self.line("out[lane] = sum + i + u + h + s + (uint)q + x;");
    }

    fn first(&mut self) -> String {
        match self.noise.below(9) {
            0..=3 => format!("{:#x}", self.noise.number()),
            4 => "0".into(),
            5 => "n".into(),
            6 => "lane".into(),
            7 => "v & 31".into(),
            _ => "a[128]".into(),
        }
    }

    fn counter(&mut self) -> &'static str {
        let any = COUNTERS[[0, 1, 5, 0, 1, 2, 3, 4][self.noise.below(8) as usize]].0;
        if self.noise.one_in(4) { any } else { self.favourite }
    }

    fn limit(&mut self) -> String {
        match self.noise.below(10) {
            0..=2 => "n".into(),
            3 => "m".into(),
            4 | 5 => format!("{}", self.noise.below(64)),
            6 => format!("{:#x}", self.noise.number()),
            7 => "(v & 63)".into(),
            8 => "a[129]".into(),
            _ => "w".into(),
        }
    }

    /// A counter as it is tested.
    fn form(&mut self) -> String {
        let c = self.counter();
        match self.noise.below(10) {
            0 => format!("({c} >> {})", 1 + self.noise.below(6)),
            1 => format!("({c} << {})", 1 + self.noise.below(4)),
            2 => format!("({c} + {})", self.noise.step()),
            3 => format!("({c} - m)"),
            _ => c.into(),
        }
    }

    fn test(&mut self) -> String {
        let (form, rel, limit) = (self.form(), self.noise.pick(&RELS[..5]), self.limit());
        let cast = self.noise.pick(&["", "", "(int)", "(uint)"]);
        let one = format!("{cast}{form} {rel} {cast}{limit}");
        match self.noise.below(8) {
            0 => format!("{one} && v != {}", self.noise.below(3)),
            1 => format!("{one} && (w >> ({} & 31) & 1)", self.counter()),
            2 => format!("{one} || {} {} {}", self.counter(), self.noise.pick(&RELS), self.noise.below(20)),
            3 => format!("!({form} {} {limit})", self.noise.pick(&RELS)),
            _ => one,
        }
    }

    fn step(&mut self) -> String {
        let c = self.counter();
        match self.noise.below(10) {
            0..=3 => format!("{c}++"),
            4 => format!("{c} += {}", self.noise.step()),
            5 => format!("{c} -= {}", 1 + self.noise.below(5)),
            6 => format!("{c} >>= {}", 1 + self.noise.below(3)),
            7 => format!("{c} <<= {}", 1 + self.noise.below(3)),
            8 => format!("{c} += lane"),
            _ => format!("{c} = {c} * 2 + 1"),
        }
    }

    fn statement(&mut self, depth: u32) {
        self.statements += 1;
        if self.statements > 18 {
            return;
        }
        match self.noise.below(12) {
            0..=3 => {
                let step = self.step();
                self.line(&format!("{step};"));
            }
            4 => self.line("sum += a[(sum + lane) & 255];"),
            5 => {
                let c = self.counter();
                self.line(&format!("v = a[({c} + lane) & 255];"));
            }
            6 => {
                let test = self.test();
                let leave = self.noise.pick(&["break", "break", "continue"]);
                self.line(&format!("if ({test}) {leave};"));
            }
            7..=9 => {
                let test = self.test();
                self.line(&format!("if ({test}) {{"));
                self.depth += 1;
                self.statement(depth);
                self.depth -= 1;
                if self.noise.one_in(2) {
                    self.line("} else {");
                    self.depth += 1;
                    self.statement(depth);
                    self.depth -= 1;
                }
                self.line("}");
            }
            10 if depth < 2 && self.loops < 4 => self.looped(depth + 1),
            _ => self.line("sum = sum * 3 + lane;"),
        }
    }

    /// A test and a step that go together.
    fn counted(&mut self) -> (String, String) {
        let c = self.favourite;
        let (first, limit) =
            (self.noise.below(30), self.noise.pick(&["n", "m", "(v & 63)", "40", "25", "(lane + 3)"]));
        let (shape, by) = (self.noise.below(5), 1 + self.noise.below(4));
        let (first, test, step) = match shape {
            0 | 1 => (format!("{first}"), format!("{c} < {limit}"), format!("{c} += {by}")),
            2 => (limit.to_owned(), format!("{c} > {first}"), format!("{c} -= {by}")),
            3 => (limit.to_owned(), format!("{c} != 0"), format!("{c} >>= {by}")),
            _ => (format!("{}", first + 1), format!("{c} <= {limit}"), format!("{c} <<= {by}")),
        };
        self.line(&format!("{c} = {first};"));
        match self.noise.below(4) {
            0 => (format!("{test} && v != 7"), step),
            _ => (test, step),
        }
    }

    fn looped(&mut self, depth: u32) {
        self.loops += 1;
        let before = self.favourite;
        self.favourite = COUNTERS[[0, 1, 5, 0, 1, 5, 2, 4][self.noise.below(8) as usize]].0;
        let (mut test, mut step) = (self.test(), self.step());
        if self.noise.one_in(2) {
            let (c, first) = (self.counter(), self.first());
            self.line(&format!("{c} = {first};"));
        }
        // Every other loop begins as one that counts; what its body does may still change that.
        if self.noise.one_in(2) {
            (test, step) = self.counted();
        }
        let shape = self.noise.below(3);
        self.line(&match shape {
            0 => format!("for (; {test}; {step}) {{"),
            1 => format!("while ({test}) {{"),
            _ => "do {".to_owned(),
        });
        self.depth += 1;
        for _ in 0..1 + self.noise.below(3) {
            self.statement(depth);
        }
        if shape > 0 {
            self.line(&format!("{step};"));
        }
        self.depth -= 1;
        self.line(&if shape == 2 { format!("}} while ({test});") } else { "}".to_owned() });
        self.favourite = before;
    }
}
