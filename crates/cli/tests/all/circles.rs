//! Circles: files of a crate that import each other. A reader can go through a crate from top to bottom if there are none;
//! what two files share stands in a third one below. Paths of `use` count, and those in the code; a `pub use` alone does not:
//! it shows what is elsewhere.

use crate::tidy::{root, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Circles that are still there: crate, and modules by their paths. There are none; a new one has to have a good reason to stand
/// here.
const KNOWN: &[(&str, &str)] = &[];

const DECLARES: [&str; 7] = ["struct", "enum", "fn", "trait", "const", "type", "static"];

type Name = Vec<String>;

/// What a file says about modules.
#[derive(Default)]
struct File {
    /// Paths of `use`, and whether others see them.
    uses: Vec<(Name, bool)>,
    /// Paths in the code.
    paths: BTreeSet<Name>,
    /// All words of the code.
    words: BTreeSet<String>,
    /// Items it declares.
    items: BTreeSet<String>,
}

/// Words and symbols without comments, strings and the tests at the end.
fn tokens(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let mut out: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let long = |end: usize| if end == 0 { rest.len() } else { end.min(rest.len()) };
        let skipped = match c {
            _ if rest.starts_with("//") => long(rest.find('\n').unwrap_or(0)),
            _ if rest.starts_with("r#\"") => long(rest[3..].find("\"#").map_or(0, |end| end + 5)),
            '"' => {
                let bytes = rest.as_bytes();
                let mut end = 1;
                while end < bytes.len() && bytes[end] != b'"' {
                    end += if bytes[end] == b'\\' { 2 } else { 1 };
                }
                long(end + 1)
            }
            '\'' if rest.starts_with("'\\") => long(rest[3..].find('\'').map_or(0, |end| end + 4)),
            '\'' if rest.chars().nth(2) == Some('\'') => 2 + rest.chars().nth(1).map_or(0, char::len_utf8),
            // A lifetime.
            '\'' => long(rest[1..].find(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |end| end + 1)),
            c if c.is_alphanumeric() || c == '_' => {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                out.push(rest[..end].to_owned());
                end
            }
            c if c.is_whitespace() => c.len_utf8(),
            _ if rest.starts_with("::") => {
                out.push("::".to_owned());
                2
            }
            c => {
                out.push(c.to_string());
                c.len_utf8()
            }
        };
        rest = &rest[skipped..];
    }
    out
}

/// The paths of a `use` from its tokens: `a::{b, c as d}` is a::b and a::c.
fn expand(tokens: &[String], before: &[String], out: &mut Vec<Name>) {
    let mut path: Name = before.to_vec();
    let mut i = 0;
    while i < tokens.len() {
        match tokens[i].as_str() {
            "::" => {}
            "as" => i += 1,
            "," => {
                out.push(std::mem::replace(&mut path, before.to_vec()));
            }
            "{" => {
                let (mut depth, start) = (1, i + 1);
                while depth > 0 && i + 1 < tokens.len() {
                    i += 1;
                    depth += match tokens[i].as_str() {
                        "{" => 1,
                        "}" => -1,
                        _ => 0,
                    };
                }
                expand(&tokens[start..i], &path, out);
                path = before.to_vec();
            }
            word => path.push(word.to_owned()),
        }
        i += 1;
    }
    out.push(path);
    out.retain(|p| p.len() > before.len());
}

