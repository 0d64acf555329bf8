//! `reallocate`: plans several jobs on one set of pods. Jobs give ports that they do not need to the jobs that gain
//! most.

use super::knobs;
use super::session::state_bound;
use crate::Training;
use crate::scenario::TrainingScenario;
use crate::scenario::shared::SharedPods;
use crate::search::reallocate::{JobEffort, Team, Trade, best_trade};
use crate::simulate::evaluate::Rates;
use lightbay_core::context::Context;
use lightbay_core::event::{EventBody, HotStartFate, SeriesPoint, Severity};
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::{Limit, Status, gap};
use lightbay_core::problem::{Problem, counted};
use lightbay_core::random::Stream;
use lightbay_core::scenario::Scenario;

/// The method `reallocate`: trading of ports between jobs.
pub(super) struct Reallocate;

/// Gap up to which a bound and a plan count as equal.
const CLOSED: f64 = 1e-9;

impl Method<Training> for Reallocate {
    fn info(&self) -> MethodInfo {
        let mut params = vec![
            ParamInfo::choice(
                "rates",
                &["joint", "fair"],
                "joint",
                "Rates: part of the plan, or max-min fair without rate control.",
            ),
            ParamInfo::int(
                "trades",
                0,
                1_000_000,
                1_000,
                "Maximum number of port transfers between jobs; 0 plans every job alone.",
            ),
        ];
        params.extend(knobs::proving());
        MethodInfo {
            name: "reallocate",
            help: "Plans several jobs on shared pods: ports that one job can spare go to the job that \
                 gains most.",
            proves: true,
            hot_start: true,
            params,
        }
    }

    fn solve(
        &self,
        scenario: &Scenario<Training>,
        params: &Params,
        cx: &mut Context<'_, Training>,
    ) -> Result<Outcome, MethodError> {
        let TrainingScenario::Shared(shared) = &scenario.body else {
            return Err(MethodError::Invalid(
                Problem::new(
                    "jobs",
                    "is missing: `reallocate` plans several jobs that share pods, but the scenario has one job",
                    "give at least two jobs as `jobs`, or use another method, such as `auto`",
                )
                .into(),
            ));
        };
        let rates = if params.text("rates") == Some("fair") { Rates::Fair } else { Rates::Best };
        let count = |name: &str, default: u64| {
            params.int(name).and_then(|value| u64::try_from(value).ok()).unwrap_or(default)
        };
        let usual = JobEffort::default();
        let effort = JobEffort {
            listed: count("listed_vectors", usual.listed),
            boxes: count("boxes", usual.boxes),
            ..usual
        };
        let trades = count("trades", u64::MAX);
        ReallocationRun { cx, effort, team: Team::new(shared, rates)? }.solve(shared, trades)
    }
}

/// State of one run of the method.
struct ReallocationRun<'c, 'a> {
    cx: &'c mut Context<'a, Training>,
    effort: JobEffort,
    team: Team,
}

impl ReallocationRun<'_, '_> {
    fn solve(mut self, shared: &SharedPods, most: u64) -> Result<Outcome, MethodError> {
        self.cx.phase("baselines", "every job on its own ports");
        self.publish("baselines")?;
        if self.hot_start(shared) {
            self.publish("hot start")?;
        }
        for member in 0..self.team.members.len() {
            let detail =
                format!("'{}' on the fewest of its own ports that keep its makespan", self.name(member));
            self.cx.phase("alone", detail);
            self.ask(|team, effort, streams, watch| team.plan_alone(member, effort, streams, watch))?;
        }
        // Each job is reduced to the ports that it needs alone.
        self.team.restart();
        self.publish("every job alone")?;
        let bounds = self.bounds()?;
        // Ports are traded until no job gains.
        let limited = self.trade(most, &bounds)?;
        let proven = match (self.cx.best(), self.cx.best_bound()) {
            (Some((value, _)), Some(bound)) => gap(value, bound) <= CLOSED,
            _ => false,
        };
        let status = if proven { Status::Optimal } else { Status::Feasible };
        Ok(Outcome::Done { status, limit: limited.then_some(Limit::Work) })
    }

    fn name(&self, member: usize) -> String {
        self.team.members[member].name.clone()
    }

    /// Calls `question`, a search on the jobs, with random streams, and stops the search at the limits of the run.
    fn ask<T>(
        &mut self,
        question: impl FnOnce(
            &mut Team,
            JobEffort,
            &dyn Fn(u64) -> Stream,
            &mut Context<'_, Training>,
        ) -> Result<T, MethodError>,
    ) -> Result<T, MethodError> {
        // Every search gets the same random streams, so results do not depend on the order of searches. Streams are
        // derived from the seed, so they can be made before the context is borrowed.
        let seeded: Vec<Stream> = (0..ISLANDS).map(|number| self.cx.stream(number)).collect();
        let streams = |number: u64| seeded[(number % ISLANDS) as usize].clone();
        question(&mut self.team, self.effort, &streams, self.cx)
    }

    /// Reports the plan of all jobs if it is better than the best plan so far.
    fn publish(&mut self, source: &str) -> Result<(), MethodError> {
        let team = self.team.clone();
        let (value, ports) = (team.value(), team.ports() as f64);
        self.cx.incumbent(value, ports, source, move || team.candidate())?;
        Ok(())
    }

