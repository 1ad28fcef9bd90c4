//! What an axis can be about: a part of the request (program, size, seed), a field of the machine, or a variable of the plan.

use wb_hw::{Field, Kind, SCHEMA};
use wb_isa::diag::nearest;

/// What the values of an axis are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Axis {
    Part(Part),
    /// A field of the machine, as `--set` takes it.
    Field(String),
    /// Stands for itself as `{name}` in texts.
    Variable(String),
}

/// A part of what a point runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Workload,
    Size,
    Marks,
    Launch,
    Program,
    Kernel,
    Grid,
    Group,
    Args,
    Isa,
    Arch,
    Registers,
    DynamicLds,
    Views,
    Samplers,
    Hip,
    SplitAt,
    SplitAll,
    Seed,
    Machine,
}

impl Part {
    pub const ALL: [Part; 20] = [
        Part::Workload,
        Part::Size,
        Part::Marks,
        Part::Launch,
        Part::Program,
        Part::Kernel,
        Part::Grid,
        Part::Group,
        Part::Args,
        Part::Isa,
        Part::Arch,
        Part::Registers,
        Part::DynamicLds,
        Part::Views,
        Part::Samplers,
        Part::Hip,
        Part::SplitAt,
        Part::SplitAll,
        Part::Seed,
        Part::Machine,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Part::Workload => "workload",
            Part::Size => "size",
            Part::Marks => "marks",
            Part::Launch => "launch",
            Part::Program => "program",
            Part::Kernel => "kernel",
            Part::Grid => "grid",
            Part::Group => "group",
            Part::Args => "args",
            Part::Isa => "isa",
            Part::Arch => "arch",
            Part::Registers => "registers",
            Part::DynamicLds => "dynamic_lds",
            Part::Views => "views",
            Part::Samplers => "samplers",
            Part::Hip => "hip",
            Part::SplitAt => "split_at",
            Part::SplitAll => "split_all",
            Part::Seed => "seed",
            Part::Machine => "machine",
        }
    }

    /// One value is a list of words.
    pub fn takes_lists(self) -> bool {
        matches!(self, Part::Args | Part::Views | Part::Samplers | Part::Hip | Part::SplitAt)
    }
}

/// Short names of fields, as the options of `wavebound run` have them.
pub const SHORT: [(&str, &str); 8] = [
    ("mechanism", "divergence.mechanism"),
    ("s", "split.contexts"),
    ("policy", "issue.policy"),
    ("fetch_policy", "frontend.policy"),
    ("frontend", "frontend.kind"),
    ("lanes", "core.lanes"),
    ("waves", "core.waves"),
    ("max_cycles", "limits.cycles"),
];

impl Axis {
    /// The axis of this name; otherwise why there is none, and what to do.
    pub fn named(name: &str) -> Result<Axis, (String, String)> {
        if let Some(part) = Part::ALL.into_iter().find(|p| p.name() == name) {
            return Ok(Axis::Part(part));
        }
        if let Some((_, field)) = SHORT.iter().find(|s| s.0 == name) {
            return Ok(Axis::Field((*field).to_owned()));
        }
        match field(name) {
            Ok(()) => Ok(Axis::Field(name.to_owned())),
            Err(_) if !name.contains('.') => {
                let parts = Part::ALL.iter().map(|p| p.name());
                let known: Vec<&str> =
                    parts.chain(SHORT.iter().map(|s| s.0)).chain(SCHEMA.iter().map(|f| f.name)).collect();
                // A table of fields is no axis, and not what is meant.
                let near = nearest(name, known.iter().copied().filter(|&n| n != name));
                let near = near.map_or(String::new(), |n| format!("did you mean `{n}`? "));
                let hint = format!(
                    "{near}axes: {}, {}, and fields of machines (`wavebound machines fields`); \
                     names of your own go into [variables]",
                    Part::ALL.map(Part::name).join(", "),
                    SHORT.map(|s| s.0).join(", ")
                );
                Err((format!("there is no axis `{name}`"), hint))
            }
            Err(hint) => Err((format!("machines have no field `{name}`"), hint)),
        }
    }

    /// Two names of one thing.
    pub fn same(&self, other: &Axis) -> bool {
        self == other
    }
}

/// Whether a path is that of a field of machines; if not, what to do.
fn field(path: &str) -> Result<(), String> {
    let keys: Vec<&str> =
        path.split('.').flat_map(|k| k.split('[')).map(|k| k.strip_suffix(']').unwrap_or(k)).collect();
    let mut fields: &[Field] = SCHEMA;
    let mut i = 0;
    while i < keys.len() {
        let Some(found) = fields.iter().find(|f| f.name == keys[i]) else {
            let names: Vec<&str> = fields.iter().map(|f| f.name).collect();
            let near = nearest(keys[i], names.iter().copied());
            let near = near.map_or(String::new(), |n| format!("did you mean `{n}`? "));
            let around =
                if i == 0 { "fields".to_owned() } else { format!("fields of {}", keys[..i].join(".")) };
            return Err(format!("{near}{around}: {}", names.join(", ")));
        };
        i += 1;
        let last = i == keys.len();
        match found.kind {
            Kind::U32 | Kind::U64 | Kind::Text | Kind::Word(_) | Kind::Texts if last => return Ok(()),
            Kind::U32 | Kind::U64 | Kind::Text | Kind::Word(_) | Kind::Texts => {
                return Err(format!("`{}` has no fields", keys[..i].join(".")));
            }
            // The class of instructions.
            Kind::Map if i + 1 == keys.len() => return Ok(()),
            Kind::Map => return Err("latencies are set by instruction class: units.alu.latencies.mul".into()),
            Kind::Table(inner) => fields = inner,
            Kind::Named(inner) => {
                fields = inner;
                // The name of the entry, which differs from machine to machine.
                i += 1;
            }
        }
    }
    let names: Vec<&str> = fields.iter().map(|f| f.name).collect();
    Err(format!("`{path}` has fields of its own: {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_and_mistakes_are_not() {
        for name in ["core.waves", "cores", "units.alu.latencies.mul", "caches.l1.size", "units[0].count"] {
            assert_eq!(Axis::named(name), Ok(Axis::Field(name.to_owned())));
        }
        assert_eq!(Axis::named("s"), Ok(Axis::Field("split.contexts".to_owned())));
        for (name, hint) in [
            ("core.wave", "did you mean `waves`?"),
            ("core", "did you mean `cores`?"),
            ("workloads", "did you mean `workload`?"),
            ("core.waves.more", "has no fields"),
            ("units.alu", "has fields of its own"),
        ] {
            let (_, found) = Axis::named(name).expect_err(name);
            assert!(found.contains(hint), "{name}: {found}");
        }
    }
}
