//! Helper processes: this program starts itself again, as the real one does, and kills, stops and confuses it.
//!
//! It is its own test runner, because the helper has to be this very program.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    missing_docs,
    reason = "tests fail by panicking, and this is a test runner"
)]

#[path = "worker/kind.rs"]
mod kind;
#[path = "worker/models.rs"]
mod models;
#[path = "worker/runs.rs"]
mod runs;

use lightbay_core::worker::Launcher as _;
use lightbay_highs::event::{Flow, NoListener, SolverEvent, SolverListener, Stage};
use lightbay_highs::instance::solve_here;
use lightbay_highs::model::Model;
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Solution, Start, Status};
use lightbay_highs::worker::{self, Ending, HelperError, Launcher};
use models::{endless, knapsack};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Longer than anything may take here, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(30);

/// Roles of this program when it is started with a word.
const ROLES: [(&str, fn()); 11] = [
    ("--serve", || worker::serve().unwrap()),
    ("--noisy", noisy),
    ("--parent", parent),
    ("--mute", || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    }),
    ("--deaf", || std::thread::sleep(Duration::from_mins(1))),
    ("--exit", || std::process::exit(3)),
    ("--abort", || std::process::abort()),
    ("--stranger", || say(b"hello\n")),
    ("--newer", || say(b"LBH\x02\x01\x00\x00\x00\x00")),
    ("--cut", || say(b"LBH\x01\x10\x00\x00\x00abc")),
    ("--huge", || say(b"LBH\x01\xff\xff\xff\xff")),
];

const TESTS: [(&str, fn()); 24] = [
    ("a_model_is_solved_as_in_the_own_process", solved_as_here),
    ("two_helpers_work_at_once", two_at_once),
    ("a_mistake_is_told_as_in_the_own_process", mistakes),
    ("nothing_is_started_for_a_run_that_is_stopped_already", stopped_before_the_start),
    ("a_stop_at_the_first_word_may_be_repeated", stopped_at_the_first_word),
    ("a_stop_in_the_first_relaxation_loses_nothing", stopped_in_the_root),
    ("silence_is_told_and_the_watch_is_asked_meanwhile", silence),
    ("a_kill_from_outside_keeps_what_was_found", killed_from_outside),
    ("a_helper_that_dies_at_once_is_an_error", died),
    ("others_that_answer_are_refused", strangers),
    ("a_helper_that_does_not_listen_can_be_stopped", deaf),
    ("what_a_library_prints_is_no_answer", printing),
    ("a_paused_run_uses_no_processor", paused),
    ("a_watch_that_panics_leaves_no_process", panicking),
    ("a_helper_ends_with_its_parent", orphaned),
    ("input_that_is_no_job_is_refused", no_job),
    ("a_run_says_what_the_solver_does_wherever_it_works", runs::told),
    ("a_run_is_stopped_in_the_first_relaxation", runs::stopped),
    ("a_run_ends_when_its_best_plan_meets_its_bound", runs::closed),
    ("a_run_ends_at_its_time_limit_in_both_processes", runs::limited),
    ("a_run_that_is_paused_holds_its_helper", runs::paused),
    ("a_run_whose_helper_is_killed_keeps_its_plan", runs::killed),
    ("a_run_whose_helper_dies_at_once_keeps_its_plan", runs::killed_early),
    ("a_run_survives_what_goes_wrong_at_the_start", runs::odd),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some((_, role)) = arguments.first().and_then(|word| ROLES.iter().find(|(name, _)| name == word)) {
        role();
        return ExitCode::SUCCESS;
    }
    let wanted: Vec<&String> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
    let mut failed = Vec::new();
    for (name, test) in TESTS {
        if !wanted.is_empty() && !wanted.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        if arguments.iter().any(|word| word == "--list") {
            println!("{name}: test");
            continue;
        }
        let began = Instant::now();
        let passed = catch_unwind(test).is_ok();
        let word = if passed { "ok" } else { "FAILED" };
        println!("test {name} ... {word} ({:.2} s)", began.elapsed().as_secs_f64());
        if !passed {
            failed.push(name);
        }
    }
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("failed: {}", failed.join(", "));
    ExitCode::FAILURE
}

fn say(bytes: &[u8]) {
    std::io::stdout().write_all(bytes).unwrap();
    std::io::stdout().flush().unwrap();
}

