//! Certificates against somebody who changes them: every field once, sealed again, and forgeries that agree with themselves.
//! What is accepted must be harmless, by a list with reasons.

use wb_testgen::parallel;

use parallel::in_parallel;
use serde_json::Value;
use wb_bound::{Against, KernelBound, Options, Runs, Verified, analyse, verify};
use wb_check::binding::hash;
use wb_check::check;
use wb_jobs::object::SplitSpec;
use wb_jobs::{Job, JobSpec};
use wb_testgen::random::gcn3::{Setup, generate, job};
use wb_wcet::measure::Unmeasured;

pub fn file(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/gcn3").join(name)
}

fn nest(sets: &[&str], at: &[&str]) -> JobSpec {
    JobSpec {
        isa: Some(wb_hw::InstructionSet::Gcn3),
        machine: "pws".into(),
        sets: ["frontend.kind=perfect"].iter().chain(sets).map(|s| (*s).to_owned()).collect(),
        kernel: "nest".into(),
        grid3: [256, 1, 1],
        group3: [64, 1, 1],
        args: vec!["buf:u32:256:random=1".into(), "buf:u32:256".into()],
        split: SplitSpec { at: at.iter().map(|s| (*s).to_owned()).collect(), ..SplitSpec::default() },
        ..JobSpec::default()
    }
}

fn runs(spec: &JobSpec, count: u32) -> Runs {
    let job = |run| Job::from_file(&file("control.O2.co"), &JobSpec { run, ..spec.clone() });
    Runs::Jobs(
        (0..count)
            .map(job)
            .collect::<Result<_, _>>()
            .unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e))),
    )
}

fn bound(runs: &Runs, options: &Options) -> KernelBound {
    let found =
        analyse(runs, options, &mut |_, _| ()).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    found.into_iter().next().expect("a kernel")
}

/// The document as text with the right digest: whoever changes a certificate can do this too.
fn sealed(document: &Value) -> String {
    let mut document = document.clone();
    document.as_object_mut().expect("an object").remove("digest");
    let text = document.to_string();
    let body = text.strip_suffix('}').expect("an object");
    format!("{body},\"digest\":\"{}\"}}", hash(body.as_bytes()))
}

fn document(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// What is said against a certificate when everything is at hand; none if it passes.
fn refused(text: &str, against: &Against) -> Option<String> {
    let report = match check(text) {
        Ok(report) => report,
        Err(e) => return Some(e.to_string()),
    };
    match verify(&report, against) {
        Err(e) => Some(e.to_string()),
        Ok(Verified { errors, .. }) if errors.is_empty() => None,
        Ok(Verified { errors, .. }) => Some(errors.join("; ")),
    }
}

/// All changes of one value: what it becomes, and what was done.
fn changes(value: &Value) -> Vec<(Value, &'static str)> {
    let mut list = Vec::new();
    match value {
        Value::Null => list.push((Value::from(0), "null becomes 0")),
        Value::Bool(b) => list.push((Value::from(!b), "the other truth value")),
        Value::Number(n) => {
            let n = n.as_i64().expect("whole numbers");
            list.extend([(Value::from(n + 1), "+1"), (Value::from(n - 1), "-1"), (Value::Null, "null")]);
        }
        Value::String(s) => {
            list.extend([(Value::from(format!("{s}x")), "longer"), (Value::from(""), "empty")]);
            // Another hash, and other argument bytes.
            let last = s.chars().last().filter(char::is_ascii_hexdigit);
            if let Some(last) = last {
                let other = if last == '0' { '1' } else { '0' };
                list.push((Value::from(format!("{}{other}", &s[..s.len() - 1])), "another last digit"));
            }
        }
        Value::Array(items) => {
            for i in 0..items.len() {
                let mut less = items.clone();
                less.remove(i);
                let mut more = items.clone();
                more.insert(i, items[i].clone());
                list.extend([(Value::from(less), "an entry less"), (Value::from(more), "an entry twice")]);
            }
            list.push((Value::Array(Vec::new()), "no entries"));
        }
        Value::Object(fields) => {
            for key in fields.keys() {
                let mut less = fields.clone();
                less.remove(key);
                list.push((Value::from(less), "a field less"));
            }
            let mut more = fields.clone();
            more.insert("surprise".into(), Value::from(1));
            list.push((Value::from(more), "a field more"));
        }
    }
    list.retain(|(new, _)| new != value);
    list
}

/// Every place of a document.
fn places(value: &Value, at: &str, list: &mut Vec<String>) {
    list.push(at.to_owned());
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, v)| places(v, &format!("{at}/{i}"), list))
        }
        Value::Object(fields) => fields.iter().for_each(|(k, v)| places(v, &format!("{at}/{k}"), list)),
        _ => {}
    }
}

