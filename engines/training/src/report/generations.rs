//! Convergence of a genetic search: best and mean of its generations as loss relative to the ideal network, so that
//! both curves and simpler allocations fit into one chart.

use super::beside::{self, ideal_s, nct, references};
use lightbay_core::event::GenerationStats;
use lightbay_core::report::session::RunPoint;
use lightbay_core::report::text::number;
use lightbay_core::report::{
    Curve, Curves, Facts, Line, Mark, Phrase, Point, RunBeside, Section, Surroundings, Tone, Unavailable,
    Unit,
};

/// The forms of the section: blocks that a screen shows one at a time.
pub(super) const FORMS: &[&str] = &["log_axes", "even_axes", "figures"];

/// Makespans that differ by less are equal up to rounding, s.
const NOTHING_S: f64 = 1e-9;

/// The section on a genetic search, for the current run of a plan or a scenario.
pub(super) fn in_session(beside: &Surroundings) -> Result<Section, Unavailable> {
    let run = beside.run.as_ref();
    let Some((run, stats)) = run.and_then(|run| Some((run, run.generations.stats.as_ref()?))) else {
        // The genetic phase of an active run may follow.
        let is_active = beside.run.as_ref().is_some_and(|run| run.is_active);
        let remedy = if is_active { "" } else { "solve with delta-fast or delta-level" };
        return Err(Unavailable::absent("no genetic search yet", remedy));
    };
    let values = Values { run, beside, ideal_s: ideal_s(beside) };
    let mut section = Section::empty("Generations")
        .subject(super::beside::subject(run))
        .answer(Phrase::new().answer(format!("best {}", number(stats.best, Unit::SECONDS))))
        .sentence(sentence(stats))
        .legend(legend(stats, values.ideal_s.is_some()))
        .on_screens(FORMS[0], "Best and mean, logarithmic", values.curves(true))
        .block(FORMS[1], "Best and mean", values.curves(false))
        .block(FORMS[2], "Newest generation", figures(stats));
    section.remarks = beside::remarks(run);
    section.remarks.extend(run.markers.iter().map(|(at_s, text)| format!("{at_s:.1} s  {text}")));
    Ok(section)
}

fn distinct(stats: &GenerationStats) -> u64 {
    (stats.diversity * stats.population as f64).round() as u64
}

fn sentence(stats: &GenerationStats) -> Phrase {
    let count = |value: u64| lightbay_core::quantity::grouped(value);
    Phrase::new()
        .muted("gen ")
        .text(stats.generation.to_string())
        .muted("  stall ")
        .text(format!("{} of {}", stats.stall, stats.stall_limit))
        .muted("  evals ")
        .text(count(stats.evaluations))
        .muted("  ports ")
        .text(number(stats.secondary, Unit::COUNT))
}

fn legend(stats: &GenerationStats, knows_ideal: bool) -> Phrase {
    let percent = |share: f64| number(share, Unit::PERCENT.with_decimals(0));
    let what = if knows_ideal { "loss over ideal" } else { "makespan" };
    Phrase::new()
        .muted(what)
        .muted(format!("   distinct {} of {}", distinct(stats), stats.population))
        .muted(format!("   cache {} %", percent(stats.cache_hits)))
        .muted(format!("   feasible {} %", percent(stats.feasible)))
        .muted(format!("   spread {} ms", number(stats.spread, Unit::MILLISECONDS.with_decimals(1))))
}

fn figures(stats: &GenerationStats) -> Facts {
    let share = Unit::PERCENT.with_decimals(0);
    let mut facts = Facts::new();
    facts.add("generation", "generation", stats.generation);
    facts.number("best_s", "best", Unit::SECONDS, stats.best);
    facts.number("mean_s", "mean", Unit::SECONDS, stats.mean);
    facts.number("worst_s", "worst", Unit::SECONDS, stats.worst);
    facts.number("spread_s", "spread", Unit::MILLISECONDS, stats.spread);
    facts.sentence("standard deviation of the population");
    facts.add("ports", "ports of the best plan", stats.secondary);
    facts.add("stall", "stall", stats.stall);
    facts
        .sentence(format!("generations without a better plan; the search stops after {}", stats.stall_limit));
    facts.add("evaluations", "evaluations", stats.evaluations);
    facts.add("distinct", "distinct", distinct(stats));
    facts.sentence(format!("of {} in the population", stats.population));
    facts.number("cache_hits", "cache", share, stats.cache_hits);
    facts.sentence("evaluations answered from the cache");
    facts.number("feasible", "feasible", share, stats.feasible);
    facts.sentence("offspring that were feasible without replacement by a random individual");
    facts
}

