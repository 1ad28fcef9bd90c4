//! The viewer: a trace as a page in the browser, answered by a server on this computer alone. One pass over the trace makes an
//! index; after that every answer reads a small part of the file ([`tile`]).

mod at;
mod cells;
mod error;
mod find;
mod flow;
mod index;
mod lead;
mod page;
mod progress;
mod server;
mod store;
mod tile;

pub use error::ViewError;
pub use page::{Source, View};
pub use server::{Serving, serve};
pub use store::{Heard, Store};
