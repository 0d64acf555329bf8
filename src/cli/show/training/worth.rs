//! What ports and circuits of a plan are worth, and what becomes of it if something fails.

use crate::cli::quantity;
use crate::cli::table::Table;
use lightbay_core::method::MethodError;
use lightbay_core::plan::Plan;
use lightbay_core::problem::{Problem, Problems, printable};
use lightbay_engines::training::analysis::Setting;
use lightbay_engines::training::evaluate::Rates;
use lightbay_engines::training::instance::Instance;
use lightbay_engines::training::plan::RateControl;
use lightbay_engines::training::prices::{self, CircuitPrice, Loss, PortPrice, Prices};
use lightbay_engines::training::robustness::{Ends, PortCase, Robustness, Spread, Together, Trials};
use lightbay_engines::training::search::Unwatched;
use lightbay_engines::training::{Training, TrainingScenario};
use serde_json::{Value, json};

/// Prices that are shown of each sort.
const FIRST: usize = 5;

/// Prices and failures of a plan.
pub struct Worth {
    prices: Prices,
    robustness: Robustness,
}

impl Worth {
    /// Works them out; where that is not quick only if everything was asked for.
    pub fn of(
        scenario: &TrainingScenario,
        setting: &Setting,
        plan: &Plan<Training>,
        thorough: bool,
    ) -> Result<Option<Self>, Problems> {
        if !thorough && !prices::quick(setting) {
            return Ok(None);
        }
        let x = plan.result.circuits();
        let evaluator = &setting.evaluator;
        // What does not fit has no price; `show` warns of it.
        if !evaluator.network.budget.fits(&x) {
            return Ok(None);
        }
        let rates = match plan.result.rate_control {
            RateControl::Fair => Rates::Fair,
            RateControl::Joint => Rates::Best,
        };
        let mut watch = Unwatched::default();
        let prices = Prices::new(evaluator, &x, rates, &mut watch).map_err(failed)?;
        let robustness =
            Robustness::new(scenario, setting, &x, Trials::default(), &mut watch).map_err(failed)?;
        Ok(Some(Self { prices, robustness }))
    }

    /// As text: the largest prices, and the failures that matter most.
    pub fn text(&self, instance: &Instance) -> String {
        let prices = &self.prices;
        let exact = if prices.exact() { "proven" } else { "estimates" };
        let ms = |seconds: f64| format!("{:+.3} ms", seconds * 1e3);
        let mut pods = Table::new(&["  one more port", ">has", ">iteration", ">NCT", ""]);
        for price in prices.pods.iter().take(FIRST) {
            let first = match price.first {
                Some((ports, gain_s)) if ports > 1 => format!("{ports} ports: {}", ms(-gain_s)),
                _ => String::new(),
            };
            pods.row([
                format!("  {}", pod(instance, price.pod)),
                price.ports.to_string(),
                ms(-price.gain_s + 0.0),
                nct(prices, -price.gain_s),
                first,
            ]);
        }
        let mut links = Table::new(&["  one circuit less", ">has", ">iteration", ">NCT", ">rest kept"]);
        for price in prices.links.iter().take(FIRST) {
            let cells = match price.loss {
                Some(loss) => [ms(loss.replanned_s), nct(prices, loss.replanned_s), ms(loss.kept_s)],
                None => ["cut off".to_owned(), "-".to_owned(), "cut off".to_owned()],
            };
            let [replanned, nct, kept] = cells;
            links.row([
                format!("  {}", link(instance, price.link)),
                price.circuits.to_string(),
                replanned,
                nct,
                kept,
            ]);
        }
        let robustness = &self.robustness;
        let mut cases = Table::new(&["  case", ">joint", ">fair"]);
        let mut case = |name: String, ends: Option<Ends>| {
            let [joint, fair] = match ends {
                Some(ends) => [quantity::number(ends.joint_s), quantity::number(ends.fair_s)]
                    .map(|number| format!("{number} s")),
                None => ["cut off".to_owned(), "cut off".to_owned()],
            };
            cases.row([format!("  {name}"), joint, fair]);
        };
        case("as planned".to_owned(), Some(robustness.planned));
        if let Some((joint, fair)) = &robustness.jitter {
            let share = quantity::percent(robustness.trials.jitter);
            let mut spread = |word: &str, of: fn(&Spread) -> f64| {
                let ends = Ends { joint_s: of(joint), fair_s: of(fair) };
                case(
                    format!("compute up to {share} off, {word} of {} draws", robustness.trials.draws),
                    Some(ends),
                );
            };
            spread("mean", |spread| spread.mean_s);
            spread("95 %", |spread| spread.p95_s);
            spread("worst", |spread| spread.worst_s);
        }
        let worst = robustness.slow.iter().max_by(|a, b| a.ends.joint_s.total_cmp(&b.ends.joint_s));
        if let Some(slow) = worst {
            let place = if robustness.by_stage {
                format!("stage {}", slow.place + 1)
            } else {
                pod(instance, slow.place)
            };
            let slower = quantity::percent(robustness.trials.slow_factor - 1.0);
            case(format!("{place} computes {slower} longer, the worst of all"), Some(slow.ends));
        }
        let worst = robustness.circuits.iter().max_by(|a, b| {
            let end = |ends: Option<Ends>| ends.map_or(f64::INFINITY, |ends| ends.joint_s);
            end(a.ends).total_cmp(&end(b.ends))
        });
        if let Some(worst) = worst {
            case(format!("a circuit of {} fails, the worst of all", link(instance, worst.link)), worst.ends);
        }
        for cut in robustness.together.iter().filter(|cut| cut.circuits > 1) {
            let worst = cut.worst.as_ref().map(|worst| worst.1).filter(|_| cut.cut_off == 0);
            let count = cut.circuits;
            case(format!("{count} circuits fail, the worst of {} choices", cut.choices), worst);
        }
        format!("\nPrices, {exact}\n{pods}\n{links}\nRobustness\n{cases}")
    }

