//! A HiGHS instance on the thread that created it: its model can be changed in place and solved again from the last
//! basis.
//!
//! The instance keeps its [`Model`] in sync with HiGHS, so that it can check points and name rows without calling
//! HiGHS. An instance is not `Send`, because HiGHS keeps a scheduler per thread.

use crate::error::Error;
use crate::event::{Flow, SolverEvent, SolverListener, StartFate};
use crate::model::Model;
use crate::options::Options;
use crate::raw::{Highs, OptionInfo};
use crate::settings::Settings;
use crate::solution::{Basis, BasisStatus, Solution, Start, Status};
use crate::start::{self, Given};
use crate::translator::EventTranslator;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

mod change;

/// Stops one run from any thread. Every run has its own flag, so that a late call cannot stop another run.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Requests the run to end as soon as the solver can.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A HiGHS instance with its model.
pub struct Instance {
    pub(crate) highs: Highs,
    pub(crate) model: Model,
    settings: Settings,
    start: Start,
    interrupt: Interrupt,
}

impl Instance {
    /// Creates an instance with this model and the defaults of this crate: one thread, nothing printed, at most five
    /// table rows a second in the log.
    ///
    /// # Errors
    /// If the model is invalid (NaN, arrays of inconsistent lengths, an objective that is not convex).
    pub fn new(model: &Model) -> Result<Self, Error> {
        model.check()?;
        let mut highs = Highs::new()?;
        let settings = Settings::new(&mut highs)?;
        highs.pass(model)?;
        Ok(Self {
            highs,
            model: model.clone(),
            settings,
            start: Start::None,
            interrupt: Interrupt::default(),
        })
    }

    /// Returns the current model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Sets options for this and later runs.
    ///
    /// # Errors
    /// If a name is unknown or a value is not valid. Options before the invalid one stay set.
    pub fn apply(&mut self, options: &Options) -> Result<(), Error> {
        self.settings.apply(&mut self.highs, options)
    }

    /// Sets the start point of the next run only. [`SolverEvent::Start`] reports whether it was used: a start that does
    /// not fit the model at the time of the run is not an error.
    ///
    /// # Errors
    /// If a full start does not have one value per column.
    pub fn start(&mut self, start: &Start) -> Result<(), Error> {
        if let Start::Full(values) = start {
            Error::length("start", values.len(), self.model.columns())?;
        }
        self.start = start.clone();
        Ok(())
    }

    /// Returns the flag that stops the next run, before it begins or while it is running.
    pub fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    /// Solves the model. A later run of a linear program continues from the last basis; a later run of an integer model
    /// uses nothing from earlier runs.
    ///
    /// # Errors
    /// If HiGHS fails or the listener panics. The instance can be used again.
    pub fn run(&mut self, watch: &mut dyn SolverListener) -> Result<Solution, Error> {
        let began = Instant::now();
        let interrupt = std::mem::take(&mut self.interrupt);
        let start = std::mem::take(&mut self.start);
        let (given, why) = match start::prepare(&self.model, &start, self.settings.min_start_share) {
            Ok(given) => (given, None),
            Err(why) => (None, Some(why)),
        };
        let mip = self.model.is_mip();
        let broken = match &given {
            Some(Given::Full(values)) => {
                self.model.first_broken(values, 1e-6).map(|broken| broken.to_string())
            }
            _ => None,
        };
        let known = match (why, &given, &broken) {
            (Some(why), ..) => Some(StartFate::Rejected(why)),
            // HiGHS does not report whether it used the start of a linear program.
            (None, Some(Given::Full(_)), Some(broken)) if !mip => Some(StartFate::Rejected(broken.clone())),
            (None, Some(Given::Full(values)), None) if !mip => {
                Some(StartFate::Accepted(self.model.objective(values)))
            }
            _ => None,
        };
        match &given {
            Some(Given::Full(values)) => self.highs.set_solution(values)?,
            Some(Given::Partial(columns, values)) => self.highs.set_sparse_solution(columns, values)?,
            None => {}
        }
        // The flag outlives the run, and every run has a new flag.
        let flag = Arc::clone(&interrupt.0);
        let limit = self.time_limit();
        let threads = match self.highs.option_info("threads") {
            Some(OptionInfo::Int { value, .. }) => value,
            _ => 1,
        };
        let mut translator = EventTranslator::new(watch, &self.model, &flag, limit);
        if given.is_some() && mip {
            translator.expect_start(broken);
        }
        if let Some(fate) = known {
            translator.tell(&SolverEvent::Start(fate));
        }
        if translator.stopped() {
            return Ok(Solution::empty(Status::Interrupted, began.elapsed().as_secs_f64()));
        }
        let returned = self.highs.run(threads, mip, &mut translator)?;
        if let Some(words) = returned.panic {
            return Err(Error::SolverListener(words));
        }
        translator.finish(returned.elsewhere);
        if returned.status == highs_sys::STATUS_ERROR {
            return Err(Error::solver("run", translator.complaint()));
        }
        let (timed_out, progress) = (translator.timed_out() && !translator.stopped(), translator.progress());
        let mut solution = self.read(began)?;
        if solution.status == Status::Interrupted && timed_out {
            solution.status = Status::TimeLimit;
        }
        if mip {
            let last = crate::event::MipProgress {
                incumbent: solution.objective,
                bound: solution.bound,
                nodes: solution.nodes,
                lp_iterations: solution.simplex_iterations,
                ..progress
            };
            let _ = watch.event(&SolverEvent::Mip(last));
        }
        Ok(solution)
    }

