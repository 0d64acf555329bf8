//! Tests of the panes on shadow prices and robustness: every row has the figure that the engine computes for the
//! circuits of the plan.

use super::{STYLES, bench, has, plain, zoomed};
use lightbay_core::watch::Unwatched;
use lightbay_engines::training::TrainingScenario;
use lightbay_engines::training::analysis::Setting;
use lightbay_engines::training::analysis::prices::Prices;
use lightbay_engines::training::analysis::robustness::{Ends, Robustness, Trials};
use lightbay_engines::training::scenario::instance::Link;
use lightbay_engines::training::scenario::presets;
use lightbay_engines::training::simulate::evaluate::Rates;
use serde_json::Value;

fn scenario() -> TrainingScenario {
    TrainingScenario::Job(presets::job("small").unwrap().job())
}

fn circuits(plan: &Value) -> Vec<u32> {
    let links = plan["result"]["topology"].as_array().unwrap();
    links.iter().map(|link| link["circuits"].as_u64().unwrap() as u32).collect()
}

/// Formats seconds as milliseconds, as the panes do.
fn ms(seconds: f64) -> String {
    unsigned_zero(format!("{:.3}", seconds * 1e3))
}

/// Formats a difference in seconds as milliseconds with a sign.
fn difference(seconds: f64) -> String {
    unsigned_zero(format!("{:+.3}", seconds * 1e3))
}

fn unsigned_zero(text: String) -> String {
    let digits = text.trim_start_matches(['+', '-']);
    if digits == "0.000" { digits.to_owned() } else { text }
}

/// Returns the names of the pods of a link as in the report.
fn pods_of(setting: &Setting, link: &Link) -> String {
    let name = |pod: usize| match &setting.instance.pods[pod] {
        pod if pod.mirror => "ring".to_owned(),
        pod => pod.name.clone(),
    };
    format!("{}-{} ", name(link.pod_a.index()), name(link.pod_b.index()))
}

/// Finds the first row with `name` after a line that contains `under`, and returns the cells after the name.
fn row(screen: &str, under: &str, name: &str) -> Vec<String> {
    let screen = plain(screen);
    let below = screen.lines().skip_while(|line| !line.contains(under)).skip(1);
    let row = below.map(|line| line.trim_start_matches([' ', '>'])).find(|line| line.contains(name));
    let row = row.unwrap_or_else(|| panic!("no row of '{name}' under '{under}' in\n{screen}"));
    let (_, behind) = row.split_once(name).unwrap();
    behind.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn prices_are_those_of_the_plan() {
    let setting = Setting::new(&scenario()).unwrap();
    for style in STYLES {
        let (mut bench, plans) = bench(style);
        for (plan, json) in &plans {
            let rates = if json["result"]["rate_control"] == "fair" { Rates::Fair } else { Rates::Best };
            let prices =
                Prices::new(&setting.evaluator, &circuits(json), rates, &mut Unwatched::default()).unwrap();
            let screen = zoomed(&mut bench, 12, *plan);
            has(&screen, "12 Sensitivity");
            for price in &prices.pods {
                let cells = row(&screen, "One port more", &format!("p{} ", price.pod));
                let wanted = ["8".to_owned(), price.free.to_string(), ms(price.gain_s)];
                assert_eq!(cells[..3], wanted, "{screen}");
            }
            for price in &prices.links {
                let link = &setting.instance.links[price.link as usize];
                let name = pods_of(&setting, link);
                let cells = row(&screen, "One circuit fewer", &name);
                assert_eq!(cells[0], price.circuits.to_string(), "{name} in\n{screen}");
                match price.loss {
                    Some(loss) => assert_eq!(cells[1], difference(loss.replanned_s), "{name} in\n{screen}"),
                    None => assert_eq!(cells[1..3], ["-,", "cut"], "{name} in\n{screen}"),
                }
            }
        }
    }
}

#[test]
fn robustness_is_that_of_the_plan() {
    let setting = Setting::new(&scenario()).unwrap();
    for style in STYLES {
        let (mut bench, plans) = bench(style);
        for (plan, json) in &plans {
            let x = circuits(json);
            let trials = Trials::default();
            let tried =
                Robustness::new(&scenario(), &setting, &x, trials, &mut Unwatched::default()).unwrap();
            let screen = zoomed(&mut bench, 13, *plan);
            let cells = |ends: Ends| {
                vec![
                    format!("{:.6}", ends.joint_s),
                    difference(ends.joint_s - tried.planned.joint_s),
                    format!("{:.6}", ends.fair_s),
                    difference(ends.fair_s - tried.planned.fair_s),
                ]
            };
            assert_eq!(row(&screen, "Compute jitter", "as planned ")[..4], cells(tried.planned), "{screen}");
            let (joint, fair) = tried.jitter.unwrap();
            let worst = cells(Ends { joint_s: joint.worst_s, fair_s: fair.worst_s });
            assert_eq!(row(&screen, "Compute jitter", "worst of 100 samples")[..4], worst, "{screen}");
            for slow in &tried.slow {
                let name = format!("stage {} ", slow.place + 1);
                assert_eq!(row(&screen, "One slow stage or pod", &name)[..4], cells(slow.ends), "{screen}");
            }
            for case in &tried.circuits {
                let link = &setting.instance.links[case.link as usize];
                let name = pods_of(&setting, link);
                let shown = row(&screen, "One failed circuit", &name);
                match case.ends {
                    Some(ends) => assert_eq!(shown[1..5], cells(ends), "{name} in\n{screen}"),
                    None => assert_eq!(shown[2..4], ["-,", "cut"], "{name} in\n{screen}"),
                }
            }
        }
    }
}
