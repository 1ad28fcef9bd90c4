//! What an instruction does to two runs, and what it lets time depend on.

use super::format::{Labelling, Seen, TimeUse};
use super::lanes::{EXEC, Lane, Pair, SCC};
use wb_isa::gcn3::table::implicit;
use wb_isa::gcn3::{Format, Inst, NO_SDST, Op, Operand, Ty, Use, flag};

/// What an instruction did besides.
#[derive(Default)]
pub struct Effect {
    pub time: Option<TimeUse>,
    /// Something that may differ was stored there.
    pub local: bool,
    pub private: bool,
}

type Bits = (bool, bool);
type BitOperation = fn(bool, bool) -> bool;

/// Follows one instruction; none: it is not covered.
pub fn follow(inst: &Inst, seen: Seen, labelling: &Labelling, pair: &mut Pair) -> Option<Effect> {
    if !covered(inst) {
        return None;
    }
    let mut effect = Effect { time: decides(inst, pair), ..Effect::default() };
    let brings = seen.global || seen.local && labelling.local || seen.private && labelling.private;
    match inst.format {
        Format::Smem => {
            let clock = matches!(inst.op, Op::SMemtime | Op::SMemrealtime);
            scalars(inst, pair, brings && !clock);
        }
        Format::Ds
        | Format::Flat
        | Format::Global
        | Format::Scratch
        | Format::Mubuf
        | Format::Mtbuf
        | Format::Mimg => {
            let exchange = matches!(inst.op, Op::DsSwizzleB32 | Op::DsPermuteB32 | Op::DsBpermuteB32);
            let result = match exchange {
                true => pair.exec_differs() || anywhere(pair, &vectors(inst, |u| u.read)),
                false => brings || inst.has(flag::TFE),
            };
            let name = inst.entry().name;
            let to_lds = inst.has(flag::LDS);
            if !exchange && (to_lds || !(name.starts_with("ds_read") || name.contains("_load_"))) {
                let given = vectors(inst, |u| u.read);
                let differs = pair.lanes.iter().any(|l| l.on() && given.iter().any(|v| l.differ.contains(v)))
                    || pair.exec_differs()
                    || inst.entry().atomic && brings
                    || to_lds && seen.global;
                effect.local = differs && (seen.local || to_lds);
                effect.private = differs && seen.private;
            }
            results(inst, pair, |_| result);
        }
        Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk | Format::Sopp => scalar(inst, pair),
        Format::Vop1
        | Format::Vop2
        | Format::Vop3
        | Format::Vop3p
        | Format::Vopc
        | Format::Sdwa
        | Format::Dpp => {
            vector(inst, seen, pair);
        }
        // The machine refuses to execute them.
        Format::Vintrp | Format::Exp => return None,
    }
    Some(effect)
}

/// Instructions that name all registers they use, but for `v_movrels`, which may read any.
fn covered(inst: &Inst) -> bool {
    let by_number = matches!(inst.op, Op::SMovrelsB32 | Op::SMovrelsB64 | Op::SSetGprIdxOff);
    // A mask of lanes in registers that are no pair.
    let odd = mask_written(inst).is_some_and(|n| n % 2 == 1);
    crate::covered(inst) && !by_number && !odd && !inst.has(flag::GDS)
}

/// The first of two registers that get a bit for every lane.
fn mask_written(inst: &Inst) -> Option<u8> {
    if inst.sdst != NO_SDST {
        return Some(inst.sdst);
    }
    inst.entry().compare().map(|_| if let Operand::Sgpr(n) = inst.dst { n } else { 106 })
}

/// Registers of one kind that an instruction uses.
fn registers(inst: &Inst, wanted: impl Fn(&Use) -> bool, scalar: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for used in inst.uses().iter().filter(|u| wanted(u)) {
        match used.operand {
            Operand::Vgpr(n) if !scalar => out.extend((0..used.dwords).map(|k| n.wrapping_add(k))),
            Operand::Sgpr(n) if scalar => out.extend((0..used.dwords).map(|k| n.wrapping_add(k) & 127)),
            Operand::Scc if scalar => out.push(SCC),
            _ => {}
        }
    }
    out
}

fn vectors(inst: &Inst, wanted: impl Fn(&Use) -> bool) -> Vec<u8> {
    registers(inst, wanted, false)
}