fn read(text: &str) -> File {
    let tokens = tokens(text);
    let mut file = File::default();
    let is_word = |t: &String| t.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let mut i = 0;
    while i < tokens.len() {
        let end =
            |from: usize| tokens[from..].iter().position(|t| t == ";").map_or(tokens.len(), |n| from + n);
        match tokens[i].as_str() {
            "use" => {
                let mut found = Vec::new();
                expand(&tokens[i + 1..end(i)], &[], &mut found);
                let shown = i > 0 && matches!(tokens[i - 1].as_str(), "pub" | ")");
                file.uses.extend(found.into_iter().map(|path| (path, shown)));
                i = end(i);
            }
            "mod" if tokens.get(i + 2).is_some_and(|t| t == ";") => i += 2,
            _ if is_word(&tokens[i]) => {
                let pointer = i > 0 && tokens[i - 1] == "*";
                if !pointer && DECLARES.contains(&tokens[i].as_str()) {
                    file.items.extend(tokens.get(i + 1).cloned());
                }
                let mut path = vec![tokens[i].clone()];
                while tokens.get(i + 1).is_some_and(|t| t == "::") && tokens.get(i + 2).is_some_and(is_word) {
                    path.push(tokens[i + 2].clone());
                    i += 2;
                }
                file.words.insert(path[0].clone());
                if path.len() > 1 {
                    file.paths.insert(path);
                }
            }
            _ => {}
        }
        i += 1;
    }
    file
}

struct Crate {
    files: BTreeMap<Name, File>,
}

impl Crate {
    /// From the paths of its files below `src`, without extension, and their texts.
    fn new(sources: &[(String, String)]) -> Crate {
        let name = |path: &str| -> Name {
            let mut name: Name = path.split('/').map(str::to_owned).collect();
            if name.last().is_some_and(|n| matches!(n.as_str(), "mod" | "lib" | "main")) {
                name.pop();
            }
            name
        };
        let tests = |path: &String| path.split('/').any(|p| p == "tests");
        let files = sources.iter().filter(|s| !tests(&s.0)).map(|(path, text)| (name(path), read(text)));
        Crate { files: files.collect() }
    }

    /// A path as written in a file, from the crate on.
    fn absolute(&self, file: &Name, path: &[String]) -> Option<Name> {
        let mut at = file.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => (at, rest) = (Name::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|p| p == "super") {
                    at.pop();
                    rest = &rest[1..];
                }
            }
            child => {
                let child = [file.as_slice(), &[child.to_owned()]].concat();
                self.files.get(&child)?;
            }
        }
        Some([at, rest.to_vec()].concat())
    }

    /// The file in which what a path names is declared.
    fn declared(&self, path: &Name, steps: u32) -> Name {
        let known = |n: &usize| self.files.contains_key(&path[..*n]);
        let depth = (0..=path.len()).take_while(known).last().unwrap_or(0);
        let module: Name = path[..depth].to_vec();
        let Some(next) = path.get(depth).filter(|_| steps > 0) else { return module };
        let Some(file) = self.files.get(&module) else { return module };
        if file.items.contains(next) {
            return module;
        }
        for (used, _) in &file.uses {
            let Some(mut target) = self.absolute(&module, used) else { continue };
            match used.last() {
                Some(last) if last == next => {
                    target.extend_from_slice(&path[depth + 1..]);
                    if target != *path {
                        return self.declared(&target, steps - 1);
                    }
                }
                Some(last) if last == "*" => {
                    target.pop();
                    if self.files.get(&target).is_some_and(|f| f.items.contains(next)) {
                        return target;
                    }
                }
                _ => {}
            }
        }
        module
    }

    /// Files by what they import.
    fn imports(&self) -> BTreeMap<&Name, BTreeSet<Name>> {
        let of = |(name, file): (&Name, &File)| -> BTreeSet<Name> {
            let needed = |(path, shown): &&(Name, bool)| {
                !shown || path.last().is_some_and(|last| file.words.contains(last))
            };
            let used = file.uses.iter().filter(needed).map(|u| &u.0);
            let paths = used.chain(&file.paths).filter_map(|path| self.absolute(name, path));
            paths.map(|path| self.declared(&path, 8)).filter(|to| to != name).collect()
        };
        self.files.iter().map(|(name, file)| (name, of((name, file)))).collect()
    }

    /// Files that reach each other, as paths of modules; the root of the crate is `crate`.
    fn circles(&self) -> Vec<String> {
        let imports = self.imports();
        let reach = |from: &Name| {
            let (mut seen, mut work) = (BTreeSet::new(), vec![from.clone()]);
            while let Some(at) = work.pop() {
                for to in imports.get(&at).into_iter().flatten() {
                    if seen.insert(to.clone()) {
                        work.push(to.clone());
                    }
                }
            }
            seen
        };
        let reached: BTreeMap<&Name, BTreeSet<Name>> = imports.keys().map(|n| (*n, reach(n))).collect();
        let shown = |n: &Name| if n.is_empty() { "crate".to_owned() } else { n.join("::") };
        let circle = |a: &Name| -> Vec<String> {
            let there_and_back = |b: &&Name| reached[a].contains(*b) && reached[*b].contains(a);
            imports.keys().copied().filter(there_and_back).map(shown).collect()
        };
        let found: BTreeSet<String> = imports.keys().map(|n| circle(n).join(" ")).collect();
        found.into_iter().filter(|c| !c.is_empty()).collect()
    }
}

