//! Why there is no proved bound, and what to give.

use thiserror::Error;
use wb_isa::Pc;
use wb_wcet::ipet::IpetError;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("no proof for this machine: {what}")]
    Machine { what: String, help: &'static str },
    #[error("no proof for this program: {what}")]
    Program { what: String, help: &'static str },
    #[error("no limit is known for the loop at pc {header}")]
    Limit { header: Pc },
    #[error(transparent)]
    Flow(#[from] IpetError),
    #[error("{what} is more than 2^64 - 1")]
    Overflow { what: &'static str },
    #[error("the launch does not fit on the machine")]
    NoRoom,
}

impl Refusal {
    pub fn help(&self) -> String {
        match self {
            Refusal::Machine { help, .. } | Refusal::Program { help, .. } => (*help).into(),
            Refusal::Limit { .. } => {
                "write it into a facts file (`wavebound facts`) and give it with --facts".into()
            }
            Refusal::Flow(_) => "give limits of loops in a facts file; the graph must be reducible".into(),
            Refusal::Overflow { .. } => "check the limits of loops and the number of groups".into(),
            Refusal::NoRoom => "make groups smaller or use fewer registers or less local memory".into(),
        }
    }
}
