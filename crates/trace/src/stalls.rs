//! Cycles by the reason why a path stood: one number for each [`StallReason`], as a map in JSON.

use crate::StallReason;
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::collections::BTreeMap;

/// Cycles by [`StallReason`]; serialised as a map in the order of [`StallReason::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StallCycles([u64; StallReason::ALL.len()]);

impl StallCycles {
    pub fn get(&self, reason: StallReason) -> u64 {
        self.0[reason as usize]
    }

    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Adds what another one has.
    pub fn add_all(&mut self, other: &StallCycles) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a += b;
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, reason: StallReason, cycles: u32) {
        self.0[reason as usize] += u64::from(cycles);
    }
}

impl schemars::JsonSchema for StallCycles {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "StallCycles".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let count = generator.subschema_for::<u64>();
        let names: Vec<&str> = StallReason::ALL.iter().map(|r| r.name()).collect();
        let counts: serde_json::Map<String, serde_json::Value> =
            names.iter().map(|&n| (n.to_owned(), count.clone().to_value())).collect();
        schemars::json_schema!({
            "type": "object",
            "description": "Cycles by cause.",
            "properties": counts,
            "required": names,
        })
    }
}

impl Serialize for StallCycles {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(StallReason::ALL.len()))?;
        for reason in StallReason::ALL {
            map.serialize_entry(reason.name(), &self.get(reason))?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for StallCycles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map: BTreeMap<String, u64> = BTreeMap::deserialize(deserializer)?;
        let mut all = StallCycles::default();
        for (name, cycles) in map {
            let reason = StallReason::ALL.into_iter().find(|r| r.name() == name);
            let reason =
                reason.ok_or_else(|| D::Error::custom(format!("no reason to stall is called {name}")))?;
            all.0[reason as usize] = cycles;
        }
        Ok(all)
    }
}
