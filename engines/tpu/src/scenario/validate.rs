//! Checks for contradictions between fields, which a reader of single fields cannot detect.

use super::{SimulationSettings, TopologyChoice, TpuScenario};
use crate::model::baselines;
use crate::model::pod::SWITCHES;
use lightbay_core::problem::{Problem, Problems};

impl TpuScenario {
    /// Checks the whole scenario.
    ///
    /// # Errors
    /// All problems.
    pub fn validate(&self) -> Result<(), Problems> {
        let mut problems = Problems::new();
        let cubes = usize::from(self.cubes);
        let mut sound = true;
        if let Some(shape) = self.job_shape {
            match baselines::grid(shape) {
                Err(problem) => {
                    sound = false;
                    problems.push(problem);
                }
                Ok(grid) => {
                    let has: usize = grid.iter().product();
                    if has != cubes {
                        sound = false;
                        problems.add(
                            "job_shape",
                            format!("{} is {has} cubes, but 'cubes' is {cubes}", baselines::named(shape)),
                            format!(
                                "set cubes={has}, or give a shape such as {}",
                                baselines::named(baselines::usual_shape(cubes))
                            ),
                        );
                    }
                }
            }
        }
        match &self.topology {
            TopologyChoice::Given(record) => match record.topology() {
                Err(problem) => problems.push(problem.under("topology")),
                Ok(pod) if pod.cubes() != cubes => problems.add(
                    "topology",
                    format!("is a pod of {} cubes, but 'cubes' is {cubes}", pod.cubes()),
                    format!("set cubes={}", pod.cubes()),
                ),
                Ok(_) => {}
            },
            TopologyChoice::Pdtt if sound => {
                if let Err(problem) = self.pdtt_shape() {
                    problems.push(problem);
                }
            }
            _ => {}
        }
        self.validate_group(&mut problems);
        self.validate_faults(&mut problems);
        if self.slack_hops == Some(1) {
            problems.add(
                "slack_hops",
                "is 1, but the lengths of two routes of a pair differ by an even number of hops, because \
                 every pod is bipartite",
                "give 0 or 2",
            );
        }
        if let Some(simulate) = &self.simulate {
            self.validate_simulation(simulate, &mut problems);
        }
        problems.into_result(())
    }

    fn validate_group(&self, problems: &mut Problems) {
        if self.group.is_none() {
            return;
        }
        if self.topology != TopologyChoice::Design {
            problems.add(
                "group",
                format!(
                    "cannot be combined with a topology that is not designed ('{}')",
                    self.topology.word()
                ),
                "leave it out: tori and given pods have their own groups",
            );
        } else if let Err(problem) = self.group() {
            problems.push(problem);
        }
    }

    fn validate_faults(&self, problems: &mut Problems) {
        let mut seen = [false; SWITCHES];
        if self.cubes > 1 && self.failed_ocs.len() >= SWITCHES {
            let what = format!("contains all 48 switches, so that no switch joins the {} cubes", self.cubes);
            problems.add("failed_ocs", what, "name fewer failed switches");
        }
        for (index, &id) in self.failed_ocs.iter().enumerate() {
            let path = format!("failed_ocs[{index}]");
            match seen.get_mut(usize::from(id)) {
                None => problems.add(path, format!("is {id}"), "switches are 0 to 47"),
                Some(seen) if *seen => problems.add(path, format!("repeats switch {id}"), "name it once"),
                Some(seen) => *seen = true,
            }
        }
    }

    fn validate_simulation(&self, simulate: &SimulationSettings, problems: &mut Problems) {
        let mut add = |key: &str, what: String, remedy: String| {
            problems.push(Problem::new(format!("simulate.{key}"), what, remedy));
        };
        if simulate.escape_vc_count > simulate.vc_count {
            add(
                "escape_vc_count",
                format!(
                    "is {}, but there are {} virtual channels",
                    simulate.escape_vc_count, simulate.vc_count
                ),
                "give at most vc_count".to_owned(),
            );
        }
        for (key, given, usual, why) in simulate.idle() {
            add(
                key,
                format!("is {given}, but has no effect {why}"),
                format!("give {usual}, or leave it out"),
            );
        }
        if self.vc_count > simulate.escape_vc_count {
            add(
                "escape_vc_count",
                format!(
                    "is {}, but routes may use {} virtual channels",
                    simulate.escape_vc_count, self.vc_count
                ),
                format!("give at least {}, the 'vc_count' of the scenario", self.vc_count),
            );
        }
    }
}