/// Scalar registers that an operand of so many dwords names.
fn named(operand: Operand, dwords: u8) -> Vec<u8> {
    match operand {
        Operand::Sgpr(n) => (0..dwords.max(1)).map(|k| n.wrapping_add(k) & 127).collect(),
        Operand::VccZ => vec![106, 107],
        Operand::ExecZ => vec![126, 127],
        Operand::Scc => vec![SCC],
        _ => Vec::new(),
    }
}

fn anywhere(pair: &Pair, registers: &[u8]) -> bool {
    pair.lanes.iter().any(|l| registers.iter().any(|v| l.differ.contains(v)))
}

/// What the instruction lets time depend on, if that may differ.
fn decides(inst: &Inst, pair: &Pair) -> Option<TimeUse> {
    let differs = |list: &[u8]| list.iter().any(|n| pair.scalars.contains(n));
    let sources = || (0..3).flat_map(|i| named(inst.src[i], inst.src_dwords(i))).collect::<Vec<u8>>();
    let (what, list): (TimeUse, Vec<u8>) = match inst.op {
        Op::SCbranchScc0 | Op::SCbranchScc1 => (TimeUse::Branch, vec![SCC]),
        Op::SCbranchVccz | Op::SCbranchVccnz => (TimeUse::Branch, vec![106, 107]),
        Op::SCbranchExecz | Op::SCbranchExecnz => (TimeUse::Branch, vec![126, 127]),
        Op::SSetpcB64 | Op::SSwappcB64 => (TimeUse::Jump, sources()),
        Op::Split => (TimeUse::Split, sources()),
        Op::SSetregB32 | Op::SSetregImm32B32 => (TimeUse::Mode, sources()),
        Op::VMovrelsB32 | Op::SSendmsg | Op::SSendmsghalt => (TimeUse::Mode, vec![124]),
        _ => match inst.format {
            Format::Smem => (TimeUse::Address, sources()),
            Format::Ds => (TimeUse::LocalAddress, vec![124]),
            Format::Flat
            | Format::Global
            | Format::Scratch
            | Format::Mubuf
            | Format::Mtbuf
            | Format::Mimg => (TimeUse::Address, sources()),
            _ => return None,
        },
    };
    if differs(&list) && !matches!(inst.op, Op::DsSwizzleB32 | Op::DsPermuteB32 | Op::DsBpermuteB32) {
        return Some(what);
    }
    let lanes = inst.format.is_vector_memory()
        && !matches!(inst.op, Op::DsSwizzleB32 | Op::DsPermuteB32 | Op::DsBpermuteB32);
    if lanes && pair.exec_differs() {
        return Some(TimeUse::Lanes);
    }
    if let (true, Operand::Vgpr(n)) = (lanes, inst.src[0]) {
        let dwords = if inst.format == Format::Mimg { 16 } else { inst.src_dwords(0) };
        let address = |l: &Lane| (0..dwords).any(|k| l.differ.contains(&n.wrapping_add(k)));
        if pair.lanes.iter().any(|l| l.on() && address(l)) {
            return Some(what);
        }
    }
    None
}

/// Scalar registers of the result, none of them followed as a mask.
fn scalars(inst: &Inst, pair: &mut Pair, differs: bool) {
    for n in registers(inst, |u| u.write, true) {
        scalar_register(pair, n, differs);
    }
}

fn scalar_register(pair: &mut Pair, n: u8, differs: bool) {
    if n == 126 || n == 127 {
        // Half of EXEC: nothing is known of the lanes then.
        let differs = differs || pair.exec_differs();
        return masks(pair, &[EXEC], |_| any_bits(differs).into_iter().map(|b| vec![b]).collect());
    }
    if n != SCC {
        pair.drop_mask(n / 2);
    }
    match differs {
        true => pair.scalars.insert(n),
        false => pair.scalars.remove(&n),
    };
}

/// The bits a lane can have in a mask of which only that is known.
fn any_bits(differs: bool) -> Vec<Bits> {
    let mut all = vec![(false, false), (true, true)];
    if differs {
        all.extend([(false, true), (true, false)]);
    }
    all
}