/// Serves while something else in the same process prints without end.
fn noisy() {
    std::thread::spawn(|| {
        loop {
            // Serving comes first in the real program, and leads descriptor 1 away from the pipe.
            if !std::fs::read_link("/proc/self/fd/1").unwrap().to_string_lossy().starts_with("pipe:") {
                println!("a table of a solver that was not asked");
            }
        }
    });
    worker::serve().unwrap();
}

/// Solves without end in a helper of its own, whose number it says.
fn parent() {
    let spy = Spy::new("--serve");
    let mut said = false;
    let _ = solve_endless(
        &spy,
        &mut On(|event: &SolverEvent| {
            if matches!(event, SolverEvent::Stage(Stage::RootLp)) && !said {
                said = true;
                say(format!("{}\n", spy.last()).as_bytes());
            }
            Flow::Continue
        }),
    );
}

/// Starts this program in a role and remembers the numbers of the processes.
#[derive(Clone, Debug)]
struct Spy {
    launcher: Launcher,
    started: Arc<Mutex<Vec<u32>>>,
}

impl Spy {
    fn new(role: &str) -> Self {
        let launcher = Launcher::new(std::env::current_exe().unwrap(), [role]);
        Self { launcher, started: Arc::default() }
    }

    fn last(&self) -> u32 {
        *self.started.lock().unwrap().last().unwrap()
    }

    fn count(&self) -> usize {
        self.started.lock().unwrap().len()
    }
}

impl lightbay_core::worker::Launcher for Spy {
    fn launch(&self) -> std::io::Result<Child> {
        let child = self.launcher.launch()?;
        self.started.lock().unwrap().push(child.id());
        Ok(child)
    }
}

/// A watch that decides by its events.
struct On<F>(F);

impl<F: FnMut(&SolverEvent) -> Flow> SolverListener for On<F> {
    fn event(&mut self, event: &SolverEvent) -> Flow {
        self.0(event)
    }
}

fn solve_endless(spy: &Spy, watch: &mut dyn SolverListener) -> Result<Ending, HelperError> {
    let model = endless();
    let options = Options::new().set("presolve", "off");
    let start = Start::Full(vec![1.0; model.columns()]);
    worker::solve(spy, &model, &options, &start, watch)
}

fn solve(role: &str, model: &Model, watch: &mut dyn SolverListener) -> Result<Ending, HelperError> {
    worker::solve(&Spy::new(role), model, &Options::new(), &Start::None, watch)
}

/// The letter for the state of a process; `None` if there is no such process.
fn state(id: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    stat[stat.rfind(')')? + 2..].chars().next()
}

/// Returns `true` if a process that is not our child is gone or waits for somebody else to take its remains.
fn is_dead(id: u32) -> bool {
    matches!(state(id), None | Some('Z'))
}

