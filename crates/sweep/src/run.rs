//! A sweep on this computer: what is not known yet is given to workers, and every answer is stored at once. Whatever ends it, the
//! next one finishes the rest.

use crate::error::SweepError;
use crate::identity::{Id, Identities, Ids, Unknown, Watched};
use crate::measure::{Runner, Status};
use crate::plan::{Axis, Place, Plan, shuffled};
use crate::point::{Point, Target};
use crate::process::{Process, Workers};
use crate::store::{Record, Store, Writer, host};
use crate::worker::{self, Answer, Task};
use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What others have stored is looked at this often.
const LOOK: Duration = Duration::from_secs(2);

/// A part of a sweep: the results whose identity leaves `index` when divided by `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    pub index: u32,
    pub of: u32,
}

impl Shard {
    fn has(self, id: Id) -> bool {
        id.0 % u128::from(self.of.max(1)) == u128::from(self.index)
    }
}

/// How a sweep is run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Points at the same time.
    pub jobs: usize,
    /// Processes; none: threads of this one, where a crash is the end.
    pub workers: Option<Workers>,
}

/// Which results are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope {
    pub shard: Option<Shard>,
    /// What failed because of limits or circumstances is run again.
    pub retry: bool,
}

/// How far it is; told after every result.
#[derive(Clone, Copy, Debug, Default)]
pub struct News {
    pub done: u64,
    pub of: u64,
    /// Of those done.
    pub failed: u64,
    /// Sum of what the points took.
    pub seconds: f64,
    pub seconds_left: f64,
}

/// What there is to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Points of the plan.
    pub points: u64,
    /// Points whose machine cannot exist.
    pub invalid: u64,
    /// Results that the points need; equal ones count once.
    pub results: u64,
    /// Results that are known.
    pub known: u64,
    /// Results to be found, here.
    pub missing: u64,
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ran {
    /// Results that were found, by status in the order of [`Status::ALL`].
    pub statuses: [u64; Status::ALL.len()],
    /// Results that somebody else found meanwhile.
    pub others: u64,
    /// Sum of what the points took.
    pub seconds: f64,
    /// Time that passed.
    pub elapsed: f64,
    /// It was stopped before the end.
    pub stopped: bool,
}

impl Ran {
    pub fn done(&self) -> u64 {
        self.statuses.iter().sum()
    }

    /// Adds a later run.
    pub fn add(&mut self, more: &Ran) {
        for (a, b) in self.statuses.iter_mut().zip(more.statuses) {
            *a += b;
        }
        self.others += more.others;
        self.seconds += more.seconds;
        self.elapsed += more.elapsed;
        self.stopped |= more.stopped;
    }
}

/// The place of an identity that cannot be: while identities are collected, all of them are as long.
const NONE: Id = Id(u128::MAX);

/// A plan with the results that it needs.
pub struct Sweep<'a> {
    pub plan: &'a Plan,
    places: Vec<Place>,
    /// The results of each place, one for each measure, by number; none where the machine cannot exist.
    numbers: Vec<Option<NonZeroU32>>,
    wanted: Ids,
    /// Files that points were read from, by target.
    files: HashMap<String, Vec<Watched>>,
    store: Mutex<Store>,
    counts: Counts,
    /// What is to be done: place and measure.
    todo: Vec<(u32, u8)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where the program of a point is.
fn key(point: &Point) -> &str {
    match &point.target {
        Target::Workload { .. } => "",
        Target::Launch { path } | Target::Hip { path, .. } => path,
        Target::Program(program) => &program.path,
    }
}

