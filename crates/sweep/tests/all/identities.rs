//! Equal points by different spellings are one; anything that could change a result makes another one.

use crate::common::{plan, root, sweep};
use std::path::Path;
use wb_sweep::identity::PointId;
use wb_sweep::{Id, Identities, Plan};

fn ids(text: &str) -> Vec<Id> {
    ids_of(&plan(text), &mut Identities::new())
}

fn ids_of(plan: &Plan, identities: &mut Identities) -> Vec<Id> {
    let mut out = Vec::new();
    for place in plan.places() {
        let point = plan.point(place).unwrap_or_else(|e| panic!("{e}"));
        let id: PointId = identities.point(&point).unwrap_or_else(|e| panic!("{e:?}"));
        out.extend(plan.measures.iter().map(|m| id.with(&point.target, m)));
    }
    out
}

#[test]
fn the_same_machine_by_preset_file_and_fields_is_one() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("mine.toml");
    std::fs::write(&path, "base = 'gcn3'\nname = 'mine'\ndescription = 'other words'\n[core]\nwaves = 8\n")
        .expect("file");
    let file = path.display().to_string();
    let all = [
        ids("[axes]\nworkload = 'nn'\nsize = 'tiny'\ncore.waves = 8\n"),
        ids("[axes]\nworkload = 'nn'\nsize = 'tiny'\nwaves = 8\n"),
        ids("[axes]\nworkload = 'nn'\nsize = 'tiny'\nmachine = 'gcn3'\n'core.waves' = '8'\n"),
        ids(&format!("[axes]\nworkload = 'nn'\nsize = 'tiny'\nmachine = '{file}'\n")),
        ids("[axes]\nmarks = 'none'\nseed = 0\nworkload = 'nn'\nsize = 'tiny'\ncore.waves = 8\n"),
    ];
    assert!(all.iter().all(|a| *a == all[0] && a.len() == 1), "{all:?}");
}

#[test]
fn what_matters_makes_another_identity() {
    let base = "[axes]\nworkload = 'nn'\nsize = 'tiny'\n";
    let all = [
        ids(base),
        ids("[axes]\nworkload = 'nw'\nsize = 'tiny'\n"),
        ids("[axes]\nworkload = 'nn'\nsize = 'small'\n"),
        ids(&format!("{base}seed = 1\n")),
        ids(&format!("{base}core.waves = 8\n")),
        ids(&format!("{base}mechanism = 'pws'\n")),
        ids(&format!("measure = 'stats'\n{base}")),
        ids(&format!("measure = 'bound'\n{base}")),
        ids(&format!("measure = 'bound'\nbound.runs = 2\n{base}")),
        ids(&format!("measure = 'worst'\n{base}")),
        ids(&format!("measure = 'worst'\nworst.seed = 2\n{base}")),
        ids_of(&plan(base), &mut Identities::of_version("another")),
    ];
    for (i, a) in all.iter().enumerate() {
        assert!(all[..i].iter().all(|b| a != b), "{i}: {all:?}");
    }
    // The input does not matter where the measure has inputs of its own.
    let seeds = ids(&format!("measure = 'bound'\n{base}seed = [1, 2]\n"));
    assert_eq!(seeds[0], seeds[1]);
}

const KERNEL: &str =
    "kernel = 'saxpy'\ngrid = 64\ngroup = 64\nargs = ['f32:2', 'buf:f32:64:iota', 'buf:f32:64', 'i32:64']\n";

#[test]
fn bytes_of_programs_and_data_count_and_their_names_do_not() {
    let dir = tempfile::tempdir().expect("folder");
    let object = root().join("fixtures/gcn3/basic.O2.co");
    let (a, b) = (dir.path().join("a.co"), dir.path().join("b.co"));
    std::fs::copy(&object, &a).expect("copied");
    std::fs::copy(&object, &b).expect("copied");
    let of = |path: &Path| ids(&format!("[axes]\nprogram = '{}'\n{KERNEL}", path.display()));
    assert_eq!(of(&a), of(&b));
    let other = root().join("fixtures/gcn3/basic.O3.co");
    std::fs::copy(&other, &b).expect("copied");
    assert_ne!(of(&a), of(&b), "other bytes");

    let data = dir.path().join("x.raw");
    let with = |bytes: &[u8]| {
        std::fs::write(&data, bytes).expect("data");
        let args = format!("args = ['f32:2', 'buf:f32:{}', 'buf:f32:64', 'i32:64']", data.display());
        ids(&format!("[axes]\nprogram = '{}'\nkernel = 'saxpy'\ngrid = 64\n{args}\n", a.display()))
    };
    assert_eq!(with(&[1; 256]), with(&[1; 256]));
    assert_ne!(with(&[1; 256]), with(&[2; 256]), "other data");
}

#[test]
fn launch_files_count_with_all_they_read() {
    let dir = tempfile::tempdir().expect("folder");
    let object = root().join("fixtures/gcn3/basic.O2.co");
    std::fs::copy(&object, dir.path().join("k.co")).expect("copied");
    let write = |data: u8, waves: u32| {
        std::fs::write(dir.path().join("x.raw"), [data; 256]).expect("data");
        let text = format!(
            "object = 'k.co'\nset = ['core.waves={waves}']\n[buffers.x]\ntype = 'f32'\nfrom = 'x.raw'\n\
             [buffers.y]\ntype = 'f32'\nlength = 64\n\
             [[launch]]\nkernel = 'saxpy'\ngrid = 64\ngroup = 64\nargs = ['f32:2', 'x', 'y', 'i32:64']\n"
        );
        std::fs::write(dir.path().join("l.toml"), text).expect("launch file");
        ids(&format!("[axes]\nlaunch = '{}'\n", dir.path().join("l.toml").display()))
    };
    let first = write(1, 8);
    assert_eq!(first, write(1, 8));
    assert_ne!(first, write(2, 8), "other data");
    assert_ne!(first, write(1, 16), "another machine");
}

#[test]
fn equal_points_run_once_and_changed_programs_again() {
    let dir = tempfile::tempdir().expect("folder");
    let (store, out) = (dir.path().join("store"), dir.path().join("out"));
    let program = dir.path().join("k.co");
    std::fs::copy(root().join("fixtures/gcn3/basic.O2.co"), &program).expect("copied");
    let text = format!("[axes]\nprogram = '{}'\n{KERNEL}waves = [8, 16]\n", program.display());
    let (ran, _) = sweep(&plan(&text), &store, &out, 2);
    assert_eq!(ran.done(), 2);
    let (ran, _) = sweep(&plan(&text), &store, &out, 2);
    assert_eq!(ran.done(), 0, "everything is known");
    let other = text.replace("waves = [8, 16]", "'core.waves' = ['16', '8', '24']");
    let (ran, written) = sweep(&plan(&other), &store, &out, 2);
    assert_eq!((ran.done(), written.rows), (1, 3), "an edited plan runs what is new");
    std::fs::copy(root().join("fixtures/gcn3/basic.O3.co"), &program).expect("copied");
    let (ran, _) = sweep(&plan(&text), &store, &out, 2);
    assert_eq!(ran.done(), 2, "another program");
}
