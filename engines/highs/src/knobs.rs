//! The parameters of every method that uses HiGHS.

use crate::options::{OptionValue, Options};
use lightbay_core::param::{Effect, ParamInfo, Params};

/// Absolute gap at which a tree search ends. It decides only if the objective is near zero; otherwise the relative gap
/// does.
const ABSOLUTE_GAP: f64 = 1e-9;

/// Returns the parameters of the solver, to be added to the parameters of the method itself.
pub fn knobs() -> Vec<ParamInfo> {
    vec![
        ParamInfo::float(
            "mip_gap",
            0.0,
            1.0,
            1e-7,
            "Relative gap between plan and bound at which the solver reports a plan as optimal.",
        ),
        ParamInfo::choice(
            "solver_process",
            &["worker", "own"],
            "worker",
            "Where HiGHS runs: in a separate process that lightbay can kill at once (worker) or inside lightbay (own).",
        ),
        ParamInfo::choice(
            "presolve",
            &["choose", "on", "off"],
            "choose",
            "Simplification of the model before it is solved: on, off, or as HiGHS decides (choose).",
        ),
        ParamInfo::choice(
            "lp_method",
            &["choose", "simplex", "ipx"],
            "choose",
            "Method for linear programs: simplex, interior point with crossover (ipx), or as HiGHS decides (choose).",
        ),
        ParamInfo::int(
            "max_start_nodes",
            0,
            i64::from(i32::MAX),
            500,
            "Maximum number of nodes used to complete a hot start.",
        ),
        ParamInfo::float(
            "heuristic_effort",
            0.0,
            1.0,
            0.05,
            "Fraction of the effort that the solver spends on heuristics.",
        ),
        ParamInfo::bool("restarts", true, "If true, the solver may restart its search tree with what it \
             has learnt."),
        ParamInfo::bool("node_cuts", true, "If true, the solver adds cuts below the root node too."),
    ]
    .into_iter()
    .map(|knob| knob.effect(Effect::Warm))
    .collect()
}

/// Returns `true` if the parameters select a solver process, see [`crate::solve::SolveRequest::isolated`].
pub fn isolated(params: &Params) -> bool {
    params.text("solver_process") != Some("own")
}

/// Returns the solver options for the parameters and the seed of a run. Missing parameters keep the default of the
/// solver.
pub fn options_of(params: &Params, seed: u64) -> Options {
    // The solver accepts seeds up to 2^31 - 1; multiplicative (golden-ratio) hashing maps larger seeds to different
    // values.
    let folded = i32::try_from(seed).unwrap_or((seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as i32);
    let mut options = Options::new().set("random_seed", folded).set("mip_abs_gap", ABSOLUTE_GAP);
    let mut set = |name: &str, value: Option<OptionValue>| {
        if let Some(value) = value {
            options.0.push((name.to_owned(), value));
        }
    };
    let number = |name| params.float(name).map(OptionValue::Float);
    let word = |name| params.text(name).map(OptionValue::from);
    let yes_or_no = |name| params.get(name).map(|_| OptionValue::Bool(params.bool(name)));
    set("mip_rel_gap", number("mip_gap"));
    set("presolve", word("presolve"));
    set("solver", word("lp_method"));
    set("mip_lp_solver", word("lp_method"));
    let nodes = params.int("max_start_nodes").map(|nodes| i32::try_from(nodes).unwrap_or(i32::MAX));
    set("mip_max_start_nodes", nodes.map(OptionValue::Int));
    set("mip_heuristic_effort", number("heuristic_effort"));
    set("mip_allow_restart", yes_or_no("restarts"));
    set("mip_allow_cut_separation_at_nodes", yes_or_no("node_cuts"));
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::Instance;
    use crate::model::Model;
    use lightbay_core::param::ParamValue;

    #[test]
    fn every_knob_reaches_the_solver_which_takes_it() {
        let usual = Params::resolve(&knobs(), []).unwrap();
        let before = options_of(&usual, 1);
        Instance::new(&Model::new("empty")).unwrap().apply(&before).unwrap();
        for (name, value) in [
            ("mip_gap", ParamValue::Float(0.01)),
            ("presolve", ParamValue::Text("off".to_owned())),
            ("lp_method", ParamValue::Text("ipx".to_owned())),
            ("max_start_nodes", ParamValue::Int(i64::from(i32::MAX))),
            ("heuristic_effort", ParamValue::Float(0.5)),
            ("restarts", ParamValue::Bool(false)),
            ("node_cuts", ParamValue::Bool(false)),
        ] {
            let params = Params::resolve(&knobs(), [(name, &value)]).unwrap();
            let options = options_of(&params, 1);
            assert_ne!(options, before, "{name} changes nothing");
            Instance::new(&Model::new("empty")).unwrap().apply(&options).unwrap();
        }
        assert!(isolated(&usual));
        let own = ParamValue::Text("own".to_owned());
        assert!(!isolated(&Params::resolve(&knobs(), [("solver_process", &own)]).unwrap()));
    }

    #[test]
    fn every_seed_is_one_that_the_solver_takes() {
        for seed in [0, 1, u64::from(u32::MAX), i64::MAX as u64, u64::MAX] {
            let options = options_of(&Params::default(), seed);
            Instance::new(&Model::new("empty")).unwrap().apply(&options).unwrap();
        }
        assert_ne!(options_of(&Params::default(), 1), options_of(&Params::default(), 1 << 31));
    }
}
