//! Tests of the panes of kind `crossconnect`: the random instance of 16 pods and 16 switches with several plans, an
//! order of all-to-all phases, an edited target, and the states without a plan.
//!
//! The plans come from files, so that the screens do not change when methods find better plans. Expected values are
//! taken from the JSON of the plans.

use super::at_sizes;
use super::files::{self, has, line};
use super::fixture::{Bench, Style};
use lightbay::app::Command;
use lightbay::app::action::Fact;
use lightbay::app::layer::Preview;
use lightbay::app::pane::PaneId;
use lightbay::app::plans::{PlanRef, Shown};
use lightbay::runtime::saved_plans::check_value;
use lightbay_core::clock::ManualClock;
use lightbay_core::event::{EventBody, EventSink, Recorder, RunId};
use lightbay_core::param::ParamValue;
use lightbay_core::run::Runs;
use lightbay_core::standing::Prover;
use lightbay_engines::{AnyPlan, AnyScenario, Request, Subject};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

const THREE: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];
const STYLES: [Style; 3] = [Style::Colour, Style::NoColour, Style::Ascii];

/// Names of the plan files, in the order of the plan numbers.
const PLANS: [&str; 4] = ["scratch", "halving", "repair", "lns"];
/// Number of the best of these plans.
const BEST: u64 = 4;
const ORDER: u64 = 5;

/// Reads a plan file of the tests.
fn plan(name: &str) -> PlanRef {
    files::plan(&format!("crossconnects/{name}-16-16-25"))
}

fn json(name: &str) -> Value {
    serde_json::from_slice(&plan(name).0.to_json().unwrap()).unwrap()
}

/// Returns the plan of a quick method, which starts from the plan `from` if it is given.
fn solved(scenario: &AnyScenario, method: &str, from: Option<&PlanRef>) -> Result<PlanRef, String> {
    let recorder = Arc::new(Recorder::default());
    let sink: Arc<dyn EventSink> = Arc::clone(&recorder) as Arc<dyn EventSink>;
    let runs = Runs::new(1, RunId(1), sink, Arc::new(ManualClock::default()), None).unwrap();
    let ask = Request { hot_start: from.map(|plan| plan.0.shared()), ..Request::of(method) };
    runs.submit(lightbay_engines::job(scenario, &ask).unwrap());
    assert!(runs.wait_idle(Duration::from_mins(2)));
    let ended = recorder.events().into_iter().find_map(|event| match event.body {
        EventBody::Done(done) => Some(done),
        _ => None,
    });
    let done = ended.unwrap();
    done.plan.as_ref().and_then(AnyPlan::of).map(PlanRef).ok_or(done.message)
}

impl Bench {
    /// Opens the random instance without a plan.
    fn switches(style: Style) -> Self {
        let mut bench = Self::open("crossconnect-16-16-25", style);
        bench.set("max_dark_per_pod=3");
        bench.settle();
        bench
    }

    /// Records the present scenario as the scenario of the newest solve.
    fn settle(&mut self) {
        let work = self.app.work.as_mut().unwrap();
        work.note_solved();
        self.app.plans.scenario_sha256.clone_from(&work.now.sha256);
    }

    /// Opens the random instance with plans of several methods; the plan of the method that ignores the installed
    /// circuits is the baseline.
    fn rewired(style: Style) -> Self {
        let mut bench = Self::switches(style);
        for (number, name) in (1..).zip(PLANS) {
            bench.fact(Fact::Kept { number, plan: plan(name), source: "a file".to_owned() });
        }
        bench.app.plans.baseline = Some(1);
        bench.app.plans.shown = Shown::Chosen(BEST);
        bench
    }

    /// Opens the random instance with these plans and a displayed plan that orders all-to-all phases.
    fn ordered(style: Style, rule: &str) -> Self {
        let mut bench = Self::rewired(style);
        bench.fact(Fact::Kept { number: ORDER, plan: plan(rule), source: "a file".to_owned() });
        bench
    }
}

/// Returns, for every switch of a plan, the number of entries with an action.
fn counts(plan: &Value, action: &str) -> Vec<usize> {
    let ocs = plan["result"]["ocs"].as_array().unwrap();
    let of = |ocs: &Value| {
        let entries = ocs["cross_connects"].as_array().unwrap();
        entries.iter().filter(|entry| entry["action"] == action).count()
    };
    ocs.iter().map(of).collect()
}