impl<'a> Sweep<'a> {
    /// Works out what is to be done. `progress` is told how many points were looked at.
    pub fn prepare(
        plan: &'a Plan,
        store: &Path,
        scope: Scope,
        identities: &mut Identities,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Sweep<'a>, SweepError> {
        let mut sweep = Sweep {
            plan,
            places: Vec::new(),
            numbers: Vec::new(),
            wanted: Ids::default(),
            files: HashMap::new(),
            store: Mutex::new(Store::open(store, Ids::default())?),
            counts: Counts::default(),
            todo: Vec::new(),
        };
        let mut ids = Vec::new();
        for place in plan.places() {
            sweep.add(place, identities, &mut ids)?;
            progress(sweep.counts.points);
        }
        let wanted = Ids::new(ids.iter().copied().filter(|id| *id != NONE).collect());
        let number = |id: &Id| wanted.number(*id).and_then(|n| NonZeroU32::new(n as u32 + 1));
        sweep.numbers = ids.iter().map(number).collect();
        drop(ids);
        sweep.store = Mutex::new(Store::open(store, wanted.clone())?);
        sweep.wanted = wanted;
        sweep.refresh()?;
        sweep.plan_work(scope);
        Ok(sweep)
    }

    /// The identity of a result, if it can exist.
    fn id(&self, result: usize) -> Option<Id> {
        let number = self.numbers.get(result).copied().flatten()?;
        self.wanted.get(number.get() as usize - 1)
    }

    fn add(
        &mut self,
        place: Place,
        identities: &mut Identities,
        ids: &mut Vec<Id>,
    ) -> Result<(), SweepError> {
        let point = self.plan.point(place)?;
        self.counts.points += 1;
        let id = match identities.point(&point) {
            Ok(id) => id,
            Err(Unknown::Machine(_)) if self.plan.skip_invalid => {
                self.counts.invalid += 1;
                self.places.push(place);
                ids.extend(self.plan.measures.iter().map(|_| NONE));
                return Ok(());
            }
            Err(e) => return Err(self.cannot(place, e)),
        };
        if !id.files.is_empty() && !key(&point).is_empty() {
            let known = self.files.entry(key(&point).to_owned()).or_default();
            for file in id.files.iter() {
                if known.iter().all(|k| k.path() != file.path()) {
                    known.push(file.clone());
                }
            }
        }
        for measure in &self.plan.measures {
            if !measure.goes_with(&point.target) {
                let message = format!("`{}` does not go with HIP programs", measure.name());
                return Err(self.plan.error_at(None, message).into());
            }
            ids.push(id.with(&point.target, measure));
        }
        self.places.push(place);
        Ok(())
    }

    /// A point that cannot be: where the plan says so.
    fn cannot(&self, place: Place, why: Unknown) -> SweepError {
        let e = match why {
            Unknown::Other(e) => return e,
            Unknown::Machine(e) => *e,
        };
        let field = match &e {
            wb_jobs::JobError::Machine(e) => e.field.clone(),
            _ => None,
        };
        let is = |c: &crate::plan::Column| match (&c.axis, &field) {
            (Axis::Field(f), Some(field)) => field.starts_with(f.as_str()) || f.starts_with(field.as_str()),
            _ => false,
        };
        let column = self.plan.columns.iter().position(is);
        let point = self.plan.describe(place);
        self.plan
            .error_at(column, format!("{point}: {}", e.chain()))
            .hint("leave such points out with [[exclude]], or all of them with invalid = \"skip\"")
            .into()
    }

    fn refresh(&self) -> Result<(), SweepError> {
        lock(&self.store).refresh()
    }

    fn plan_work(&mut self, scope: Scope) {
        let store = lock(&self.store);
        let known = |id: Id| store.knows(id, !scope.retry);
        let measures = self.plan.measures.len();
        let mut seen = vec![false; self.wanted.len()];
        let mut todo = Vec::new();
        let mut counts = Counts { results: self.wanted.len() as u64, ..self.counts };
        for (i, number) in self.numbers.iter().enumerate() {
            let Some(number) = number.map(|n| n.get() as usize - 1) else { continue };
            let Some(id) = self.wanted.get(number).filter(|_| !seen[number]) else { continue };
            seen[number] = true;
            if known(id) {
                counts.known += 1;
            } else if scope.shard.is_none_or(|s| s.has(id)) {
                todo.push(((i / measures) as u32, (i % measures) as u8));
            }
        }
        // Two sweeps at once begin at different places, so that they seldom do the same.
        if store.busy() && todo.len() > 1 {
            let turn =
                crate::store::unique().bytes().fold(0_usize, |n, b| n.wrapping_mul(31) + usize::from(b));
            let turn = turn % todo.len();
            todo.rotate_left(turn);
        }
        counts.missing = todo.len() as u64;
        drop(store);
        self.todo = todo;
        self.counts = counts;
    }

