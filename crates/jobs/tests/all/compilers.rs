//! Whether this machine has the compilers that some tests need.

pub fn has_compiler() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has = |name: &str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    let found = has("clang-19") && (has("ld.lld-19") || has("ld.lld"));
    assert!(found || std::env::var("CI").as_deref() != Ok("true"), "clang-19 and lld are missing");
    found
}
