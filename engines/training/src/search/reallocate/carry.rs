//! Transfer of a plan for several jobs to changed jobs or pods.

use super::{ScheduledCircuits, Team};
use crate::plan::{JobPlan, RateControl, TrainingResult};
use crate::scenario::shared::SharedPods;
use crate::search::carry::{fit, listed, translated};
use crate::search::circuits::Circuits;
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
use lightbay_core::kind::Carried;

impl Team {
    /// Takes over the circuits that `result`, a plan for `from`, has for jobs of the same name; returns the changes
    /// that were necessary. Traded ports are used again if they are still free and shorten an iteration.
    ///
    /// # Errors
    /// One sentence that says why the plan cannot be transferred.
    pub fn adopt(&mut self, result: &TrainingResult, from: &SharedPods) -> Result<Vec<String>, String> {
        let known: Vec<&str> = from.jobs.iter().map(|job| job.name.as_str()).collect();
        if result.jobs.len() != known.len() {
            return Err("the plan does not have the jobs of its own scenario".to_owned());
        }
        let mut repairs = Vec::new();
        let mut wishes: Vec<Option<Vec<u32>>> = Vec::new();
        let rates = self.rates;
        for member in &mut self.members {
            let Some(index) = known.iter().position(|name| *name == member.name) else {
                repairs.push(format!("'{}' is new and starts from a baseline", member.name));
                wishes.push(None);
                continue;
            };
            let old = from.layout().map_err(|problems| problems.to_string())?;
            let ports = old.shapes.get(index).map(|shape| shape.ports.as_slice()).unwrap_or_default();
            let Some(before) = from.alone(index, ports) else { continue };
            let before = before.build().map_err(|problems| problems.to_string())?.instance;
            let of = |plan: &JobPlan| -> Result<(Vec<u32>, Vec<String>), String> {
                let x = listed(&plan.result, before.links.len()).ok_or(
                    "the plan does not list the circuits of every link of its scenario in link order",
                )?;
                translated(&x, &before, &member.instance)
            };
            let job = &result.jobs[index];
            let (mut alone, remarks) = of(&job.alone)?;
            let (now, _) = of(&job.shared)?;
            repairs.extend(remarks.into_iter().map(|remark| format!("'{}': {remark}", member.name)));
            // Repair (DELTA Alg. 6): every job fits the ports that it brings, so all of them together fit the pods.
            if fit(&member.evaluator, &mut alone)? {
                repairs.push(format!("'{}': circuits were removed to fit its ports", member.name));
            }
            member.alone = worth(&member.evaluator, alone, rates);
            member.now = member.alone.clone();
            wishes.push(Some(now));
        }
        // Plans with traded ports are used only if they still fit together with the other plans and still help.
        for (index, wish) in wishes.into_iter().enumerate() {
            let Some(x) = wish else { continue };
            let ports = self.available(index);
            let member = &mut self.members[index];
            let evaluator = member.evaluator.with_ports(&ports);
            let had =
                member.used(&ScheduledCircuits::from(Circuits { x: x.clone(), makespan: 0.0, ports: 0 }));
            let plan = worth(&evaluator, x, rates);
            // Invariant: all present plans together fit; a plan is accepted only within the ports that the others
            // leave.
            let fits = evaluator.network.budget.fits(&plan.found.x);
            if fits && plan.found.makespan < member.alone.found.makespan {
                member.now = plan;
            } else if !fits && had != member.used(&member.alone) {
                repairs.push(format!(
                    "'{}' loses ports that it took from other jobs, because these ports are not free now",
                    member.name
                ));
            }
        }
        Ok(repairs)
    }
}

/// Makes a plan for several jobs fit changed jobs or pods.
///
/// # Errors
/// One sentence that gives the reason.
pub fn carry(
    result: &TrainingResult,
    from: &SharedPods,
    to: &SharedPods,
) -> Result<Carried<TrainingResult>, String> {
    let rates = match result.rate_control {
        RateControl::Fair => Rates::Fair,
        RateControl::Joint => Rates::Best,
    };
    let mut team = Team::new(to, rates).map_err(|problems| problems.to_string())?;
    let repairs = team.adopt(result, from)?;
    Ok(Carried { candidate: team.candidate(), repairs })
}

fn worth(evaluator: &Evaluator, x: Vec<u32>, rates: Rates) -> ScheduledCircuits {
    let makespan = evaluator.makespan(&x, rates, &mut Scratch::default());
    Circuits { ports: evaluator.network.budget.total(&x), makespan, x }.into()
}