#[test]
fn a_rewiring() {
    at_sizes(
        "crossconnect",
        &mut Bench::rewired(Style::Colour),
        &[(60, 16), (80, 24), (100, 30), (120, 40), (200, 60)],
    );
    at_sizes("crossconnect-ascii", &mut Bench::rewired(Style::Ascii), &THREE);
    at_sizes("crossconnect-mono", &mut Bench::rewired(Style::NoColour), &[(120, 40)]);
}

#[test]
fn every_pane_of_a_rewiring_zoomed() {
    let mut bench = Bench::ordered(Style::Colour, "corrected");
    bench.app.plans.shown = Shown::Chosen(BEST);
    for pane in 1..=7 {
        bench.run(Command::Focus(PaneId::Kind(pane)));
        bench.app.focus.zoomed = true;
        at_sizes(&format!("crossconnect-{pane}"), &mut bench, &[(80, 24), (120, 40)]);
        bench.app.focus.zoomed = false;
    }
    for (pane, keys) in [(2, "v"), (2, "v"), (4, "v"), (6, "v v v v v v v"), (7, "v")] {
        bench.run(Command::Focus(PaneId::Kind(pane)));
        bench.keys(keys);
        bench.app.focus.zoomed = true;
        let form = bench.app.pane(PaneId::Kind(pane)).mode;
        at_sizes(&format!("crossconnect-{pane}-form-{form}"), &mut bench, &[(120, 40)]);
        bench.app.focus.zoomed = false;
    }
}

#[test]
fn without_a_plan_every_pane_says_what_to_do() {
    let mut bench = Bench::switches(Style::Colour);
    at_sizes("crossconnect-opened", &mut bench, &[(80, 24), (120, 40)]);
    for pane in 1..=6 {
        has(&bench.alone("crossconnect", pane, 100, 30), "no plan yet");
    }
    has(&bench.alone("crossconnect", 7, 100, 30), ":solve all-to-all-order");
    bench.begin(1, "lumos-halving", false);
    has(&bench.alone("crossconnect", 2, 100, 30), "the first plan");
    bench.begin(2, "all-to-all-order", false);
    has(&bench.alone("crossconnect", 7, 100, 30), "the first plan");
}

#[test]
fn switches_are_counted_as_the_plan_has_them() {
    let best = json("lns");
    let (keep, add, remove) = (counts(&best, "keep"), counts(&best, "add"), counts(&best, "remove"));
    for style in STYLES {
        let mut bench = Bench::rewired(style);
        let screen = bench.alone("crossconnect", 1, 120, 30);
        let touched = (0..16).filter(|&ocs| add[ocs] + remove[ocs] > 0).count();
        has(line(&screen, "1 Switches"), &format!("{touched} of 16 change"));
        let minus = if style == Style::Ascii { '-' } else { '−' };
        for ocs in 0..16 {
            let wanted = format!("{ocs} {} {} {}", keep[ocs], add[ocs], remove[ocs]);
            let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let found = screen.lines().any(|line| {
                let line = squeezed(line.trim_start_matches(['>', ' ']));
                line.starts_with(&squeezed(&wanted))
            });
            assert!(found, "no '{wanted}' in\n{screen}");
        }
        let sums = [keep.iter().sum::<usize>(), add.iter().sum(), remove.iter().sum()];
        has(&screen, &format!("all {} +{} {minus}{}", sums[0], sums[1], sums[2]));
    }
}

