//! Tests of the panes of kind `tpu`: a designed pod of 128 chips compared with the tori of its size, an active
//! synthesis, an edited voltage, and the states without a plan.
//!
//! The plans come from files, so that the screens do not change when methods find better pods. Expected values are
//! taken from the JSON of the plans.

use super::at_sizes;
use super::files::{self, has, line};
use super::fixture::{Bench, Style};
use lightbay::app::Command;
use lightbay::app::action::{Action, Fact};
use lightbay::app::effect::Effect;
use lightbay::app::layer::{Layer, Preview};
use lightbay::app::pane::PaneId;
use lightbay::app::plans::PlanRef;
use lightbay_core::event::{Bound, EventBody, Incumbent, Note, Phase, SeriesPoint, Severity};
use serde_json::Value;
use std::collections::BTreeMap;

const THREE: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];
const STYLES: [Style; 3] = [Style::Colour, Style::NoColour, Style::Ascii];

/// Names of the plan files, in the order of the plan numbers: the tori, then a design with its fault sweep.
const PLANS: [&str; 3] = ["pt", "pdtt", "design"];

/// Reads a plan file of the tests.
fn plan(name: &str) -> PlanRef {
    files::plan(&format!("pods/{name}-128"))
}

fn json(name: &str) -> Value {
    serde_json::from_slice(&plan(name).0.to_json().unwrap()).unwrap()
}

impl Bench {
    /// Opens a pod of two cubes without a plan.
    fn pod(style: Style) -> Self {
        Self::open("tpu-128", style)
    }

    /// Opens a pod of two cubes with the plans of both tori and of a design; the doubly twisted torus is the baseline.
    fn designed(style: Style) -> Self {
        let mut bench = Self::pod(style);
        let sha256 = bench.app.work.as_ref().unwrap().now.sha256.clone();
        for (number, name) in (1..).zip(PLANS) {
            bench.fact(Fact::Kept { number, plan: plan(name), source: "a file".to_owned() });
            // The tori belong to other scenarios; here they are looked at side by side.
            bench.app.plans.get_mut(number).unwrap().scenario_sha256.clone_from(&sha256);
        }
        bench.app.plans.baseline = Some(2);
        bench.app.plans.shown = lightbay::app::plans::Shown::Chosen(3);
        bench
    }

    /// Opens a pod of two cubes with an active synthesis, which is computing its certificate.
    fn synthesising(style: Style) -> Self {
        let mut bench = Self::pod(style);
        let run = 4;
        bench.begin(run, "tons-fast", false);
        let series = |name: &str, at_s: f64, y: f64| {
            (at_s, EventBody::Series(SeriesPoint { name: name.to_owned(), x: at_s, y }))
        };
        let phase = |at_s: f64, name: &str, detail: &str| {
            (at_s, EventBody::Phase(Phase { name: name.to_owned(), detail: detail.to_owned() }))
        };
        let mut said = vec![
            (0.0, EventBody::Bound(Bound { value: 0.015_484, only: None })),
            series("baseline_pt", 0.0, 0.007_812_5),
            series("baseline_pdtt", 0.0, 0.013_636_4),
            phase(0.001, "anneal", "300 000 steps"),
            series("metric_upper", 0.01, 0.0128),
            series("metric_upper", 0.08, 0.0135),
            series("metric_upper", 0.5, 0.0141),
            series("two_length_1_2", 0.5, 0.0143),
            (
                0.6,
                EventBody::Note(Note {
                    severity: Severity::Info,
                    text: "48 cuts of a new family".to_owned(),
                }),
            ),
            phase(0.7, "certify", "round 3"),
        ];
        for (at_s, lower, upper) in [(0.8, 0.008, 0.0147), (1.4, 0.0125, 0.0142), (3.0, 0.0139, 0.01411)] {
            said.push(series("mcf_lower", at_s, lower));
            said.push(series("mcf_upper", at_s, upper));
            let incumbent = Incumbent {
                number: 0,
                value: lower,
                secondary: 0.0,
                source: "certificate".to_owned(),
                checked: false,
                metrics: BTreeMap::new(),
                plan: None,
            };
            said.push((at_s, EventBody::Incumbent(incumbent)));
        }
        for (at_s, body) in said {
            bench.say(run, at_s, body);
        }
        for switch in 0..20_u32 {
            let y = f64::from(74 + switch % 3);
            let x = f64::from(switch);
            bench.say(run, 3.2, EventBody::Series(SeriesPoint { name: "fault_load".to_owned(), x, y }));
        }
        bench
    }
}