/// The makespans of a run, with the figures of the scenario that convert them to losses (relative to the ideal
/// network).
struct Values<'a> {
    run: &'a RunBeside,
    beside: &'a Surroundings,
    /// Makespan of the ideal network; without it the section shows the makespan instead of the loss.
    ideal_s: Option<f64>,
}

impl Values<'_> {
    fn loss(&self, makespan_s: f64) -> f64 {
        makespan_s - self.ideal_s.unwrap_or(0.0)
    }

    /// Label of a curve with the NCT, or with the makespan if the NCT is unknown: `best NCT 1.069`.
    fn label(&self, name: &str, makespan_s: f64) -> String {
        let text = |value: f64| number(value, Unit::NUMBER.with_decimals(3));
        if self.ideal_s.is_some() && self.loss(makespan_s) < NOTHING_S {
            return format!("{name} = ideal");
        }
        match nct(self.beside, makespan_s) {
            Some(value) => format!("{name} NCT {}", text(value)),
            None => format!("{name} {}", text(makespan_s)),
        }
    }

    fn curves(&self, is_log: bool) -> Curves {
        let unit = if self.ideal_s.is_some() { Unit::MILLISECONDS } else { Unit::SECONDS };
        let name = if self.ideal_s.is_some() { "loss_s" } else { "makespan_s" };
        let generations = &self.run.generations;
        let best = generations.best.last().map_or(f64::NAN, |point| point.value);
        // A logarithmic axis has no zero for plans as fast as the ideal network.
        let values_are_log = is_log && self.ideal_s.is_some() && self.loss(best) >= NOTHING_S;
        let curve = |what: &str, label: String, tone, points: &[RunPoint], steps| Curve {
            name: format!("{what}_{name}"),
            label,
            unit,
            points: points
                .iter()
                .map(|point| Point { at: point.count, value: self.loss(point.value) })
                .collect(),
            tone,
            steps,
        };
        let (bests, means) = (searches(&generations.best), searches(&generations.mean));
        let last = |searches: &[&[RunPoint]]| searches.last().map_or_else(Vec::new, |points| points.to_vec());
        // The best loss may lie below the lowest tick of a logarithmic axis.
        let mut of_best = "best".to_owned();
        if values_are_log {
            let loss = number(self.loss(best), Unit::MILLISECONDS.with_decimals(1));
            of_best = format!("best {loss} ms");
        }
        let mut curves = vec![
            curve("best", self.label(&of_best, best), Tone::Answer, &last(&bests), true),
            curve("mean", "mean".to_owned(), Tone::Muted, &last(&means), false),
        ];
        // Earlier searches of the run have a curve each.
        for (number, points) in (1..).zip(&bests).take(bests.len().saturating_sub(1)) {
            curves.push(curve(
                &format!("search_{number}"),
                format!("search {number}"),
                Tone::Muted,
                points,
                true,
            ));
        }
        let mark = |(at_s, name): &(f64, String)| {
            let at = generations.best.iter().rfind(|point| point.at_s <= *at_s);
            Mark { at: at.map_or(0.0, |point| point.count), name: name.clone() }
        };
        let lines = references(self.beside).into_iter().map(|(line, mark)| Line {
            label: format!("{mark}{}", self.label(&line.label, line.value)),
            value: self.loss(line.value),
            ..line
        });
        Curves {
            axis_knob: "",
            axis: "generation",
            axis_label: "generation",
            axis_unit: Unit::COUNT,
            axis_range: None,
            axis_is_log: is_log,
            values_are_log,
            curves,
            lines: lines.collect(),
            // On a logarithmic screen, a mark at the first generation would cover the axis.
            marks: self.run.markers.iter().map(mark).filter(|mark| !is_log || mark.at > 0.0).collect(),
            range: None,
        }
    }
}

