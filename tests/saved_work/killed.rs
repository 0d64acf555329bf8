//! Tests of `kill -9` at any time: every plan that was on the screen for a second is complete on disk, and the work can
//! be continued from it.

use super::pty::{Place, Terminal, sessions_of, until};
use super::witness::{Seen, Witness};
use super::{DATE, SESSION, endless};
use lightbay_core::event::{EventBody, HotStartFate, RunId};
use lightbay_core::kind::Depth;
use lightbay_core::plan::Header;
use lightbay_engines::AnyFile;
use lightbay_sessions::{PlanId, Replay, ReplayLimits, Store};
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Number of times that the program is killed.
const KILLS: usize = 50;

/// Number of programs that run at the same time.
const AT_ONCE: usize = 4;

/// A plan that was on the screen for less than this time may be lost.
const SAVED_WITHIN: Duration = Duration::from_secs(1);

/// Maximum rounding error of the values on the screen.
const SHOWN_TO: f64 = 0.51e-6;

/// Generator of a reproducible sequence of pseudo-random numbers (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low)
    }

    fn millis(&mut self, low: u64, high: u64) -> Duration {
        Duration::from_millis(self.between(low, high))
    }
}

/// Uses the program for a while, as a user does, and kills it. Returns the time of the kill.
fn work_and_be_killed(mut terminal: Terminal, dice: &mut Dice, number: usize) -> Instant {
    if number.is_multiple_of(5) {
        // While it starts and finds its first plans.
        terminal.pass(dice.millis(0, 600));
        return terminal.kill();
    }
    terminal.until("a plan", |view| view.rows[0].contains("plan "));
    let end = Instant::now() + dice.millis(0, 3500);
    while Instant::now() < end {
        let pause = dice.millis(100, 900);
        terminal.pass(pause.min(end.saturating_duration_since(Instant::now())));
        // Every other one is only watched; the rest is asked for something else again and again.
        if number.is_multiple_of(2) && Instant::now() < end {
            terminal.command(&format!("set bandwidth_gbps={}", dice.between(300, 900)));
            terminal.keys("r");
        }
    }
    terminal.kill()
}

/// Content of a session after a kill.
struct Saved {
    replay: Replay,
    plans: BTreeMap<PlanId, Header>,
}

impl Saved {
    /// Reads the whole session, and asserts that no part is damaged.
    fn read(place: &Place) -> Self {
        let session = Store::at(sessions_of(place)).open(SESSION, DATE).unwrap();
        assert_eq!(session.read_only(), None, "the lock of a dead process is no lock");
        assert_eq!(session.remarks(), <&[String]>::default());
        assert_eq!(session.read_scenario().unwrap().1, None, "the scenario is whole");
        let replay = session.replay(ReplayLimits::ALL).unwrap();
        assert_eq!(replay.broken, 0, "{:?}", replay.problems);
        let plans = session.plans().unwrap().into_iter();
        let plans = plans.map(|entry| (entry.plan, entry.header.unwrap())).collect();
        Self { replay, plans }
    }

    /// Returns the run and the makespan of a plan from the log.
    fn logged(&self, number: u64) -> Option<(RunId, f64)> {
        let mut records = self.replay.records.iter().filter(|line| line.plan == Some(PlanId(number)));
        records.find_map(|line| match &line.record.body {
            EventBody::Incumbent(incumbent) => Some((line.record.run, incumbent.value)),
            _ => None,
        })
    }

    fn scenario_of(&self, run: RunId) -> &str {
        &self.replay.runs[&run].started.as_ref().unwrap().scenario_sha256
    }

    /// Returns the best makespan of the plans on disk for a scenario.
    fn best(&self, scenario_sha256: &str) -> Option<f64> {
        let plans = self.plans.values().filter(|plan| plan.provenance.scenario_sha256 == scenario_sha256);
        plans.map(|plan| plan.objective.value).min_by(f64::total_cmp)
    }

    /// Asserts that every plan in `seen` is in the log with its value, and that this plan or a better plan is on disk.
    fn holds(&self, seen: &[Seen]) {
        for Seen { number, value, .. } in seen {
            let Some((run, logged)) = self.logged(*number) else {
                panic!("plan {number} with {value} is not in the log");
            };
            assert!((logged - value).abs() <= SHOWN_TO, "plan {number}: {value} shown, {logged} saved");
            let best = self.best(self.scenario_of(run));
            assert!(
                best.is_some_and(|best| best <= value + SHOWN_TO),
                "plan {number} with {value} is gone; the best on disk is {best:?}"
            );
        }
    }
}