/// Formats a number in groups of three digits.
fn grouped(value: u64) -> String {
    let digits = value.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let head = digits.len() % 3;
    let mut parts: Vec<&str> = if head > 0 { vec![&digits[..head]] } else { Vec::new() };
    parts.extend((head..digits.len()).step_by(3).map(|at| &digits[at..at + 3]));
    parts.join(" ")
}

#[test]
fn a_designed_pod() {
    at_sizes(
        "pod",
        &mut Bench::designed(Style::Colour),
        &[(60, 16), (80, 24), (100, 30), (120, 40), (200, 60)],
    );
    at_sizes("pod-ascii", &mut Bench::designed(Style::Ascii), &THREE);
    at_sizes("pod-mono", &mut Bench::designed(Style::NoColour), &[(120, 40)]);
}

#[test]
fn every_pane_of_a_pod_zoomed() {
    let mut bench = Bench::designed(Style::Colour);
    for pane in 1..=6 {
        bench.run(Command::Focus(PaneId::Kind(pane)));
        bench.app.focus.zoomed = true;
        at_sizes(&format!("pod-{pane}"), &mut bench, &[(120, 40)]);
    }
}

#[test]
fn a_synthesis_at_work() {
    at_sizes("pod-working", &mut Bench::synthesising(Style::Colour), &THREE);
    let mut bench = Bench::synthesising(Style::Ascii);
    bench.run(Command::Focus(PaneId::Kind(3)));
    bench.app.focus.zoomed = true;
    at_sizes("pod-throughput-ascii", &mut bench, &[(120, 40)]);
}

#[test]
fn without_a_plan_every_pane_says_what_to_do() {
    let mut bench = Bench::pod(Style::Colour);
    at_sizes("pod-opened", &mut bench, &[(80, 24), (120, 40)]);
    for pane in [1, 2, 4] {
        has(&bench.alone("pod", pane, 100, 30), "no plan yet");
    }
    has(&bench.alone("pod", 3, 100, 30), "any pod at most 0.01548");
    has(&bench.alone("pod", 5, 100, 30), "no fault sweep was requested");
    has(&bench.alone("pod", 6, 100, 30), "not designed in this session");
}

#[test]
fn a_changed_scenario_makes_the_panes_old() {
    let mut bench = Bench::designed(Style::Colour);
    bench.set("slack_hops=2");
    has(&bench.alone("pod", 1, 120, 40), "plan 3");
    assert!(bench.app.is_stale());
}

