//! The kernel's bound from the bounds of its waves: the sound rule of rounds, and those of the documents (PWS equations 4 to
//! 8, THESIS equations 5.1 to 5.5, Betts and Donaldson's delays), each with what it assumes in words.

use crate::paper::thesis::{self, PathTime};
use crate::paper::{PaperError, lemmas};
use thiserror::Error;
use wb_hw::{Machine, Needs};

/// How waves and paths make a kernel, in the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Composition {
    /// No splitting: D_S (d + E_WF).
    None,
    /// Paths at once, equation 5.4.
    ThesisParallel,
    /// Paths one after the other, equation 5.5.
    ThesisSerial,
    /// Paths one after the other, lemma 5.7.
    Dws,
    /// Paths at once, lemma 5.5.
    Pws,
    /// The worst wave and the last start.
    BettsDynamic,
    /// Batches, and a delay scaled by the number of waves.
    BettsHybrid,
}

/// The numbers the documents' formulas take; each uses those it names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// G.
    pub groups: u64,
    /// N_WIWG, T_WG.
    pub group_lanes: u64,
    /// N_WIWF, T_WF.
    pub wave_lanes: u64,
    /// N_CU.
    pub cores: u64,
    /// N_SIMD of a core, before re-provisioning.
    pub partitions: u64,
    /// N_WFC: slots of a partition for waves that are launched.
    pub slots: u64,
    /// S.
    pub contexts: u64,
    /// |S_B|, for equation 2; `None` = units are not re-provisioned.
    pub selected: Option<u64>,
    /// d: the worst delay of a first instruction; between two starts for Betts' hybrid.
    pub delay: u64,
    /// E_WF, L: the bound of a wave under the mechanism in question.
    pub wave: u64,
    /// For each wave of a batch its paths; THESIS and Betts' dynamic.
    pub waves: Vec<Vec<PathTime>>,
}

/// A kernel's bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelBound {
    pub cycles: u64,
    pub rounds: u64,
    pub groups_at_once: u64,
    /// What must hold for it, in words.
    pub assumptions: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ComposeError {
    #[error(
        "not even one group fits on the machine; make groups smaller or use fewer registers or less local memory"
    )]
    NoRoom,
    #[error("no wave has a time; give at least one")]
    NoWaves,
    #[error("the kernel takes more than 2^64 - 1 cycles; check loop bounds and the number of groups")]
    TooLong,
    #[error(transparent)]
    Paper(#[from] PaperError),
}

const CO_RUNNERS: &str = "the bound of a wave holds whatever runs beside it";
const POOL: &str = "groups may span cores and use half a wave: wave slots of the whole machine are one pool (not true, see repair 6)";
const EQUAL_BLOCKS: &str = "a block takes as long with split paths beside it as without, and with any lanes on (not true, see repairs 4 and 5)";

/// The kernel's bound as a document has it.
pub fn compose(kind: Composition, launch: &Launch) -> Result<KernelBound, ComposeError> {
    match kind {
        Composition::None | Composition::Pws | Composition::Dws => pws(kind, launch),
        _ => thesis_and_betts(kind, launch),
    }
}

/// Equations 2 and 4 to 8.
fn pws(kind: Composition, n: &Launch) -> Result<KernelBound, ComposeError> {
    let mut assumptions = vec![POOL.into(), CO_RUNNERS.into()];
    let units = match n.selected.filter(|_| kind == Composition::Pws) {
        None => n.partitions,
        Some(selected) => {
            assumptions.push(format!("re-provisioning by equation 2 with |S_B| = {selected} (see repair 9)"));
            let units =
                lemmas::simd_units(n.partitions, n.contexts, selected).ok_or(ComposeError::TooLong)?;
            u64::try_from(units).map_err(|_| ComposeError::NoRoom)?
        }
    };
    let at_once = lemmas::groups_at_once(n.cores, units, n.slots, n.wave_lanes, n.group_lanes)
        .ok_or(if n.group_lanes == 0 { ComposeError::NoRoom } else { ComposeError::TooLong })?;
    let rounds = lemmas::dispatches(n.groups, at_once).ok_or(ComposeError::NoRoom)?;
    let cycles = match kind {
        Composition::Dws => {
            assumptions
                .push("the paths of a wave run one after the other, each as long as the whole wave".into());
            lemmas::kernel_dws(rounds, n.delay, n.contexts, n.wave)
        }
        _ => lemmas::kernel_pws(rounds, n.delay, n.wave),
    };
    if kind == Composition::Pws {
        assumptions.push("every selected branch finds a context and units of its own".into());
    }
    if kind != Composition::None {
        assumptions.push(EQUAL_BLOCKS.into());
    }
    Ok(KernelBound {
        cycles: cycles.ok_or(ComposeError::TooLong)?,
        rounds,
        groups_at_once: at_once,
        assumptions,
    })
}

