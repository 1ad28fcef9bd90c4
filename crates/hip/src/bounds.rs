//! Bounds of the kernels a program launched, when it ends: launches were kept with the memory they found.

use crate::records::Record;
use crate::runtime::{Runtime, describe};
use miette::Report;
use wb_lab::bound::{self, Launched, ProgramRef, Replay, Runs, data_hash};
use wb_lab::launch::Go;

/// Launches that were kept.
struct Kept(Vec<crate::launches::Recording>);

impl Replay for Kept {
    fn each(&self, look: &mut dyn FnMut(&Launched, &mut Go) -> Result<(), Report>) -> Result<(), Report> {
        for (number, r) in self.0.iter().enumerate() {
            let data = data_hash([r.memory()]);
            let launched = Launched {
                kernel: &r.kernel,
                file: &r.file,
                program: ProgramRef::Gcn3(&r.prepared.program),
                machine: &r.prepared.machine,
                launch: r.prepared.launch,
                kernarg: &r.prepared.kernarg,
                args: &r.args,
                // Every launch of the program is one of its own.
                number,
                data: &data,
            };
            look(&launched, &mut |options, observer| r.run(options, observer))?;
        }
        Ok(())
    }
}

impl Runtime {
    /// Bounds every kernel that was launched and tells the command.
    pub fn bound_all(&mut self) {
        let Some(wcet) = self.options.wcet.clone() else { return };
        let recordings = std::mem::take(&mut self.recordings);
        let mut names: Vec<String> = recordings.iter().map(|r| r.kernel.clone()).collect();
        names.sort();
        names.dedup();
        let all = wcet.options().and_then(|options| {
            bound::analyse(&Runs::Replay(Box::new(Kept(recordings))), &options, &mut |_, _| {})
        });
        match all {
            Ok(kernels) => {
                for k in kernels {
                    let report = serde_json::to_value(&k).unwrap_or_default();
                    let record = Record::Bound {
                        kernel: k.kernel.clone(),
                        text: k.text(false),
                        report: Box::new(report),
                    };
                    self.record(&record);
                }
            }
            Err(report) => {
                let text = format!("no bounds of {}: {}", names.join(", "), describe(&report));
                eprintln!("wavebound: {text}");
                self.record(&Record::Error { text });
            }
        }
    }
}