    fn time_limit(&self) -> Option<Duration> {
        match self.highs.option_info("time_limit") {
            Some(OptionInfo::Float { value, .. }) => Duration::try_from_secs_f64(value).ok(),
            _ => None,
        }
    }

    fn read(&self, began: Instant) -> Result<Solution, Error> {
        let status = status(self.highs.model_status())?;
        let mut solution = Solution::empty(status, began.elapsed().as_secs_f64());
        let whole = |name| self.highs.int_info(name).map_or(0, |value| u64::try_from(value).unwrap_or(0));
        solution.simplex_iterations = whole(c"simplex_iteration_count");
        solution.ipm_iterations = whole(c"ipm_iteration_count");
        let mip = self.model.is_mip();
        if mip {
            let nodes = self.highs.long_info(c"mip_node_count").unwrap_or(0);
            solution.nodes = u64::try_from(nodes).unwrap_or(0);
            let bound = self.highs.float_info(c"mip_dual_bound");
            solution.bound = bound.filter(|bound| bound.is_finite());
        }
        let feasible = highs_sys::SOLUTION_STATUS_FEASIBLE;
        let primal = self.highs.int_info(c"primal_solution_status") == Some(feasible);
        let dual = self.highs.int_info(c"dual_solution_status") == Some(feasible);
        if primal {
            let [mut values, column_duals, row_values, row_duals] = self.highs.solution()?;
            for value in &mut values {
                // Turns -0.0 into 0.0.
                *value += 0.0;
            }
            solution.objective = Some(self.model.objective(&values));
            solution.values = Some(values);
            solution.row_values = row_values;
            if dual && !mip {
                solution.column_duals = column_duals;
                solution.row_duals = row_duals;
            }
        }
        if !mip && status == Status::Optimal {
            solution.bound = solution.objective;
        }
        solution.basis = self.basis();
        Ok(solution)
    }

    /// Returns the basis with which the last run ended; `None` without such a basis, and for an integer model.
    pub fn basis(&self) -> Option<Basis> {
        let valid = self.highs.int_info(c"basis_validity") == Some(1);
        if !valid || self.model.is_mip() {
            return None;
        }
        let (columns, rows) = self.highs.basis().ok()?;
        let words = |numbers: Vec<i32>| numbers.into_iter().map(basis_status).collect();
        Some(Basis { columns: words(columns), rows: words(rows) })
    }

    /// Sets the basis from which the next run starts.
    ///
    /// # Errors
    /// If the size of the basis differs from the size of the model, or the statuses are not a basis (HiGHS counts the
    /// basic entries).
    pub fn set_basis(&mut self, basis: &Basis) -> Result<(), Error> {
        let numbers =
            |statuses: &[BasisStatus]| -> Vec<i32> { statuses.iter().map(|status| *status as i32).collect() };
        self.highs.set_basis(&numbers(&basis.columns), &numbers(&basis.rows))
    }
}

fn basis_status(number: i32) -> BasisStatus {
    match number {
        0 => BasisStatus::Lower,
        1 => BasisStatus::Basic,
        2 => BasisStatus::Upper,
        3 => BasisStatus::Zero,
        _ => BasisStatus::Nonbasic,
    }
}

fn status(number: i32) -> Result<Status, Error> {
    Ok(match number {
        highs_sys::MODEL_STATUS_OPTIMAL => Status::Optimal,
        highs_sys::MODEL_STATUS_INFEASIBLE => Status::Infeasible,
        highs_sys::MODEL_STATUS_UNBOUNDED => Status::Unbounded,
        highs_sys::MODEL_STATUS_UNBOUNDED_OR_INFEASIBLE => Status::InfeasibleOrUnbounded,
        highs_sys::MODEL_STATUS_REACHED_TIME_LIMIT => Status::TimeLimit,
        highs_sys::MODEL_STATUS_REACHED_ITERATION_LIMIT | highs_sys::MODEL_STATUS_REACHED_SOLUTION_LIMIT => {
            Status::WorkLimit
        }
        highs_sys::MODEL_STATUS_OBJECTIVE_BOUND | highs_sys::MODEL_STATUS_OBJECTIVE_TARGET => {
            Status::ObjectiveLimit
        }
        highs_sys::MODEL_STATUS_REACHED_INTERRUPT => Status::Interrupted,
        highs_sys::MODEL_STATUS_MODEL_EMPTY => Status::Empty,
        highs_sys::MODEL_STATUS_MODEL_ERROR | highs_sys::MODEL_STATUS_LOAD_ERROR => {
            return Err(Error::solver("accept the model", ""));
        }
        _ => Status::Trouble,
    })
}

/// Returns the version of HiGHS.
pub fn version() -> String {
    crate::raw::version()
}

/// Solves a model in this process, on this thread.
///
/// # Errors
/// If the model or an option is invalid, HiGHS fails, or the listener panics.
pub fn solve_here(
    model: &Model,
    options: &Options,
    start: &Start,
    watch: &mut dyn SolverListener,
) -> Result<Solution, Error> {
    let mut instance = Instance::new(model)?;
    instance.apply(options)?;
    instance.start(start)?;
    if watch.tick() == Flow::Stop {
        instance.interrupt().stop();
    }
    instance.run(watch)
}
