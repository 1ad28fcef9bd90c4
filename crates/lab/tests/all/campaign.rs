//! The soundness campaign, as `wavebound campaign` runs it: random kernels under every mechanism with several inputs; no
//! launch and no wave takes longer than its bound, and every certificate passes the independent checker.
//!
//! `WAVEBOUND_CAMPAIGN_CASES=20000` runs more.

use wb_lab::campaign::{CampaignCase, run, summary, table};
use wb_testgen::random::gcn3::Setup;

/// Six times through all combinations of mechanism, S and marks.
const CASES: u64 = Setup::COUNT * 6;
const INPUTS: u64 = 2;

#[test]
fn no_run_is_longer_than_its_bound() {
    const { assert!(CASES >= 2_000) };
    let cases = std::env::var("WAVEBOUND_CAMPAIGN_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(CASES);
    let found = run(0..cases, INPUTS, 2, &|| ()).unwrap_or_else(|(n, e)| panic!("case {n}: {e}"));
    println!("{}", table(&summary(&found)));
    let bad: Vec<&CampaignCase> = found.iter().filter(|c| !c.sound || !c.certified).collect();
    assert!(bad.is_empty(), "again: wavebound campaign --case N\n{bad:#?}");
    if cases < CASES {
        return;
    }
    for mechanism in ["none", "thesis", "dws", "pws"] {
        let own: Vec<&CampaignCase> = found.iter().filter(|c| c.mechanism == mechanism).collect();
        assert!(own.len() >= 100, "{mechanism}: {} cases", own.len());
        let split = own.iter().filter(|c| c.splits > 0).count();
        assert_eq!(split > 0, mechanism != "none", "{mechanism}");
    }
    // The interesting part: splits that the bound relies on.
    let relied =
        |m: &str| found.iter().filter(|c| c.mechanism == m && c.counted_on > 0 && c.splits > 0).count();
    assert!(relied("pws") >= 20 && relied("thesis") >= 5, "{} and {}", relied("pws"), relied("thesis"));
    // A bound that is far too large would hold as well.
    let mean =
        found.iter().map(|c| (c.bound as f64 / c.observed as f64).ln()).sum::<f64>() / found.len() as f64;
    assert!(mean.exp() < 2.0, "bound / observed {}", mean.exp());
}
