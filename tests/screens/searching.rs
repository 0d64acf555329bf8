//! A workbench with an active solver: a hot start, a root LP without output, a tree search, and lines of the log.

use super::fixture::{Bench, Style};
use lightbay_core::event::{
    Bound, EventBody, HotStartFate, HotStartReport, Incumbent, LogLine, ModelSize, Phase, SolverStats,
};
use std::collections::BTreeMap;

/// Number of the run of the solver.
pub const RUN: u64 = 9;

fn model(after: &str, rows: u64, columns: u64, nonzeros: u64, integers: u64) -> EventBody {
    EventBody::Model(ModelSize { after: after.to_owned(), columns, rows, nonzeros, integers })
}

fn line(text: &str) -> EventBody {
    EventBody::Line(LogLine { text: text.to_owned() })
}

fn stage(stage: &str) -> EventBody {
    EventBody::Solver(SolverStats {
        stage: stage.to_owned(),
        unit: "nodes".to_owned(),
        ..SolverStats::default()
    })
}

fn tree(done: u64, open: u64, lp_iterations: u64, cuts: u64) -> EventBody {
    EventBody::Solver(SolverStats {
        unit: "nodes".to_owned(),
        stage: "tree search".to_owned(),
        done,
        open: Some(open),
        lp_iterations: Some(lp_iterations),
        cuts: Some(cuts),
        ..SolverStats::default()
    })
}

fn best(value: f64, source: &str) -> EventBody {
    EventBody::Incumbent(Incumbent {
        number: 0,
        value,
        secondary: 44.0,
        source: source.to_owned(),
        checked: false,
        metrics: BTreeMap::new(),
        plan: None,
    })
}

fn bound(value: f64) -> EventBody {
    EventBody::Bound(Bound { value, only: Some("this event order only".to_owned()) })
}

impl Bench {
    /// Opens a scenario with a run that has built its MILP and has begun with the root LP.
    pub fn at_the_root(style: Style) -> Self {
        let mut bench = Self::open("megatron_177b", style);
        bench.solve(1, "prop-alloc");
        bench.solve(2, "iter-halve");
        let last = bench.app.plans.iter().next_back().map(|entry| entry.number);
        bench.app.plans.baseline = last;
        bench.begin(RUN, "delta-interval", false);
        let phase = Phase { name: "MILP".to_owned(), detail: "one event order, 214 intervals".to_owned() };
        bench.say(RUN, 0.1, EventBody::Phase(phase));
        bench.say(RUN, 0.1, model("written in full", 57_310, 49_204, 241_118, 2_904));
        bench.say(RUN, 0.2, model("index windows", 5_304, 4_820, 21_702, 292));
        let report = HotStartReport {
            fate: HotStartFate::Accepted,
            why: "all 292 integers given".to_owned(),
            before: Some(12.829_852),
            after: Some(12.888_780),
        };
        bench.say(RUN, 0.3, EventBody::HotStart(report));
        for text in [
            "Presolving model",
            "4102 rows, 3655 cols, 17841 nonzeros  0s",
            "1880 rows, 1702 cols, 9120 nonzeros  0s",
            "MIP start solution is feasible, objective value is 12.88878",
        ] {
            bench.say(RUN, 0.4, line(text));
        }
        bench.say(RUN, 0.4, model("presolve", 1_880, 1_702, 9_120, 118));
        bench.say(RUN, 0.4, best(12.888_780, "hot start"));
        bench.say(RUN, 0.5, stage("root LP"));
        bench
    }

    /// Opens the same scenario with the run during the tree search.
    pub fn in_the_tree(style: Style) -> Self {
        let mut bench = Self::at_the_root(style);
        for (at_s, body) in [
            (2.9, bound(0.0)),
            (3.4, stage("root cuts")),
            (3.4, bound(12.801_242)),
            (6.1, best(12.871_114, "heuristic H")),
            (9.8, tree(120, 14, 88_300, 161)),
            (
                9.9,
                line(
                    "         120      14        31  81.30%   12.80977       12.871114          0.48%      161     12     88300     9.8s",
                ),
            ),
            (10.0, bound(12.809_770)),
            (12.2, tree(291, 18, 122_400, 204)),
            (12.3, best(12.831_362, "tree T")),
            (12.3, bound(12.813_372)),
            (16.8, tree(644, 77, 152_100, 231)),
            (16.8, best(12.829_852, "injected X")),
            (16.8, bound(12.813_825)),
            (
                16.9,
                line(
                    " X       644      77       152  92.90%   12.813825      12.829852          0.12%      231     17    152100    16.8s",
                ),
            ),
            (49.9, tree(3_902, 51, 402_700, 260)),
            (49.9, bound(12.820_989)),
            (62.0, tree(4_657, 44, 461_204, 264)),
            (
                62.0,
                line(
                    "        4657      44      1249  57.00%   12.820989      12.829852          0.07%      264     21    461204    62.0s",
                ),
            ),
        ] {
            bench.say(RUN, at_s, body);
        }
        bench.keys("5");
        bench
    }
}
