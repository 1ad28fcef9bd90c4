//! Checks certificates of bounds. It shares no code with the analyser and needs no solver, so that whoever relies
//! on a bound has to trust only this crate.