    /// Starts from the hot-start plan; returns whether this was possible.
    fn hot_start(&mut self, shared: &SharedPods) -> bool {
        let Some(hot) = self.cx.hot_start() else { return false };
        let plan = hot.plan.plan();
        self.cx.phase("hot start", format!("plan of {}", plan.method));
        let before = Some(plan.objective.value);
        let mut team = self.team.clone();
        let adopted = match &plan.scenario.body {
            _ if hot.same_scenario => team.adopt(&plan.result, shared),
            TrainingScenario::Shared(from) => team.adopt(&plan.result, from),
            TrainingScenario::Job(_) | TrainingScenario::Instance(_) => {
                Err("the plan is for one job, but the scenario has several jobs".to_owned())
            }
        };
        match adopted {
            Ok(repairs) => {
                self.team = team;
                let (fate, why) = if repairs.is_empty() {
                    (HotStartFate::Accepted, "the circuits of the plan fit without changes".to_owned())
                } else {
                    (HotStartFate::Repaired, repairs.join("; "))
                };
                self.cx.hot_start_fate(fate, why, before, Some(self.team.value()));
                true
            }
            Err(why) => {
                self.cx.hot_start_fate(HotStartFate::Rejected, why, before, None);
                false
            }
        }
    }

    /// Returns, for each job, a lower bound on its makespan that holds for any sharing of ports. The weighted mean of
    /// these bounds is a bound on the objective.
    fn bounds(&mut self) -> Result<Vec<f64>, MethodError> {
        let mut bounds = Vec::with_capacity(self.team.members.len());
        for member in 0..self.team.members.len() {
            let detail = format!("'{}' with every port that other jobs could give up", self.name(member));
            self.cx.phase("bound", detail);
            bounds.push(self.ask(|team, effort, streams, watch| team.bound(member, effort, streams, watch))?);
        }
        // The objective is the weighted mean of the makespans, so the weighted mean of the bounds is a bound.
        let mut own = self.team.members.iter().zip(&bounds);
        let (sum, weights) = own
            .try_fold((0.0, 0.0), |(sum, weights), (member, bound)| {
                bound.is_finite().then_some((sum + member.weight * bound, weights + member.weight))
            })
            .unwrap_or((f64::NAN, 1.0));
        let bound = sum / weights * (1.0 - 1e-12);
        state_bound(self.cx, self.team.rates, bound);
        Ok(bounds)
    }

    /// Trades ports until no job gains; returns `true` if the limit of `most` trades ended the trading.
    fn trade(&mut self, most: u64, bounds: &[f64]) -> Result<bool, MethodError> {
        // Ports for which a job has already reported no gain.
        let mut refused: Vec<Option<Vec<u32>>> = vec![None; self.team.members.len()];
        let mut done = 0;
        loop {
            let mut trades: Vec<Trade> = Vec::new();
            for member in 0..self.team.members.len() {
                let plan = &self.team.members[member].now.found;
                let ports = self.team.available(member);
                // Skip a job that meets its bound or was evaluated before with the same ports: its result cannot have
                // changed.
                if gap(plan.makespan, bounds[member]) <= CLOSED || refused[member].as_ref() == Some(&ports) {
                    continue;
                }
                if done >= most {
                    return Ok(true);
                }
                self.cx.phase(
                    "trade",
                    format!("'{}' with the ports that other jobs leave free", self.name(member)),
                );
                let trade = self
                    .ask(|team, effort, streams, watch| team.trade(member, &ports, effort, streams, watch))?;
                match trade {
                    Some(trade) => trades.push(trade),
                    None => refused[member] = Some(ports),
                }
            }
            // The trade with the largest gain per port is accepted; the others are evaluated again.
            let Some(trade) = best_trade(trades) else { return Ok(false) };
            done += 1;
            self.say(&trade, done);
            self.team.accept(trade);
            self.publish(&format!("trade {done}"))?;
        }
    }

    fn say(&mut self, trade: &Trade, number: u64) {
        let member = &self.team.members[trade.member];
        let ideal = &member.evaluator.ideal;
        let (before, after) = (member.now.found.makespan, trade.plan.found.makespan);
        let nct = match (ideal.nct(before), ideal.nct(after)) {
            (Some(before), Some(after)) => format!("NCT {before:.4} to {after:.4}"),
            _ => format!("{before:.6} s to {after:.6} s"),
        };
        let ports = match u64::try_from(trade.ports) {
            Ok(0) => "the same number of ports".to_owned(),
            Ok(ports) => counted(ports, "more port", "more ports"),
            Err(_) => counted(trade.ports.unsigned_abs(), "fewer port", "fewer ports"),
        };
        let text = format!("'{}' changes from {nct} with {ports}", member.name);
        let name = format!("{} (s)", member.name);
        self.cx.note(Severity::Info, text);
        self.cx.report(EventBody::Series(SeriesPoint { name, x: number as f64, y: after }));
    }
}

/// Number of random streams of the genetic search: one for each of its islands.
const ISLANDS: u64 = 4;
