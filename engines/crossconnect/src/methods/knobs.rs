//! Parameters of the searching methods.

use crate::search::anneal;
use crate::search::decimate::DecimationSettings;
use crate::search::lns::{self, circuits};
use lightbay_core::param::{ParamInfo, Params};

/// Default maximum number of circuits for which `auto` solves the exact model.
const EXACT_CIRCUITS: i64 = 600;

/// Returns the parameter for the orientations that a method may choose.
pub(super) fn orientation() -> ParamInfo {
    ParamInfo::choice(
        "orientation",
        &["joint", "fixed"],
        "joint",
        "Side (A or B) of each end of a circuit: chosen together with the switches (joint), or chosen \
         first and then fixed (fixed).",
    )
}

/// Returns `true` if orientations are chosen together with the switches.
pub(super) fn joint(params: &Params) -> bool {
    params.text("orientation") != Some("fixed")
}

/// Returns the parameters of annealing.
pub(super) fn anneal(rounds: i64) -> Vec<ParamInfo> {
    let usual = anneal::AnnealSettings::default();
    vec![
        ParamInfo::int(
            "anneal_rounds",
            0,
            20,
            rounds,
            "Number of annealing rounds, each three times as long as the previous one.",
        ),
        ParamInfo::int(
            "anneal_steps",
            1,
            1_000_000,
            usual.steps_per_circuit as i64,
            "Number of steps in the first round, per target circuit.",
        )
        .unit("steps"),
        ParamInfo::int(
            "anneal_chains",
            1,
            64,
            i64::from(usual.chains),
            "Number of annealing chains in parallel, each with its own random numbers.",
        ),
        ParamInfo::float(
            "anneal_hot",
            0.01,
            10.0,
            usual.hot,
            "Initial temperature of a round: a step with this loss is accepted with probability 1/e.",
        )
        .unit("circuits"),
        ParamInfo::float("anneal_cold", 0.01, 10.0, usual.cold, "Final temperature of a round.")
            .unit("circuits"),
        ParamInfo::float(
            "anneal_detour",
            0.0,
            10.0,
            usual.detour,
            "Loss assigned to a state with a missing circuit.",
        )
        .unit("circuits"),
    ]
}

/// Returns the settings of annealing from its parameters.
pub(super) fn anneal_settings(params: &Params, joint: bool) -> anneal::AnnealSettings {
    let usual = anneal::AnnealSettings::default();
    anneal::AnnealSettings {
        joint,
        first: 0,
        rounds: params.count("anneal_rounds") as u32,
        steps_per_circuit: params.count("anneal_steps") as u64,
        chains: params.count("anneal_chains") as u32,
        hot: params.float("anneal_hot").unwrap_or(usual.hot),
        cold: params.float("anneal_cold").unwrap_or(usual.cold),
        detour: params.float("anneal_detour").unwrap_or(usual.detour),
    }
}

/// Returns the parameters of large neighbourhoods.
pub(super) fn lns() -> Vec<ParamInfo> {
    let usual = lns::LnsSettings::usual(1);
    vec![
        ParamInfo::int(
            "lns_ocs",
            2,
            64,
            usual.ocs as i64,
            "Number of switches that are solved together \
             in one try.",
        )
        .unit("switches"),
        ParamInfo::int(
            "lns_patience",
            1,
            1_000_000,
            0,
            "Number of consecutive tries without an improvement after which the search stops. Default: three times \
             the number of switches.",
        )
        .derived()
        .unit("tries"),
        ParamInfo::int(
            "lns_nodes",
            1,
            1_000_000,
            i64::from(usual.nodes),
            "Maximum number of branch-and-bound nodes per try.",
        )
        .unit("nodes"),
    ]
}

/// Returns the settings of large neighbourhoods of switches from their parameters.
pub(super) fn lns_settings(params: &Params, ocs_count: usize, joint: bool) -> lns::LnsSettings {
    let usual = lns::LnsSettings::usual(ocs_count);
    lns::LnsSettings {
        ocs: params.count("lns_ocs").max(2),
        joint,
        patience: params
            .int("lns_patience")
            .and_then(|tries| u64::try_from(tries).ok())
            .unwrap_or(usual.patience),
        nodes: params.count("lns_nodes") as u32,
    }
}

/// Returns the parameter of decimation.
pub(super) fn decimation() -> ParamInfo {
    let patience = DecimationSettings::default().patience as i64;
    ParamInfo::int(
        "decimate_patience",
        0,
        1_000_000,
        patience,
        "Number of consecutive rounds without an improvement after which decimation stops; 0 skips it.",
    )
    .unit("rounds")
}

/// Returns the settings of decimation from its parameter.
pub(super) fn decimation_settings(params: &Params) -> DecimationSettings {
    DecimationSettings { patience: params.count("decimate_patience") as u64, ..DecimationSettings::default() }
}

/// Returns the parameters of neighbourhoods of circuits.
pub(super) fn free() -> Vec<ParamInfo> {
    let usual = circuits::CircuitLnsSettings::default();
    vec![
        ParamInfo::float(
            "free_share",
            0.01,
            1.0,
            usual.share,
            "Fraction of the kept circuits that the first try frees, in addition to all new circuits; later \
             tries adapt this fraction.",
        ),
        ParamInfo::int(
            "free_patience",
            0,
            1_000_000,
            usual.patience as i64,
            "Number of consecutive tries without an improvement after which this search stops.",
        )
        .unit("tries"),
        ParamInfo::int(
            "free_nodes",
            1,
            1_000_000,
            i64::from(usual.nodes),
            "Maximum number of branch-and-bound nodes per try.",
        )
        .unit("nodes"),
    ]
}

/// Returns the settings of neighbourhoods of circuits from their parameters.
pub(super) fn free_settings(params: &Params) -> circuits::CircuitLnsSettings {
    let usual = circuits::CircuitLnsSettings::default();
    circuits::CircuitLnsSettings {
        share: params.float("free_share").unwrap_or(usual.share),
        patience: params.count("free_patience") as u64,
        nodes: params.count("free_nodes") as u32,
    }
}

/// Returns the parameters of the proof at the end of `auto`.
pub(super) fn proof() -> Vec<ParamInfo> {
    vec![
        ParamInfo::int(
            "exact_circuits",
            0,
            1 << 16,
            EXACT_CIRCUITS,
            "Maximum number of target circuits for which the exact model is solved after the searches.",
        )
        .unit("circuits"),
        ParamInfo::int(
            "exact_nodes",
            1,
            i64::from(i32::MAX),
            100_000,
            "Maximum number of branch-and-bound nodes for the exact model.",
        )
        .unit("nodes"),
    ]
}