#[test]
fn the_matrix_says_every_change_of_a_row_in_words() {
    let best = json("lns");
    let remove = counts(&best, "remove");
    let ocs = remove.iter().position(|count| *count > 0).unwrap();
    let entries = best["result"]["ocs"][ocs]["cross_connects"].as_array().unwrap();
    let far = |pod: u64, action: &str| {
        entries
            .iter()
            .find(|entry| entry["pod_a"] == pod && entry["action"] == action)
            .map(|entry| (entry["pod_b"].as_u64().unwrap(), entry["switch_port_b"].as_u64().unwrap()))
    };
    let mut bench = Bench::rewired(Style::Ascii);
    let screen = bench.alone("crossconnect", 2, 120, 40);
    has(line(&screen, "2 Matrix"), &format!("OCS {ocs}"));
    for pod in 0..16 {
        match (far(pod, "keep"), far(pod, "add"), far(pod, "remove")) {
            (Some((b, _)), _, _) => has(&screen, &format!("to {b:>2}")),
            (None, Some((b, _)), Some((old, _))) => has(&screen, &format!("to {b:>2} was {old:>2}")),
            _ => {}
        }
    }
    // The cursor stands on the first change of the switch, whose ports the last line names.
    let (first, (old, panel)) = (0..16).find_map(|pod| Some((pod, far(pod, "remove")?))).unwrap();
    has(&screen, &format!("> pod {first}  A {first}.0 ({})", first + 1));
    has(&screen, &format!("remove B {old}.0 ({panel})"));
}

#[test]
fn the_switch_is_chosen_in_the_list_or_by_brackets_and_all_panes_follow() {
    let mut bench = Bench::rewired(Style::Colour);
    bench.run(Command::Focus(PaneId::Kind(1)));
    bench.draw(120, 40);
    bench.keys("g g");
    bench.draw(120, 40);
    bench.keys("j j");
    assert_eq!(bench.app.pane(PaneId::Kind(1)).selected, Some(2));
    has(line(&bench.alone("crossconnect", 2, 120, 40), "2 Matrix"), "OCS 2 ");
    bench.draw(120, 40);
    bench.keys(".");
    has(line(&bench.alone("crossconnect", 2, 120, 40), "2 Matrix"), "OCS 3 ");
    bench.keys("2 ,");
    bench.draw(120, 40);
    bench.keys(",");
    bench.draw(120, 40);
    assert_eq!(bench.app.pane(PaneId::Kind(1)).selected, Some(1));
    has(&bench.alone("crossconnect", 6, 120, 40), "> OCS 1 ");
    bench.draw(120, 40);
    bench.keys(", , , ,");
    assert_eq!(bench.app.pane(PaneId::Kind(1)).selected, Some(0), "the first one");
    // A double click in the list leads to the matrix of the switch.
    bench.run(Command::Focus(PaneId::Kind(2)));
    let (_, drawn) = bench.draw(120, 40);
    let hit = drawn
        .hits
        .iter()
        .find(|hit| hit.click == lightbay::app::Action::Select { pane: PaneId::Kind(1), item: Some(5) });
    assert!(hit.is_some(), "switch 5 can be clicked in the list beside the matrix");
}

#[test]
fn the_cursor_goes_from_circuit_to_circuit() {
    let mut bench = Bench::rewired(Style::Colour);
    bench.run(Command::Focus(PaneId::Kind(2)));
    bench.draw(120, 40);
    bench.keys("g g");
    let (_, drawn) = bench.draw(120, 40);
    let pane = drawn.pane(PaneId::Kind(2)).unwrap();
    let first = pane.items.first().unwrap().id;
    assert_eq!((bench.app.pane(PaneId::Kind(2)).selected, first / 16), (Some(first), 0));
    assert!(!pane.details.is_empty());
    bench.keys("j");
    let below = bench.app.pane(PaneId::Kind(2)).selected.unwrap();
    assert_eq!(below / 16, 1);
    // On the next switch the row stays.
    bench.draw(120, 40);
    bench.keys(".");
    let screen = bench.screen("crossconnect-next", 120, 40);
    has(&screen, "> pod 1  A 1.0 (2)");
    bench.keys("v");
    has(&bench.alone("crossconnect", 2, 120, 40), "A port");
}

