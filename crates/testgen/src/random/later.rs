//! Kernels that were written for gfx8, for later generations: other names, offsets and scalar bases in accesses, a constant beside
//! a register in scalar loads, scalar atomics, work-item ids in one register.

use super::loops::Noise;
use wb_isa::gcn3::Generation;
use wb_isa::gcn3::generation::GENERATIONS;

/// `s[6:7]` points so many bytes behind what it pointed to, so that constants can be negative.
const BEHIND: u32 = 256;

/// A later generation, its preset, and the text of the kernel for it. What `v[20:21]` and v18 hold stays as the text has it: an
/// address, and that address minus `s[4:5]` as it was when the kernel began.
pub fn ported(text: &str, noise: &mut Noise) -> (&'static Generation, &'static str, String) {
    let presets = [("gfx900", "vega"), ("gfx90a", "mi200"), ("gfx940", "mi300")];
    let (name, preset) = noise.pick(&presets);
    let generation = GENERATIONS.iter().find(|g| g.name == name).copied().unwrap_or(GENERATIONS[0]);
    let mut out = format!(".amdgcn_target \"amdgcn-amd-amdhsa--{}\"\n", generation.usual.name);
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        out += &line[..indent];
        out += &instruction(line.trim(), noise);
        out.push('\n');
        if line.contains("s_mov_b32 m0, -1") {
            out += &format!("  s_add_u32 s6, s6, {BEHIND:#x}\n  s_addc_u32 s7, s7, 0\n");
            if generation.packed_ids {
                out += "  v_and_b32 v0, 0x3ff, v0\n";
            }
        }
    }
    (generation, preset, out)
}

/// The text of a kernel for a later generation that does the same: other names, and operations that only later ones have.
pub fn renamed(text: &str, noise: &mut Noise) -> String {
    let name = noise.pick(&["gfx900", "gfx906", "gfx908", "gfx90a", "gfx940"]);
    let mut out = format!(".amdgcn_target \"amdgcn-amd-amdhsa--{name}\"\n");
    let lines: Vec<&str> = text.lines().collect();
    for (i, line) in lines.iter().enumerate() {
        let carries = lines.get(i + 1).is_some_and(|next| next.contains("v_addc") || next.contains("v_subb"));
        let plain = line.trim();
        out += &line[..line.len() - line.trim_start().len()];
        out += &match plain.split_once(' ') {
            Some((name, rest)) => same(name, rest, carries, noise).unwrap_or_else(|| plain.to_owned()),
            None => plain.to_owned(),
        };
        out.push('\n');
    }
    out
}

/// Whether an operand can stand in a long encoding: a register or a small number.
fn is_short(operand: &str) -> bool {
    let register = operand.starts_with(['v', 's']) && !operand.contains(['(', '[']);
    register || operand.parse().is_ok_and(|n: i32| (-16..=64).contains(&n))
}

/// The same instruction in other words; none if it has no others.
fn same(name: &str, rest: &str, carries: bool, noise: &mut Noise) -> Option<String> {
    let parts: Vec<&str> = rest.split(", ").collect();
    let short = |from: usize| parts.len() == from + 2 && parts[from..].iter().all(|p| is_short(p));
    let choice = noise.below(4);
    Some(match (name, choice) {
        ("v_addc_u32", _) => format!("v_addc_co_u32 {rest}"),
        ("v_subb_u32", _) => format!("v_subb_co_u32 {rest}"),
        ("v_subbrev_u32", _) => format!("v_subbrev_co_u32 {rest}"),
        ("v_add_u32" | "v_sub_u32" | "v_subrev_u32", _) if carries || parts.get(1) != Some(&"vcc") => {
            format!("{}_co_u32 {rest}", name.trim_end_matches("_u32"))
        }
        ("v_add_u32", 1) if short(2) => format!("v_add3_u32 {}, {}, {}, 0", parts[0], parts[2], parts[3]),
        ("v_add_u32", 2) if short(2) => format!("v_lshl_add_u32 {}, {}, 0, {}", parts[0], parts[2], parts[3]),
        ("v_add_u32", 3) if short(2) => format!("v_xad_u32 {}, {}, 0, {}", parts[0], parts[2], parts[3]),
        ("v_add_u32" | "v_sub_u32" | "v_subrev_u32", _) => {
            format!("{name} {}, {}", parts[0], parts.get(2..)?.join(", "))
        }
        ("v_and_b32", 0) if short(1) => format!("v_and_or_b32 {rest}, 0"),
        ("v_or_b32", 0) if short(1) => format!("v_or3_b32 {rest}, 0"),
        ("v_lshlrev_b32", 0) if short(1) => {
            format!("v_lshl_or_b32 {}, {}, {}, 0", parts[0], parts[2], parts[1])
        }
        (name, 0..3) if name.starts_with("flat_load_") || name.starts_with("flat_store_") => {
            let global = name.replacen("flat", "global", 1);
            format!("{global} {rest}, off")
        }
        _ => return None,
    })
}

/// An offset of a global access.
fn offset(noise: &mut Noise) -> i64 {
    noise.pick(&[0, 4, -4, 60, 64, 256, -64, -1024, 2044])
}

fn instruction(line: &str, noise: &mut Noise) -> String {
    let Some((name, rest)) = line.split_once(' ') else { return line.to_owned() };
    match name {
        "v_add_u32" | "v_sub_u32" => {
            let plain = rest.replacen("vcc, ", "", 1);
            // Whether somebody reads the carry is not looked at: it stays where an address is made.
            match rest.starts_with("v20") || !noise.one_in(2) {
                true => format!("{}_co_u32 {rest}", &name[..5]),
                false => format!("{name} {plain}"),
            }
        }
        "v_addc_u32" => format!("v_addc_co_u32 {rest}"),
        "v_subb_u32" => format!("v_subb_co_u32 {rest}"),
        _ if name.starts_with("flat_load_") => access(name, rest, noise),
        "s_load_dword" if rest.starts_with("s14") => scalar(rest, noise),
        _ => line.to_owned(),
    }
}

/// `v22, v[20:21]` in one of the ways that there are.
fn access(name: &str, rest: &str, noise: &mut Noise) -> String {
    let what = name.trim_start_matches("flat_");
    let Some((dst, _)) = rest.split_once(", ") else { return format!("{name} {rest}") };
    match noise.below(4) {
        0 => format!("{name} {rest}"),
        1 => format!("{name} {rest} offset:{}", noise.pick(&[4, 64, 100, 2048, 4095])),
        2 => format!("global_{what} {rest}, off offset:{}", offset(noise)),
        _ => format!("global_{what} {dst}, v18, s[4:5] offset:{}", offset(noise)),
    }
}

/// A scalar load with a register, a constant, or both; sometimes something is added there instead.
fn scalar(rest: &str, noise: &mut Noise) -> String {
    let Some((registers, _)) = rest.rsplit_once(", ") else { return format!("s_load_dword {rest}") };
    let register = 8 + noise.below(4);
    match noise.below(5) {
        0 => format!("s_load_dword {rest}"),
        1 => format!("s_load_dword {registers}, s{register}"),
        2 => format!("s_load_dword {registers}, s{register} offset:{:#x}", noise.pick(&[4, 8, 64, 100])),
        3 => format!("s_load_dword {registers}, -{}", noise.pick(&[4, 8, 64])),
        _ => format!("s_atomic_add {registers}, {:#x} glc", noise.pick(&[4, 8, 64])),
    }
}