/// Asserts that the checker accepts every plan on disk.
fn check_plans(place: &Place, saved: &Saved) {
    for plan in saved.plans.keys() {
        let path = sessions_of(place).join(SESSION).join(format!("plans/{:04}.json", plan.0));
        let read = lightbay_engines::read_file(File::open(path).unwrap(), "plan").unwrap();
        let AnyFile::Plan(file) = read else { panic!("plan {} is a scenario", plan.0) };
        let violations = file.check(Depth::Usual).violations;
        assert!(violations.is_empty(), "plan {}: {violations:?}", plan.0);
    }
}

/// Opens the workbench as its user would, and solves again: `r` starts from the best plan of the session.
fn go_on(place: &Place, saved: &Saved) {
    let mut terminal = place.open(&[]);
    let opened = terminal.until("the session again", |view| view.rows[0].contains(SESSION));
    if saved.plans.is_empty() {
        assert!(opened.rows[0].contains("no plan yet"), "{}", opened.text());
    } else {
        terminal.until("a plan", |view| view.rows[0].contains("plan "));
    }
    terminal.keys("r");
    let last = saved.replay.runs.keys().next_back().map_or(0, |run| run.0);
    let log = sessions_of(place).join(SESSION).join("run.log");
    let (run, replay) = until("a plan of a new run", || {
        let replay = Replay::read(&log, ReplayLimits::ALL).unwrap();
        let run = *replay.runs.keys().next_back().filter(|run| run.0 > last)?;
        (replay.runs[&run].plans > 0).then_some((run, replay))
    });
    let of_run = || replay.records.iter().filter(|line| line.record.run == run);
    let hot = of_run().find_map(|line| match &line.record.body {
        EventBody::HotStart(report) => Some(report.clone()),
        _ => None,
    });
    let first = of_run().find_map(|line| match &line.record.body {
        EventBody::Incumbent(incumbent) if incumbent.number > 0 => Some(incumbent.value),
        _ => None,
    });
    if saved.plans.is_empty() {
        assert!(hot.is_none());
    } else {
        let hot = hot.expect("it starts from a plan");
        assert_ne!(hot.fate, HotStartFate::Rejected, "{hot:?}");
        let (first, after) = (first.unwrap(), hot.after.unwrap());
        assert!(first <= after + 1e-9, "{first} is worse than the plan it began with, {after}");
        let scenario = &replay.runs[&run].started.as_ref().unwrap().scenario_sha256;
        if let Some(best) = saved.best(scenario) {
            assert!(first <= best + 1e-9, "{first} is worse than {best} on disk");
        }
    }
    terminal.keys("\x03\x03");
    terminal.end().tidy();
    // Nothing that was there before is gone.
    let after = Saved::read(place);
    assert!(saved.plans.keys().all(|plan| after.plans.contains_key(plan)));
    assert!(after.replay.records.len() >= saved.replay.records.len());
}

/// Starts the program, kills it, and checks the session. Returns the number of plans that had to be saved.
fn one(number: usize) -> usize {
    let mut dice = Dice(number as u64);
    let place = Place::new();
    endless(&place);
    let witness = Witness::default();
    let looking = witness.clone();
    let terminal = place
        .opening(&[&format!("session:{SESSION}"), "--solve"])
        .watch(move |view, at| looking.look(view, at))
        .start();
    let killed = work_and_be_killed(terminal, &mut dice, number);
    let must: Vec<Seen> = witness
        .seen()
        .into_iter()
        .filter(|seen| killed.saturating_duration_since(seen.at) > SAVED_WITHIN)
        .collect();
    let saved = Saved::read(&place);
    saved.holds(&must);
    if number.is_multiple_of(4) {
        check_plans(&place, &saved);
        go_on(&place, &saved);
    }
    must.len()
}

#[test]
fn fifty_kills_lose_nothing_that_was_on_the_screen_for_a_second() {
    let next = AtomicUsize::new(0);
    let (mut lives, mut plans) = (0, 0);
    std::thread::scope(|scope| {
        let work = || {
            let mut kept = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= KILLS {
                    return kept;
                }
                kept.push(one(number));
            }
        };
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            for kept in worker.join().expect("a life failed; its message is above") {
                lives += usize::from(kept > 0);
                plans += kept;
            }
        }
    });
    // Otherwise nothing was tried.
    assert!(lives >= 10 && plans >= 40, "{plans} plans in {lives} lives were old enough to matter");
}
