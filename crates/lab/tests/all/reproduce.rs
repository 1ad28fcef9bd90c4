//! Every published experiment is reproduced, twice the same, and a wrong expectation is noticed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use wb_lab::reproduce::{self, Published, Shape, Verdict, Want, experiments, judge};

/// A folder of this test run, empty at first and removed at the end. WAVEBOUND_KEEP=DIR keeps it in DIR.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = match std::env::var_os("WAVEBOUND_KEEP") {
            Some(dir) => PathBuf::from(dir).join(name),
            None => std::env::temp_dir().join(format!("wavebound-reproduce-{}-{name}", std::process::id())),
        };
        let _ = std::fs::remove_dir_all(&path);
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if std::env::var_os("WAVEBOUND_KEEP").is_some() {
            return;
        }
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|e| e.to_str()).unwrap_or("")
}

/// Something the measured value cannot be.
fn wrong(want: Want<'static>) -> Option<Want<'static>> {
    Some(match want {
        Want::Text(_) => Want::Text("something else"),
        Want::Near { value, within } => Want::Near { value: value * 2.0 + 1.0, within },
        Want::AtLeast(_) => Want::AtLeast(1e9),
        Want::AtMost(_) => Want::AtMost(-1.0),
        Want::LeastOr { .. } => Want::AtLeast(1e9),
        Want::MostOr { .. } => Want::AtMost(-1e9),
        Want::Printed { why, .. } => {
            Want::Printed { number: 1e12, within: 0.0, shape: Shape::AtLeast(1e9), why }
        }
        Want::Other { why, .. } => Want::Other { printed: "something else", ours: "another", why },
        Want::Any => return None,
    })
}

fn reproduced(name: &str) {
    let (one, two) = (Folder::new(&format!("{name}-1")), Folder::new(&format!("{name}-2")));
    let first = reproduce::run(name, &one.0).unwrap();
    println!("{}", first.table());
    // Experiments on the benchmark suite are judged at larger sizes: .ci/run does.
    let judged = !SUITE.contains(&name);
    assert!(!judged || first.passed(), "{}", first.table());
    assert!(!first.notes.is_empty(), "every experiment took decisions");
    let kinds: BTreeSet<&str> = first.files.iter().map(|f| extension(f)).collect();
    assert!(["csv", "parquet", "png", "svg"].iter().all(|k| kinds.contains(k)), "{kinds:?}");
    assert!(first.files.iter().all(|f| std::fs::metadata(f).unwrap().len() > 0));
    let json = serde_json::to_value(first.to_json()).unwrap();
    assert_eq!(json["passed"], first.passed());
    assert_eq!(json["rows"].as_array().unwrap().len(), first.rows.len());

    let (experiment, notebook) = reproduce::measure(name, &two.0).unwrap();
    let rows = judge(experiment.published, notebook.measured());
    assert_eq!(rows, first.rows, "the same numbers again");
    for file in first.files.iter().filter(|f| extension(f) != "png") {
        let again = two.0.join(file.file_name().unwrap());
        assert!(std::fs::read(file).unwrap() == std::fs::read(&again).unwrap(), "{} differs", file.display());
    }

    for (i, published) in experiment.published.iter().enumerate() {
        let Some(want) = wrong(published.want) else { continue };
        let mut tampered: Vec<Published> = experiment.published.to_vec();
        tampered[i].want = want;
        let rows = judge(&tampered, notebook.measured());
        let unmet = rows[i].verdict == Some(Verdict::Differs) && rows[i].unexplained();
        assert!(unmet, "{name}: {} is not checked", published.quantity);
        assert!(!judged || rows[i].ours != "not measured", "{name}: {}", published.quantity);
    }
    let mut tampered: Vec<Published> = experiment.published.to_vec();
    tampered[0].want = wrong(tampered[0].want).unwrap();
    assert!(!experiment.finding(&tampered, notebook).passed());
}

/// Experiments on the benchmark suite; here with the smallest inputs.
const SUITE: [&str; 6] = ["thesis-6.1", "thesis-6.3", "pws-10e", "pws-11", "suite", "mechanisms"];

macro_rules! experiments {
    ($($test:ident $name:literal)*) => {
        $(#[test] fn $test() { reproduced($name); })*

        #[test]
        fn none_is_forgotten() {
            let names: Vec<&str> = experiments().iter().map(|e| e.name).collect();
            assert_eq!(names, [$($name),*]);
        }
    };
}

experiments! {
    pdom_1 "pdom-1"
    pdom_2 "pdom-2"
    pdom_3 "pdom-3"
    guppy_1 "guppy-1"
    guppy_2 "guppy-2"
    guppy_3 "guppy-3"
    guppy_5 "guppy-5"
    guppy_6 "guppy-6"
    guppy_7 "guppy-7"
    guppy_8 "guppy-8"
    guppy_9 "guppy-9"
    thesis_t4_1 "thesis-t4.1"
    pws_fig2 "pws-fig2"
    pws_fig5 "pws-fig5"
    thesis_6_1 "thesis-6.1"
    thesis_6_2 "thesis-6.2"
    thesis_6_3 "thesis-6.3"
    pws_t2 "pws-t2"
    pws_t3 "pws-t3"
    pws_10a "pws-10a"
    pws_10b "pws-10b"
    pws_10c "pws-10c"
    pws_10e "pws-10e"
    pws_11 "pws-11"
    pws_12 "pws-12"
    swas_2 "swas-2"
    swas_t1 "swas-t1"
    swas_loads "swas-loads"
    swas_4 "swas-4"
    swas_5 "swas-5"
    swas_6 "swas-6"
    swas_7 "swas-7"
    swas_8 "swas-8"
    swas_t2 "swas-t2"
    suite "suite"
    mechanisms "mechanisms"
    bfs_shape "bfs-shape"
}

#[test]
fn unknown_names_get_a_hint() {
    let folder = Folder::new("unknown");
    let error = reproduce::run("gupy-5", &folder.0).unwrap_err();
    assert_eq!(error.to_string(), "there is no experiment `gupy-5`");
    let help = error.help().unwrap().to_string();
    assert!(help.starts_with("did you mean guppy-5? There are: pdom-1 "), "{help}");
    assert!(!folder.0.exists(), "nothing is written");
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let folder = Folder::new("file");
    std::fs::write(&folder.0, "in the way").unwrap();
    let error = reproduce::run("guppy-5", &folder.0.join("out")).unwrap_err();
    assert!(error.to_string().contains("cannot make the folder"), "{error}");
    let _ = std::fs::remove_file(&folder.0);
}
