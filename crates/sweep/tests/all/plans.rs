//! What plans mean, and what is wrong with them.

use crate::common::{plan, points, refused};

#[test]
fn a_product_runs_its_last_axis_fastest() {
    let plan = plan("[axes]\nworkload = ['nn', 'nw']\ns = { from = 1, to = 2 }\n");
    let wanted = ["workload=nn s=1", "workload=nn s=2", "workload=nw s=1", "workload=nw s=2"];
    assert_eq!(points(&plan), wanted);
}

#[test]
fn axes_in_step_exclusions_and_blocks() {
    let plan = plan(
        "zip = ['machine', 'core.waves']
        [axes]
        workload = 'nn'
        machine = ['gcn3', 'pws']
        core.waves = [8, 16]
        s = [0, 1]
        [[exclude]]
        machine = 'gcn3'
        s = [1, 2]
        [[block]]
        [[block]]
        axes.s = [5, 0]
        exclude = [{ core.waves = 16, s = 5 }]
        ",
    );
    let wanted = [
        "workload=nn machine=gcn3 core.waves=8 s=0",
        "workload=nn machine=pws core.waves=16 s=0",
        "workload=nn machine=pws core.waves=16 s=1",
        // The second block, without what the first one has.
        "workload=nn machine=gcn3 core.waves=8 s=5",
    ];
    assert_eq!(points(&plan), wanted);
}

#[test]
fn samples_follow_from_their_seed() {
    let text = |sample: &str| {
        format!(
            "sample = {{ {sample} }}\n[axes]\nworkload = 'nn'\nseed = {{ from = 0, to = 99 }}\ns = [1, 2, 3, 4]\n"
        )
    };
    let random = plan(&text("kind = 'random', count = 30, seed = 4"));
    let list = points(&random);
    assert_eq!(list.len(), 30);
    let mut different = list.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), 30);
    assert_eq!(list, points(&plan(&text("kind = 'random', count = 30, seed = 4"))));
    assert_ne!(list, points(&plan(&text("kind = 'random', count = 30, seed = 5"))));
    let latin = points(&plan(&text("kind = 'latin', count = 100, seed = 4")));
    for s in 1..=4 {
        let uses = latin.iter().filter(|p| p.ends_with(&format!("s={s}"))).count();
        assert_eq!(uses, 25, "every value equally often");
    }
    // More than there are is all of them.
    assert_eq!(points(&plan(&text("kind = 'random', count = 9999, seed = 4"))).len(), 400);
}

#[test]
fn variables_stand_in_texts() {
    let plan = plan(
        "[variables]\nn = [64, 128]\n[axes]\nprogram = 'basic.co'\ngrid = '{n}'\ngroup = 64\nargs = ['buf:f32:{n}:iota', 'i32:{n}']\n",
    );
    let place = plan.places().nth(1).expect("a second point");
    let point = plan.point(place).expect("a point");
    let wb_sweep::point::Target::Program(program) = &point.target else { panic!("{point:?}") };
    assert_eq!(program.grid, Some([128, 1, 1]));
    assert_eq!(program.args, ["buf:f32:128:iota", "i32:128"]);
}

#[test]
fn mistakes_have_a_place_and_a_hint() {
    for (text, wanted) in [
        (
            "[axes]\nworklod = ['nn']\n",
            ["plan.toml:2:1: there is no axis `worklod`", "did you mean `workload`?"],
        ),
        (
            "[axes]\nworkload = 'nn'\ncore.wave = 1\n",
            ["plan.toml:3:6: machines have no field `core.wave`", "`waves`"],
        ),
        (
            "[axes]\nworkload = []\n",
            ["plan.toml:2:12: axis `workload` has no values: the product is empty", "leave it out"],
        ),
        ("[axes]\nworkload = ['nn', 'nn']\n", ["plan.toml:2:12:", "twice"]),
        (
            "zip = [['workload', 's']]\n[axes]\nworkload = ['nn', 'nw']\ns = [1, 2, 3]\n",
            [
                "plan.toml:1:8: axes that go in step have equally many values: `workload` has 2, `s` has 3",
                "`zip`",
            ],
        ),
        (
            "zip = ['workload', 't']\n[axes]\nworkload = ['nn']\n",
            ["plan.toml:1:7: the plan has no axis `t`", "workload"],
        ),
        (
            "[axes]\ns = { from = 1, to = 4, step = 0 }\n",
            ["plan.toml:2:5: this range never gets from 1 to 4", "both ends"],
        ),
        (
            "[axes]\ns = { from = 1 }\n",
            ["plan.toml:2:5: this range never ends: it needs `from` and `to`", "step"],
        ),
        (
            "measure = ['time']\n[axes]\nworkload = 'nn'\n",
            ["plan.toml:1:12: there is no measure `time`", "cycles, stats"],
        ),
        (
            "mesure = 'cycles'\n[axes]\nworkload = 'nn'\n",
            ["plan.toml:1:1: a plan has no `mesure`", "did you mean `measure`?"],
        ),
        ("measure = 'cycles'\n", ["the plan has no axes", "workload"]),
        ("[axes]\nworkload = 'nn'\n[[exclude]]\nworkload = 'nn'\n", ["the plan has no points", "exclude"]),
        ("[axes]\ns = 1\nsplit.contexts = 2\n", ["`split.contexts` and `s` are the same axis", ""]),
        (
            "[axes]\nworkload = 'nn'\nsample = 1\n",
            ["plan.toml:3:1: there is no axis `sample`", "[variables]"],
        ),
        (
            "sample = { kind = 'latin' }\n[axes]\nworkload = 'nn'\n",
            ["a sample says how many points", "count = 100"],
        ),
        (
            "[axes]\nworkload = 'nn'\nseed = { from = 1, to = 10000 }\ns = { from = 1, to = 10000 }\nwaves = { from = 1, to = 1000000 }\n",
            ["the product of the axes has 100000000000000 points", "take a sample"],
        ),
        ("[axes]\nworkload = 'nn'\nworkload = 'nw'\n", ["plan.toml:3:1: duplicate key", ""]),
        ("[variables]\ns = [1]\n[axes]\nworkload = 'nn'\n", ["`s` is the name of an axis", "another name"]),
    ] {
        let said = refused(text);
        assert!(wanted.iter().all(|w| said.contains(w)), "{text}\n{said}");
    }
}

#[test]
fn points_that_run_nothing_or_something_strange_are_refused() {
    for (text, wanted) in [
        ("[axes]\ns = 1\n", "a point that runs nothing"),
        ("[axes]\nworkload = 'nn'\nprogram = 'a.co'\n", "a point that runs more than one thing"),
        ("[axes]\nworkload = 'bsf'\n", "bsf"),
        ("[axes]\nworkload = 'nn'\nsize = 'huge'\n", "huge"),
        ("[axes]\nworkload = 'nn'\ngrid = 64\n", "`grid` does not go with `workload`"),
        ("[axes]\nprogram = 'a.co'\ngrid = 0\n", "`0` is not a value of `grid`"),
        ("[axes]\nprogram = 'a.co'\ngrid = '{n}'\n", "there is no axis `n`"),
        ("[axes]\nhip = ['./a']\nseed = 1\n", "a HIP program makes its inputs itself"),
    ] {
        let plan = plan(text);
        let place = plan.places().next().expect("a point");
        let e = plan.point(place).expect_err(text);
        assert!(e.to_string().contains(wanted), "{e}");
        assert!(e.line > 1 || wanted.ends_with("nothing"), "{e}");
    }
}
