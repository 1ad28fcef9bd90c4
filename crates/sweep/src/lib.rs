//! Sweeps: many points of a design space, each run once, anywhere, and kept (docs/sweeps.md).
//!
//! From below to the top: values, what a point runs (`point`), what is measured (`measure`), plans (`plan`), the identity of a result
//! (`identity`), the store of results (`store`), workers and those who watch them (`worker`, `process`), a sweep on this computer
//! (`run`), on others (`engines`), the data set (`data`), and tables and charts of it (`show`).

pub mod data;
pub mod engines;
pub mod error;
pub mod identity;
pub mod measure;
pub mod plan;
pub mod point;
pub mod process;
pub mod run;
pub mod show;
pub mod store;
pub mod table;
pub mod value;
pub mod worker;

pub use error::{PlanError, SweepError};
pub use identity::{Id, Identities, SIMULATOR};
pub use measure::{Measure, Outcome, Status};
pub use plan::Plan;
pub use point::Point;
pub use run::{Counts, News, Ran, RunOptions, Scope, Shard, Sweep};
pub use store::Store;
pub use table::{DataSet, Table};
pub use value::Value;
