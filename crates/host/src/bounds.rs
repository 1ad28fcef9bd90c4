//! Bounds of the kernels a program launched, when it ends: launches were kept with the memory they found.

use crate::recording::Recording;
use crate::records::Record;
use crate::session::{Session, describe};
use std::collections::BTreeMap;
use wavebound::bound::{BoundError, Launched, Replay, Runs, TraceFiles, bounds, data_hash};
use wavebound::jobs::ProgramRef;
use wavebound::jobs::launch::RunLaunch;

/// Launches that were kept.
struct Kept(Vec<Recording>);

impl Replay for Kept {
    fn each(
        &self,
        look: &mut dyn FnMut(&Launched, &mut RunLaunch) -> Result<(), BoundError>,
    ) -> Result<(), BoundError> {
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
                buffers: &[],
                touchable: r.prepared.touchable.clone(),
            };
            look(&launched, &mut |options, observer| r.run(options, observer))?;
        }
        Ok(())
    }
}

impl Session {
    /// Bounds every kernel that was launched, each on its own, and tells the command.
    pub fn bound_all(&mut self) {
        let Some(wcet) = self.options.wcet.clone() else { return };
        let mut kernels: BTreeMap<String, Vec<Recording>> = BTreeMap::new();
        for r in std::mem::take(&mut self.recordings) {
            kernels.entry(r.kernel.clone()).or_default().push(r);
        }
        let process = self.process;
        for (kernel, recordings) in kernels {
            let runs = Runs::Replay(Box::new(Kept(recordings)));
            let found = wcet
                .options()
                .and_then(|options| Ok(bounds(&runs, &options, TraceFiles::default(), &mut |_, _| {})?));
            match found {
                Ok(found) => {
                    for k in found {
                        let report = Box::new(serde_json::to_value(&k).unwrap_or_default());
                        let (kernel, text) = (k.kernel.clone(), k.text(false));
                        self.record(&Record::Bound { process, kernel, text, report });
                    }
                }
                Err(report) => {
                    let text = describe(&report);
                    self.record(&Record::NoBound { process, kernel, text });
                }
            }
        }
    }
}
