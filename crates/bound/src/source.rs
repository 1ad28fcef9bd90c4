//! Where the times of a bound come from: runs, trace files or a table. Reports and certificates say it.

/// Where the times of a kernel come from.
#[derive(Clone, Debug, Default)]
pub(crate) enum Source {
    #[default]
    Runs,
    /// Name and hash of each file; pairs of points with ways that cannot be told apart.
    Trace {
        files: Vec<(String, String)>,
        alike: usize,
    },
    Table {
        name: String,
        hash: String,
    },
}

impl Source {
    pub fn name(&self) -> &'static str {
        match self {
            Source::Runs => "measured",
            Source::Trace { .. } => "trace",
            Source::Table { .. } => "given",
        }
    }

    pub fn meaning(&self) -> &'static str {
        match self {
            Source::Runs => "longest measured of each segment",
            Source::Trace { .. } => "longest of each segment in a trace",
            Source::Table { .. } => "given for each basic block",
        }
    }

    /// Name and hash of its files.
    pub fn files(&self) -> Vec<(String, String)> {
        match self {
            Source::Runs => Vec::new(),
            Source::Trace { files, .. } => files.clone(),
            Source::Table { name, hash } => vec![(name.clone(), hash.clone())],
        }
    }

    /// What it rests on, with hashes.
    pub fn inputs(&self) -> Vec<(String, String)> {
        match self {
            Source::Runs => Vec::new(),
            Source::Trace { files, .. } => {
                files.iter().map(|(n, h)| (format!("trace {n}"), h.clone())).collect()
            }
            Source::Table { name, hash } => vec![(format!("times {name}"), hash.clone())],
        }
    }
}

/// As reports print it.
pub(crate) fn hash(bytes: &[u8]) -> String {
    format!("xxh3:{:016x}", xxhash_rust::xxh3::xxh3_64(bytes))
}