/// Why a change that passes does no harm; none: it would.
fn harmless(place: &str, what: &str, old: &Value, new: &Value) -> Option<&'static str> {
    let numbers: Vec<&str> = place.split('/').filter(|p| p.parse::<usize>().is_err()).collect();
    let shape = numbers.join("/");
    let grows = || new.as_i64() > old.as_i64() && old.is_number();
    match shape.as_str() {
        "/about" if what.starts_with("a field") => Some("free text by name"),
        _ if shape.starts_with("/about/") => Some("free text"),
        "/binding/limits/why" | "/binding/left_out/why" => Some("free text"),
        "/binding/limits/proof" | "/binding/left_out/proof" => Some("a slot that this version does not read"),
        // Whatever multipliers pass, the checker's own arithmetic proves the bound with them.
        "/proof/y/nodes" | "/proof/y/loops" | "/proof/y/facts" if old.is_number() => Some("a witness"),
        "/proof/nodes/name" if new.as_str().is_some_and(|n| n.contains('.')) => Some("a label of a copy"),
        "/proof/limits" => Some("a witness: the checker computes limits itself and refuses lower ones"),
        "/proof/edges/cost" | "/proof/nodes/cost" if grows() => Some("the same bound holds for longer times"),
        _ => None,
    }
}

/// Changes every field of a certificate once; gives the number of changes and those that passed without being harmless.
fn attack(certificate: &str, against: &Against) -> (usize, usize, Vec<String>) {
    let original = document(certificate);
    assert_eq!(refused(&sealed(&original), against), None, "the certificate itself passes, sealed anew");
    let mut all = Vec::new();
    places(&original, "", &mut all);
    let (mut tried, mut passed, mut bad) = (0, 0, Vec::new());
    for place in all.iter().filter(|p| *p != "/digest") {
        let old = original.pointer(place).expect("a place");
        for (new, what) in changes(old) {
            let mut changed = original.clone();
            *changed.pointer_mut(place).expect("a place") = new.clone();
            if place.is_empty() && changed.get("digest").is_none() {
                continue; // sealing puts it back
            }
            tried += 1;
            if refused(&sealed(&changed), against).is_none() {
                passed += 1;
                if harmless(place, what, old, &new).is_none() {
                    bad.push(format!("{place}: {what}: {old} → {new}").chars().take(200).collect());
                }
            }
        }
    }
    (tried, passed, bad)
}

/// The kernel `switches`, of which one run leaves ways out.
fn switches() -> JobSpec {
    let args = ["buf:u32:256:random=1", "buf:u32:256", "u32:8"].map(Into::into).to_vec();
    JobSpec { kernel: "switches".into(), args, ..nest(&[], &[]) }
}

#[test]
fn every_field_counts() {
    let exclude = Options { unmeasured: Unmeasured::Exclude, ..Options::default() };
    for (what, spec, count, options) in [
        ("whole", nest(&["divergence.mechanism=none"], &[]), 3, Options::default()),
        (
            "split",
            nest(&["divergence.mechanism=pws", "split.contexts=1"], &["0x26c8"]),
            2,
            Options::default(),
        ),
        ("left out", switches(), 1, exclude),
    ] {
        let runs = runs(&spec, count);
        let found = bound(&runs, &options);
        let (tried, passed, bad) = attack(&found.certificate, &Against::Launches(&runs));
        println!("{what}: {tried} changes, {passed} pass, {} of them harmful", bad.len());
        assert!(tried > 300, "{tried}");
        assert!(bad.is_empty(), "{what}: {} of {tried} changes pass:\n{}", bad.len(), bad.join("\n"));
    }
}

/// Honest certificates are not refused: random kernels under every mechanism, with marks, splits and ways left out.
#[test]
fn honest_certificates_of_random_kernels_verify() {
    let splits = std::sync::atomic::AtomicUsize::new(0);
    // The first 20 numbers are one of each mechanism and its options; contexts change with the next digit.
    in_parallel(120, |i| {
        let n = i % 20 + 20 * [4, 5, 10, 11, 16, 17][(i / 20) as usize];
        let numbers: Vec<u16> = (0..60 + n % 200)
            .map(|k| (n.wrapping_mul(0x9e37).wrapping_add(k * 40_503) >> 3) as u16)
            .collect();
        let (kernel, setup) = (generate(&numbers), Setup::number(n));
        let jobs = (0..2).map(|i| job(&kernel, &setup, i)).collect::<Result<Vec<_>, _>>()?;
        let options =
            Options { facts_from_trace: true, unmeasured: Unmeasured::Exclude, ..Options::default() };
        let runs = Runs::Jobs(jobs);
        let found = analyse(&runs, &options, &mut |_, _| ())
            .map_err(|e| format!("case {n}: {:?}", miette::Report::new(e)))?;
        for k in &found {
            let counted = document(&k.certificate)["binding"]["splits"].as_array().map_or(0, Vec::len);
            splits.fetch_add(counted, std::sync::atomic::Ordering::Relaxed);
            if let Some(said) = refused(&k.certificate, &Against::Launches(&runs)) {
                return Err(format!("case {n}, {setup}: {said}"));
            }
        }
        Ok(())
    });
    let splits = splits.into_inner();
    assert!(splits >= 5, "splits are counted on in some of them: {splits}");
}