#[test]
fn methods_are_ranked_under_the_bound() {
    let values: Vec<(u64, &str)> =
        PLANS.iter().map(|name| (json(name)["objective"]["value"].as_f64().unwrap() as u64, *name)).collect();
    let bound = json("lns")["result"]["totals"]["lower_bound_removed_circuits"].as_u64().unwrap();
    for style in STYLES {
        let mut bench = Bench::rewired(style);
        let screen = bench.alone("crossconnect", 3, 120, 40);
        let mut ranked = values.clone();
        ranked.sort_unstable();
        let places: Vec<usize> = ranked
            .iter()
            .map(|(value, name)| {
                let method = format!("lumos-{name}");
                let found = |text: &str| text.contains(&method) && text.contains(&format!(" {value} "));
                screen.lines().position(found).unwrap_or_else(|| panic!("no {method} {value} in\n{screen}"))
            })
            .collect();
        assert!(places.is_sorted(), "{places:?} in\n{screen}");
        has(&screen, &format!("bound {bound}"));
        has(line(&screen, "3 Rewiring"), &format!("{} of 256 removed", ranked[0].0));
        // One scale for all, which ends at twice 68, the removals of the best baseline: a bar is as long as its value says.
        let bar = |name: &str| {
            let sign = if style == Style::Ascii { '#' } else { '█' };
            line(&screen, name).matches([sign, '▆', ':', '┊']).count() as f64
        };
        let (longest, most) = (bar("lumos-scratch"), 136.0);
        for (value, name) in &ranked {
            let share = bar(&format!("lumos-{name}")) / longest;
            assert!((share - (*value as f64 / most).min(1.0)).abs() < 0.04, "{name} {share}\n{screen}");
        }
        has(&screen, "this plan");
        has(&screen, &format!("lower bound {bound}"));
    }
}

#[test]
fn logical_differences_are_those_of_the_scenario() {
    let scenario = &json("lns")["scenario"];
    let wanted = |a: usize, b: usize| scenario["logical_circuits"][a][b].as_i64().unwrap();
    let mut before = vec![[0i64; 16]; 16];
    for ocs in scenario["installed"]["ocs"].as_array().unwrap() {
        for circuit in ocs["cross_connects"].as_array().unwrap() {
            let end = |name: &str| circuit[name].as_u64().unwrap() as usize;
            before[end("pod_a")][end("pod_b")] += 1;
            before[end("pod_b")][end("pod_a")] += 1;
        }
    }
    let lost: i64 = (0..16)
        .flat_map(|a| (a + 1..16).map(move |b| (a, b)))
        .map(|(a, b)| (before[a][b] - wanted(a, b)).max(0))
        .sum();
    let mut bench = Bench::rewired(Style::Ascii);
    let screen = bench.alone("crossconnect", 4, 160, 40);
    has(line(&screen, "4 Logical"), &format!("{lost} circuits move"));
    for name in ["before", "wanted", "wanted minus before"] {
        has(&screen, name);
    }
    bench.run(Command::Focus(PaneId::Kind(4)));
    bench.draw(160, 40);
    bench.keys("g g j");
    bench.draw(160, 40);
    let screen = bench.alone("crossconnect", 4, 160, 40);
    let difference = match wanted(1, 0) - before[1][0] {
        0 => String::new(),
        difference => format!("  {difference:+}"),
    };
    let counts = format!("before {}  wanted {}", before[1][0], wanted(1, 0));
    has(&screen, &format!("> pod 1 and pod 0{difference}  {counts}"));
    bench.keys("v");
    has(&bench.alone("crossconnect", 4, 120, 40), "out A");
}

#[test]
fn batches_and_their_entries_are_those_of_the_plan() {
    let best = json("lns");
    let batches = best["result"]["batches"].as_array().unwrap();
    let mut bench = Bench::rewired(Style::Ascii);
    let screen = bench.alone("crossconnect", 5, 120, 40);
    let words = if batches.len() == 1 { "1 batch".to_owned() } else { format!("{} batches", batches.len()) };
    has(line(&screen, "5 Changes"), &words);
    let at = &batches[0]["changes"][0];
    let (ocs, entry) = (at["ocs_id"].as_u64().unwrap(), at["entry"].as_u64().unwrap());
    let entry = &best["result"]["ocs"][ocs as usize]["cross_connects"][entry as usize];
    assert_eq!(entry["action"], "remove", "removals come first");
    let first = format!(
        "OCS {ocs} A {}.0 ({}) - B {}.0 ({})",
        entry["pod_a"], entry["switch_port_a"], entry["pod_b"], entry["switch_port_b"]
    );
    let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(screen.lines().any(|line| squeezed(line).contains(&first)), "no '{first}' in\n{screen}");
    has(&screen, &format!("; {} dark", batches[0]["dark_circuits"]));
    bench.keys("i");
    bench.draw(120, 40);
    bench.keys("i");
    has(&bench.screen("crossconnect-batch", 120, 40), "remove  A ");
}

