//! Whole files: labels, comments, data words and directives. One pass; branches are patched at the end.
//! Only .text is kept, and kernel headers; labels of other sections do not exist, so no code can use
//! their data.

use super::cursor::{Cursor, Parse};
use super::instruction::instruction;
use super::kernel::KernelHeader;
use super::line::Target;
use crate::diag::MAX_ERRORS;
use crate::diag::nearest;
use crate::gcn3::encode::encode;
use crate::gcn3::generation::{self, Accumulators, GFX8, Generation, Target as TargetName};
use crate::{AsmError, SourceFile};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

const S_NOP: u32 = 0xbf80_0000;
/// Directives that change nothing here.
const IGNORED: [&str; 18] = [
    ".globl",
    ".global",
    ".type",
    ".size",
    ".weak",
    ".hidden",
    ".protected",
    ".ident",
    ".file",
    ".loc",
    ".addrsig",
    ".addrsig_sym",
    ".amdhsa_code_object_version",
    ".cfi_startproc",
    ".cfi_endproc",
    ".cfi_sections",
    ".amdgpu_hsa_kernel",
    ".local",
];

/// An assembled file.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    /// The code, from byte 0 of .text.
    pub words: Vec<u32>,
    /// Byte offsets of labels in .text.
    pub labels: BTreeMap<String, u64>,
    pub kernels: Vec<KernelHeader>,
    /// Source line (from 1) of the instruction or data at a byte offset, ascending.
    pub lines: Vec<(u64, u32)>,
    /// What it is for: what `.amdgcn_target` says, or the usual target.
    pub target: TargetName,
    /// The YAML between `.amdgpu_metadata` and `.end_amdgpu_metadata`.
    pub metadata: Option<String>,
}

/// Assembles a file for gfx8; all errors found, up to a limit.
pub fn assemble(file: &SourceFile) -> Result<Assembly, Vec<AsmError>> {
    assemble_for(&GFX8, file)
}

/// The same for a generation.
pub fn assemble_for(generation: &'static Generation, file: &SourceFile) -> Result<Assembly, Vec<AsmError>> {
    let mut assembler = Assembler {
        file,
        generation,
        out: Assembly { target: generation.usual, ..Assembly::default() },
        references: Vec::new(),
        symbols: HashMap::new(),
        in_text: true,
        kernel: None,
        metadata: None,
        errors: Vec::new(),
    };
    let mut start = 0;
    for (number, line) in file.text.split_inclusive('\n').enumerate() {
        let range = start..start + without_comment(line).len();
        start += line.len();
        if let Err(error) = assembler.line(line, range, number as u32 + 1) {
            assembler.errors.push(error);
        }
        if assembler.errors.len() >= MAX_ERRORS {
            break;
        }
    }
    assembler.finish()
}

/// The line up to a comment: `;`, `//`, a leading `#`, or `/* … */` at its end.
pub(super) fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    for (i, ch) in line.char_indices() {
        match ch {
            '"' => quoted = !quoted,
            ';' if !quoted => return &line[..i],
            '/' if !quoted && line[i + 1..].starts_with(['/', '*']) => return &line[..i],
            '#' if line[..i].trim().is_empty() => return &line[..i],
            _ => {}
        }
    }
    line.trim_end_matches(['\n', '\r'])
}

struct Assembler<'a> {
    file: &'a SourceFile,
    generation: &'static Generation,
    out: Assembly,
    /// Word indices of the instructions that name labels.
    references: Vec<(usize, Target)>,
    symbols: HashMap<String, i128>,
    in_text: bool,
    kernel: Option<KernelHeader>,
    /// Lines of the metadata block that is open.
    metadata: Option<String>,
    errors: Vec<AsmError>,
}

