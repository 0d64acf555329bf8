//! Tests that every pane shows the values of its plan or run: each pane is tested with two different plans or runs,
//! with and without colour.
//!
//! Expected values are taken from the plan's JSON and from the events of its run, never from what the view computed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
#![allow(dead_code, reason = "the fixture is shared with the tests of whole screens")]

#[path = "screens/fixture.rs"]
mod fixture;
#[path = "screens/searching.rs"]
mod searching;
#[path = "panes/worth.rs"]
mod worth;

use fixture::{Bench, Style};
use lightbay::app::Command;
use lightbay::app::pane::PaneId;
use lightbay_core::event::RunId;
use lightbay_core::quantity::grouped;
use serde_json::Value;

const STYLES: [Style; 3] = [Style::Colour, Style::NoColour, Style::Ascii];
const WIDTH: u16 = 160;
const HEIGHT: u16 = 50;

/// Returns a workbench with the plans of three methods, and the JSON of two different plans.
fn bench(style: Style) -> (Bench, [(u64, Value); 2]) {
    let mut bench = Bench::solved("small", style);
    let json = |method: &str| {
        let entry = bench.app.plans.iter().rev().find(|entry| entry.method == method).unwrap();
        let bytes = entry.plan.as_ref().unwrap().0.to_json().unwrap();
        (entry.number, serde_json::from_slice::<Value>(&bytes).unwrap())
    };
    let plans = [json("prop-alloc"), json("delta-level")];
    assert_ne!(plans[0].1["result"]["topology"], plans[1].1["result"]["topology"], "two plans that differ");
    bench.app.plans.baseline = None;
    (bench, plans)
}

/// Returns the screen on which one pane shows a plan.
fn zoomed(bench: &mut Bench, pane: u8, plan: u64) -> String {
    bench.run(Command::ShowPlan(plan));
    bench.run(Command::Focus(PaneId::Kind(pane)));
    bench.app.focus.zoomed = true;
    bench.screen(&format!("pane-{pane}-{plan}"), WIDTH, HEIGHT)
}

/// Returns the first line that contains a text.
fn line<'a>(screen: &'a str, text: &str) -> &'a str {
    screen.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("no '{text}' in\n{screen}"))
}

/// Returns a text with the signs of links in ASCII.
fn plain(text: &str) -> String {
    text.replace('–', "-").replace('→', ">")
}

