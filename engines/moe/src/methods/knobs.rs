//! Parameters that several methods share.

use crate::MoeScenario;
use crate::predict::passage::FitSettings;
use crate::schedule::policies::SwitchPolicy;
use crate::search::exchange::RoutingRule;
use lightbay_core::method::without_effect;
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::Problem;

/// Returns the parameter for the use of packet switches by pairs with circuits.
pub(super) fn routing() -> ParamInfo {
    ParamInfo::choice(
        "routing",
        &["spill", "strict"],
        "spill",
        "Bytes beyond what the circuits of a pair carry in time: sent over packet switches (spill), or kept on the circuits (strict).",
    )
}

/// Returns the routing rule that the parameters choose.
pub(super) fn routing_of(params: &Params) -> RoutingRule {
    if params.text("routing") == Some("strict") { RoutingRule::Strict } else { RoutingRule::Spill }
}

/// Returns the parameter for the times at which circuits change.
pub(super) fn policy(usual: SwitchPolicy) -> ParamInfo {
    ParamInfo::choice(
        "policy",
        &["paper", "window", "reuse", "best", "exact"],
        usual.word(),
        "When circuits change: before every dispatch, with a stall (paper: the other changes add no stall; \
         window: they also add stalls); never before a dispatch, which uses the previous layer's circuits \
         (reuse); for each layer the cheaper of its own circuits after the whole delay and reuse (best); or \
         the cheapest choice over all layers (exact).",
    )
}

/// Returns the policy for the changes of circuits that the parameters choose.
pub(super) fn policy_of(params: &Params, usual: SwitchPolicy) -> SwitchPolicy {
    params.text("policy").and_then(SwitchPolicy::of).unwrap_or(usual)
}

/// Returns the parameters of a prediction.
pub(super) fn prediction() -> Vec<ParamInfo> {
    let usual = FitSettings::default();
    vec![
        ParamInfo::int(
            "predict_window",
            1,
            1000,
            usual.window as i64,
            "Number of earlier iterations that a prediction uses.",
        )
        .unit("iterations"),
        ParamInfo::float(
            "predict_gamma",
            0.0,
            1.0,
            usual.gamma,
            "Weight of an iteration relative to the next iteration.",
        ),
        ParamInfo::float(
            "predict_ridge",
            1e-9,
            1.0,
            1e-3,
            "Ridge weight of a prediction towards even loads. Default: 0.001, or 0.0001 for 32 or more \
             experts.",
        )
        .derived(),
    ]
}

/// Returns the settings of a fit that the parameters choose.
pub(super) fn prediction_of(params: &Params) -> FitSettings {
    let usual = FitSettings::default();
    FitSettings {
        window: params.count("predict_window").max(1),
        gamma: params.float("predict_gamma").unwrap_or(usual.gamma),
        ridge: params.float("predict_ridge"),
    }
}

/// Returns the parameter for the maximum number of branch-and-bound nodes per layer.
pub(super) fn nodes(usual: i64) -> ParamInfo {
    ParamInfo::int(
        "exact_nodes",
        0,
        i64::from(i32::MAX),
        usual,
        "Maximum number of branch-and-bound nodes for the best circuits of one layer; 0 skips this step.",
    )
    .unit("nodes")
}

/// Returns a problem for each parameter of a placement, which has no effect for methods that keep the experts in
/// blocks.
pub(super) fn unplaced(scenario: &MoeScenario) -> impl Iterator<Item = Problem> {
    let names: &[&str] =
        if scenario.placement.is_some() { &["redundant_experts", "expert_groups"] } else { &[] };
    let why = "with a method that keeps the experts in blocks";
    without_effect(names.iter().copied(), why, "use auto or mfabric-placed")
}

/// Returns a problem for each common parameter that has no effect on a method without random numbers and without a
/// search that could end early.
pub(super) fn idle(names: &[&'static str]) -> Vec<Problem> {
    let why = "with a method that uses no random numbers and makes one plan";
    without_effect(names.iter().copied(), why, "leave it out").collect()
}
