//! Kernels in LLVM's text form become functions that a lane-pc machine can start (docs/riscv.md): a kernel loads its arguments from the
//! block it is given, local variables go to a section for each kernel, and a section lists kernels and arguments for the loader.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use wb_objects::{ENTRY, KERNELS, LOCAL_OF};

/// What was found in a module.
#[derive(Debug)]
pub struct Rewritten {
    pub text: String,
    /// Kernels, in their order.
    pub kernels: Vec<String>,
    /// Kernels that have variables in local memory.
    pub locals: Vec<String>,
}

/// Why a module cannot become a program, with the line of the source where it is known.
#[derive(Debug, PartialEq, Eq)]
pub struct Unfit {
    pub line: Option<u32>,
    pub why: String,
    pub help: &'static str,
}

/// A parameter of a kernel.
#[derive(Debug)]
struct Parameter {
    /// Its type in the module's words: `ptr addrspace(1)`, `<4 x float>`.
    ir: String,
    offset: u32,
    bytes: u32,
    kind: &'static str,
    name: String,
    type_name: String,
}

/// Rewrites a module.
pub fn rewrite(module: &str) -> Result<Rewritten, Unfit> {
    let metadata: BTreeMap<&str, &str> = module.lines().filter_map(|l| l.split_once(" = ")).collect();
    let mut out = String::with_capacity(module.len() + 4096);
    let (mut list, mut locals, mut names) = (String::new(), Vec::new(), Vec::new());
    for line in module.lines() {
        if let Some(header) = line.strip_prefix("define ").filter(|l| l.contains(" spir_kernel void @")) {
            let kernel = Kernel::read(header, &metadata)?;
            let _ = writeln!(list, "kernel {} {}", kernel.name, kernel.bytes());
            for p in &kernel.parameters {
                let Parameter { offset, bytes, kind, name, type_name, .. } = p;
                let _ = writeln!(list, "arg {offset} {bytes} {kind} {name} {type_name}");
            }
            out.push_str(&kernel.start());
            names.push(kernel.name);
        } else if let Some((kernel, rewritten)) = local_variable(line) {
            if !locals.contains(&kernel) {
                locals.push(kernel);
            }
            out.push_str(&rewritten);
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
    if names.is_empty() {
        return Err(Unfit {
            line: None,
            why: "there is no kernel in it".into(),
            help: "a kernel is a function with `kernel` or `__kernel` before its type",
        });
    }
    if let Some(name) = names.iter().find(|n| module.contains(&format!("call spir_kernel void @{n}("))) {
        return Err(Unfit {
            line: None,
            why: format!("the kernel {name} is called by another one"),
            help: "move what both do into a function that is no kernel",
        });
    }
    let bytes: String = list
        .bytes()
        .map(|b| if b == b'\n' { "\\0A".to_owned() } else { char::from(b).to_string() })
        .collect();
    let _ = writeln!(
        out,
        "@wavebound.kernels = constant [{} x i8] c\"{bytes}\", section \"{KERNELS}\", align 1\n\
         @llvm.used = appending global [1 x ptr] [ptr @wavebound.kernels], section \"llvm.metadata\"",
        list.len()
    );
    Ok(Rewritten { text: out, kernels: names, locals })
}

struct Kernel<'a> {
    name: String,
    parameters: Vec<Parameter>,
    /// What stands behind the parameters: attributes and debug information.
    rest: &'a str,
}

impl<'a> Kernel<'a> {
    fn read(header: &'a str, metadata: &BTreeMap<&str, &str>) -> Result<Kernel<'a>, Unfit> {
        let unreadable =
            || Unfit { line: None, why: format!("`{header}` cannot be read"), help: "use clang 19" };
        let (_, after) = header.split_once(" spir_kernel void @").ok_or_else(unreadable)?;
        let (name, after) = after.split_once('(').ok_or_else(unreadable)?;
        let end = closing(after).ok_or_else(unreadable)?;
        let (types, rest) = (split(&after[..end]), &after[end + 1..]);
        let node = |what: &str| {
            let at = rest.split_once(&format!("!{what} ")).map_or("", |(_, at)| at);
            let id = at.split([' ', '{']).next().unwrap_or("");
            metadata.get(id).copied().unwrap_or("")
        };
        let line = number_after(node("dbg"), "line: ");
        let unfit = |why: String, help| Unfit { line, why: format!("kernel {name}: {why}"), help };
        let (spaces, kinds) = (values(node("kernel_arg_addr_space")), values(node("kernel_arg_base_type")));
        let (names, shown) = (values(node("kernel_arg_name")), values(node("kernel_arg_type")));
        let special = |t: &&String| {
            ["image", "sampler_t", "pipe", "queue_t", "event_t"].iter().any(|s| t.starts_with(s))
        };
        if let Some(t) = kinds.iter().find(special) {
            let help = "arguments are buffers, local memory, numbers and vectors of numbers";
            return Err(unfit(format!("arguments of type {t} are not supported"), help));
        }
        if spaces.len() != types.len() || names.len() != types.len() {
            let help = "pass a pointer to a buffer that holds the structure";
            return Err(unfit("structures are not passed by value".into(), help));
        }
        let (mut parameters, mut end) = (Vec::new(), 0u32);
        for (i, ir) in types.into_iter().enumerate() {
            let (kind, bytes) = match (ir.starts_with("ptr"), spaces[i].as_str()) {
                (true, "1" | "2") => ("buffer", 4),
                (true, "3") => ("local", 4),
                (false, _) if size(&ir).is_some() => ("value", size(&ir).unwrap_or(0)),
                _ => {
                    let help = "pass a pointer to a buffer that holds it";
                    return Err(unfit(format!("{} {} is not passed by value", shown[i], names[i]), help));
                }
            };
            let offset = end.next_multiple_of(bytes.next_power_of_two());
            end = offset + bytes;
            let (name, type_name) = (names[i].clone(), shown[i].clone());
            parameters.push(Parameter { ir, offset, bytes, kind, name, type_name });
        }
        Ok(Kernel { name: name.to_owned(), parameters, rest })
    }

    fn bytes(&self) -> u32 {
        self.parameters.last().map_or(0, |p| p.offset + p.bytes).next_multiple_of(4)
    }

    /// The function up to its first instruction. Parameters had the numbers from 0 on, and the first block the next one.
    fn start(&self) -> String {
        let mut out =
            format!("define dso_local void @{}{ENTRY}(ptr %arguments){}\nloads:\n", self.name, self.rest);
        for (i, p) in self.parameters.iter().enumerate() {
            let align = p.bytes.next_power_of_two().min(16);
            let _ = writeln!(out, "  %at.{i} = getelementptr i8, ptr %arguments, i32 {}", p.offset);
            let _ =
                writeln!(out, "  %{i} = load {}, ptr %at.{i}, align {align}, !invariant.load !{{}}", p.ir);
        }
        let _ = write!(out, "  br label %{0}\n\n{0}:", self.parameters.len());
        out
    }
}

/// A variable in local memory: the kernel it belongs to, and the line with its section.
fn local_variable(line: &str) -> Option<(String, String)> {
    let (name, rest) = line.strip_prefix('@')?.split_once(" = internal addrspace(3) global ")?;
    let kernel = name.trim_matches('"').split('.').next()?.to_owned();
    let (kind, align) = rest.rsplit_once(" undef, ")?;
    let variable = format!(
        "@{name} = dso_local addrspace(3) global {kind} zeroinitializer, section \"{LOCAL_OF}{kernel}\", {align}"
    );
    Some((kernel, variable))
}

/// Where the parenthesis that is open closes.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(i, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        (depth < 0).then_some(i)
    })
}