/// The search finds planted faults: against nothing but the document, code, machine and data can be changed.
#[test]
fn the_search_finds_what_is_not_bound() {
    let spec = nest(&["divergence.mechanism=none"], &[]);
    let runs = runs(&spec, 1);
    let found = bound(&runs, &Options::default());
    let original = document(&found.certificate);
    for (place, new) in [
        ("/binding/code/checksum", Value::from("xxh3:0000000000000000")),
        ("/binding/machine/hash", Value::from("xxh3:0000000000000000")),
        ("/binding/code/kernel", Value::from("other")),
        ("/binding/left_out", Value::Array(Vec::new())),
        ("/binding/launches/0/shapes/0/data/0", Value::from("xxh3:0000000000000000")),
    ] {
        let mut changed = original.clone();
        *changed.pointer_mut(place).expect("a place") = new;
        let text = sealed(&changed);
        assert!(check(&text).is_ok(), "{place}: the document alone cannot tell");
        assert!(refused(&text, &Against::Launches(&runs)).is_some(), "{place}");
        // Not sealed again, accidents are noticed without anything else.
        let careless = text.replace(hash(text.as_bytes()).as_str(), "");
        let (body, _) = careless.rsplit_once(",\"digest\"").expect("a digest");
        let (_, end) = found.certificate.rsplit_once(",\"digest\"").expect("a digest");
        assert!(check(&format!("{body},\"digest\"{end}")).is_err(), "{place}");
    }
}

/// A limit below what the loop can do, with multipliers that fit, called proved.
#[test]
fn a_forged_limit_is_refused() {
    let spec = nest(&["divergence.mechanism=none"], &[]);
    let runs = runs(&spec, 1);
    let honest = bound(&runs, &Options::default());
    let checksum = &honest.inputs[0].1;
    let facts = format!(
        "kernel = \"nest\"\nchecksum = \"{checksum}\"\n[[loop]]\nat = \"0x26b8\"\nmax = 20\nwhy = \"made up\"\n"
    );
    let lower = bound(&runs, &Options { facts: vec![("f.toml".into(), facts)], ..Options::default() });
    assert!(lower.bound < honest.bound);
    let mut forged = document(&lower.certificate);
    assert_eq!(forged["binding"]["limits"][0]["origin"], "user");
    let against = Against::Launches(&runs);
    assert_eq!(refused(&sealed(&forged), &against), None, "what a user says is listed as such");
    forged["binding"]["limits"][0]["origin"] = "proved".into();
    let text = sealed(&forged);
    assert!(check(&text).is_ok(), "its arithmetic is right");
    let said = refused(&text, &against).expect("refused");
    assert!(said.contains("can go round 30 times, the certificate has 20"), "{said}");
    let object = file("control.O2.co");
    let alone = Against::Program { file: &object, spec: &JobSpec::default(), machine: false };
    assert!(refused(&text, &alone).is_some_and(|e| e.contains("can go round 30")), "without the launch too");
}

/// Two nested splits with one context: the inner one is not sure to happen.
#[test]
fn a_split_without_a_context_is_refused() {
    let at = ["0x26c8", "0x26dc"];
    let with = |s: u32| nest(&["divergence.mechanism=pws", &format!("split.contexts={s}")], &at);
    let (enough, short) = (runs(&with(3), 1), runs(&with(1), 1));
    let (good, honest) = (bound(&enough, &Options::default()), bound(&short, &Options::default()));
    let splits = |k: &KernelBound| document(&k.certificate)["binding"]["splits"].as_array().map(Vec::len);
    assert_eq!((splits(&good), splits(&honest)), (Some(2), Some(1)));
    for (found, runs) in [(&good, &enough), (&honest, &short)] {
        assert_eq!(refused(&found.certificate, &Against::Launches(runs)), None);
    }
    let mut forged = document(&good.certificate);
    let honest = document(&honest.certificate);
    forged["binding"]["machine"] = honest["binding"]["machine"].clone();
    forged["binding"]["launches"] = honest["binding"]["launches"].clone();
    let wave = forged["proof"]["bound"].clone();
    forged["binding"]["launches"][0]["bound"] = wave.clone();
    forged["binding"]["total"] = wave;
    let text = sealed(&forged);
    assert!(check(&text).is_ok(), "{:?}", check(&text));
    let said = refused(&text, &Against::Launches(&short)).expect("refused");
    assert!(said.contains("no context is sure to be free"), "{said}");
}

