//! The soundness campaign in small.
mod parallel;
use parallel::in_parallel;
use std::sync::Mutex;
use wb_lab::bound::campaign::case;

#[test]
fn bounds_hold() {
    let cases: u64 = std::env::var("WAVEBOUND_CAMPAIGN").ok().and_then(|n| n.parse().ok()).unwrap_or(720);
    let all = Mutex::new(Vec::new());
    in_parallel(cases, |n| {
        let c = case(n, 2)?;
        if !c.sound {
            return Err(format!("{c:?}"));
        }
        if !c.certified {
            return Err(format!("certificate {c:?}"));
        }
        all.lock().unwrap().push(c);
        Ok(())
    });
    let all = all.into_inner().unwrap();
    for m in ["none", "pws", "thesis", "dws"] {
        let l: Vec<_> = all.iter().filter(|c| c.mechanism == m).collect();
        let r: f64 =
            l.iter().map(|c| (c.bound as f64 / c.observed.max(1) as f64).ln()).sum::<f64>() / l.len() as f64;
        println!(
            "{m}: {} cases, {} split, {} counted, ratio {:.3}, wave {:.3}",
            l.len(),
            l.iter().filter(|c| c.splits > 0).count(),
            l.iter().filter(|c| c.counted_on > 0).count(),
            r.exp(),
            (l.iter().map(|c| (c.wave_bound as f64 / c.wave_observed.max(1) as f64).ln()).sum::<f64>()
                / l.len() as f64)
                .exp()
        );
    }
}