#[test]
fn hops_per_virtual_channel_are_those_of_the_plans() {
    let design = json("design");
    let routing = &design["result"]["routing"];
    let hops = |of: &Value| {
        of["vc_hops"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect::<Vec<_>>()
    };
    let (after, before) = (hops(&routing["claims"]), hops(&routing["unbalanced"]));
    let ratio = |hops: &[u64]| *hops.iter().min().unwrap() as f64 / *hops.iter().max().unwrap() as f64;
    for style in STYLES {
        let mut bench = Bench::designed(style);
        let screen = bench.alone("pod", 1, 160, 50);
        for count in after.iter().chain(&before) {
            has(&screen, &grouped(*count));
        }
        let title = line(&screen, "1 VC load");
        has(title, &format!("min/max {:.2}", ratio(&before)));
        has(title, &format!("{:.2}", ratio(&after)));
        has(&screen, "PDTT 4x4x8, DOR");
        // The tori are routed for the pane in the way of their methods.
        for count in ["pt", "pdtt"].iter().flat_map(|name| hops(&json(name)["result"]["routing"]["claims"])) {
            has(&screen, &grouped(count));
        }
    }
}

#[test]
fn channel_loads_add_up_to_the_routes_of_the_plan() {
    let design = json("design");
    let routing = &design["result"]["routing"];
    let most = routing["claims"]["max_channel_load"].as_u64().unwrap();
    let sum = routing["claims"]["route_hop_sum"].as_u64().unwrap();
    let upper = design["result"]["claims"]["mcf_upper"].as_f64().unwrap();
    for style in STYLES {
        let mut bench = Bench::designed(style);
        let screen = bench.alone("pod", 2, 120, 40);
        let title = line(&screen, "2 Channel load");
        let over = (most as f64 * upper - 1.0) * 100.0;
        has(title, &format!("max {most}  +{over:.1} % over ideal"));
        // 768 arcs share the hops of all routes.
        has(title, &format!("mean load {:.1}", sum as f64 / 768.0));
        has(title, &format!("ideal max {:.1} (1/MCF)", 1.0 / upper));
        has(&screen, &format!("load {most}"));
        has(&screen, &format!("+{:.1} % over ideal", (most as f64 * upper - 1.0) * 100.0));
    }
    let mut bench = Bench::designed(Style::Colour);
    bench.run(Command::Focus(PaneId::Kind(2)));
    bench.draw(120, 40);
    bench.keys("j v");
    let screen = bench.alone("pod", 2, 120, 40);
    has(&screen, "flows on");
}

#[test]
fn throughput_stands_between_the_tori_and_what_any_pod_can_reach() {
    let claims = json("design")["result"]["claims"].clone();
    let lower = claims["mcf_lower"].as_f64().unwrap();
    let pdtt = json("pdtt")["result"]["claims"]["mcf_lower"].as_f64().unwrap();
    for style in STYLES {
        let mut bench = Bench::designed(style);
        let screen = bench.alone("pod", 3, 120, 40);
        let times = if style == Style::Ascii { "x" } else { "×" };
        has(line(&screen, "3 Throughput"), &format!("{times}{:.2} PDTT", lower / pdtt));
        has(&screen, &format!("{lower:.5}"));
        has(&screen, &format!("= {:.3} per chip", lower * 128.0));
    }
    let mut bench = Bench::synthesising(Style::Colour);
    let screen = bench.alone("pod", 3, 120, 40);
    for text in ["certified 0.01390", "upper bound 0.01411", "any pod 0.01548", "PT 4x4x8"] {
        has(&screen, text);
    }
    has(&screen, "certificate gap 1.51 % after 3 rounds");
    has(&screen, "certify");
}

#[test]
fn switches_are_those_of_the_plan_and_differences_are_counted() {
    let design = json("design");
    let voltages: Vec<u64> = design["result"]["topology"]["symmetry"]["voltage"]
        .as_array()
        .unwrap()
        .iter()
        .map(|voltage| voltage.as_u64().unwrap())
        .collect();
    let torus = json("pdtt");
    let to = |plan: &Value, switch: usize| plan["result"]["topology"]["ocs"][switch]["to"].clone();
    let differ = (0..48).filter(|&switch| to(&design, switch) != to(&torus, switch)).count() * 2;
    let mut bench = Bench::designed(Style::Ascii);
    let screen = bench.alone("pod", 4, 120, 40);
    has(line(&screen, "4 Cubes x OCS"), &format!("{differ} of 96 circuits differ from B 2 pdtt"));
    // The row of cube 0 is the row of voltages: for two cubes to[0] is the voltage.
    let digits: String = voltages.iter().map(u64::to_string).collect();
    let row =
        screen.lines().map(|line| line.replace(' ', "")).find(|line| line.starts_with(&format!("0{digits}")));
    assert!(row.is_some(), "no row of cube 0 with {digits} in\n{screen}");
    bench.run(Command::Focus(PaneId::Kind(4)));
    bench.draw(120, 40);
    bench.keys("l");
    has(&bench.alone("pod", 4, 120, 40), &format!("> X 1 (1,0)  voltage {}", voltages[1]));
}

#[test]
fn a_sweep_shows_every_fault_of_the_plan() {
    let design = json("design");
    let loads: Vec<u64> = design["result"]["faults"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["max_channel_load"].as_u64().unwrap())
        .collect();
    assert_eq!(loads.len(), 48);
    let worst = loads.iter().copied().max().unwrap();
    for style in STYLES {
        let mut bench = Bench::designed(style);
        let screen = bench.alone("pod", 5, 120, 40);
        has(line(&screen, "5 Faults"), &format!("worst {worst}  48/48 routed"));
        let first = loads.iter().position(|load| *load == worst).unwrap();
        let [axis, number] = [["X", "Y", "Z"][first / 16].to_owned(), (first % 16).to_string()];
        has(&screen, &format!("> {axis} {number} ("));
        let count = loads.iter().filter(|load| **load == worst).count();
        has(line(&screen, &format!("  {worst} ")), &count.to_string());
    }
    let mut bench = Bench::synthesising(Style::Colour);
    has(line(&bench.alone("pod", 5, 120, 40), "5 Faults"), "worst 76  20/48 routed");
}

#[test]
fn sizes_are_filled_from_the_plans_of_the_session() {
    let rate = json("design")["metrics"]["n_mcf"].as_f64().unwrap();
    let mut bench = Bench::designed(Style::Colour);
    let screen = bench.alone("pod", 6, 120, 50);
    // The axis of the chart above the table has a tick at 128.
    let row = screen.lines().find(|row| row.contains("   128 ") && row.contains("1.745")).unwrap();
    for text in [format!("{rate:.3}"), "1.745".to_owned(), "1.000".to_owned(), "1.827".to_owned()] {
        has(row, &text);
    }
    // The axis may have a tick at 8192, too.
    assert!(screen.lines().any(|row| row.contains("  8192 ") && row.contains("torus")));
}

#[test]
fn header_table_and_comparison_speak_of_throughput() {
    let design = json("design");
    let (lower, upper) = (
        design["result"]["claims"]["mcf_lower"].as_f64().unwrap(),
        design["result"]["claims"]["mcf_upper"].as_f64().unwrap(),
    );
    let mut bench = Bench::designed(Style::Colour);
    let screen = bench.screen("pod-header", 160, 45);
    let header = screen.lines().next().unwrap();
    has(header, &format!("MCF {lower:.5}"));
    has(header, "bound 0.01428");
    has(header, &format!("gap {:.1} %", (0.014_277_2 - lower) / lower * 100.0));
    assert!(upper / lower - 1.0 < 5e-5, "this pod is certified to rounding");
    has(header, "certified to <0.01 %");
    has(&screen, "max load");
    bench.run(Command::Compare);
    at_sizes("pod-compare", &mut bench, &[(120, 40)]);
    let screen = bench.screen("pod-compare", 120, 60);
    has(&screen, "MCF upper");
    has(&screen, "X differ");
}

#[test]
fn an_edited_voltage_shows_its_bounds_at_once_and_its_throughput_when_it_is_certified() {
    let mut bench = Bench::designed(Style::Colour);
    bench.run(Command::Focus(PaneId::Kind(4)));
    bench.draw(120, 40);
    bench.keys("e");
    at_sizes("pod-edit", &mut bench, &[(120, 40)]);
    let old = bench.app.cell_edit().unwrap().values[0];
    bench.keys(&(1 - old).to_string());
    let edit = bench.app.cell_edit().unwrap().clone();
    assert_eq!((edit.values[0], edit.waiting, edit.entry), (1 - old, true, 0));
    has(&bench.screen("pod-edit-bounds", 160, 45), "hop bound 0.01");
    let screen = bench.alone("pod", 4, 160, 45);
    has(&screen, &format!("> X 0  voltage {}", 1 - old));
    has(&screen, "hop bound 0.01");
    has(&screen, "length bound 0.01");
    at_sizes("pod-edit-changed", &mut bench, &[(80, 24), (120, 40)]);
    // The certified plan of the edit arrives: every pane shows it.
    let previews = vec![Preview { variant: "", plan: Ok(plan("pdtt")) }];
    bench.fact(Fact::Evaluated { key: edit.key, previews });
    let screen = bench.screen("pod-edit-certified", 160, 45);
    has(screen.lines().next().unwrap(), "edit of 3");
    let lower = json("pdtt")["result"]["claims"]["mcf_lower"].as_f64().unwrap();
    has(screen.lines().next().unwrap(), &format!("MCF {lower:.5}"));
    bench.keys("Esc");
    assert!(!bench.app.layers.iter().any(|layer| matches!(layer, Layer::EditCell(_))));
    let screen = bench.screen("pod-edit-left", 160, 45);
    has(screen.lines().next().unwrap(), "plan 3");
}

#[test]
fn a_voltage_that_the_group_does_not_have_is_refused_in_words() {
    let mut bench = Bench::designed(Style::Ascii);
    bench.run(Command::Focus(PaneId::Kind(4)));
    bench.draw(120, 40);
    bench.keys("e 7");
    let screen = bench.screen("pod-edit-refused", 120, 40);
    has(&screen, "X 0 (0,0) must be 0 to 1, not 7");
}

#[test]
fn nothing_moves_while_a_run_goes_on() {
    let mut bench = Bench::synthesising(Style::Colour);
    let columns = |screen: &str| -> Vec<Option<usize>> {
        ["2 Channel load", "3 Throughput", "5 Faults", "6 Sizes", "Plans", "Solve"]
            .iter()
            .map(|name| screen.lines().find_map(|line| line.find(name)))
            .collect()
    };
    let before = columns(&bench.screen("pod-still", 200, 60));
    let more = SeriesPoint { name: "mcf_lower".to_owned(), x: 4.0, y: 0.01405 };
    bench.say(4, 4.0, EventBody::Series(more));
    assert_eq!(columns(&bench.screen("pod-still", 200, 60)), before);
}

#[test]
fn changes_are_written_from_the_baseline_to_the_plan() {
    let mut bench = Bench::designed(Style::Colour);
    bench.keys("w");
    let Some(Layer::Export(edit)) = bench.app.layers.last_mut() else { panic!("the pop-up") };
    edit.format = edit.formats.iter().position(|format| *format == "changes").unwrap();
    has(&bench.screen("export-changes", 120, 40), "Compared with plan 2, the baseline");
    let job = |bench: &mut Bench, text: &str| {
        let effects =
            bench.app.update(Action::Do(Command::Export(text.to_owned())), std::time::Instant::now());
        let export = effects.into_iter().find_map(|effect| match effect {
            Effect::Export(job) => Some(job),
            _ => None,
        });
        export.unwrap()
    };
    assert_eq!(job(&mut bench, "changes").against, Some(plan_of(&bench, 2)));
    assert_eq!(job(&mut bench, "circuits").against, None, "nothing to compare with");
    bench.app.plans.shown = lightbay::app::plans::Shown::Chosen(2);
    assert_eq!(job(&mut bench, "changes").against, None, "the baseline itself is written from a torus");
    bench.app.plans.baseline = None;
    assert_eq!(job(&mut bench, "changes").against, None);
}

fn plan_of(bench: &Bench, number: u64) -> PlanRef {
    bench.app.plans.get(number).unwrap().plan.clone().unwrap()
}