/// The bits a lane can have in a 64-bit operand.
fn operand_bits(pair: &Pair, lane: &Lane, operand: Operand) -> Vec<Bits> {
    match operand {
        Operand::InlineInt(0) => vec![(false, false)],
        Operand::InlineInt(-1) => vec![(true, true)],
        Operand::Sgpr(n) if n % 2 == 0 && pair.follows(n / 2) => vec![lane.bit(n / 2)],
        _ => any_bits(named(operand, 2).iter().any(|n| pair.scalars.contains(n))),
    }
}

/// Gives masks new bits: `new` lists what a lane can get.
fn masks(pair: &mut Pair, to: &[u8], new: impl Fn(&Lane) -> Vec<Vec<Bits>>) {
    let mut lanes = Vec::new();
    for lane in &pair.lanes {
        for bits in new(lane) {
            let mut lane = lane.clone();
            to.iter().zip(bits).for_each(|(&m, b)| lane.put(m, b));
            lanes.push(lane);
        }
    }
    pair.lanes = lanes;
    // Before kinds of lanes are given up, and with them the bits.
    for &m in to {
        pair.followed |= 1 << m;
        let differs = pair.lanes.iter().any(|l| l.bit(m).0 != l.bit(m).1);
        for n in [2 * m, 2 * m + 1] {
            if differs {
                pair.scalars.insert(n);
            } else {
                pair.scalars.remove(&n);
            }
        }
    }
    pair.tidy();
}

/// What a 64-bit operation does to one bit, and whether EXEC is its second source and saved before.
fn bitwise(op: Op) -> Option<(BitOperation, bool)> {
    Some(match op {
        Op::SMovB64 => (|x, _| x, false),
        Op::SNotB64 => (|x, _| !x, false),
        Op::SAndB64 => (|x, y| x && y, false),
        Op::SAndSaveexecB64 => (|x, y| x && y, true),
        Op::SOrB64 => (|x, y| x || y, false),
        Op::SOrSaveexecB64 => (|x, y| x || y, true),
        Op::SXorB64 => (|x, y| x != y, false),
        Op::SXorSaveexecB64 => (|x, y| x != y, true),
        Op::SAndn2B64 => (|x, y| x && !y, false),
        Op::SAndn2SaveexecB64 => (|x, y| x && !y, true),
        Op::SOrn2B64 => (|x, y| x || !y, false),
        Op::SOrn2SaveexecB64 => (|x, y| x || !y, true),
        Op::SNandB64 => (|x, y| !(x && y), false),
        Op::SNandSaveexecB64 => (|x, y| !(x && y), true),
        Op::SNorB64 => (|x, y| !x && !y, false),
        Op::SNorSaveexecB64 => (|x, y| !x && !y, true),
        Op::SXnorB64 => (|x, y| x == y, false),
        Op::SXnorSaveexecB64 => (|x, y| x == y, true),
        _ => return None,
    })
}

fn scalar(inst: &Inst, pair: &mut Pair) {
    let mask = match inst.dst {
        Operand::Sgpr(n) if n % 2 == 0 => Some(n / 2),
        _ => None,
    };
    let before = pair.clone();
    if let (Some((f, saves)), Some(m)) = (bitwise(inst.op), mask) {
        let second = if saves { Operand::EXEC } else { inst.src[1] };
        let result = |lane: &Lane| -> Vec<Bits> {
            let mut out = Vec::new();
            for x in operand_bits(&before, lane, inst.src[0]) {
                let both =
                    operand_bits(&before, lane, second).into_iter().map(|y| (f(x.0, y.0), f(x.1, y.1)));
                out.extend(both);
            }
            out
        };
        let target = if saves { EXEC } else { m };
        if saves && m != EXEC {
            masks(pair, &[m, EXEC], |l| result(l).into_iter().map(|b| vec![l.bit(EXEC), b]).collect());
        } else {
            masks(pair, &[target], |l| result(l).into_iter().map(|b| vec![b]).collect());
        }
        if registers(inst, |u| u.write, true).contains(&SCC) {
            // Whether any bit is set.
            let differs = pair.scalars.contains(&(2 * target));
            scalar_register(pair, SCC, differs);
        }
        return;
    }
    if let (Op::SCselectB64, Some(m), false) = (inst.op, mask, pair.scalars.contains(&SCC)) {
        let either = |l: &Lane| {
            let both = inst.src[..2].iter().flat_map(|&o| operand_bits(&before, l, o));
            both.map(|b| vec![b]).collect()
        };
        return masks(pair, &[m], either);
    }
    let mut reads = registers(inst, |u| u.read, true);
    if inst.op == Op::SGetregB32 {
        // The status register shows these.
        reads.extend([SCC, 106, 107, 126, 127]);
    }
    let differs = reads.iter().any(|n| pair.scalars.contains(n));
    scalars(inst, pair, differs);
}

