//! `tons-milp`: the optimisation model by branch and bound, for small pods; and the model for other solvers.

use super::approach::{ModelMethod, group_of};
use super::finish::{self, Chosen};
use super::lp;
use super::{begin, certify, settings};
use crate::Tpu;
use crate::methods::assemble::{PodParts, candidate};
use crate::model::group::Group;
use crate::model::topology::Topology;
use crate::plan::TpuResult;
use crate::programs::program::{MOST_CUBES, PodProgram, PodProgramRequest};
use crate::scenario::TpuScenario;
use crate::throughput::mcf::{self, Certificate};
use crate::throughput::metrics::{Hops, cover_bound, hops};
use lightbay_core::context::Context;
use lightbay_core::event::{EventBody, HotStartFate, ModelSize, Severity};
use lightbay_core::kind::Candidate;
use lightbay_core::method::{MethodError, MethodInfo, Outcome};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::{Limit, Status, gap};
use lightbay_core::scenario::Scenario;
use lightbay_core::watch::Unwatched;
use lightbay_highs::model::Model;
use lightbay_highs::modelled::Modelled;
use lightbay_highs::solution::{Start, Status as Ending};
use lightbay_highs::solve::{self, Reader};
use rand::{Rng, RngExt};

/// The method `tons-milp`: branch and bound on the model.
pub(super) struct Milp;

/// The model of `tons-milp` for other solvers.
pub(super) struct PodModel;

/// Number of random pods drawn for a start point if there is no hot start. One draw costs one evaluation of the
/// metrics; the solver improves the start point.
const DRAWS: u64 = 400;

/// Number of the random stream that gives the seed of the solver.
const SOLVER_STREAM: u64 = 1;
/// Number of the random stream of the pods that are drawn for a start point.
const START_STREAM: u64 = 2;

/// Feasibility tolerance for points that other solvers wrote with few digits.
const TOLERANCE: f64 = 1e-5;

/// Maximum relative error in a bound from the tolerances of the solver; reported bounds are raised by it.
const SLIP: f64 = 1e-6;

fn ask<'g>(group: &'g Group, scenario: &TpuScenario) -> PodProgramRequest<'g> {
    PodProgramRequest { group, tolerated_faults: scenario.tolerated_ocs_faults, whole: true }
}

impl ModelMethod for Milp {
    const NAME: &'static str = "tons-milp";
    const MOST_CUBES: usize = MOST_CUBES;

    fn info(&self) -> MethodInfo {
        let mut params = lightbay_highs::solve::knobs();
        params.extend(settings::params(false));
        MethodInfo {
            name: Self::NAME,
            help: "Solves the whole optimisation model by branch and bound, for up to 4 cubes; slow, but proves a bound.",
            proves: true,
            hot_start: true,
            params,
        }
    }

    fn run(
        &self,
        group: Group,
        body: &TpuScenario,
        params: &Params,
        cx: &mut Context<'_, Tpu>,
    ) -> Result<Outcome, MethodError> {
        cx.phase("model", format!("circuits and flows of {} chips", body.nodes()));
        let program = PodProgram::new(ask(&group, body), cx)?;
        let mut reading =
            PlanReader { group: group.clone(), failed: body.failed_ocs.clone(), program, best: None };
        let size = reading.program.model().size();
        cx.report(EventBody::Model(ModelSize {
            after: "written in full".to_owned(),
            columns: u64::from(size.columns),
            rows: u64::from(size.rows),
            nonzeros: u64::from(size.nonzeros),
            integers: u64::from(size.integers),
        }));
        let start = match started(body, &group, cx) {
            Some((pod, source)) => {
                reading.judge(cx, pod, source)?;
                reading.start()
            }
            None => Start::None,
        };
        let wanted = params.float("mip_gap").unwrap_or(0.0);
        if reading.best.as_ref().is_some_and(|(known, _)| near_any(known, body.nodes(), wanted)) {
            cx.note(Severity::Info, "the start pod is within mip_gap of the bound on every pod");
            return reading.close(Status::GapReached, None, body, cx);
        }
        let seed = cx.stream(SOLVER_STREAM).next_u64();
        let mut options = solve::options_of(params, seed);
        if params.text("lp_method") == Some("choose") {
            // The first relaxation is large and highly degenerate, so it is solved by an interior point method with
            // crossover.
            options = options.set("mip_lp_solver", "ipx");
        }
        let program = reading.program.clone();
        let asked =
            solve::SolveRequest { model: program.model(), options, start, isolated: solve::isolated(params) };
        let solution = solve::run(asked, &mut reading, cx)?;
        if reading.best.is_none() && solution.status == Ending::Infeasible {
            return Ok(Outcome::Infeasible(format!(
                "no pod that is symmetric under {} reaches {:.6} flits per cycle and pair of chips, the \
                 throughput that a pod needs to survive any {} failed switches; lower tolerated_ocs_faults \
                 or set another group",
                group.name(),
                reading.program.least_throughput(),
                body.tolerated_ocs_faults
            )));
        }
        // The certificate of the plan has a gap, so plan and bound do not meet exactly.
        let status = if solution.status == Ending::Optimal { Status::GapReached } else { Status::Feasible };
        let limit = (solution.status != Ending::Optimal).then_some(Limit::Work);
        reading.close(status, limit, body, cx)
    }
}

/// Returns `true` if the throughput of a pod is within a relative gap of the bound on all pods of its size.
fn near_any(known: &Certificate, nodes: usize, share: f64) -> bool {
    gap(known.lower, cover_bound(nodes).mcf) <= share
}