    /// As data.
    pub fn json(&self) -> (Value, Value) {
        (prices_json(&self.prices), robustness_json(&self.robustness))
    }
}

fn failed(error: MethodError) -> Problems {
    match error {
        MethodError::Invalid(problems) => problems,
        other => Problem::new("", other.to_string(), "correct the scenario").into(),
    }
}

fn pod(instance: &Instance, pod: u32) -> String {
    super::pod_name(instance, pod as usize)
}

fn link(instance: &Instance, link: u32) -> String {
    instance.links.get(link as usize).map_or_else(
        || link.to_string(),
        |link| {
            let [a, b] = [link.pod_a, link.pod_b].map(|pod| super::pod_name(instance, pod.index()));
            printable(&format!("{a} - {b}"))
        },
    )
}

fn nct(prices: &Prices, seconds: f64) -> String {
    prices.nct(seconds + 0.0).map_or_else(|| "-".to_owned(), |nct| format!("{nct:+.4}"))
}

fn prices_json(prices: &Prices) -> Value {
    let pod = |price: &PortPrice| {
        json!({
            "pod": price.pod,
            "ports": price.ports,
            "free": price.free,
            "gain_s": price.gain_s,
            "gain_nct": prices.nct(price.gain_s),
            "exact": price.exact,
            "first_gain": price.first.map(|(ports, gain_s)| json!({ "ports": ports, "gain_s": gain_s })),
        })
    };
    let link = |price: &CircuitPrice| {
        let loss = |loss: &Loss| {
            json!({
                "loss_s": loss.replanned_s,
                "loss_nct": prices.nct(loss.replanned_s),
                "loss_rest_kept_s": loss.kept_s,
                "exact": loss.exact,
            })
        };
        json!({
            "link": price.link,
            "circuits": price.circuits,
            "one_less": price.loss.as_ref().map(loss),
        })
    };
    json!({
        "rates": if prices.rates == Rates::Fair { "fair" } else { "joint" },
        "plan_makespan_s": prices.plan_makespan_s,
        "best_makespan_s": prices.best_makespan_s,
        "best_is_proven": prices.proven,
        "one_port_more": prices.pods.iter().map(pod).collect::<Vec<_>>(),
        "one_circuit_less": prices.links.iter().map(link).collect::<Vec<_>>(),
    })
}

fn ends_json(ends: &Ends) -> Value {
    json!({ "joint_s": ends.joint_s, "fair_s": ends.fair_s })
}

fn robustness_json(tried: &Robustness) -> Value {
    let maybe = |ends: &Option<Ends>| ends.as_ref().map(ends_json);
    let spread = |of: fn(&Spread) -> f64| {
        tried.jitter.as_ref().map(|(joint, fair)| json!({ "joint_s": of(joint), "fair_s": of(fair) }))
    };
    let place = if tried.by_stage { "stage" } else { "pod" };
    let port = |case: &PortCase| json!({ "link": case.link, "makespan": maybe(&case.ends) });
    let choice = |choice: &Option<(Vec<u32>, Ends)>| {
        choice.as_ref().map(|(links, ends)| json!({ "links": links, "makespan": ends_json(ends) }))
    };
    let together = |cut: &Together| {
        json!({
            "circuits": cut.circuits,
            "choices": cut.choices,
            "cut_off": cut.cut_off,
            "best": choice(&cut.best),
            "worst": choice(&cut.worst),
        })
    };
    json!({
        "as_planned": ends_json(&tried.planned),
        "compute_jitter": {
            "share": tried.trials.jitter,
            "draws": tried.trials.draws,
            "seed": tried.trials.seed,
            "mean": spread(|spread| spread.mean_s),
            "p95": spread(|spread| spread.p95_s),
            "worst": spread(|spread| spread.worst_s),
        },
        "one_slow": tried.slow.iter().map(|slow| {
            json!({
                place: slow.place,
                "factor": tried.trials.slow_factor,
                "makespan": ends_json(&slow.ends),
            })
        }).collect::<Vec<_>>(),
        "failed_circuit": tried.circuits.iter().map(|case| {
            json!({ "link": case.link, "circuits": case.circuits, "makespan": maybe(&case.ends) })
        }).collect::<Vec<_>>(),
        "failed_port": tried.ports.iter().map(|case| {
            json!({
                "pod": case.pod,
                "free": case.free,
                "best": port(&case.best),
                "worst": port(&case.worst),
            })
        }).collect::<Vec<_>>(),
        "failed_together": tried.together.iter().map(together).collect::<Vec<_>>(),
    })
}
