//! The certificate of an exact bound: the launch it is of, what it takes, and the labelling that shows that no contents can
//! change it (docs/certificate.md).

use super::{ExactKernel, ExactLaunch};
use crate::source::hash;
use serde::{Deserialize, Serialize};
use wb_facts::taint::Labelling;

const KIND: &str = "exact";
const VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExactCertificate {
    pub kind: String,
    pub version: u32,
    pub kernel: String,
    /// Of its code ([`wb_facts::checksum`]).
    pub checksum: String,
    /// Name and hash of the machine.
    pub machine: (String, String),
    /// Sum over all launches.
    pub bound: u64,
    pub launches: Vec<CertifiedLaunch>,
    pub assumptions: Vec<String>,
}

/// A launch as the host describes it, how often it happens, and what it takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertifiedLaunch {
    /// Hash of geometry and arguments.
    pub launch: String,
    pub times: u64,
    pub cycles: u64,
    /// Buffers whose contents are part of the launch, with their hashes.
    pub fixed: Vec<(String, String)>,
    pub labelling: Labelling,
}

/// Whether a text is meant to be such a certificate.
pub fn is_exact_certificate(text: &str) -> bool {
    let value: Result<serde_json::Value, _> = serde_json::from_str(text);
    value.is_ok_and(|v| v.get("kind").and_then(|k| k.as_str()) == Some(KIND))
}

impl ExactCertificate {
    pub fn of(kernel: &ExactKernel) -> ExactCertificate {
        let launch = |l: &ExactLaunch| {
            let mut numbers = l.numbers.clone();
            numbers.sort_unstable();
            numbers.dedup();
            CertifiedLaunch {
                launch: l.shape.hash(),
                times: numbers.len() as u64,
                cycles: l.cycles,
                fixed: l.fixed.iter().map(|b| (b.name.clone(), b.hash.clone())).collect(),
                labelling: l.labelling.clone(),
            }
        };
        let launches: Vec<CertifiedLaunch> = kernel.launches.iter().map(launch).collect();
        ExactCertificate {
            kind: KIND.to_owned(),
            version: VERSION,
            kernel: kernel.kernel.clone(),
            checksum: kernel.checksum.clone(),
            machine: (kernel.machine.name.clone(), hash(kernel.machine.to_toml().as_bytes())),
            bound: launches.iter().map(|l| l.times * l.cycles).sum(),
            launches,
            assumptions: assumptions(),
        }
    }

    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Reads one, and checks what can be checked without the program.
    pub fn read(text: &str) -> Result<ExactCertificate, String> {
        let read: ExactCertificate = serde_json::from_str(text).map_err(|e| e.to_string())?;
        if read.kind != KIND || read.version != VERSION {
            return Err(format!("this is no certificate of kind {KIND}, version {VERSION}"));
        }
        if read.assumptions != assumptions() {
            return Err("the assumptions are not those of an exact bound".into());
        }
        let mut sum = 0u64;
        for l in &read.launches {
            let all = l.times.checked_mul(l.cycles).and_then(|n| sum.checked_add(n));
            sum = all.ok_or("the cycles of the launches do not fit into 64 bits")?;
        }
        match sum == read.bound {
            true => Ok(read),
            false => Err(format!("the launches take {sum} cycles, the certificate says {}", read.bound)),
        }
    }
}

/// What an exact bound rests on.
pub fn assumptions() -> Vec<String> {
    [
        "every launch finds the caches empty, the rows of DRAM closed, and no other launch beside it",
        "geometry, arguments (addresses of buffers included) and buffers declared fixed are those of the launch",
        "private memory holds nothing that depends on contents before it is written",
    ]
    .map(str::to_owned)
    .to_vec()
}
