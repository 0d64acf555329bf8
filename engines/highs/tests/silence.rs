//! No method of the solver writes to the terminal, and no thread is left behind.
//!
//! The test runs itself again for every case with its output caught, for HiGHS writes past the streams that a
//! test framework catches.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests fail by panicking")]

#[path = "solver/models.rs"]
#[allow(dead_code, reason = "shared with the other tests")]
mod models;

use lightbay_highs::conflict::conflict_of;
use lightbay_highs::event::NoListener;
use lightbay_highs::file::{ModelFormat, read, write};
use lightbay_highs::instance::{Instance, solve_here};
use lightbay_highs::model::Model;
use lightbay_highs::options::{Options, has_hipo};
use lightbay_highs::solution::{Start, Status};
use std::process::Command;

const CASES: [&str; 12] = [
    "choose",
    "simplex",
    "ipx",
    "ipm",
    "hipdlp",
    "pdlp",
    "hipo",
    "integers",
    "quadratic",
    "conflict",
    "files",
    "mistakes",
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    if let (Some(mark), Some(case)) = (arguments.next(), arguments.next())
        && mark == "--case"
    {
        run(&case);
        return;
    }
    let program = std::env::current_exe().unwrap();
    for case in CASES {
        let output = Command::new(&program).args(["--case", case]).output().unwrap();
        assert!(output.status.success(), "{case} failed: {}", String::from_utf8_lossy(&output.stderr));
        let said = [output.stdout, output.stderr].concat();
        assert!(said.is_empty(), "{case} wrote to the terminal: {}", String::from_utf8_lossy(&said));
    }
    println!("{} cases are silent", CASES.len());
}

fn run(case: &str) {
    match case {
        "integers" => {
            let threads = threads();
            let mut instances: Vec<Instance> =
                [1, 2, 1].map(|_| Instance::new(&models::knapsack(20)).unwrap()).into();
            for (instance, threads) in instances.iter_mut().zip([1, 2, 2]) {
                instance.apply(&Options::new().set("threads", threads)).unwrap();
                assert_eq!(instance.run(&mut NoListener).unwrap().status, Status::Optimal);
            }
            instances.swap(0, 1);
            drop(instances);
            // The workers of the scheduler end a moment after they are told to.
            let began = std::time::Instant::now();
            while self::threads() > threads && began.elapsed().as_secs() < 60 {
                std::thread::yield_now();
            }
            assert_eq!(self::threads(), threads, "no thread is left");
        }
        "quadratic" => {
            let mut model = Model::new("square");
            model.column("x", -1.0, 1.0, 1.0);
            model.set_quadratic([(0, 0, 2.0)]);
            solve_here(&model, &Options::new(), &Start::None, &mut NoListener).unwrap();
        }
        "conflict" => {
            let mut model = models::two_products();
            model.row_upper[0] = -1.0;
            assert!(conflict_of(&model, 10.0).unwrap().is_some());
        }
        "files" => {
            for format in [ModelFormat::Mps, ModelFormat::Lp] {
                let file = write(&models::sites(3, 4), format).unwrap();
                read(&file.text, format).unwrap();
                assert!(read(b"nonsense", format).is_err());
            }
        }
        "mistakes" => {
            let mut instance = Instance::new(&models::two_products()).unwrap();
            for (name, value) in [("nonsense", "1"), ("solver", "nonsense"), ("presolve", "nonsense")] {
                assert!(instance.apply(&Options::new().set(name, value)).is_err());
            }
            instance.start(&Start::Full(vec![99.0, 99.0])).unwrap();
            instance.run(&mut NoListener).unwrap();
        }
        "hipo" if !has_hipo() => {}
        solver => {
            let options = Options::new().set("solver", solver).time_limit_s(20.0);
            let solution =
                solve_here(&models::flows(12, 6), &options, &Start::None, &mut NoListener).unwrap();
            assert_eq!(solution.status, Status::Optimal);
        }
    }
}

/// Threads of this process.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count)
}