#[test]
fn exports_show_what_the_exporter_writes() {
    let plan = plan("lns");
    let formats = lightbay_engines::exporters("crossconnect");
    let mut bench = Bench::rewired(Style::Ascii);
    let modes = bench.app.pane_info(PaneId::Kind(6)).unwrap().modes;
    for name in modes {
        let format = formats.iter().find(|format| format.name == *name);
        let format = format.unwrap_or_else(|| panic!("{name} is no format"));
        let files = lightbay_engines::export(Subject::Plan(&plan.0), name, &[]).unwrap();
        let screen = bench.alone("crossconnect", 6, 160, 45);
        has(line(&screen, "6 Export"), &format!("{name}  {} files", files.len()));
        has(&screen, &format!("[{name}]"));
        // A narrow pane names the first ones only.
        for param in format.params.iter().take(3) {
            has(&screen, &format!("{}=", param.name));
        }
        let shown = files.iter().find(|file| screen.contains(&file.name));
        let shown = shown.unwrap_or_else(|| panic!("no file of {name} in\n{screen}"));
        let text = String::from_utf8(shown.bytes.clone()).unwrap();
        for row in text.lines().take(20) {
            has(&screen, row.trim_end());
        }
        // As many removals as additions, and as many commands as circuits take: one or two each.
        let best = json("lns");
        let removed: usize = counts(&best, "remove").iter().sum();
        let commands = line(&screen, &shown.name);
        let count = |sign: char| -> usize {
            let at = commands.split_whitespace().rev().find(|word| word.starts_with(sign));
            at.unwrap_or_else(|| panic!("no {sign} in {commands}"))[1..].parse().unwrap()
        };
        assert_eq!(count('-'), count('+'), "{commands}");
        assert!(count('-') > 0 && count('-') <= removed * 2, "{commands}");
        bench.keys("v");
    }
}

#[test]
fn phases_are_counted_and_receivers_that_are_hit_twice_stand_out() {
    let phases = json("corrected")["result"]["phases"].as_array().unwrap().len();
    for style in STYLES {
        let mut bench = Bench::ordered(style, "corrected");
        let screen = bench.alone("crossconnect", 7, 140, 45);
        has(line(&screen, "7 Phases"), "no GPU receives two flows");
        has(&screen, &format!("phase 1 of {phases}"));
        has(&screen, "printed: GPUs receive two flows in");
        bench.draw(140, 45);
        bench.keys("l .");
        has(&bench.alone("crossconnect", 7, 140, 45), "> phase 2");
        bench.keys("v");
        let screen = bench.alone("crossconnect", 7, 140, 45);
        has(&screen, "By the printed rule");
        has(&screen, "! 8 with two flows");
    }
}

/// An order of phases removes no circuits and would be the best plan, so the other panes continue to show the plan that
/// changes the switches.
#[test]
fn an_order_of_phases_does_not_hide_the_changes() {
    let mut bench = Bench::ordered(Style::Colour, "printed");
    assert_eq!(bench.app.plans.shown().unwrap().number, ORDER);
    assert_eq!(bench.app.plans.best().unwrap().number, BEST);
    let screen = bench.alone("crossconnect", 2, 120, 40);
    has(line(&screen, "2 Matrix"), &format!("plan {BEST}"));
    has(&bench.alone("crossconnect", 3, 120, 40), "lumos-lns");
    let mut alone = Bench::switches(Style::Colour);
    alone.fact(Fact::Kept { number: 1, plan: plan("printed"), source: "a file".to_owned() });
    has(&alone.alone("crossconnect", 2, 100, 30), "orders phases and touches no switch");
}

