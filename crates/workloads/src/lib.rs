//! The benchmark suite: twenty workloads of the Rodinia class (THESIS 6.1, Table 6.1; PWS section 7), our own kernels in
//! OpenCL C with host side, inputs by size, reference results, marks for splitting and limits of loops.

#![allow(clippy::needless_range_loop)] // references use the indices of their kernels

pub mod data;
mod error;
mod facts;
mod noise;
pub mod run;
mod simulate;
mod workload;

mod backprop;
mod bfs;
mod btree;
mod cfd;
mod dwt2d;
mod gaussian;
mod heartwall;
mod hotspot;
mod hybridsort;
mod kmeans;
mod lavamd;
mod leukocyte;
mod lud;
mod myocyte;
mod nn;
mod nw;
mod particlefilter;
mod pathfinder;
mod srad;
mod streamcluster;

pub use data::{Data, Difference, Within};
pub use error::WorkloadError;
pub use noise::{Input, Noise};
pub use run::{Arg, BufferId, Launch, Limit, Memory, Player, Run};
pub use simulate::{OnDevice, Simulation, Verdict, dispatch, place, verdicts};
pub use workload::{Marks, Size, Workload};

/// All workloads, by name.
pub fn all() -> &'static [Workload] {
    &ALL
}

pub fn find(name: &str) -> Result<&'static Workload, WorkloadError> {
    let names = || ALL.iter().map(|w| w.name);
    ALL.iter().find(|w| w.name == name).ok_or_else(|| WorkloadError::Unknown {
        name: name.to_owned(),
        hint: match wb_isa::diag::nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("workloads: {}", names().collect::<Vec<_>>().join(", ")),
        },
    })
}

static ALL: [Workload; 20] = [
    backprop::WORKLOAD,
    bfs::WORKLOAD,
    btree::WORKLOAD,
    cfd::WORKLOAD,
    dwt2d::WORKLOAD,
    gaussian::WORKLOAD,
    heartwall::WORKLOAD,
    hotspot::WORKLOAD,
    hybridsort::WORKLOAD,
    kmeans::WORKLOAD,
    lavamd::WORKLOAD,
    leukocyte::WORKLOAD,
    lud::WORKLOAD,
    myocyte::WORKLOAD,
    nn::WORKLOAD,
    nw::WORKLOAD,
    particlefilter::WORKLOAD,
    pathfinder::WORKLOAD,
    srad::WORKLOAD,
    streamcluster::WORKLOAD,
];