    pub fn counts(&self) -> Counts {
        self.counts
    }

    pub fn damage(&self) -> crate::store::Damage {
        lock(&self.store).damage()
    }

    /// Some of the work, from all over the plan, first: to learn how long the rest takes. Returns how many.
    pub fn pilot_first(&mut self, count: usize) -> usize {
        if self.todo.len() < 4 * count || count == 0 {
            return 0;
        }
        // By chance, not by steps: measures and axes have steps, too.
        let size = self.todo.len() as u64;
        let picked: HashSet<u64> = (0..count as u64).map(|i| shuffled(i, size, 1)).collect();
        let (mut pilot, mut rest) = (Vec::new(), Vec::new());
        for (i, item) in self.todo.drain(..).enumerate() {
            if picked.contains(&(i as u64)) {
                pilot.push(item);
            } else {
                rest.push(item);
            }
        }
        let found = pilot.len();
        pilot.append(&mut rest);
        self.todo = pilot;
        found
    }

    /// Does the work, or the first `most` pieces of it. `news` hears of every result; the sweep stops when `go_on` says so.
    pub fn run(
        &mut self,
        options: &RunOptions,
        most: usize,
        news: &(dyn Fn(&News) + Sync),
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Ran, SweepError> {
        let start = Instant::now();
        let count = most.min(self.todo.len());
        let todo: Vec<(u32, u8)> = self.todo.drain(..count).collect();
        let work = Work {
            sweep: self,
            todo: &todo,
            next: AtomicUsize::new(0),
            writer: Mutex::new(lock(&self.store).writer()),
            looked: Mutex::new(Instant::now()),
            statuses: Default::default(),
            others: AtomicU64::new(0),
            nanos: AtomicU64::new(0),
            broken: AtomicBool::new(false),
            start,
            jobs: options.jobs.max(1).min(count.max(1)),
            host: host(),
            news,
            go_on,
        };
        let errors: Vec<SweepError> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..work.jobs).map(|_| scope.spawn(|| work.thread(options.workers.as_ref()))).collect();
            threads.into_iter().filter_map(|t| t.join().ok().and_then(Result::err)).collect()
        });
        let ran = Ran {
            statuses: work.statuses.each_ref().map(|n| n.load(Ordering::SeqCst)),
            others: work.others.load(Ordering::SeqCst),
            seconds: work.nanos.load(Ordering::SeqCst) as f64 / 1e9,
            elapsed: start.elapsed().as_secs_f64(),
            stopped: !go_on(),
        };
        let Work { writer, .. } = work;
        let sealed = writer.into_inner().unwrap_or_else(PoisonError::into_inner).finish();
        if let Some(first) = errors.into_iter().next() {
            return Err(first);
        }
        sealed?;
        self.refresh()?;
        Ok(ran)
    }

    /// Reads what is stored now, and counts again what is missing.
    pub fn look_again(&mut self, scope: Scope) -> Result<Counts, SweepError> {
        self.refresh()?;
        self.plan_work(scope);
        Ok(self.counts)
    }

    /// Every point with its results in the order of the measures; none where one is missing.
    pub fn rows(
        &self,
        mut each: impl FnMut(Place, &[Option<Id>], Vec<Option<Record>>) -> Result<(), SweepError>,
    ) -> Result<(), SweepError> {
        let measures = self.plan.measures.len();
        for (i, place) in self.places.iter().enumerate() {
            let ids: Vec<Option<Id>> = (i * measures..(i + 1) * measures).map(|r| self.id(r)).collect();
            let records = ids.iter().map(|id| id.and_then(|id| lock(&self.store).get(id))).collect();
            each(*place, &ids, records)?;
        }
        Ok(())
    }
}

