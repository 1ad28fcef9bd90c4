//! Names of kernels as people write them: `spmv` for `_Z4spmvPKfi`, `spmv<float>` for an instance of a template.

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// Longer names are left as they are: demangling is for people.
const LONGEST: usize = 1024;
/// Parts within parts that are followed. The parser tries alternatives at each level, and names made to have many take hours
/// without a limit; names of real kernels need less than half of it.
const DEEPEST: u32 = 64;

fn parse(name: &str) -> Option<Symbol<&[u8]>> {
    let options = ParseOptions::default().recursion_limit(DEEPEST);
    let mangled = name.starts_with("_Z") && name.len() <= LONGEST;
    mangled.then(|| Symbol::new_with_options(name.as_bytes(), &options).ok())?
}

/// The name without parameters and result, as C++ has it; none for a name that is not mangled.
pub fn readable(name: &str) -> Option<String> {
    parse(name)?.demangle_with_options(&DemangleOptions::new().no_params().no_return_type()).ok()
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
    let whole = parse(name).and_then(|s| s.demangle().ok());
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

    /// Fuzzing found a name of 197 bytes that took the parser half a minute; these are of its kind.
    #[test]
    fn names_made_to_take_long_do_not() {
        let parts = [
            "C1I", "llll", "nRe", "Ipp", "C2I", "dlCC", "1I", "E", "fff", "N1a", "IJ", "S_", "T_", "Z", "cv",
        ];
        let mut state = 7u64;
        let mut next = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        let start = std::time::Instant::now();
        for _ in 0..2000 {
            let mut name = String::from(["_Z", "_ZN", "_ZN1a"][next(3)]);
            while name.len() < 250 {
                name += parts[next(parts.len())];
            }
            let _ = (both(&name), may_mean("a", &name));
        }
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    }

    #[test]
    fn what_is_no_name_is_left_alone() {
        for name in ["_Z", "_Z4spm", "_Zzzz", "", "é", &"_ZN".repeat(4000)] {
            assert_eq!(both(name), name);
        }
    }
}
