//! Which variants there are: every combination of mechanism, contexts, policy and machine fields that the user lists.

use super::args::CompareArgs;
use crate::commands::target::Target;
use miette::miette;
use wavebound::hw::{InstructionSet, Mechanism};
use wavebound::jobs::Job;
use wavebound::jobs::launch::is_launch_file;

/// Contexts of a machine that has none, under mechanisms that need some.
const CONTEXTS: u32 = 3;
/// More runs than this are a sweep.
const MOST: usize = 256;

/// One variant: a name for people, and how it differs.
#[derive(Clone, Debug)]
pub struct Variant {
    pub name: String,
    /// Instruction set of the program.
    pub isa: InstructionSet,
    pub mechanism: Mechanism,
    /// Split contexts, of mechanisms that split.
    pub contexts: Option<u32>,
    pub policy: Option<String>,
    /// Machine fields and their values.
    pub fields: Vec<(String, String)>,
}

impl Variant {
    /// The target on the variant's machine, marked as its mechanism reads it.
    pub fn target(&self, target: &Target) -> Target {
        let mut target = target.clone();
        let machine = &mut target.how.machine;
        machine.mechanism = Some(self.mechanism.name().to_owned());
        machine.contexts = self.contexts.or(machine.contexts);
        machine.policy = self.policy.clone().or(machine.policy.take());
        machine.sets.extend(self.fields.iter().map(|(field, value)| format!("{field}={value}")));
        // Programs for lanes with pcs of their own split at plain branches.
        let reads = self.mechanism.info().marks.is_some() && self.isa == InstructionSet::Gcn3;
        if !reads {
            target.how.split_at.clear();
            target.how.split_all = false;
        } else if target.how.split_at.is_empty() && target.how.workload.workload.is_none() {
            target.how.split_all = true;
        }
        target
    }
}

/// All variants, in the order in which they are shown.
pub fn variants(args: &CompareArgs) -> miette::Result<Vec<Variant>> {
    let (isa, own, contexts) = base(&args.target)?;
    let fields = args.vary.iter().map(|v| field(v)).collect::<miette::Result<Vec<_>>>()?;
    let mechanisms = mechanisms(args, isa, own)?;
    let policies: Vec<Option<String>> = match args.policies.as_slice() {
        [] => vec![None],
        list => list.iter().cloned().map(Some).collect(),
    };
    let splitting: Vec<u32> = match args.s.as_slice() {
        [] => vec![if contexts == 0 { CONTEXTS } else { contexts }],
        list => list.to_vec(),
    };
    let mut combinations: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for (name, values) in &fields {
        let with = |c: &Vec<(String, String)>, v: &String| {
            let mut c = c.clone();
            c.push((name.clone(), v.clone()));
            c
        };
        combinations = combinations.iter().flat_map(|c| values.iter().map(move |v| with(c, v))).collect();
    }
    let mut all = Vec::new();
    for &mechanism in &mechanisms {
        let contexts: Vec<Option<u32>> = match mechanism.info().splits {
            true => splitting.iter().map(|&s| Some(s)).collect(),
            false => vec![None],
        };
        for (&contexts, policy) in contexts.iter().flat_map(|c| policies.iter().map(move |p| (c, p))) {
            for fields in &combinations {
                let (policy, fields) = (policy.clone(), fields.clone());
                let mut v = Variant { name: String::new(), isa, mechanism, contexts, policy, fields };
                v.name = name(&v);
                all.push(v);
            }
        }
    }
    match all.len() {
        n if n > MOST => Err(miette!(
            help = "`wavebound sweep` runs many points, and goes on where it was stopped",
            "{n} variants are more than {MOST}"
        )),
        _ => Ok(all),
    }
}

fn name(v: &Variant) -> String {
    let mut parts = vec![v.mechanism.name().to_owned()];
    parts.extend(v.contexts.map(|s| format!("S={s}")));
    parts.extend(v.policy.clone());
    parts.extend(v.fields.iter().map(|(field, value)| format!("{field}={value}")));
    parts.join(" ")
}

/// Instruction set of the program, mechanism and contexts of the machine as it is given.
fn base(target: &Target) -> miette::Result<(InstructionSet, Mechanism, u32)> {
    let launches = target.workload.workload.is_some() || is_launch_file(target.file());
    // Marks that the machine's own mechanism does not read are no matter here.
    let mut plain = target.clone();
    plain.how.split_at.clear();
    plain.how.split_all = false;
    let machine = match launches {
        true => match plain.launches()? {
            Some(session) => session.stage().machine().clone(),
            None => return Err(miette!("there is nothing to launch")),
        },
        false => Job::from_file(plain.file(), &plain.spec())?.machine,
    };
    Ok((machine.isa, machine.divergence.mechanism, machine.split.contexts))
}

fn mechanisms(args: &CompareArgs, isa: InstructionSet, own: Mechanism) -> miette::Result<Vec<Mechanism>> {
    if args.mechanisms.is_empty() {
        let others = !args.policies.is_empty() || !args.vary.is_empty();
        let one = others || args.target.machine.mechanism.is_some();
        // The machine's own first: the others are compared with it.
        let rest = Mechanism::of(isa).filter(|&m| m != own && !one);
        return Ok(std::iter::once(own).chain(rest).collect());
    }
    let known = |name: &String| {
        Mechanism::parse(name).ok_or_else(|| {
            let names: Vec<&str> = Mechanism::of(isa).map(Mechanism::name).collect();
            miette!(
                help = format!("{isa} programs run with {}", names.join(", ")),
                "there is no mechanism `{name}`"
            )
        })
    };
    args.mechanisms.iter().map(known).collect()
}

/// `FIELD=A,B,C`.
fn field(text: &str) -> miette::Result<(String, Vec<String>)> {
    let wrong =
        || miette!(help = "for example --vary core.waves=4,8,16", "`--vary {text}` is not FIELD=LIST");
    let (name, list) = text.split_once('=').ok_or_else(wrong)?;
    let values: Vec<String> = list.split(',').map(|v| v.trim().to_owned()).collect();
    if name.trim().is_empty() || values.iter().any(String::is_empty) {
        return Err(wrong());
    }
    Ok((name.trim().to_owned(), values))
}
