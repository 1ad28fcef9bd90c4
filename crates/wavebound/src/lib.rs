//! Wavebound as a library.

pub use wb_bound as bound;
pub use wb_check as check;
pub use wb_device as device;
pub use wb_facts as facts;
pub use wb_files as files;
pub use wb_hw as hw;
pub use wb_isa as isa;
pub use wb_jobs as jobs;
pub use wb_objects as objects;
pub use wb_program as program;
pub use wb_report as report;
pub use wb_schedule as schedule;
pub use wb_sim as sim;
pub use wb_trace as trace;
pub use wb_wcet as wcet;
pub use wb_workloads as workloads;