/// Splits the points of a run into its searches: each search counts its generations from the start. Of the first
/// population, only the last point is kept.
fn searches(points: &[RunPoint]) -> Vec<&[RunPoint]> {
    let searches = points.chunk_by(|before, after| before.count <= after.count);
    searches
        .map(|points| &points[points.iter().rposition(|point| point.count == 0.0).unwrap_or(0)..])
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

    use super::super::beside::tests::plan;
    use super::*;
    use lightbay_core::report::{Body, json};
    use std::collections::BTreeMap;

    fn beside() -> Surroundings {
        let point = |count: f64, value: f64| RunPoint { at_s: count / 10.0, count, value };
        let mut run = RunBeside { method: "delta-fast".to_owned(), ..RunBeside::default() };
        run.generations.best = vec![point(0.0, 12.0), point(4.0, 11.0)];
        run.generations.mean = vec![point(0.0, 14.0), point(4.0, 13.0)];
        run.generations.stats = Some(GenerationStats {
            generation: 4,
            best: 11.0,
            population: 48,
            diversity: 0.25,
            ..GenerationStats::default()
        });
        run.markers = vec![(0.25, "took a plan".to_owned())];
        let metrics =
            BTreeMap::from([("ideal_makespan_s".to_owned(), 10.0), ("comm_ideal_s".to_owned(), 2.0)]);
        let plans = vec![plan(1, "prop-alloc", 12.5, metrics), plan(2, "delta-fast", 11.0, BTreeMap::new())];
        Surroundings { plans, run: Some(run) }
    }

    #[test]
    fn generations_are_shown_as_loss_over_the_ideal_network() {
        let section = in_session(&beside()).unwrap();
        assert_eq!(
            (section.subject.as_str(), section.answer.to_string()),
            ("delta-fast", "best 11.000000".into())
        );
        let Body::Curves(log) = &section.blocks[0].body else { panic!("no curves") };
        assert_eq!(log.curves[0].label, "best 1000.0 ms NCT 1.500");
        let written = json::section(&section);
        assert!(written.get("log_axes").is_none(), "the same curves are written once");
        let even = &written["even_axes"];
        assert_eq!(even["curves"][0]["points"], serde_json::json!([[0.0, 2.0], [4.0, 1.0]]));
        assert_eq!(even["lines"][0], serde_json::json!({ "name": "prop-alloc", "value": 2.5 }));
        assert_eq!(even["marks"][0]["at"], 0.0, "the change came between generations 0 and 4");
        assert_eq!(written["figures"]["distinct"], 12);
    }

    #[test]
    fn every_search_of_a_run_has_a_curve() {
        let mut beside = beside();
        let run = beside.run.as_mut().unwrap();
        for points in [&mut run.generations.best, &mut run.generations.mean] {
            points.push(RunPoint { at_s: 1.0, count: 0.0, value: 10.9 });
            points.push(RunPoint { at_s: 1.1, count: 1.0, value: 10.8 });
        }
        let written = json::section(&in_session(&beside).unwrap());
        let curves = written["even_axes"]["curves"].as_array().unwrap();
        let names: Vec<&str> = curves.iter().map(|curve| curve["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["best_loss_s", "mean_loss_s", "search_1_loss_s"]);
        assert_eq!(curves[2]["points"], serde_json::json!([[0.0, 2.0], [4.0, 1.0]]));
    }

    #[test]
    fn without_an_ideal_network_the_makespan_itself_is_shown() {
        let mut beside = beside();
        beside.plans.clear();
        let section = in_session(&beside).unwrap();
        assert!(section.legend.to_string().starts_with("makespan"));
        let curves = json::section(&section);
        assert_eq!(curves["even_axes"]["curves"][0]["name"], "best_makespan_s");
        beside.run = None;
        assert!(in_session(&beside).unwrap_err().to_string().contains("delta-fast"));
        beside.run = Some(RunBeside { is_active: true, ..RunBeside::default() });
        assert!(!in_session(&beside).unwrap_err().to_string().contains("delta-fast"));
    }
}
