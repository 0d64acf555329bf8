//! Changed plans of one switching that the checker refuses.

use super::*;
use lightbay_core::problem::Problems;
use lightbay_core::read::Fields;

/// Presets with the dark time of their circuits that move, seconds.
const PLANS: [(&str, f64); 8] = [
    ("tiny4", 1e-3),
    ("tiny4", 0.025),
    ("tiny8", 0.025),
    ("small", 1e-3),
    ("small", 0.025),
    ("one_stage_per_pod", 1e-3),
    ("one_stage_per_pod", 0.025),
    ("megatron_177b", 0.025),
];

/// A plan with a scenario that allows it.
struct Sound {
    scenario: TrainingScenario,
    result: TrainingResult,
    value: f64,
}

impl Sound {
    fn of(name: &str, delay_s: f64) -> Self {
        let (scenario, plan, _) = proven(name, None, delay_s);
        Self { scenario, result: plan.result, value: plan.value }
    }

    fn with_group(&self, delay_s: f64, most_switchings: u32) -> TrainingScenario {
        let TrainingScenario::Job(mut job) = self.scenario.clone() else { unreachable!("presets are jobs") };
        job.reconfiguration = Some(Reconfiguration { delay_s, most_switchings });
        TrainingScenario::Job(job)
    }

    fn codes_of(&self, change: impl Fn(&mut TrainingResult)) -> BTreeSet<&'static str> {
        let mut other = self.result.clone();
        change(&mut other);
        codes(&self.scenario, &other, self.value)
    }

    /// An event moved by some time, in this iteration or around its end.
    fn moved(&self, index: usize, by_s: f64) -> BTreeSet<&'static str> {
        self.codes_of(|result| {
            let events = &mut result.phases.as_mut().unwrap().events;
            events[index].time_s = (events[index].time_s + by_s).rem_euclid(self.value);
            events.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        })
    }
}

/// Counts that are not whole or negative are refused before there is a plan.
fn reads(result: &TrainingResult, count: serde_json::Value) -> bool {
    let mut text = serde_json::to_value(result).unwrap();
    text["phases"]["events"][0]["circuits"][0] = count;
    let mut problems = Problems::new();
    let mut fields = Fields::of(&text, "result", &mut problems).unwrap();
    TrainingResult::read(&mut fields, &mut problems).is_some() && problems.is_empty()
}

#[test]
fn the_checker_refuses_changed_plans_of_one_switching() {
    let mut refusals = 0;
    for (name, delay_s) in PLANS {
        let sound = Sound::of(name, delay_s);
        let phases = sound.result.phases.as_ref().unwrap();
        assert_eq!((phases.switchings, phases.events.len()), (1, 2), "{name}, {delay_s} s");
        assert_eq!(sound.codes_of(|_| {}), BTreeSet::new(), "{name}, {delay_s} s");
        let shorter = codes(&sound.with_group(0.5 * delay_s, 1), &sound.result, sound.value);
        assert_eq!(shorter, BTreeSet::new(), "{name}: a plan serves a shorter dark time");
        let mut refused = |what: &str, codes: BTreeSet<&'static str>, code: &str| {
            assert!(codes.contains(code), "{name}, {delay_s} s, {what}: {codes:?} has no {code}");
            refusals += 1;
        };
        let longer = codes(&sound.with_group(0.6 * sound.value, 1), &sound.result, sound.value);
        refused("a longer dark time", longer, "circuit");
        refused(
            "circuits that stay",
            codes(&sound.with_group(delay_s, 0), &sound.result, sound.value),
            "phases",
        );
        for (event, sign) in [(0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)] {
            // A change has some slack, which may be on both sides.
            let far = (1..10).map(|tenths| sound.moved(event, sign * 0.05 * f64::from(tenths) * sound.value));
            let found = far.into_iter().find(|codes| codes.contains("circuit"));
            refused("an event at another time", found.unwrap_or_default(), "circuit");
        }
        let change =
            |change: &dyn Fn(&mut Phases)| sound.codes_of(|result| change(result.phases.as_mut().unwrap()));
        for event in 0..2 {
            let dropped = change(&|phases| {
                phases.events.remove(event);
                phases.switchings = 0;
            });
            refused("an event dropped", dropped, "circuit");
            // As many as it takes: a pod may have ports left.
            let more = (1..20).map(|more| change(&|phases| phases.events[event].circuits[0] += more));
            let found = more.into_iter().find(|codes| codes.contains("ports"));
            refused("circuits beyond the ports", found.unwrap_or_default(), "ports");
            let missing = change(&|phases| phases.events[event].circuits.truncate(1));
            refused("a link without circuits", missing, "topology");
        }
        let exchanged = change(&|phases| {
            let [first, second] = [0, 1].map(|event| phases.events[event].circuits.clone());
            (phases.events[0].circuits, phases.events[1].circuits) = (second, first);
        });
        refused("states exchanged", exchanged, "circuit");
        refused("events in the wrong order", change(&|phases| phases.events.reverse()), "phases");
        refused("no event", change(&|phases| phases.events.clear()), "phases");
        refused(
            "an event after the period",
            change(&|phases| phases.events[1].time_s = sound.value),
            "phases",
        );
        refused("reconfigurations understated", change(&|phases| phases.switchings = 0), "phases");
        refused("reconfigurations overstated", change(&|phases| phases.switchings = 2), "phases");
        refused("ports understated", sound.codes_of(|result| result.ports_used -= 1), "ports_claim");
        refused("fair rates", sound.codes_of(|result| result.rate_control = RateControl::Fair), "phases");
        refused("a shorter period", codes(&sound.scenario, &sound.result, 0.99 * sound.value), "makespan");
        let task = |change: &dyn Fn(&mut crate::plan::TaskSchedule)| {
            sound.codes_of(|result| change(&mut result.tasks[0]))
        };
        refused("a segment doubled", task(&|task| task.segments[0].volume_bytes *= 2.0), "conservation");
        refused("a segment dropped", task(&|task| task.segments.clear()), "conservation");
        let shifted = task(&|task| {
            task.start_s = 0.0;
            task.segments[0].start_s = 0.0;
        });
        refused("a start before its release", shifted, "release");
        for count in [serde_json::json!(-1), serde_json::json!(0.5)] {
            assert!(!reads(&sound.result, count), "{name}");
            refusals += 1;
        }
        assert!(reads(&sound.result, serde_json::json!(1)));
    }
    assert!(refusals >= 168, "{refusals}");
}
