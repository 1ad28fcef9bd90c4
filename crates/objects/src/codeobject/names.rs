//! Names of kernels as people write them: `spmv` for `_Z4spmvPKfi`, `spmv<float>` for an instance of a template.

use cpp_demangle::{DemangleOptions, Symbol};

/// Longer names are left as they are: demangling is for people.
const LONGEST: usize = 4096;

/// The name without parameters and result, as C++ has it; none for a name that is not mangled.
pub fn readable(name: &str) -> Option<String> {
    let mangled = name.starts_with("_Z") && name.len() <= LONGEST;
    let symbol = Symbol::new(name.as_bytes()).ok().filter(|_| mangled)?;
    symbol.demangle_with_options(&DemangleOptions::new().no_params().no_return_type()).ok()
}

/// `NAME` or `NAME (readable)`.
pub fn both(name: &str) -> String {
    match readable(name) {
        Some(readable) => format!("{name} ({readable})"),
        None => name.to_owned(),
    }
}

/// Whether somebody who says `said` may mean the symbol `name`: with or without parameters, arguments of the template
/// and namespaces.
pub fn may_mean(said: &str, name: &str) -> bool {
    let Some(readable) = readable(name) else { return false };
    let whole = Symbol::new(name.as_bytes()).ok().and_then(|s| s.demangle().ok());
    let bare = readable.split('<').next().unwrap_or(&readable);
    let last = |path: &str| path.rsplit("::").next().unwrap_or(path).to_owned();
    let template = &readable[bare.len()..];
    said == readable
        || said == bare
        || said == last(bare)
        || said == format!("{}{template}", last(bare))
        || whole.is_some_and(|w| said == w)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_as_people_say_them() {
        assert_eq!(both("_Z4spmvPKfi"), "_Z4spmvPKfi (spmv)");
        assert_eq!(both("spmv"), "spmv");
        for said in ["spmv", "spmv(float const*, int)"] {
            assert!(may_mean(said, "_Z4spmvPKfi"), "{said}");
        }
        assert!(!may_mean("spm", "_Z4spmvPKfi") && !may_mean("", "_Z4spmvPKfi"));
        assert!(!may_mean("spmv", "spmv"), "that is its name: nothing to guess");
        let template = "_ZN2ns4scanIfEEvPT_";
        assert_eq!(readable(template).as_deref(), Some("ns::scan<float>"));
        for said in ["ns::scan<float>", "ns::scan", "scan", "scan<float>"] {
            assert!(may_mean(said, template), "{said}");
        }
        assert!(!may_mean("scan<double>", template));
    }

    #[test]
    fn what_is_no_name_is_left_alone() {
        for name in ["_Z", "_Z4spm", "_Zzzz", "", "é", &"_ZN".repeat(4000)] {
            assert_eq!(both(name), name);
        }
    }
}
