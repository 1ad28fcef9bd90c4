//! Tests of machine descriptions: presets, files, rules, overrides, and the schema's reach.

mod files;
mod machines;
mod overrides;
mod presets;
mod schema;
mod validate;

use wb_hw::{HwError, Machine};

fn guppy() -> Machine {
    wb_hw::preset("guppy").expect("guppy")
}

fn harp() -> Machine {
    wb_hw::preset("harp").expect("harp")
}

/// The error of a result that must not be a machine.
fn error<T>(result: Result<T, HwError>) -> HwError {
    match result {
        Ok(_) => panic!("expected an error"),
        Err(e) => e,
    }
}

/// Asserts field, message and help (help may be given as "" to skip it).
fn check(e: &HwError, field: &str, message: &str, help: &str) {
    assert_eq!(e.field.as_deref(), Some(field), "{e}");
    assert!(e.message.contains(message), "{e}");
    let h = e.help.as_deref().unwrap_or("");
    assert!(h.contains(help), "help of {e}: {h}");
}
