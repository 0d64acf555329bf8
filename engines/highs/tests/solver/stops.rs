//! Stops, panics of the watch, several instances, threads.

use crate::models::{Recorder, flows, knapsack, two_products};
use lightbay_highs::error::Error;
use lightbay_highs::event::{Flow, NoListener, SolverEvent, SolverListener, Stage};
use lightbay_highs::instance::{Instance, Interrupt};
use lightbay_highs::model::Model;
use lightbay_highs::options::Options;
use lightbay_highs::solution::Status;

/// Stops as soon as an event is of the wanted kind, in one of three ways.
struct Stopper<F> {
    when: F,
    how: How,
    heard: usize,
    after: usize,
}

enum How {
    Answer,
    Flag(Interrupt),
    Panic,
}

impl<F: Fn(&SolverEvent) -> bool> SolverListener for Stopper<F> {
    fn event(&mut self, event: &SolverEvent) -> Flow {
        self.after += usize::from(self.heard > 0);
        if !(self.when)(event) {
            return Flow::Continue;
        }
        self.heard += 1;
        match &self.how {
            How::Answer => Flow::Stop,
            How::Flag(flag) => {
                flag.stop();
                flag.stop();
                Flow::Continue
            }
            How::Panic => panic!("the listener broke"),
        }
    }
}

fn instance(model: &Model, solver: &str) -> Instance {
    let mut instance = Instance::new(model).unwrap();
    let options = Options::new().set("solver", solver).set("presolve", "off").relative_gap(0.0);
    instance.apply(&options.time_limit_s(60.0)).unwrap();
    instance
}

fn stops(model: &Model, solver: &str, when: impl Fn(&SolverEvent) -> bool + Copy) {
    for flag in [false, true] {
        let mut instance = instance(model, solver);
        let how = if flag { How::Flag(instance.interrupt()) } else { How::Answer };
        let mut watch = Stopper { when, how, heard: 0, after: 0 };
        let solution = instance.run(&mut watch).unwrap();
        assert!(watch.heard > 0, "{solver}: nothing was heard");
        assert_eq!(solution.status, Status::Interrupted, "{solver}");
        if let Some(values) = &solution.values {
            assert_eq!(model.first_broken(values, 1e-6), None);
        }
        // The flag of the run that was stopped does not reach the next one.
        if !model.is_mip() {
            let solution = instance.run(&mut NoListener).unwrap();
            assert_eq!(solution.status, Status::Optimal, "{solver} after a stop");
        }
    }
}

#[test]
fn simplex_interior_point_and_tree_search_stop() {
    stops(&flows(12, 12), "simplex", |event| matches!(event, SolverEvent::Simplex(_)));
    stops(&flows(12, 12), "ipx", |event| matches!(event, SolverEvent::Ipm(_)));
    stops(&knapsack(100), "choose", |event| matches!(event, SolverEvent::Stage(Stage::Tree)));
}

#[test]
fn a_stopped_search_goes_on_from_its_best_point() {
    let mut instance = instance(&knapsack(60), "choose");
    let when = |event: &SolverEvent| matches!(event, SolverEvent::Stage(Stage::Tree));
    let mut watch = Stopper { when, how: How::Answer, heard: 0, after: 0 };
    let best = instance.run(&mut watch).unwrap().objective.unwrap();
    instance.apply(&Options::new().relative_gap(0.5)).unwrap();
    let mut watch = Recorder::default();
    instance.run(&mut watch).unwrap();
    let first = watch.points()[0].0;
    assert!((first - best).abs() < 1e-6, "{first}, not {best}");
}

#[test]
fn a_panic_of_the_watch_is_an_error_and_the_instance_lives() {
    for model in [flows(12, 10), knapsack(30)] {
        let mut instance = Instance::new(&model).unwrap();
        let when = |event: &SolverEvent| matches!(event, SolverEvent::Log(_));
        let mut watch = Stopper { when, how: How::Panic, heard: 0, after: 0 };
        let error = instance.run(&mut watch).unwrap_err();
        assert_eq!(error, Error::SolverListener("the listener broke".to_owned()));
        assert_eq!(watch.heard, 1, "it is not called again");
        let solution = instance.run(&mut NoListener).unwrap();
        assert_eq!(solution.status, Status::Optimal);
    }
}

#[test]
fn a_stop_before_the_run_ends_it_and_one_after_it_does_nothing() {
    let mut instance = Instance::new(&two_products()).unwrap();
    let early = instance.interrupt();
    early.stop();
    let solution = instance.run(&mut NoListener).unwrap();
    assert_eq!((solution.status, solution.values), (Status::Interrupted, None));
    let late = instance.interrupt();
    assert_eq!(instance.run(&mut NoListener).unwrap().status, Status::Optimal);
    late.stop();
    early.stop();
    assert_eq!(instance.run(&mut NoListener).unwrap().status, Status::Optimal);
}

/// Counts how often it is asked whether to continue.
struct Patience(u32);

impl SolverListener for Patience {
    fn event(&mut self, _event: &SolverEvent) -> Flow {
        Flow::Continue
    }

    fn tick(&mut self) -> Flow {
        self.0 += 1;
        if self.0 > 2 { Flow::Stop } else { Flow::Continue }
    }
}

#[test]
fn a_watch_is_asked_whether_to_go_on() {
    let mut patience = Patience(0);
    let solution = instance(&knapsack(100), "choose").run(&mut patience).unwrap();
    assert_eq!(solution.status, Status::Interrupted);
    assert!(patience.0 >= 3);
}

#[test]
fn instances_on_several_threads_do_not_disturb_each_other() {
    let expected = Instance::new(&knapsack(20)).unwrap().run(&mut NoListener).unwrap().objective;
    let threads: Vec<_> = (0..3)
        .map(|thread| {
            std::thread::spawn(move || {
                let mut instances = vec![
                    Instance::new(&knapsack(20)).unwrap(),
                    Instance::new(&flows(12, 6)).unwrap(),
                    Instance::new(&knapsack(20)).unwrap(),
                ];
                let mut objectives = Vec::new();
                for instance in &mut instances {
                    objectives.push(instance.run(&mut NoListener).unwrap().objective);
                }
                // Dropped in another order on each thread.
                drop(instances.remove(thread));
                let last = instances.last_mut().unwrap().run(&mut NoListener).unwrap();
                assert_eq!(last.status, Status::Optimal);
                objectives
            })
        })
        .collect();
    for thread in threads {
        let objectives = thread.join().unwrap();
        assert_eq!(objectives[0], expected);
        assert_eq!(objectives[2], expected);
    }
}

#[test]
fn the_number_of_threads_may_change_between_runs() {
    // On a thread of its own: HiGHS keeps its scheduler per thread.
    std::thread::spawn(|| {
        let mut instance = Instance::new(&knapsack(20)).unwrap();
        let mut other = Instance::new(&knapsack(20)).unwrap();
        for threads in [1, 2, 1, 0, 2] {
            instance.apply(&Options::new().set("threads", threads)).unwrap();
            assert_eq!(instance.run(&mut NoListener).unwrap().status, Status::Optimal, "{threads} threads");
            assert_eq!(other.run(&mut NoListener).unwrap().status, Status::Optimal, "one after {threads}");
        }
    })
    .join()
    .unwrap();
}