/// A pod to start from: the hot start, if it is symmetric under the group, otherwise the best of several random pods.
fn started(body: &TpuScenario, group: &Group, cx: &mut Context<'_, Tpu>) -> Option<(Topology, &'static str)> {
    if let Some(hot) = begin::hot_start(body, cx) {
        if hot.topology.symmetry().is_some_and(|symmetry| symmetry.group.rows() == group.rows()) {
            cx.hot_start_fate(
                HotStartFate::Accepted,
                "the search starts from the circuits of the plan",
                Some(hot.value),
                None,
            );
            return Some((hot.topology, "hot start"));
        }
        let why = format!("the plan is not symmetric under {}", group.name());
        cx.hot_start_fate(HotStartFate::Rejected, why, Some(hot.value), None);
    }
    let mut stream = cx.stream(START_STREAM);
    let drawn = (0..DRAWS).filter_map(|_| {
        let voltage = std::array::from_fn(|_| stream.random_range(0..group.order()) as u16);
        let pod = Topology::symmetric(group.clone(), voltage);
        lp::score(&pod).map(|score| (score, pod))
    });
    drawn.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, pod)| (pod, "random"))
}

/// Converts points of the solver into pods.
struct PlanReader {
    group: Group,
    /// Failed switches of the scenario.
    failed: Vec<u8>,
    program: PodProgram,
    best: Option<(Certificate, Topology)>,
}

impl PlanReader {
    /// Certifies a pod and reports it if it is better than the best plan.
    fn judge(&mut self, cx: &mut Context<'_, Tpu>, pod: Topology, source: &str) -> Result<bool, MethodError> {
        let pod = pod.failing(&self.failed);
        let Some(distances) = hops(&pod) else { return Ok(false) };
        let settings = settings::certificate_settings(cx.params(), pod.nodes());
        let certificate = mcf::certify(&pod, &settings, None, cx)?;
        if self.best.as_ref().is_some_and(|(best, _)| best.lower >= certificate.lower) {
            return Ok(false);
        }
        certify::offer(&pod, distances, &certificate, source, cx)?;
        self.best = Some((certificate, pod));
        Ok(true)
    }

    /// Runs the final steps on the best pod, if there is one.
    fn close(
        self,
        status: Status,
        limit: Option<Limit>,
        body: &TpuScenario,
        cx: &mut Context<'_, Tpu>,
    ) -> Result<Outcome, MethodError> {
        let Some((certificate, pod)) = self.best else { return Ok(Outcome::done(Status::Feasible)) };
        let certified = Chosen { certificate: Some(certificate), ..Chosen::new(pod, "end of the search") };
        finish::finish(certified, body, cx)?;
        Ok(Outcome::Done { status, limit })
    }

    /// Returns the circuits of the best pod as a start point without flows, which the solver adds.
    fn start(&self) -> Start {
        let Some(symmetry) = self.best.as_ref().and_then(|(_, pod)| pod.symmetry()) else {
            return Start::None;
        };
        Start::Partial(self.program.design(&symmetry.voltage))
    }
}

impl Reader<Tpu> for PlanReader {
    fn incumbent(
        &mut self,
        cx: &mut Context<'_, Tpu>,
        _objective: f64,
        values: &[f64],
        source: &str,
    ) -> Result<(), MethodError> {
        let pod = Topology::symmetric(self.group.clone(), self.program.voltages(values));
        self.judge(cx, pod, source).map(|_| ())
    }

    fn bound(&mut self, cx: &mut Context<'_, Tpu>, bound: f64) -> Result<(), MethodError> {
        let bound = bound * (1.0 + SLIP);
        if self.group.order() <= 2 {
            // Every state of two cubes is symmetric.
            cx.bound(bound);
        } else {
            cx.bound_over(bound, &format!("pods symmetric under {}", self.group.name()));
        }
        Ok(())
    }
}

impl Modelled<Tpu> for PodModel {
    fn name(&self) -> &'static str {
        Milp::NAME
    }

    fn params(&self) -> Vec<ParamInfo> {
        Vec::new()
    }

    fn model(&self, scenario: &Scenario<Tpu>, _params: &Params) -> Result<Model, MethodError> {
        let group = group_of::<Milp>(&scenario.body)?;
        Ok(PodProgram::new(ask(&group, &scenario.body), &mut Unwatched::default())?.model().clone())
    }

    fn plan(
        &self,
        scenario: &Scenario<Tpu>,
        _params: &Params,
        values: &[f64],
    ) -> Result<Candidate<TpuResult>, MethodError> {
        let group = group_of::<Milp>(&scenario.body)?;
        let program = PodProgram::new(ask(&group, &scenario.body), &mut Unwatched::default())?;
        let columns = program.model().columns();
        if values.len() != columns {
            return Err(MethodError::Failed(format!(
                "the point has {} values, but the model has {columns} columns; give a point of the exported \
                 model",
                values.len()
            )));
        }
        if let Some(broken) = program.model().first_broken(values, TOLERANCE) {
            return Err(MethodError::Failed(format!("the point does not satisfy the model: {broken}")));
        }
        let pod = Topology::symmetric(group, program.voltages(values)).failing(&scenario.body.failed_ocs);
        let Some(distances): Option<Hops> = hops(&pod) else {
            return Err(MethodError::Failed("the circuits of the point do not join all cubes".to_owned()));
        };
        let settings = mcf::FlowSettings::of(pod.nodes());
        let certificate = mcf::certify(&pod, &settings, None, &mut Unwatched::default())?;
        Ok(candidate(PodParts::of(pod, distances, certificate)))
    }
}