/// Types of a list of parameters.
fn split(list: &str) -> Vec<String> {
    let (mut depth, mut parts, mut start) = (0, Vec::new(), 0);
    for (i, c) in list.char_indices() {
        match c {
            '(' | '<' | '[' | '{' => depth += 1,
            ')' | '>' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts.into_iter().map(str::trim).filter(|p| !p.is_empty()).map(type_of).collect()
}

/// The type at the beginning of a parameter.
fn type_of(parameter: &str) -> String {
    if let Some(rest) = parameter.strip_prefix("ptr addrspace(") {
        return format!("ptr addrspace({})", rest.split(')').next().unwrap_or(""));
    }
    let close = match parameter.as_bytes().first() {
        Some(b'<') => '>',
        Some(b'[') => ']',
        Some(b'{') => '}',
        _ => return parameter.split(' ').next().unwrap_or("").to_owned(),
    };
    parameter.find(close).map_or("", |end| &parameter[..=end]).to_owned()
}

/// Bytes of a value in memory; vectors of three take as much as those of four.
fn size(ir: &str) -> Option<u32> {
    if let Some(inner) = ir.strip_prefix(['<', '[']) {
        let (count, of) = inner.trim_end_matches(['>', ']']).split_once(" x ")?;
        let (count, of) = (count.parse::<u32>().ok()?, size(of)?);
        let count = if ir.starts_with('<') { count.next_power_of_two() } else { count };
        return count.checked_mul(of);
    }
    match ir {
        "float" => Some(4),
        "i1" | "i8" => Some(1),
        "half" | "i16" => Some(2),
        "i32" => Some(4),
        "i64" => Some(8),
        _ => None,
    }
}

/// Members of a metadata node `!{!"a", i32 1}`, without quotes and types.
fn values(node: &str) -> Vec<String> {
    let inner = node.trim_start_matches("!{").trim_end_matches('}');
    let parts = inner.split(", ").filter(|p| !p.is_empty());
    parts.map(|p| p.trim_start_matches("i32 ").trim_start_matches('!').trim_matches('"').to_owned()).collect()
}

fn number_after(text: &str, word: &str) -> Option<u32> {
    let (_, after) = text.split_once(word)?;
    after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "@k.tile = internal addrspace(3) global [64 x float] undef, align 4\n\
        define dso_local spir_kernel void @k(ptr addrspace(1) noundef align 4 %0, <3 x float> noundef %1, i8 noundef zeroext %2) #0 \
        !dbg !11 !kernel_arg_addr_space !14 !kernel_arg_base_type !17 !kernel_arg_type !16 !kernel_arg_name !19 {\n  ret void\n}\n\
        !11 = distinct !DISubprogram(name: \"k\", line: 7, type: !1)\n!14 = !{i32 1, i32 0, i32 0}\n\
        !16 = !{!\"int*\", !\"float3\", !\"uchar\"}\n!17 = !{!\"int*\", !\"float __attribute__((ext_vector_type(3)))\", !\"uchar\"}\n\
        !19 = !{!\"a\", !\"v\", !\"u\"}\n";

    #[test]
    fn a_kernel_loads_its_arguments() {
        let done = rewrite(MODULE).expect("a kernel");
        assert_eq!(done.locals, ["k"]);
        for part in [
            "define dso_local void @k.entry(ptr %arguments) #0 !dbg !11",
            "%at.1 = getelementptr i8, ptr %arguments, i32 16\n  %1 = load <3 x float>, ptr %at.1, align 16",
            "br label %3\n\n3:\n  ret void",
            "section \".wavebound.local.k\", align 4",
            "kernel k 36\\0Aarg 0 4 buffer a int*\\0Aarg 16 16 value v float3\\0Aarg 32 1 value u uchar\\0A",
        ] {
            assert!(done.text.contains(part), "{part} in {}", done.text);
        }
    }

    #[test]
    fn what_cannot_be_passed_is_refused_with_its_line() {
        for (from, to, why) in [
            ("<3 x float> noundef", "ptr noundef", "kernel k: float3 v is not passed by value"),
            (
                "!17 = !{!\"int*\"",
                "!17 = !{!\"image2d_t\"",
                "kernel k: arguments of type image2d_t are not supported",
            ),
            ("<3 x float> noundef %1", "float %1, float %4", "kernel k: structures are not passed by value"),
        ] {
            let unfit = rewrite(&MODULE.replace(from, to)).expect_err("unfit");
            assert_eq!((unfit.line, unfit.why.as_str()), (Some(7), why));
        }
        assert_eq!(rewrite("").expect_err("nothing").why, "there is no kernel in it");
    }
}
