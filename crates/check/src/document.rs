//! The whole certificate as it is written: what it is about, and the proof (docs/certificate.md).

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::binding::Binding;
use crate::format::Proof;

/// What any document says of itself; everything else is read later.
#[derive(Debug, Deserialize)]
pub struct Header {
    #[serde(default)]
    pub format: String,
    #[serde(default)]
    pub version: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    pub format: String,
    pub version: u32,
    pub about: BTreeMap<String, String>,
    pub binding: Binding,
    pub proof: Proof,
    pub digest: String,
}
