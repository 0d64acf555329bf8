//! Prices and robustness: every row has the figure that the engine gives for the plan's circuits.

use super::{STYLES, bench, has, line, links, zoomed};
use lightbay_core::watch::Unwatched;
use lightbay_engines::training::TrainingScenario;
use lightbay_engines::training::analysis::Setting;
use lightbay_engines::training::analysis::prices::Prices;
use lightbay_engines::training::analysis::robustness::{Ends, Robustness, Trials};
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

/// A difference in milliseconds as the panes write it.
fn ms(seconds: f64) -> String {
    let text = format!("{:+.3}", seconds * 1e3);
    if text.trim_start_matches(['+', '-']) == "0.000" { "0".to_owned() } else { text }
}

/// Cells of the first row that begins with a name, below a line that contains `under`.
fn row(screen: &str, under: &str, name: &str) -> Vec<String> {
    let below = screen.lines().skip_while(|line| !line.contains(under));
    let row = below.map(|line| line.trim_start_matches([' ', '>'])).find(|line| line.starts_with(name));
    let row = row.unwrap_or_else(|| panic!("no row of '{name}' under '{under}' in\n{screen}"));
    row.trim_start_matches(name).split_whitespace().map(str::to_owned).collect()
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
                let cells = row(&screen, "one more port", &format!("p{} ", price.pod));
                assert_eq!(cells[..2], ["8".to_owned(), ms(-price.gain_s)], "{screen}");
            }
            let names = links(style).map(|name| name.rsplit_once(' ').unwrap().0.to_owned());
            for price in &prices.links {
                let name = names[price.link as usize].as_str();
                let cells = row(&screen, "one circuit less", name);
                assert_eq!(cells[0], price.circuits.to_string(), "{name} in\n{screen}");
                match price.loss {
                    Some(loss) => assert_eq!(cells[1], ms(loss.replanned_s), "{name} in\n{screen}"),
                    None => assert_eq!(cells[1], "cut", "{name} in\n{screen}"),
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
                    ms(ends.joint_s - tried.planned.joint_s),
                    format!("{:.6}", ends.fair_s),
                    ms(ends.fair_s - tried.planned.fair_s),
                ]
            };
            assert_eq!(row(&screen, "case", "as planned")[..4], cells(tried.planned), "{screen}");
            let (joint, fair) = tried.jitter.unwrap();
            let worst = cells(Ends { joint_s: joint.worst_s, fair_s: fair.worst_s });
            assert_eq!(row(&screen, "compute jitter", "worst")[..4], worst, "{screen}");
            for slow in &tried.slow {
                let name = format!("stage {} ", slow.place + 1);
                assert_eq!(row(&screen, "longer", &name)[..4], cells(slow.ends), "{screen}");
            }
            let names = links(style).map(|name| name.rsplit_once(' ').unwrap().0.to_owned());
            for case in &tried.circuits {
                let name = names[case.link as usize].as_str();
                let shown = row(&screen, "one circuit fails", name);
                match case.ends {
                    Some(ends) => assert_eq!(shown[3..7], cells(ends), "{name} in\n{screen}"),
                    None => assert_eq!(shown[4..6], ["cut", "off"], "{name} in\n{screen}"),
                }
            }
            let worst = tried.together[1].worst.as_ref().map(|worst| cells(worst.1));
            if let Some(worst) = worst {
                has(line(&screen, "circuits fail:"), "28 choices");
                assert!(screen.contains(&worst[0]), "{worst:?} in\n{screen}");
            }
        }
    }
}