impl Assembler<'_> {
    fn line(&mut self, whole: &str, range: Range<usize>, number: u32) -> Parse<()> {
        let file = self.file;
        let mut c = Cursor::new(file, self.generation, range.clone());
        if let Some(text) = &mut self.metadata {
            if whole.trim() == ".end_amdgpu_metadata" {
                self.out.metadata = self.metadata.take();
            } else {
                text.push_str(whole);
            }
            return Ok(());
        }
        loop {
            let word = c.peek_word();
            if word.is_empty() || !c.rest()[word.len()..].trim_start().starts_with(':') {
                break;
            }
            let span = c.pos..c.pos + word.len();
            c.word();
            c.expect(':')?;
            self.label(&c, word, span)?;
        }
        if c.at_end() {
            return Ok(());
        }
        let word = c.peek_word();
        if word.starts_with('.') {
            c.word();
            return self.directive(&mut c, word, range, number);
        }
        if !self.in_text {
            let here = c.here();
            return Err(c.error(here, "instructions belong into .text", "outside of .text"));
        }
        let at = self.out.words.len();
        let line = instruction(&mut c)?;
        self.mark(number);
        if let Some(kernel) = self.out.kernels.last_mut().filter(|k| k.is_brief) {
            kernel.count(&line.inst);
        }
        self.out.words.extend(encode(&line.inst));
        self.references.extend(line.target.map(|target| (at, target)));
        Ok(())
    }

    fn mark(&mut self, number: u32) {
        self.out.lines.push((4 * self.out.words.len() as u64, number));
    }

    fn label(&mut self, c: &Cursor, name: &str, span: Range<usize>) -> Parse<()> {
        if !self.in_text {
            return Ok(());
        }
        let offset = 4 * self.out.words.len() as u64;
        if self.out.labels.insert(name.to_string(), offset).is_some() {
            return Err(c.error(span, format!("label `{name}` is already defined"), "here"));
        }
        Ok(())
    }

    fn directive(&mut self, c: &mut Cursor, name: &str, range: Range<usize>, number: u32) -> Parse<()> {
        let span = c.pos - name.len()..c.pos;
        if name == ".amdhsa_kernel" {
            let here = c.here();
            let Some((kernel, _)) = c.word() else { return Err(c.error(here, "expected a name", "here")) };
            self.kernel = Some(KernelHeader::new(kernel));
            return c.done();
        }
        if name == ".end_amdhsa_kernel" {
            return match self.kernel.take() {
                Some(kernel) => {
                    self.out.kernels.push(kernel);
                    c.done()
                }
                None => Err(c.error(span, "no .amdhsa_kernel is open", "here")),
            };
        }
        if name == ".kernel" {
            return self.brief_kernel(c);
        }
        if matches!(name, ".arg" | ".lds") {
            let open = self.kernel.as_mut().or_else(|| self.out.kernels.last_mut().filter(|k| k.is_brief));
            let Some(kernel) = open else {
                return Err(c
                    .error(span, format!("`{name}` belongs to a kernel"), "no kernel is open")
                    .hint("begin one with `.kernel NAME`"));
            };
            if name == ".arg" {
                return kernel.arg(c);
            }
            kernel.group_segment_fixed_size = c.int_in("the size", 0, 1 << 16)? as u32;
            return c.done();
        }
        let open = self.kernel.as_mut().or_else(|| self.out.kernels.last_mut().filter(|k| k.is_brief));
        if let (Some(kernel), Some(field), false) =
            (open, name.strip_prefix(".amdhsa_"), IGNORED.contains(&name))
        {
            let here = c.here();
            let value = match self.symbols.get(c.peek_word()) {
                Some(&value) => {
                    c.word();
                    value
                }
                None => c.int()?.0,
            };
            let span = here.start..c.pos;
            c.done()?;
            let most = match self.generation.accumulators {
                Accumulators::None | Accumulators::Separate => 256,
                Accumulators::Unified => 512,
            };
            return match kernel.set(field, value) {
                Ok(()) if kernel.next_free_vgpr > most => {
                    Err(c.error(span, format!("`.amdhsa_{field}` must be 0 to {most}"), "here"))
                }
                result => result.map_err(|why| c.error(span, why, "here")),
            };
        }
        match name {
            ".long" | ".4byte" | ".int" => self.data(c, number),
            ".text" => {
                self.in_text = true;
                Ok(())
            }
            ".section" => {
                self.in_text = c.peek_word().starts_with(".text");
                Ok(())
            }
            ".rodata" | ".data" | ".bss" => {
                self.in_text = false;
                Ok(())
            }
            ".p2align" | ".align" => {
                let power = c.int_in("the alignment", 0, 12)?;
                while self.in_text && !(4 * self.out.words.len()).is_multiple_of(1 << power) {
                    self.out.words.push(S_NOP);
                }
                Ok(())
            }
            ".set" => {
                let here = c.here();
                let Some((symbol, _)) = c.word() else {
                    return Err(c.error(here, "expected a name", "here"));
                };
                c.expect(',')?;
                if let Ok((value, _)) = c.int() {
                    self.symbols.insert(symbol.to_string(), value);
                }
                Ok(())
            }
            ".amdgcn_target" => {
                let Some((_, id)) = c.rest().trim().trim_matches('"').rsplit_once("--") else {
                    return Ok(());
                };
                // Features such as `:xnack-` follow.
                let name = id.split(':').next().unwrap_or("");
                let Some((generation, target)) = generation::of_name(name) else {
                    let known = generation::GENERATIONS.map(Generation::target_names).join(", ");
                    let error = c.error(range, format!("unknown target `{name}`"), "here");
                    return Err(error.hint(format!("targets are {known}")));
                };
                (self.generation, self.out.target) = (generation, target);
                Ok(())
            }
            ".amdgpu_metadata" => {
                self.metadata = Some(String::new());
                Ok(())
            }
            _ if IGNORED.contains(&name) || name.starts_with(".cfi_") => Ok(()),
            _ => {
                let known = IGNORED.into_iter().chain([
                    ".long",
                    ".text",
                    ".section",
                    ".p2align",
                    ".amdhsa_kernel",
                    ".kernel",
                    ".arg",
                    ".lds",
                ]);
                let error = c.error(span.start..range.end, format!("unknown directive `{name}`"), "here");
                Err(match nearest(name, known) {
                    Some(near) => error.hint(format!("did you mean `{near}`?")),
                    None => error,
                })
            }
        }
    }

    /// `.kernel NAME`: the code that follows is a kernel. Kernels start at multiples of 256 bytes.
    fn brief_kernel(&mut self, c: &mut Cursor) -> Parse<()> {
        let here = c.here();
        let Some((name, span)) = c.word() else { return Err(c.error(here, "expected a name", "here")) };
        c.done()?;
        let end = 4 * self.out.words.len() as u64;
        if let Some(last) = self.out.kernels.last().filter(|k| k.is_brief)
            && self.out.labels.get(&last.name) == Some(&end)
        {
            return Err(c.error(
                span,
                format!("kernel `{}` has no code", last.name),
                "the next one begins here",
            ));
        }
        while !(4 * self.out.words.len()).is_multiple_of(256) {
            self.out.words.push(S_NOP);
        }
        self.in_text = true;
        self.label(c, name, span)?;
        self.out.kernels.push(KernelHeader::brief(name));
        Ok(())
    }

    fn data(&mut self, c: &mut Cursor, number: u32) -> Parse<()> {
        if self.in_text {
            self.mark(number);
        }
        loop {
            let value = c.int_in("the value", i32::MIN.into(), u32::MAX.into())?;
            if self.in_text {
                self.out.words.push(value as u32);
            }
            if !c.eat(',') {
                return c.done();
            }
        }
    }

    fn finish(mut self) -> Result<Assembly, Vec<AsmError>> {
        let text_end = self.file.text.len();
        if let Some(kernel) = &self.kernel {
            let message = format!("`.amdhsa_kernel {}` is not closed", kernel.name);
            let error = AsmError::new(self.file, text_end..text_end, message, "the file ends here");
            self.errors.push(error.hint("add .end_amdhsa_kernel"));
        }
        for kernel in &self.out.kernels {
            let end = 4 * self.out.words.len() as u64;
            if self.out.labels.get(&kernel.name).is_none_or(|&at| at >= end) {
                let message = format!("kernel `{}` has no code", kernel.name);
                let error = AsmError::new(self.file, text_end..text_end, message, "the file ends here");
                self.errors.push(error.hint(format!("put the label `{}:` before its code", kernel.name)));
            }
        }
        for (at, target) in std::mem::take(&mut self.references) {
            if self.errors.len() >= MAX_ERRORS {
                break;
            }
            if let Err(error) = self.patch(at, &target) {
                self.errors.push(error);
            }
        }
        if self.errors.is_empty() { Ok(self.out) } else { Err(self.errors) }
    }

    /// Puts the distance to a label into the instruction at word `at`.
    fn patch(&mut self, at: usize, target: &Target) -> Parse<()> {
        let error = |message: String| AsmError::new(self.file, target.span.clone(), message, "here");
        let Some(&address) = self.out.labels.get(&target.label) else {
            let error = error(format!("label `{}` is not defined", target.label));
            return Err(match nearest(&target.label, self.out.labels.keys().map(String::as_str)) {
                Some(name) => error.hint(format!("did you mean `{name}`?")),
                None => error,
            });
        };
        if let Some((high, addend)) = target.literal {
            let distance = address as i64 + addend - 4 * (at as i64 + 1);
            self.out.words[at + 1] = if high { (distance >> 32) as u32 } else { distance as u32 };
            return Ok(());
        }
        let words = address as i64 / 4 - (at as i64 + 1);
        let Ok(words) = i16::try_from(words) else {
            return Err(error(format!("the label is {words} words away, a branch reaches 32767")));
        };
        self.out.words[at] |= u32::from(words as u16);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Result<Assembly, Vec<AsmError>> {
        assemble(&SourceFile::new("t.s", text))
    }

    #[test]
    fn labels_comments_and_data() {
        let text = ".text\n.globl f\nf: ; entry\n  s_mov_b32 s0, 0x12345 // literal\nloop:\n  s_cbranch_scc0 loop\n  s_branch end\n.long 1, 0xbf800000\nend: s_endpgm\n";
        let out = run(text).unwrap();
        let expected = [0xbe80_00ff, 0x12345, 0xbf84_ffff, 0xbf82_0002, 1, 0xbf80_0000, 0xbf81_0000];
        assert_eq!(out.words, expected);
        assert_eq!(out.labels["end"], 24);
        assert_eq!(out.lines[1], (8, 6));
    }

    #[test]
    fn errors_point_into_the_source() {
        let errors = run("  s_movb32 s0, 1\n  s_branch nowhere\n  s_mov_b32 v0, 1\n").unwrap_err();
        assert_eq!(errors.len(), 3);
        assert_eq!(errors[0].hint.as_deref(), Some("did you mean `s_mov_b32`?"));
        assert_eq!(errors[0].span.offset(), 2);
        assert!(errors.iter().any(|e| e.message.contains("nowhere")));
    }

    #[test]
    fn kernel_blocks() {
        let text = ".set n, 9\n.section .rodata\n.amdhsa_kernel k\n .amdhsa_next_free_vgpr n\n .amdhsa_next_free_sgpr 16\n .amdhsa_user_sgpr_kernarg_segment_ptr 1\n.end_amdhsa_kernel\n.text\nk: s_endpgm\n";
        let out = run(text).unwrap();
        assert_eq!(out.kernels[0].name, "k");
        assert_eq!(out.kernels[0].next_free_vgpr, 9);
        assert_eq!(out.kernels[0].rsrc1() & 0x3f, 2);
        assert!(run(".amdhsa_kernel k\n.amdhsa_next_free_vpgr 3\n").is_err());
    }

    #[test]
    fn short_kernel_headers() {
        let text = ".kernel a\n.arg buf x\n.arg u8\n.arg f64 z\n.lds 256\n v_mov_b32 v9, s20\n s_endpgm\n.kernel b\n.amdhsa_ieee_mode 0\n s_endpgm\n";
        let out = run(text).unwrap();
        let (a, b) = (&out.kernels[0], &out.kernels[1]);
        let offsets: Vec<u32> = a.args.iter().map(|a| a.offset).collect();
        assert_eq!((offsets, a.kernarg_size, a.args[1].name.as_str()), (vec![0, 8, 16], 24, "arg1"));
        assert_eq!((a.next_free_vgpr, a.next_free_sgpr, a.group_segment_fixed_size), (10, 21, 256));
        assert_eq!((out.labels["b"], b.next_free_vgpr, b.ieee_mode, a.ieee_mode), (256, 3, false, true));
        let error = &run(".kernel k\n.arg buff\n").unwrap_err()[0];
        assert_eq!(error.hint.as_deref(), Some("did you mean `buf`?"));
        assert!(run(".arg buf\n").unwrap_err()[0].message.contains("belongs to a kernel"));
        assert!(run(".kernel a\n.kernel b\n s_endpgm\n").unwrap_err()[0].message.contains("no code"));
        let missing = run(".amdhsa_kernel k\n.end_amdhsa_kernel\n").unwrap_err();
        assert!(missing[0].message.contains("no code"), "{missing:?}");
    }
}