fn within(time: Duration, mut come: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while began.elapsed() < time {
        if come() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    come()
}

/// A cost of all columns: the objective of the start.
fn all(model: &Model) -> f64 {
    model.costs.iter().sum()
}

fn solved_as_here() {
    let model = knapsack();
    let mut heard = Vec::new();
    let ending = solve(
        "--serve",
        &model,
        &mut On(|event: &SolverEvent| {
            heard.push(event.clone());
            Flow::Continue
        }),
    );
    let there = ending.unwrap();
    let here = solve_here(&model, &Options::new(), &Start::None, &mut NoListener).unwrap();
    assert_eq!(there.accident, None);
    assert_eq!(Solution { elapsed_s: here.elapsed_s, ..there.solution }, here);
    assert_eq!((here.status, here.objective), (Status::Optimal, Some(160.0)));
    assert!(heard.iter().any(|event| matches!(event, SolverEvent::Incumbent { .. })), "{heard:?}");
    assert!(heard.iter().any(|event| matches!(event, SolverEvent::Log(_))), "{heard:?}");
}

fn two_at_once() {
    std::thread::scope(|scope| {
        let both: Vec<_> =
            (0..2).map(|_| scope.spawn(|| solve("--serve", &knapsack(), &mut NoListener))).collect();
        for one in both {
            assert_eq!(one.join().unwrap().unwrap().solution.objective, Some(160.0));
        }
    });
}

fn mistakes() {
    let (model, options) = (knapsack(), Options::new().set("mip_rel_gip", 0.1));
    let there = worker::solve(&Spy::new("--serve"), &model, &options, &Start::None, &mut NoListener);
    let here = solve_here(&model, &options, &Start::None, &mut NoListener);
    assert_eq!(there.unwrap_err().to_string(), here.unwrap_err().to_string());
}

fn stopped_before_the_start() {
    struct Never;
    impl SolverListener for Never {
        fn event(&mut self, _: &SolverEvent) -> Flow {
            panic!("nothing is to be heard")
        }
        fn tick(&mut self) -> Flow {
            Flow::Stop
        }
    }
    let spy = Spy::new("--serve");
    let ending = solve_endless(&spy, &mut Never).unwrap();
    assert_eq!((ending.solution.status, ending.solution.values, spy.count()), (Status::Interrupted, None, 0));
}

fn stopped_at_the_first_word() {
    let spy = Spy::new("--serve");
    let mut events = 0;
    let ending = solve_endless(
        &spy,
        &mut On(|_: &SolverEvent| {
            events += 1;
            Flow::Stop
        }),
    );
    assert_eq!(ending.unwrap().solution.status, Status::Interrupted);
    assert!(events > 0);
    assert!(is_dead(spy.last()));
}

/// Stops a moment after the first relaxation began, when the start has been heard of.
fn stopped_in_the_root() {
    let model = endless();
    let spy = Spy::new("--serve");
    let (mut best, mut root, mut asked) = (None, None, None);
    let ending = solve_endless(
        &spy,
        &mut Ticking(|event: Option<&SolverEvent>| {
            match event {
                Some(SolverEvent::Incumbent { objective, .. }) => best = Some(*objective),
                Some(SolverEvent::Stage(Stage::RootLp)) => root = Some(Instant::now()),
                _ => {}
            }
            if best.is_some() && root.is_some_and(|root: Instant| root.elapsed() > Duration::from_millis(700))
            {
                asked.get_or_insert_with(Instant::now);
                return Flow::Stop;
            }
            Flow::Continue
        }),
    )
    .unwrap();
    let took = asked.unwrap().elapsed();
    assert!(took < PATIENCE, "{took:?}");
    assert_eq!(ending.accident, None);
    let solution = ending.solution;
    assert_eq!((solution.status, solution.objective), (Status::Interrupted, best));
    let values = solution.values.unwrap();
    assert_eq!(model.first_broken(&values, 1e-6), None);
    assert_eq!(model.objective(&values), solution.objective.unwrap());
    assert!(solution.objective.unwrap() <= all(&model));
    assert_eq!(solution.row_values.len(), model.rows());
    assert!(is_dead(spy.last()));
}

/// A watch that is asked with and without events.
struct Ticking<F>(F);

impl<F: FnMut(Option<&SolverEvent>) -> Flow> SolverListener for Ticking<F> {
    fn event(&mut self, event: &SolverEvent) -> Flow {
        self.0(Some(event))
    }
    fn tick(&mut self) -> Flow {
        self.0(None)
    }
}

fn silence() {
    let (mut silences, mut ticks) = (Vec::new(), 0);
    let ending = solve(
        "--mute",
        &knapsack(),
        &mut Ticking(|event: Option<&SolverEvent>| {
            match event {
                Some(SolverEvent::Silent(seconds)) => silences.push(*seconds),
                Some(other) => panic!("{other:?}"),
                None => ticks += 1,
            }
            let enough = silences.len() >= 2 && ticks > 3;
            if enough || silences.len() == 20 { Flow::Stop } else { Flow::Continue }
        }),
    );
    assert_eq!(ending.unwrap().solution.status, Status::Interrupted);
    assert!(silences[0] >= 0.5 && silences[1] >= 1.0, "{silences:?}");
    assert!(ticks > 3, "asked {ticks} times in {silences:?}");
}

fn killed_from_outside() {
    let spy = Spy::new("--serve");
    let mut best = None;
    let ending = solve_endless(
        &spy,
        &mut On(|event: &SolverEvent| {
            if let SolverEvent::Incumbent { objective, .. } = event {
                best = Some(*objective);
                let id = Pid::from_raw(spy.last() as i32).unwrap();
                kill_process(id, Signal::KILL).unwrap();
            }
            Flow::Continue
        }),
    )
    .unwrap();
    assert!(ending.accident.as_ref().unwrap().contains("signal 9"), "{:?}", ending.accident);
    assert_eq!((ending.solution.status, ending.solution.objective), (Status::Interrupted, best));
    assert!(best.is_some());
}

fn died() {
    for (role, words) in
        [("--exit", "ended with exit code 3"), ("--abort", "signal 6"), ("--cut", "exit code 0")]
    {
        let error = solve(role, &knapsack(), &mut NoListener).unwrap_err();
        assert!(matches!(error, HelperError::Died(_)), "{role}: {error}");
        assert!(error.to_string().contains(words), "{role}: {error}");
    }
    let none = Launcher::new("/nonexistent/lightbay", ["--serve"]);
    let error =
        worker::solve(&none, &knapsack(), &Options::new(), &Start::None, &mut NoListener).unwrap_err();
    assert!(matches!(error, HelperError::Launch(_)), "{error}");
}

fn strangers() {
    for role in ["--stranger", "--newer", "--huge"] {
        let error = solve(role, &knapsack(), &mut NoListener).unwrap_err();
        assert!(matches!(error, HelperError::Frame(_)), "{role}: {error}");
    }
}

/// The model does not even fit into the pipe, and nobody takes it out.
fn deaf() {
    let spy = Spy::new("--deaf");
    let mut asked = 0;
    let ending = solve_endless(
        &spy,
        &mut Ticking(|_: Option<&SolverEvent>| {
            // Before the start nothing is there to be stopped.
            asked += u32::from(spy.count() > 0);
            if asked > 10 { Flow::Stop } else { Flow::Continue }
        }),
    );
    assert_eq!(ending.unwrap().solution.status, Status::Interrupted);
    assert!(is_dead(spy.last()));
}

fn printing() {
    assert_eq!(solve("--noisy", &knapsack(), &mut NoListener).unwrap().solution.objective, Some(160.0));
}

/// Pauses in the first relaxation: the helper stands still, also when it is then stopped.
fn paused() {
    struct Pausing<'s> {
        spy: &'s Spy,
        root: bool,
        pause: bool,
        seen: Vec<char>,
    }
    impl SolverListener for Pausing<'_> {
        fn event(&mut self, event: &SolverEvent) -> Flow {
            self.root |= matches!(event, SolverEvent::Stage(Stage::RootLp));
            if self.pause { self.tick() } else { Flow::Continue }
        }
        fn pausing(&mut self) -> bool {
            self.pause = self.root;
            self.pause
        }
        fn tick(&mut self) -> Flow {
            if !self.pause {
                return Flow::Continue;
            }
            if self.seen.len() == 2 {
                // It was stopped already, and may be gone.
                return Flow::Stop;
            }
            let id = self.spy.last();
            assert!(within(PATIENCE, || state(id) == Some('T')), "{:?}", state(id));
            self.seen.push('T');
            if self.seen.len() == 1 {
                // Goes on after this one.
                return Flow::Continue;
            }
            Flow::Stop
        }
    }
    let spy = Spy::new("--serve");
    let mut watch = Pausing { spy: &spy, root: false, pause: false, seen: Vec::new() };
    let ending = solve_endless(&spy, &mut watch).unwrap();
    assert_eq!(ending.solution.status, Status::Interrupted);
    assert_eq!(ending.accident, None);
    assert_eq!(watch.seen.len(), 2);
    assert!(is_dead(spy.last()));
}

fn panicking() {
    let spy = Spy::new("--serve");
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let _ = solve_endless(&spy, &mut On(|_: &SolverEvent| panic!("deliberate")));
    }));
    assert!(ended.is_err());
    assert!(is_dead(spy.last()));
}

fn orphaned() {
    let mut parent = std::process::Command::new(std::env::current_exe().unwrap())
        .arg("--parent")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut word = Vec::new();
    let mut pipe = parent.stdout.take().unwrap();
    while word.last() != Some(&b'\n') {
        let mut byte = [0];
        pipe.read_exact(&mut byte).unwrap();
        word.push(byte[0]);
    }
    let helper: u32 = String::from_utf8(word).unwrap().trim().parse().unwrap();
    assert!(!is_dead(helper));
    parent.kill().unwrap();
    parent.wait().unwrap();
    assert!(within(PATIENCE, || is_dead(helper)), "{:?}", state(helper));
}

fn no_job() {
    for (input, code) in [(&b""[..], true), (b"hello", false), (b"LBH\x01\x01\x00\x00\x00\xff", false)] {
        let mut child = Spy::new("--serve").launch().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(input).unwrap();
        drop(pipe);
        assert_eq!(child.wait().unwrap().success(), code, "{input:?}");
    }
}