fn has(screen: &str, text: &str) {
    assert!(screen.contains(text), "no '{text}' in\n{screen}");
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// Returns the names of the links of the preset in the pane: three pipeline links and four rings.
fn links(style: Style) -> [String; 7] {
    let dash = if style == Style::Ascii { "-" } else { "–" };
    ["p0 p1 pp", "p1 p2 pp", "p2 p3 pp", "p0 ring dp", "p1 ring dp", "p2 ring dp", "p3 ring dp"]
        .map(|name| name.replacen(' ', dash, 1))
}

#[test]
fn the_graph_shows_how_long_each_task_takes() {
    for style in STYLES {
        let (mut bench, plans) = bench(style);
        for (plan, json) in &plans {
            let tasks = json["result"]["tasks"].as_array().unwrap();
            let screen = zoomed(&mut bench, 1, *plan);
            has(&screen, &format!("of {}", tasks.len()));
            // Five transfers of the pipeline and three of the gradients.
            for task in [0, 17, 40, 63, 95, 96, 99, 103] {
                bench.app.pane_mut(PaneId::Kind(1)).selected = Some(task as u32);
                let screen = zoomed(&mut bench, 1, *plan);
                let takes = number(&tasks[task]["finish_s"]) - number(&tasks[task]["start_s"]);
                let sentence = line(&screen, ", min ");
                has(sentence, &format!("  {:.1} ms, min", takes * 1e3));
            }
            bench.app.pane_mut(PaneId::Kind(1)).selected = None;
        }
    }
}

/// Returns the distinct event times in the JSON of a plan.
fn events(json: &Value) -> Vec<f64> {
    let mut times = Vec::new();
    for task in json["result"]["tasks"].as_array().unwrap() {
        times.extend([number(&task["start_s"]), number(&task["finish_s"])]);
        times.extend(task["segments"].as_array().unwrap().iter().map(|segment| number(&segment["end_s"])));
    }
    times.sort_by(f64::total_cmp);
    times.dedup_by(|later, earlier| *later - *earlier <= 1e-9);
    times
}

/// Returns the rate of a task in an interval, in units of the rate of a NIC, from the segments of the JSON; `None` if
/// the task is not active.
fn nics(json: &Value, task: usize, interval: (f64, f64)) -> Option<f64> {
    let rate = number(&json["scenario"]["job"]["run"]["bandwidth_gbps"]) * 1.25e8;
    let middle = f64::midpoint(interval.0, interval.1);
    let segments = json["result"]["tasks"][task]["segments"].as_array().unwrap();
    let segment = segments
        .iter()
        .find(|segment| number(&segment["start_s"]) <= middle && middle <= number(&segment["end_s"]))?;
    let length = number(&segment["end_s"]) - number(&segment["start_s"]);
    Some(number(&segment["volume_bytes"]) / length / rate)
}

#[test]
fn the_activity_grid_shows_the_rate_of_each_task_in_each_interval() {
    for style in STYLES {
        let (mut bench, plans) = bench(style);
        for (plan, json) in &plans {
            let screen = zoomed(&mut bench, 2, *plan);
            let drawn = bench.draw(WIDTH, HEIGHT).1;
            let pane = drawn.pane(PaneId::Kind(2)).unwrap();
            let events = events(json);
            assert_eq!(pane.steps as usize, events.len() - 1);
            has(&screen, &format!("of {} intervals", events.len() - 1));
            let mut compared = 0;
            // The gradients of the first and last stages, which compete at the end.
            for (task, name) in [(103, "DP s1"), (102, "DP s2"), (101, "DP s3"), (97, "DP s7")] {
                let Some(row) =
                    screen.lines().find(|line| line.trim_start_matches([' ', '>']).starts_with(name))
                else {
                    continue;
                };
                let row = row.trim_start_matches([' ', '>']).trim_start_matches(name).trim_start_matches('*');
                // Without colour a rate stands in brackets; a blank inside them is no gap between cells.
                let cells: Vec<String> = row
                    .replace("[ ", "[")
                    .replace(" ]", "]")
                    .split_whitespace()
                    .map(|cell| cell.trim_matches(['[', ']']).to_owned())
                    .collect();
                for (place, cell) in cells.iter().enumerate() {
                    let interval = pane.column + place;
                    let expected = nics(json, task, (events[interval], events[interval + 1]));
                    let shown = match cell.as_str() {
                        "·" | "." => None,
                        "paused" => Some(0.0),
                        number => {
                            Some(number.parse::<f64>().unwrap_or_else(|_| panic!("'{number}' in {row}")))
                        }
                    };
                    match (expected, shown) {
                        (None, None) => {}
                        (Some(expected), Some(shown)) => {
                            assert!(
                                (expected - shown).abs() <= 0.0501,
                                "{name} {interval}: {shown} for {expected}"
                            );
                            compared += 1;
                        }
                        other => panic!("{name} in interval {interval}: {other:?}\n{screen}"),
                    }
                }
            }
            assert!(compared >= 5, "only {compared} cells compared in\n{screen}");
        }
    }
}

#[test]
fn the_ports_show_the_circuits_of_every_link_and_the_ports_of_every_pod() {
    for style in STYLES {
        let (mut bench, plans) = bench(style);
        for (plan, json) in &plans {
            let screen = zoomed(&mut bench, 3, *plan);
            let circuits: Vec<i64> = json["result"]["topology"]
                .as_array()
                .unwrap()
                .iter()
                .map(|entry| entry["circuits"].as_i64().unwrap())
                .collect();
            for (link, name) in links(style).iter().enumerate() {
                let row = line(&screen, name);
                let x: i64 = row
                    .split(name.as_str())
                    .nth(1)
                    .unwrap()
                    .split_whitespace()
                    .next()
                    .unwrap()
                    .parse()
                    .unwrap();
                assert_eq!(x, circuits[link], "{name} in\n{screen}");
            }
            // A ring circuit takes two ports of its pod, one towards each neighbour.
            let used = [
                circuits[0] + 2 * circuits[3],
                circuits[0] + circuits[1] + 2 * circuits[4],
                circuits[1] + circuits[2] + 2 * circuits[5],
                circuits[2] + 2 * circuits[6],
            ];
            for (pod, used) in used.iter().enumerate() {
                let row = screen
                    .lines()
                    .find(|line| line.trim_start().starts_with(&format!("p{pod} ")) && line.contains("/8"))
                    .unwrap_or_else(|| panic!("no row of p{pod} in\n{screen}"));
                has(row, &format!("{used}/8"));
            }
            let total = json["result"]["ports_used"].as_u64().unwrap();
            has(&screen, &format!("{total} of 32 used"));
        }
    }
}

#[test]
fn the_difference_to_the_baseline_is_that_of_the_circuits() {
    let (mut bench, plans) = bench(Style::Colour);
    bench.app.plans.baseline = Some(plans[0].0);
    let screen = zoomed(&mut bench, 3, plans[1].0);
    let circuits =
        |plan: usize, link: usize| plans[plan].1["result"]["topology"][link]["circuits"].as_i64().unwrap();
    for (link, name) in links(Style::Colour).iter().enumerate() {
        let row = line(&screen, name);
        let cells: Vec<&str> = row.split(name.as_str()).nth(1).unwrap().split_whitespace().collect();
        let difference = circuits(1, link) - circuits(0, link);
        let shown: i64 = cells[2].parse().unwrap();
        assert_eq!(shown, difference, "{name} in\n{screen}");
    }
}

#[test]
fn convergence_shows_the_figures_of_the_last_generation() {
    for style in STYLES {
        let (mut bench, _) = bench(style);
        for run in [2_u32, 3] {
            bench.app.pane_mut(PaneId::Solve).selected = Some(run);
            let stats = bench.app.runs.get(RunId(u64::from(run))).unwrap().generation.clone().unwrap();
            let method = bench.app.runs.get(RunId(u64::from(run))).unwrap().method.clone();
            let screen = zoomed(&mut bench, 4, 1);
            has(&screen, &format!("4 GA {method} "));
            has(&screen, &format!("best {:.6}", stats.best));
            has(&screen, &format!("gen {}", stats.generation));
            has(&screen, &format!("stall {} of {}", stats.stall, stats.stall_limit));
            has(&screen, &format!("evals {}", stats.evaluations));
            has(&screen, &format!("ports {}", stats.secondary));
            has(&screen, &format!("cache {:.0} %", stats.cache_hits * 100.0));
        }
    }
}

#[test]
fn search_shows_what_is_proven_by_two_searches() {
    for style in STYLES {
        let (mut bench, _) = bench(style);
        bench.solve(4, "delta-topo");
        bench.solve(5, "delta-joint");
        for run in [4_u32, 5] {
            bench.app.pane_mut(PaneId::Solve).selected = Some(run);
            let known = bench.app.runs.get(RunId(u64::from(run))).unwrap().clone();
            let (stats, best) = (known.solver.clone().unwrap(), known.best.clone().unwrap().value);
            let (bound, only) = known.proof().unwrap();
            let screen = zoomed(&mut bench, 5, 1);
            let gap = if only.is_some() { "partial gap 0.00 %" } else { "  gap 0.00 %" };
            has(line(&screen, &format!("5 Search {} ", known.method)), gap.trim_start());
            has(&screen, &format!("{} {} of {}", stats.unit, stats.done, stats.total.unwrap()));
            has(&screen, &format!("pruned {}", stats.pruned.unwrap()));
            has(&screen, &format!("{best:.6}"));
            has(&screen, &format!("{bound:.6}"));
            match only {
                // A proof about fair rates says nothing about decided ones, and the pane says so.
                Some(only) => has(&screen, &format!("bound: {only}")),
                None => has(&screen, "proven: no plan is better"),
            }
        }
    }
}

#[test]
fn the_search_of_a_solver_shows_the_figures_of_its_run() {
    for style in STYLES {
        let mut bench = Bench::in_the_tree(style);
        bench.app.focus.zoomed = true;
        let screen = bench.screen("pane-5-milp", WIDTH, HEIGHT);
        let run = bench.app.runs.latest(|run| run.method == "delta-interval").unwrap().clone();
        let (stats, bound) = (run.solver.clone().unwrap(), run.partial.clone().unwrap());
        assert_eq!(run.bound, None, "what holds for some windows is no bound on all plans");
        let sentence = line(&screen, "tree search");
        has(sentence, &format!("bound: {}", bound.only.unwrap()));
        has(sentence, &format!("{}  nodes {}", stats.stage, grouped(stats.done)));
        has(sentence, &format!("open {}", stats.open.unwrap()));
        has(sentence, &format!("LP it {}", grouped(stats.lp_iterations.unwrap())));
        has(sentence, &format!("cuts {}", stats.cuts.unwrap()));
        // The gap in both units, from the figures of the events and of the plan that knows the ideal network.
        let entry = bench.app.plans.iter().next().unwrap();
        let gap = run.best.clone().unwrap().value - bound.value;
        let title = line(&screen, "5 Search delta-interval");
        has(title, &format!("partial gap {:.2} %", 100.0 * gap / run.best.clone().unwrap().value));
        has(title, &format!("{:.1} % of ideal comm.", 100.0 * gap / entry.metrics["comm_ideal_s"]));
        for (at, row) in run.rows.iter().enumerate() {
            // A newer bound without a node in between replaces a bound.
            let is_replaced = run.rows.get(at + 1).is_some_and(|next| {
                row.what == "bound" && next.what == "bound" && row.stats.done == next.stats.done
            });
            if is_replaced {
                continue;
            }
            let source = if row.source.is_empty() { row.what } else { &row.source };
            let best = format!("{:.6}", row.best.unwrap());
            let shown = screen
                .lines()
                .find(|line| {
                    line.contains(source)
                        && line.contains(&best)
                        && line.ends_with(&format!("{:.1}", row.at_s))
                })
                .unwrap_or_else(|| panic!("no row '{source}' {best} in\n{screen}"));
            if let Some(bound) = row.bound {
                has(shown, &format!("{bound:.6}"));
            }
        }
        let times = if style == Style::Ascii { "x" } else { "×" };
        for model in &run.models {
            let thin = |count: u64| {
                let text = count.to_string();
                match text.len() {
                    0..=3 => text,
                    at => format!("{} {}", &text[..at - 3], &text[at - 3..]),
                }
            };
            has(&screen, &format!("{} {}{times}{}", model.after, thin(model.rows), thin(model.columns)));
        }
        let report = run.hot_start.clone().unwrap();
        let started = format!("hot start {}", report.fate.word());
        has(line(&screen, &started), &format!("{:.6} s", report.after.unwrap()));
        bench.keys("v v");
        let screen = bench.screen("pane-5-milp-log", WIDTH, HEIGHT);
        for said in &run.lines {
            has(&screen, &said.text);
        }
    }
}

#[test]
fn the_integer_program_tells_its_model_its_process_and_its_log() {
    let (mut bench, _) = bench(Style::Colour);
    bench.solve(4, "delta-select");
    let screen = zoomed(&mut bench, 5, 1);
    let run = bench.app.runs.get(RunId(4)).unwrap().clone();
    let last = run.models.last().expect("it says how large its model is");
    has(line(&screen, "model  "), &format!("{} ", last.after));
    has(line(&screen, "5 Search delta-select"), "own process");
    assert!(!run.lines.is_empty(), "the solver speaks");
    bench.keys("v v");
    let screen = bench.screen("pane-5-select-log", WIDTH, HEIGHT);
    has(&screen, run.lines.back().unwrap().text.trim());
}

/// Returns the title line of the pane with the focus.
fn title(screen: &str) -> &str {
    screen.lines().find(|line| line.trim_start().starts_with(['═', '='])).unwrap()
}

fn ms(seconds: f64, decimals: usize) -> String {
    format!("{:.decimals$} ms", seconds * 1e3)
}

#[test]
fn the_critical_path_shows_the_loss_of_the_plan() {
    for style in STYLES {
        let (mut bench, plans) = bench(style);
        for (plan, json) in &plans {
            let screen = zoomed(&mut bench, 6, *plan);
            let loss = number(&json["objective"]["value"]) - number(&json["result"]["ideal_makespan_s"]);
            has(title(&screen), &format!("loss {}", ms(loss, 3)));
            has(line(&screen, "makespan  "), &ms(number(&json["objective"]["value"]), 3));
            let causes: f64 = ["capacity loss", "contention delay"]
                .iter()
                .map(|cause| {
                    let words = line(&screen, cause).trim_start().trim_start_matches(cause).trim_start();
                    words.split_whitespace().next().unwrap().replace('−', "-").parse::<f64>().unwrap()
                })
                .sum();
            assert!((causes - loss * 1e3).abs() < 0.011, "{causes} of {loss}\n{screen}");
        }
    }
}

#[test]
fn the_rates_pane_shows_how_long_tasks_take_under_both_rules() {
    for style in STYLES {
        let (mut bench, plans) = bench(style);
        for (plan, json) in &plans {
            let joint = json["result"]["rate_control"] == "joint";
            for task in [40, 96, 103] {
                bench.app.pane_mut(PaneId::Kind(7)).selected = Some(task as u32);
                let screen = zoomed(&mut bench, 7, *plan);
                let own = &json["result"]["tasks"][task];
                let takes = ms(number(&own["finish_s"]) - number(&own["start_s"]), 1);
                let rule = if joint { "scheduled" } else { "fair" };
                has(line(&screen, "; rate control"), &format!("{rule} {takes}"));
            }
            bench.app.pane_mut(PaneId::Kind(7)).selected = None;
        }
    }
}

#[test]
fn contention_counts_the_flows_that_are_active_together() {
    for style in STYLES {
        let (mut bench, plans) = bench(style);
        for (plan, json) in &plans {
            let screen = zoomed(&mut bench, 8, *plan);
            // Gradients of the first pod: four flows each, counted where they overlap.
            let tasks: Vec<(f64, f64)> = json["result"]["tasks"].as_array().unwrap()[96..]
                .iter()
                .map(|task| (number(&task["start_s"]), number(&task["finish_s"])))
                .collect();
            let last = &tasks[6..];
            let together = |at: f64| last.iter().filter(|(start, end)| *start <= at && at < *end).count();
            let peak = last.iter().map(|(start, _)| together(*start)).max().unwrap() * flows(json);
            let circuits = json["result"]["topology"][3]["circuits"].as_u64().unwrap() as usize;
            let screen = plain(&screen);
            let shown = line(&screen, "p0>ring ");
            let words: Vec<&str> = shown.split("p0>ring ").nth(1).unwrap().split_whitespace().collect();
            assert_eq!(words[..2], [peak.to_string(), circuits.to_string()], "{screen}");
        }
    }
}

/// Returns the number of flows of a gradient between two neighbours of a ring: half of the GPUs of a stage.
fn flows(json: &Value) -> usize {
    json["scenario"]["job"]["run"]["tp"].as_u64().unwrap() as usize / 2
}

#[test]
fn slack_counts_the_tasks_without_any() {
    for style in STYLES {
        let (mut bench, plans) = bench(style);
        for (plan, json) in &plans {
            let screen = zoomed(&mut bench, 10, *plan);
            let tasks = json["result"]["tasks"].as_array().unwrap().len();
            let title = title(&screen);
            has(title, &format!(" of {tasks} "));
            let words = line(&screen, "none").split_whitespace();
            let none = words.map(str::parse::<usize>).find_map(Result::ok).unwrap();
            has(title, &format!("{none} without slack at full rate"));
            // Critical is one thing wherever it is said.
            let before = title.split(&format!(" of {tasks} tasks critical")).next().unwrap();
            let critical = before.rsplit(' ').next().unwrap().to_owned();
            let graph = zoomed(&mut bench, 1, *plan);
            has(&graph, &format!("{critical} of {tasks} tasks critical"));
        }
    }
}