/// Times of a faster machine under the name of the slower one.
#[test]
fn times_of_another_machine_are_refused() {
    let (slow, fast) = (nest(&["dram.latency=900"], &[]), nest(&[], &[]));
    let (slow_runs, fast_runs) = (runs(&slow, 1), runs(&fast, 1));
    let (slow, fast) = (bound(&slow_runs, &Options::default()), bound(&fast_runs, &Options::default()));
    assert!(fast.bound < slow.bound);
    let (honest, mut forged) = (document(&slow.certificate), document(&fast.certificate));
    assert_ne!(
        honest["binding"]["machine"]["hash"], forged["binding"]["machine"]["hash"],
        "all fields count"
    );
    let against = Against::Launches(&slow_runs);
    assert!(refused(&fast.certificate, &against).is_some_and(|e| e.contains("machine: ")));
    forged["binding"]["machine"] = honest["binding"]["machine"].clone();
    let said = refused(&sealed(&forged), &against).expect("refused");
    assert!(said.contains("times: ") && said.contains("cycles, the certificate has"), "{said}");
}

/// A way that is left out with a better-sounding reason, or with none.
#[test]
fn ways_that_are_left_out_need_their_reason() {
    // All lanes take the same few cases: the others are ways that no run took.
    let args = ["buf:u32:256:const=3", "buf:u32:256", "u32:8"].map(Into::into).to_vec();
    let runs = runs(&JobSpec { args, ..switches() }, 1);
    let found = bound(&runs, &Options { unmeasured: Unmeasured::Exclude, ..Options::default() });
    let original = document(&found.certificate);
    let list = original["binding"]["left_out"].as_array().expect("a list").clone();
    let at = list
        .iter()
        .position(|w| w["reason"] == "not-taken")
        .unwrap_or_else(|| panic!("a way that no run took: {list:?}"));
    let against = Against::Launches(&runs);
    assert_eq!(refused(&sealed(&original), &against), None);
    assert_eq!(original["binding"]["status"], "observed");
    let forge = |change: &dyn Fn(&mut Value)| {
        let mut forged = original.clone();
        change(&mut forged);
        let left = forged["binding"]["left_out"].as_array().expect("a list").clone();
        if !left.iter().any(|w| w["reason"] == "not-taken") {
            forged["binding"]["untaken"] = Value::Array(Vec::new());
            forged["binding"]["status"] = "hybrid".into();
        }
        refused(&sealed(&forged), &against)
    };
    for reason in ["skip", "limit", "infeasible"] {
        let said = forge(&|f| {
            for way in f["binding"]["left_out"].as_array_mut().expect("a list") {
                if way["reason"] == "not-taken" {
                    way["reason"] = reason.into();
                }
            }
        });
        assert!(said.is_some(), "{reason}");
    }
    let said = forge(&|f| {
        f["binding"]["left_out"].as_array_mut().expect("a list").remove(at);
    });
    assert!(said.as_deref().is_some_and(|e| e.contains("does not contain the way")), "{said:?}");
}

/// Another launch: more groups, other arguments, other data.
#[test]
fn another_launch_is_refused() {
    let spec = nest(&["cores=1", "core.waves=4"], &[]);
    let runs_of = |spec: &JobSpec| runs(spec, 1);
    let own = runs_of(&spec);
    let found = bound(&own, &Options::default());
    assert_eq!(refused(&found.certificate, &Against::Launches(&own)), None);
    let larger = JobSpec { grid3: [128, 1, 1], ..spec.clone() };
    let data = JobSpec { args: vec!["buf:u32:256:random=2".into(), "buf:u32:256".into()], ..spec.clone() };
    let machine = JobSpec { sets: [&spec.sets[..], &["cores=2".into()]].concat(), ..spec.clone() };
    for (other, what) in [(&larger, "is not launched"), (&data, "the data are"), (&machine, "machine: ")] {
        let said = refused(&found.certificate, &Against::Launches(&runs_of(other))).expect("refused");
        assert!(said.contains(what), "{what}: {said}");
    }
}

/// Versions: the first one bound nothing.
#[test]
fn version_1_is_refused_with_a_reason() {
    let text = r#"{"format":"wavebound-certificate","version":1,"about":{},"bound":1}"#;
    let said = check(text).expect_err("refused").to_string();
    assert!(said.contains("version 1") && said.contains("wavebound wcet --certificate"), "{said}");
}