/// What threads share.
struct Work<'a, 'b> {
    sweep: &'a Sweep<'b>,
    todo: &'a [(u32, u8)],
    next: AtomicUsize,
    writer: Mutex<Writer>,
    looked: Mutex<Instant>,
    statuses: [AtomicU64; Status::ALL.len()],
    others: AtomicU64,
    nanos: AtomicU64,
    broken: AtomicBool,
    start: Instant,
    jobs: usize,
    host: String,
    news: &'a (dyn Fn(&News) + Sync),
    go_on: &'a (dyn Fn() -> bool + Sync),
}

impl Work<'_, '_> {
    fn thread(&self, workers: Option<&Workers>) -> Result<(), SweepError> {
        let done = self.work(workers);
        if done.is_err() {
            self.broken.store(true, Ordering::SeqCst);
        }
        done
    }

    fn work(&self, workers: Option<&Workers>) -> Result<(), SweepError> {
        let mut process = workers.map(|w| Process::new(w.clone()));
        let mut runner = Runner::new(None);
        let wanted = || (self.go_on)() && !self.broken.load(Ordering::SeqCst);
        while wanted() {
            let at = self.next.fetch_add(1, Ordering::SeqCst);
            let Some(&(place, measure)) = self.todo.get(at) else { return Ok(()) };
            let measures = self.sweep.plan.measures.len();
            let Some(id) = self.sweep.id(place as usize * measures + usize::from(measure)) else { continue };
            self.look()?;
            if lock(&self.sweep.store).knows(id, false) {
                self.others.fetch_add(1, Ordering::SeqCst);
                continue;
            }
            let point = self.sweep.plan.point(self.sweep.places[place as usize])?;
            let task = Task { point, measure: self.sweep.plan.measures[usize::from(measure)].clone() };
            let answer = match &mut process {
                None => worker::measure(&mut runner, &task),
                Some(process) => match process.measure(&task, &wanted)? {
                    Ok(answer) => answer,
                    Err(_) => return Ok(()),
                },
            };
            self.unchanged(&task.point)?;
            self.keep(id, answer)?;
        }
        Ok(())
    }

    /// What others have stored.
    fn look(&self) -> Result<(), SweepError> {
        let mut looked = lock(&self.looked);
        if looked.elapsed() > LOOK {
            *looked = Instant::now();
            drop(looked);
            self.sweep.refresh()?;
        }
        Ok(())
    }

    /// A result counts only if its files are still those that its identity was made of.
    fn unchanged(&self, point: &Point) -> Result<(), SweepError> {
        let files = self.sweep.files.get(key(point));
        match files.into_iter().flatten().find(|f| f.changed()) {
            None => Ok(()),
            Some(file) => Err(SweepError::Data {
                path: file.path().to_owned(),
                why: "it was changed while the sweep was running".to_owned(),
            }),
        }
    }

    fn keep(&self, id: Id, answer: Answer) -> Result<(), SweepError> {
        let Answer { outcome, seconds } = answer;
        let status = outcome.status;
        let record = Record { outcome, host: self.host.clone(), seconds };
        lock(&self.writer).add(id, &record)?;
        self.nanos.fetch_add((seconds * 1e9) as u64, Ordering::SeqCst);
        self.statuses[status as usize].fetch_add(1, Ordering::SeqCst);
        let count = |i: usize| self.statuses[i].load(Ordering::SeqCst);
        let done: u64 = (0..Status::ALL.len()).map(count).sum();
        let of = self.todo.len() as u64;
        let elapsed = self.start.elapsed().as_secs_f64();
        (self.news)(&News {
            done,
            of,
            failed: done - count(Status::Ok as usize),
            seconds: self.nanos.load(Ordering::SeqCst) as f64 / 1e9,
            seconds_left: elapsed / done.max(1) as f64 * of.saturating_sub(done) as f64,
        });
        Ok(())
    }
}