#[test]
fn an_edited_wish_shows_its_bound_at_once_and_becomes_the_scenario_with_its_plan() {
    let mut bench = Bench::rewired(Style::Colour);
    bench.run(Command::Focus(PaneId::Kind(4)));
    bench.draw(120, 40);
    bench.keys("e");
    let edit = bench.app.cell_edit().unwrap().clone();
    let (old, name) = (edit.values[edit.entry], edit.cells.names[edit.entry].clone());
    at_sizes("crossconnect-edit", &mut bench, &[(120, 40)]);
    // More circuits than ports are refused in words before anything is solved.
    bench.keys("+");
    let refused = bench.app.cell_edit().unwrap().clone();
    assert!(refused.problem.contains("ports"), "{}", refused.problem);
    at_sizes("crossconnect-edit-refused", &mut bench, &[(120, 40)]);
    bench.keys("- -");
    let edit = bench.app.cell_edit().unwrap().clone();
    assert_eq!((edit.values[edit.entry], edit.waiting, edit.problem.as_str()), (old - 1, true, ""));
    let screen = bench.alone("crossconnect", 4, 160, 45);
    has(&screen, &format!("> {name}  wanted {old} → {}", old - 1));
    has(&screen, "demand-difference bound ");
    at_sizes("crossconnect-edit-changed", &mut bench, &[(80, 24), (120, 40)]);
    // The plan of the edit arrives: every pane shows it, and Enter makes its wish the scenario.
    let from = plan("lns");
    let text = ParamValue::Text(format!("{}:{}", name.replace("pods ", "").replace(" and ", "-"), old - 1));
    let scenario = from.0.scenario().with("circuits", None, &text).unwrap();
    let found = solved(&scenario, "lumos-repair", Some(&from)).unwrap();
    let previews = vec![Preview { variant: "", plan: Ok(found.clone()) }];
    bench.fact(Fact::Evaluated { key: edit.key, previews });
    let screen = bench.screen("crossconnect-edit-found", 160, 45);
    has(screen.lines().next().unwrap(), "edit of 4");
    has(line(&screen, "3 Rewiring"), "edit of 4");
    bench.keys("Enter");
    bench.fact(Fact::Kept { number: 9, plan: found.clone(), source: "edit of plan 4".to_owned() });
    assert_eq!(bench.app.work.as_ref().unwrap().now.sha256, scenario.sha256().unwrap());
    assert!(!bench.app.is_stale() && !bench.app.work.as_ref().unwrap().changed());
    assert_eq!(bench.app.plans.best().unwrap().number, 9, "plans of the old wish are of other parameters");
    bench.keys("u");
    assert!(bench.app.is_stale(), "the wish is back, its plan is of the changed one");
}

#[test]
fn failed_ports_are_told_apart() {
    let mut bench = Bench::switches(Style::Colour);
    // A pod with all its ports in use cannot lose one and keep its circuits.
    let wanted = json("lns")["scenario"]["logical_circuits"][0].clone();
    let peer = (1..16).find(|&peer: &usize| wanted[peer].as_u64().unwrap() > 0).unwrap();
    bench.set(&format!("circuits=0-{peer}:{}", wanted[peer].as_u64().unwrap() - 1));
    bench.set("failed_ports=0:0:a0");
    bench.settle();
    let scenario = bench.app.work.as_ref().unwrap().now.scenario.clone();
    let found = solved(&scenario, "lumos-repair", None).unwrap();
    bench.fact(Fact::Kept { number: 1, plan: found, source: "a file".to_owned() });
    has(&bench.alone("crossconnect", 1, 120, 40), "!1 at failed ports");
    has(&bench.alone("crossconnect", 3, 120, 40), "at failed ports; every plan removes them");
}

#[test]
fn a_large_matrix_scrolls_with_the_cursor() {
    let mut bench = Bench::open("crossconnect-64-16-25", Style::Colour);
    let scenario = bench.app.work.as_ref().unwrap().now.scenario.clone();
    let found = solved(&scenario, "lumos-repair", None).unwrap();
    bench.fact(Fact::Kept { number: 1, plan: found, source: "a file".to_owned() });
    bench.run(Command::Focus(PaneId::Kind(2)));
    bench.draw(80, 24);
    bench.keys("G");
    let (_, drawn) = bench.draw(80, 24);
    let pane = drawn.pane(PaneId::Kind(2)).unwrap();
    assert!(pane.offset > 40, "{}", pane.offset);
    has(&bench.screen("crossconnect-large", 80, 24), ">63");
    for (width, height) in [(60, 16), (120, 40), (200, 60)] {
        bench.draw(width, height);
    }
}