/// Writes vector registers: `differs` tells whether the result of a lane that is on in both runs may differ.
fn results(inst: &Inst, pair: &mut Pair, differs: impl Fn(&Lane) -> bool) {
    let writes = vectors(inst, |u| u.write);
    for lane in &mut pair.lanes {
        let different = match lane.bit(EXEC) {
            (false, false) => continue,
            (true, true) => differs(lane),
            _ => true,
        };
        for v in &writes {
            if different {
                lane.differ.insert(*v);
            } else {
                lane.differ.remove(v);
            }
        }
    }
}

fn vector(inst: &Inst, seen: Seen, pair: &mut Pair) {
    let reads = vectors(inst, |u| u.read);
    let uniform: Vec<u8> = (0..3)
        .filter(|&i| inst.src_ty(i) != Ty::Mask)
        .flat_map(|i| named(inst.src[i], inst.src_dwords(i)))
        .chain((inst.entry().reads & implicit::M0 != 0).then_some(124))
        .collect();
    let scalar = uniform.iter().any(|n| pair.scalars.contains(n));
    match inst.op {
        Op::VReadfirstlaneB32 => {
            let looked_at = |l: &&Lane| seen.idle || l.on();
            let lane =
                pair.lanes.iter().filter(looked_at).any(|l| reads.iter().any(|v| l.differ.contains(v)));
            let differs = scalar || lane || pair.exec_differs();
            return scalars(inst, pair, differs);
        }
        Op::VReadlaneB32 => {
            let differs = scalar || anywhere(pair, &reads);
            return scalars(inst, pair, differs);
        }
        Op::VWritelaneB32 => {
            let given: Vec<u8> = inst
                .src
                .iter()
                .filter_map(|o| if let Operand::Vgpr(n) = o { Some(*n) } else { None })
                .collect();
            if scalar || anywhere(pair, &given) {
                let writes = vectors(inst, |u| u.write);
                pair.lanes.iter_mut().for_each(|l| l.differ.extend(&writes));
            }
            return;
        }
        _ => {}
    }
    // Other lanes' registers, or registers by number.
    let elsewhere = match inst.op {
        _ if inst.format == Format::Dpp => pair.exec_differs() || anywhere(pair, &reads),
        // Registers by number: any of them.
        Op::VMovrelsB32 => pair.lanes.iter().any(|l| !l.differ.is_empty()),
        _ => false,
    };
    let mut asked: Vec<Operand> =
        (0..3).filter(|&i| inst.src_ty(i) == Ty::Mask).map(|i| inst.src[i]).collect();
    if inst.entry().reads & implicit::VCC != 0 {
        asked.push(Operand::VCC);
    }
    let before = pair.clone();
    let differs = |lane: &Lane| {
        scalar
            || elsewhere
            || reads.iter().any(|v| lane.differ.contains(v))
            || asked.iter().any(|&m| operand_bits(&before, lane, m).iter().any(|b| b.0 != b.1))
    };
    // Carries and comparisons: a bit for every lane that is on.
    if let Some(n) = mask_written(inst) {
        let bits = |lane: &Lane| -> Vec<Bits> {
            let (on_one, on_two) = lane.bit(EXEC);
            any_bits(differs(lane)).into_iter().map(|(x, y)| (on_one && x, on_two && y)).collect()
        };
        let exec = inst.entry().compare().is_some_and(|c| c.exec);
        // The registers of the result first, while lanes are as they were read.
        let mut written = pair.clone();
        results(inst, &mut written, differs);
        let own = |lane: &Lane| before.lanes.iter().find(|l| (l.one, l.two) == (lane.one, lane.two));
        let new = |lane: &Lane| own(lane).map_or_else(Vec::new, bits);
        match exec && n / 2 != EXEC {
            true => masks(&mut written, &[n / 2, EXEC], |l| new(l).into_iter().map(|b| vec![b, b]).collect()),
            false => masks(&mut written, &[n / 2], |l| new(l).into_iter().map(|b| vec![b]).collect()),
        }
        *pair = written;
        return;
    }
    results(inst, pair, differs);
}