/// Equations 5.1 to 5.5 and the delays of Betts and Donaldson.
fn thesis_and_betts(kind: Composition, n: &Launch) -> Result<KernelBound, ComposeError> {
    let product = |a: u64, b: u64| a.checked_mul(b).ok_or(ComposeError::TooLong);
    if n.group_lanes == 0 || n.wave_lanes == 0 {
        return Err(ComposeError::NoRoom);
    }
    let hardware = product(product(n.cores, n.partitions)?, n.slots)?;
    let kernel = product(n.groups, n.group_lanes.div_ceil(n.wave_lanes))?;
    let waves = thesis::waves(hardware, kernel);
    let rounds = match n.groups {
        0 => 0,
        _ => thesis::batches(n.groups, waves, n.wave_lanes, n.group_lanes).ok_or(ComposeError::NoRoom)?,
    };
    let at_once = product(waves, n.wave_lanes)? / n.group_lanes;
    let mut assumptions = vec![CO_RUNNERS.into()];
    if kind != Composition::BettsHybrid && n.waves.iter().all(Vec::is_empty) {
        return Err(ComposeError::NoWaves);
    }
    let (rounds, cycles) = match kind {
        Composition::BettsDynamic => {
            assumptions.push("starts of waves are as late as measured, in this launch, and no later".into());
            (1, thesis::betts_dynamic(&n.waves))
        }
        Composition::BettsHybrid => {
            assumptions.extend([POOL.into(), "waves of a batch start at most d apart".into()]);
            (rounds, thesis::betts_hybrid(rounds, n.wave, waves, n.delay))
        }
        serial_or_parallel => {
            assumptions.extend([POOL.into(), "starts of paths are as late as measured and no later".into()]);
            assumptions.push(
                "the first S marked branches split (not true without reconvergence, see repair 8)".into(),
            );
            assumptions.push(EQUAL_BLOCKS.into());
            let batch = if serial_or_parallel == Composition::ThesisSerial {
                assumptions.push("the paths of a wave run one after the other".into());
                thesis::batch_serial(&n.waves)
            } else {
                assumptions.push("the paths of a wave have units of their own".into());
                thesis::batch_parallel(&n.waves)
            };
            (rounds, batch.and_then(|b| thesis::kernel(rounds, b, 0)))
        }
    };
    Ok(KernelBound {
        cycles: cycles.ok_or(ComposeError::TooLong)?,
        rounds,
        groups_at_once: at_once,
        assumptions,
    })
}

/// Where groups can be at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seats {
    pub cores: u64,
    pub groups_per_core: u64,
}

impl Seats {
    /// As the dispatcher of a machine fills it.
    pub fn of(machine: &Machine, needs: Needs) -> Seats {
        let groups_per_core = machine.occupancy(needs).groups_per_core.into();
        Seats { cores: machine.cores.into(), groups_per_core }
    }
}

/// The sound rule: ⌈G / P⌉ rounds of T = max over waves of (δ + L), with P = cores · groups per core (repairs 6 and 7).
///
/// Why: let every group be finished T after it is dispatched, whatever runs beside it, and let the dispatcher give the
/// next group, in order, to a core with room as soon as there is one. Claim: group k (from 0) is dispatched by ⌊k / P⌋ T.
/// The first P groups find room at once. For k ≥ P, all groups j ≤ k − P were dispatched by ⌊j / P⌋ T ≤ (⌊k / P⌋ − 1) T, so they
/// are finished by ⌊k / P⌋ T. Then at most P − 1 of the k groups before are running, some core has fewer
/// than it can hold, and group k is dispatched if it was not before. So by m T at least m P groups are finished (or all of them),
/// and all G by ⌈G / P⌉ T. Nothing is said about groups starting together: rounds need not be.
pub fn sound_kernel(groups: u64, seats: Seats, waves: &[PathTime]) -> Result<KernelBound, ComposeError> {
    let at_once = seats.cores.checked_mul(seats.groups_per_core).ok_or(ComposeError::TooLong)?;
    if at_once == 0 {
        return Err(ComposeError::NoRoom);
    }
    let mut worst = None;
    for wave in waves {
        worst = worst.max(Some(wave.start.checked_add(wave.cycles).ok_or(ComposeError::TooLong)?));
    }
    let rounds = groups.div_ceil(at_once);
    let cycles = rounds.checked_mul(worst.ok_or(ComposeError::NoWaves)?).ok_or(ComposeError::TooLong)?;
    let assumptions = [
        CO_RUNNERS,
        "a wave's start delay counts from the dispatch of its group and holds whatever runs beside it",
        "the dispatcher gives groups in order to any core with room, at once",
        "a core has room for as many groups as slots, registers, local memory and barriers allow, wherever they are free",
    ];
    Ok(KernelBound {
        cycles,
        rounds,
        groups_at_once: at_once,
        assumptions: assumptions.map(String::from).to_vec(),
    })
}
