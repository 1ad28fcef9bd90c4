//! Options of builds: words as the program gives them in one string, and those that mean something here.

use crate::codes::{Code, Outcome};

/// What a build is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildOptions {
    /// For clang.
    pub words: Vec<String>,
    /// Compile without optimising.
    pub plain: bool,
    /// Link to a library, not to an executable.
    pub library: bool,
}

/// Options that clang knows by the same names.
const KNOWN: [&str; 14] = [
    "-cl-single-precision-constant",
    "-cl-denorms-are-zero",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    "-cl-mad-enable",
    "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations",
    "-cl-finite-math-only",
    "-cl-fast-relaxed-math",
    "-cl-strict-aliasing",
    "-cl-kernel-arg-info",
    "-cl-uniform-work-group-size",
    "-w",
    "-Werror",
    "-g",
];
/// Versions of OpenCL C, as `-cl-std=` has them.
const STANDARDS: [&str; 5] = ["CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0"];

/// Words of a string: blanks separate them, quotes and backslashes keep blanks.
pub fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let (mut word, mut inside, mut quote) = (String::new(), false, None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('"' | '\'', None) => (quote, inside) = (Some(c), true),
            (c, Some(q)) if c == q => quote = None,
            ('\\', _) if quote != Some('\'') => {
                word.extend(chars.next());
                inside = true;
            }
            (c, None) if c.is_whitespace() => {
                if inside {
                    out.push(std::mem::take(&mut word));
                }
                inside = false;
            }
            (c, _) => {
                word.push(c);
                inside = true;
            }
        }
    }
    if inside {
        out.push(word);
    }
    out
}

impl BuildOptions {
    /// Reads options; one that is not known is refused by `wrong`.
    pub fn parse(text: &str, wrong: Code) -> Outcome<BuildOptions> {
        let mut options = BuildOptions::default();
        let mut list = words(text).into_iter();
        while let Some(word) = list.next() {
            match word.as_str() {
                "-D" | "-I" => {
                    let value = list.next().ok_or(wrong)?;
                    options.words.push(format!("{word}{value}"));
                }
                "-cl-opt-disable" | "-O0" => options.plain = true,
                "-create-library" => options.library = true,
                // Said about what is linked; all of it may be optimised here.
                "-enable-link-options" | "-cl-no-subgroup-ifp" => {}
                w if w.starts_with("-D") || w.starts_with("-I") || KNOWN.contains(&w) => {
                    options.words.push(word)
                }
                "-O" | "-O1" | "-O2" | "-O3" => {}
                w if w.strip_prefix("-cl-std=").is_some_and(|s| STANDARDS.contains(&s)) => {
                    options.words.push(word);
                }
                w if w.starts_with("-W") && !w.contains(',') => options.words.push(word),
                _ => return Err(wrong.into()),
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_what_is_quoted() {
        assert_eq!(
            words(" -D A=1  -DB=\"x y\" -I 'a b' c\\ d "),
            ["-D", "A=1", "-DB=x y", "-I", "a b", "c d"]
        );
        assert_eq!(words("-DE=\"\""), ["-DE="]);
        assert_eq!(words("\"\" \"open"), ["", "open"]);
        assert!(words("  ").is_empty());
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let parse = |text| BuildOptions::parse(text, Code::INVALID_BUILD_OPTIONS);
        let good = parse("-D A=1 -I /x -cl-std=CL2.0 -cl-opt-disable -w").expect("good");
        assert_eq!(good.words, ["-DA=1", "-I/x", "-cl-std=CL2.0", "-w"]);
        assert!(good.plain && !good.library);
        for bad in ["-o x", "-cl-std=CL9", "-x", "file.c", "-D", "-Xclang", "-Wl,-o,x", "-mllvm", "@file"] {
            assert_eq!(parse(bad), Err(Code::INVALID_BUILD_OPTIONS.into()), "{bad}");
        }
    }
}