fn circles_of(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    sources(folder, &mut files);
    let name =
        |path: &Path| path.strip_prefix(folder).unwrap_or(path).with_extension("").display().to_string();
    let read = |path: &Path| (name(path), fs::read_to_string(path).expect("source"));
    Crate::new(&files.iter().map(|p| read(p)).collect::<Vec<_>>()).circles()
}

#[test]
fn files_import_each_other_one_way() {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(root().join("crates")).expect("crates/") {
        let path = entry.expect("entry").path();
        let name = path.file_name().expect("name").to_string_lossy().into_owned();
        if path.join("src").is_dir() {
            found.extend(circles_of(&path.join("src")).into_iter().map(|circle| (name.clone(), circle)));
        }
    }
    let known: BTreeSet<(String, String)> =
        KNOWN.iter().map(|(name, circle)| ((*name).to_owned(), (*circle).to_owned())).collect();
    let lines = |list: Vec<&(String, String)>| -> String {
        list.iter().map(|(name, circle)| format!("    (\"{name}\", \"{circle}\"),\n")).collect()
    };
    let new = lines(found.difference(&known).collect());
    assert!(new.is_empty(), "files that import each other; move what they share to a file below:\n{new}");
    let gone = lines(known.difference(&found).collect());
    assert!(gone.is_empty(), "these circles are gone; take them from the list:\n{gone}");
}

#[test]
fn the_check_of_circles_can_fail() {
    let circles = |sources: &[(&str, &str)]| {
        let sources: Vec<_> = sources.iter().map(|(p, t)| ((*p).to_owned(), (*t).to_owned())).collect();
        Crate::new(&sources).circles()
    };
    let lib = ("lib", "mod a; mod b; pub use a::A; pub use b::B;");
    // Straight, by what the root shows, by a path in the code, by a list and by all there is.
    for b in [
        "use crate::a::A; pub struct B(A);",
        "use super::A; pub struct B(A);",
        "pub struct B(crate::a::A);",
        "use crate::{a::A as C, other}; pub struct B(C);",
        "use super::a::*; pub struct B(A);",
    ] {
        assert_eq!(circles(&[lib, ("a", "use crate::B; pub struct A(Box<B>);"), ("b", b)]), ["a b"], "{b}");
        assert!(circles(&[lib, ("a", "pub struct A;"), ("b", b)]).is_empty(), "{b}");
    }
    // A folder and its files; what the folder only shows is not used.
    let child = ("m/child", "use super::Shared; pub struct Child(Shared);");
    let folder = |rest: &str| format!("mod child; pub use child::Child; pub struct Shared; {rest}");
    assert!(circles(&[("lib", "mod m;"), ("m/mod", &folder("")), child]).is_empty());
    let both = circles(&[("lib", "mod m;"), ("m/mod", &folder("fn f(_: Child) {}")), child]);
    assert_eq!(both, ["m m::child"]);
    // Comments, strings and tests import nothing.
    let quiet = "// use crate::b::B;\npub struct A; const T: &str = \"crate::b::B\";\n#[cfg(test)]\nmod tests { use crate::b::B; }";
    let b = ("b", "use crate::a::A; pub struct B(A);");
    assert!(circles(&[lib, ("a", quiet), b]).is_empty());
}
