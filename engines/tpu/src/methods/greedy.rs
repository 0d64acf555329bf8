//! `tons-lp-greedy`: solves relaxations one after another; after each, fixes a few more switches at the elements with
//! the largest fractions.

use super::approach::ModelMethod;
use super::finish::{self, Chosen};
use super::lp;
use super::settings;
use crate::Tpu;
use crate::model::group::Group;
use crate::model::pod::SWITCHES;
use crate::model::topology::Topology;
use crate::programs::relaxation;
use crate::scenario::TpuScenario;
use crate::throughput::metrics::hops;
use lightbay_core::context::Context;
use lightbay_core::method::{MethodError, MethodInfo, Outcome};
use lightbay_core::param::{Effect, ParamInfo, Params};
use lightbay_core::plan::Status;
use rand::RngExt;

/// The method `tons-lp-greedy`: rounding in several steps.
pub(super) struct Greedy;

/// Fractional values that differ by at most this number count as ties. Ties are frequent, because the first relaxation
/// is highly symmetric, and random noise breaks them.
const NOISE: f64 = 1e-2;

/// Number of the random stream of the noise.
const NOISE_STREAM: u64 = 1;

impl ModelMethod for Greedy {
    const NAME: &'static str = "tons-lp-greedy";
    const MOST_CUBES: usize = 8;

    fn info(&self) -> MethodInfo {
        let mut params = vec![
            lp::gap(),
            ParamInfo::int(
                "fix_per_round",
                1,
                SWITCHES as i64,
                8,
                "Number of switches that are fixed after each relaxation, those with the largest \
                 fractional values first.",
            )
            .effect(Effect::Warm),
        ];
        params.extend(settings::params(false));
        MethodInfo {
            name: Self::NAME,
            help: "Solves relaxations of the model and fixes a few switches after each, until all are fixed.",
            proves: true,
            hot_start: false,
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
        let mut stream = cx.stream(NOISE_STREAM);
        let mut allowed = relaxation::all(&group);
        let mut open: Vec<usize> = (0..SWITCHES).collect();
        let at_once = params.count("fix_per_round").max(1);
        while !open.is_empty() {
            let relaxed = lp::relaxed(&group, &allowed, params, open.len() == SWITCHES, cx)?;
            // The largest fractional value of each open switch, with ties broken by noise.
            let mut wishes: Vec<(f64, usize, u16)> = open
                .iter()
                .filter_map(|&switch| {
                    let noisy = |(element, share): (usize, &f64)| {
                        (share + NOISE * stream.random::<f64>(), switch, element as u16)
                    };
                    let shares = relaxed.shares[switch].iter().enumerate().map(noisy);
                    shares.max_by(|one, other| one.0.total_cmp(&other.0))
                })
                .collect();
            wishes.sort_by(|one, other| other.0.total_cmp(&one.0));
            for (_, switch, element) in wishes.into_iter().take(at_once) {
                allowed[switch] = vec![element];
                open.retain(|other| *other != switch);
            }
        }
        let voltage = std::array::from_fn(|switch| allowed[switch][0]);
        let pod = Topology::symmetric(group, voltage);
        if hops(&pod).is_none() {
            return Err(MethodError::Failed(
                "the fixed switches do not join all cubes; try another seed".to_owned(),
            ));
        }
        finish::finish(Chosen::new(pod, "fixed switches"), body, cx)?;
        Ok(Outcome::done(Status::Feasible))
    }
}