#[test]
fn nothing_moves_while_a_run_goes_on() {
    let mut bench = Bench::rewired(Style::Colour);
    let columns = |screen: &str| -> Vec<Option<usize>> {
        ["2 Matrix", "3 Rewiring", "5 Changes", "4 Logical", "6 Export", "7 Phases", "Plans", "Solve"]
            .iter()
            .map(|name| {
                screen.lines().skip(2).find_map(|line| line.find(name).map(|at| line[..at].chars().count()))
            })
            .collect()
    };
    bench.run(Command::Focus(PaneId::Kind(2)));
    let before = columns(&bench.screen("crossconnect-still", 200, 60));
    assert!(before.iter().all(Option::is_some));
    bench.begin(7, "lumos-halving", false);
    assert_eq!(columns(&bench.screen("crossconnect-still", 200, 60)), before);
}

/// Returns the best plan with the claim that it is optimal; the standard check cannot confirm this claim.
fn claimed_to_be_optimal() -> PlanRef {
    let mut value = json("lns");
    value["objective"]["bound"] = value["objective"]["value"].clone();
    value["objective"]["gap"] = 0.0.into();
    value["status"] = "optimal".into();
    value["limit"] = Value::Null;
    value["provenance"]["reproducible"] = true.into();
    value["provenance"].as_object_mut().unwrap().remove("not_reproducible_because");
    check_value(&value).unwrap()
}

#[test]
fn a_bound_that_is_only_claimed_is_not_the_gap_of_the_header() {
    let claimed = claimed_to_be_optimal();
    let verified = claimed.0.shared().verified_bound().unwrap().gap;
    assert!(verified > 0.1, "the checker counts pairs only: {verified}");
    let mut bench = Bench::switches(Style::Colour);
    bench.fact(Fact::Kept { number: 1, plan: claimed, source: "a file".to_owned() });
    let header = |bench: &mut Bench, width: u16| {
        bench.screen("crossconnect-header", width, 30).lines().next().unwrap().to_owned()
    };
    let told = format!("gap {:.1} % verified", verified * 100.0);
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    has(&header(&mut bench, 80), told.trim_end_matches(" verified"));
    has(&words(header(&mut bench, 160)), &format!("{told} (0.00 % claimed)"));
    // A run at work makes no claim true.
    bench.begin(1, "lumos-lns", false);
    has(&words(header(&mut bench, 160)), &format!("{told} (0.00 % claimed)"));
    // The checker does; then header, strip, panes and the plan in words say so at once.
    let entry = bench.app.plans.get(1).unwrap();
    let mut verified = entry.standing.clone();
    verified.learn(entry.value, None, true, Prover::Checker);
    for (brief, word, pane) in [
        (format!("{told} (0.00 % claimed)"), "claimed", "claimed optimal, "),
        ("gap 0.00 % verified".to_owned(), "verified", "is optimal: no plan removes fewer"),
    ] {
        if word == "verified" {
            let standing = Some(verified.clone());
            bench.fact(Fact::Checked { number: 1, standing, lines: Vec::new() });
            bench.keys("Esc");
        }
        let rewiring = bench.alone("crossconnect", 3, 160, 45);
        has(&rewiring, pane);
        // A verified optimum needs no gap in the pane; the header names it.
        let below: Vec<&str> = rewiring.lines().skip(1).collect();
        assert_eq!(below.join("\n").contains(&brief), word == "claimed", "{rewiring}");
        let strip = bench.screen("crossconnect-strip", 200, 60);
        has(&strip, &brief);
        let first = words(header(&mut bench, 160));
        has(&first, &brief);
        let sentence = bench.app.standing_of(bench.app.plans.get(1).unwrap()).brief();
        assert_eq!(format!("gap {sentence}"), brief);
    }
}

#[test]
fn after_a_change_nothing_is_called_optimal_before_there_is_a_plan_of_it() {
    let mut bench = Bench::switches(Style::Colour);
    bench.fact(Fact::Kept { number: 1, plan: claimed_to_be_optimal(), source: "a file".to_owned() });
    has(&bench.alone("crossconnect", 3, 100, 30), "claimed optimal");
    bench.set("failed_ocs=3");
    let screen = bench.alone("crossconnect", 3, 100, 30);
    assert!(!screen.contains("optimal"), "{screen}");
    has(line(&screen, "3 Rewiring"), "plan 1 *");
    has(&screen, "removed by plan 1 *, stale");
    // The last pane is about orders of phases, of which there is none.
    for pane in 1..=6 {
        let screen = bench.alone("crossconnect", pane, 160, 45);
        has(line(&screen, &format!("{pane} ")), "plan 1 *");
    }
}
