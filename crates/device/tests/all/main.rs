//! Devices: launches, objects. One binary, so that everything is linked once.

mod host;
mod launches;
mod objects;
