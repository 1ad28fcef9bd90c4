//! From a code object and one of its kernels to a [`Program`].

use crate::calls;
use crate::codeobject::{CodeObject, InlinedCall, Kernel};
use std::collections::BTreeMap;
use wb_isa::gcn3::{
    self, Inst,
    isa::{Gcn3, Setup, UserSgprs},
};
use wb_isa::{NO_PC, Pc, SourceFile};
use wb_program::{Decoded, Inlined, LoadError, Program, Segment};

/// Decodes the text of a code object placed at `base`. The ISA instance carries the dispatch; its `code_base` is
/// set here. `source`: the assembly it was made from.
pub fn gcn3_program(
    object: &CodeObject,
    kernel: &Kernel,
    mut isa: Gcn3,
    base: u64,
    name: &str,
    source: Option<SourceFile>,
) -> Result<Program<Gcn3>, LoadError> {
    let size = (object.text.end - object.text.start) as usize;
    let bytes = object.bytes_at(object.text.start, size).ok_or(LoadError::Empty)?;
    isa.code_base = base + object.text.start;
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let mut insts = vec![(None, NO_PC); words.len()];
    let mut pc = 0;
    while pc < words.len() {
        let mut step = 1;
        // Code is padded with one word again and again.
        if let Some(i) = pc.checked_sub(1).filter(|&i| words[i] == words[pc] && is_one_word(&insts[i])) {
            insts[pc] = (insts[i].0, (pc + 1) as Pc);
        } else if let Ok(inst) = gcn3::decode_for(object.generation(), &words[pc..]) {
            step = usize::from(inst.size / 4).max(1);
            insts[pc] = (Some(inst), (pc + step) as Pc);
        }
        pc += step;
    }
    let pc_of = |addr: u64| {
        let offset = addr.checked_sub(object.text.start)?;
        (offset % 4 == 0 && offset / 4 < words.len() as u64).then_some((offset / 4) as Pc)
    };
    let entry = pc_of(kernel.start()).ok_or(LoadError::Entry(kernel.start()))?;
    let mut lines = vec![0; words.len()];
    let mut line_files = vec![0; words.len()];
    let mut inner = BTreeMap::new();
    for (i, &(addr, file, line)) in object.lines.iter().enumerate() {
        let to = object.lines.get(i + 1).and_then(|next| pc_of(next.0)).map_or(lines.len(), |pc| pc as usize);
        let Some(range) = pc_of(addr).map(|from| from as usize..to) else { continue };
        // What comes from a header of a library is shown where the user's code calls it.
        let (file, line) = match object.sites.get(&addr) {
            Some(&site) => {
                inner.extend(range.clone().map(|pc| (pc as Pc, (file as u16, line))));
                site
            }
            None => (file, line),
        };
        if let (Some(part), Some(files)) = (lines.get_mut(range.clone()), line_files.get_mut(range)) {
            part.fill(line);
            files.fill(file as u16);
        }
    }
    let labels = object.symbols.iter().filter_map(|(n, a)| Some((n.clone(), pc_of(*a)?))).collect();
    let shift = |s: &Segment| Segment { addr: s.addr + base, bytes: s.bytes.clone() };
    let mut program = Program::new(Decoded {
        name: object.files.first().cloned().unwrap_or_else(|| name.to_owned()),
        insts,
        entry,
        segments: object.segments.iter().map(shift).collect(),
        text: std::iter::once(base + object.text.start..base + object.text.end).collect(),
        labels,
        symbols: object.symbols.iter().map(|(n, a)| (n.clone(), a.wrapping_add(base))).collect(),
        lines,
        source,
        isa,
    })?;
    program.kernel.clone_from(&kernel.name);
    program.files.clone_from(&object.files);
    program.line_files = line_files;
    program.inner = inner;
    program.inlined = inlined(&object.inlined, pc_of);
    program.base = base;
    program.calls = calls::find(&program);
    Ok(program)
}

fn is_one_word((inst, _): &(Option<Inst>, Pc)) -> bool {
    inst.as_ref().is_some_and(|inst| inst.size == 4)
}

/// Inlined calls by pc. Their code ends where the text does, or before an instruction.
pub(crate) fn inlined(calls: &[InlinedCall], pc_of: impl Fn(u64) -> Option<Pc>) -> Vec<Inlined> {
    let by_pc = |c: &InlinedCall| {
        let (from, last) = (pc_of(c.from)?, pc_of(c.to - 4)?);
        let (file, function) = (c.file.clone(), c.function.clone());
        Some(Inlined { from, to: last + 1, depth: c.depth, file, line: c.line, function })
    };
    calls.iter().filter(|c| c.to >= c.from + 4).filter_map(by_pc).collect()
}

/// What the kernel's descriptor says about the registers it starts with; sizes and addresses are the launch's.
pub fn gcn3_setup(kernel: &Kernel) -> Setup {
    let d = kernel.descriptor;
    Setup {
        gcn: d.gcn,
        vgprs: d.plain_vgprs(),
        agprs: d.agprs(),
        mode: d.mode(),
        user: UserSgprs::from(d.user_sgpr_flags()),
        user_sgprs: d.user_sgprs(),
        workgroup: d.workgroup_ids(),
        scratch_wave_offset: d.scratch_enabled(),
        work_item_dimensions: d.work_item_dimensions(),
        ..Setup::default()
    }
}
