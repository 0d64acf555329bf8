//! Common arguments of commands that solve: limits of a run, its seed and threads, and the form of progress.

use super::config::Config;
use super::console::Console;
use super::value;
use clap::{Args, ValueEnum};
use lightbay_core::param::Setting;
use lightbay_core::problem::Problems;

/// Limits of a run, its seed and threads.
#[derive(Args, Clone, Debug)]
pub struct Limits {
    /// Time limit for each run, such as 90 (seconds), 90s or 5m; at the limit the run ends with its best plan
    #[arg(long, value_name = "TIME", value_parser = value::duration_s)]
    pub time_limit: Option<f64>,

    /// Stop as soon as the gap between plan and bound is at most this: 1% or 0.01
    #[arg(long, value_name = "GAP", value_parser = value::gap)]
    pub gap: Option<f64>,

    /// Seed of all random choices [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: Option<u64>,

    /// Threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

impl Limits {
    /// Returns a problem for each limit that is given twice: by its own flag, and in `settings`, the values of the flag
    /// `other`; and for each parameter that `--set` gives twice.
    pub fn given_twice(&self, settings: &[Setting], other: &str) -> Problems {
        let mut twice = if other == SET { repeated(settings) } else { Problems::of(other) };
        for (flag, set, is_given) in [
            ("--time-limit", "time_limit_s", self.time_limit.is_some()),
            ("--gap", "gap", self.gap.is_some()),
            ("--seed", "seed", self.seed.is_some()),
        ] {
            if is_given && settings.iter().any(|setting| setting.name == set) {
                twice.add(set, format!("is also given by {flag}"), "give it once");
            }
        }
        twice
    }

    /// Returns the number of threads that runs may use: from the arguments or the configuration, else all cores.
    pub fn thread_budget(&self, console: &mut Console) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Config::load_and_warn(console).threads(self.threads).unwrap_or_else(cores)
    }
}

/// The flag that sets a parameter.
const SET: &str = "--set";

/// Returns a problem for each parameter that the values of `--set` give twice.
pub fn repeated(settings: &[Setting]) -> Problems {
    let mut twice = Problems::of(SET);
    for (at, setting) in settings.iter().enumerate() {
        let is_same = |other: &Setting| (&other.name, other.index) == (&setting.name, setting.index);
        if settings[..at].iter().any(is_same) {
            twice.add(setting.name.as_str(), "is given twice", "give it once");
        }
    }
    twice
}

/// Form of the messages during a solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Progress {
    /// One short line per milestone
    Plain,
    /// One JSON object per line (lightbay.event/1): figures at most four times a second, and every milestone
    Json,
    /// Nothing
    None,
}

impl Progress {
    /// Returns the requested form, or the default: `Plain` if standard error is a terminal, else `None`.
    pub fn or_usual(asked: Option<Self>, console: &Console) -> Self {
        asked.unwrap_or(if console.err_is_terminal() && !console.is_quiet() {
            Self::Plain
        } else {
            Self::None
        })
    }
}
