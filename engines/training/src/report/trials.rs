//! Makespans of a plan if compute varies, a stage is slow, or circuits and ports fail.

use super::limited::Limited;
use super::{link_name, pod_name};
use crate::analysis::Setting;
use crate::analysis::robustness::{Ends, Robustness, Spread, Together, Trials};
use crate::scenario::TrainingScenario;
use crate::scenario::instance::Instance;
use lightbay_core::problem::counted;
use lightbay_core::report::text::number;
use lightbay_core::report::{Cell, Column, Phrase, Row, Section, Table, Tone, Unavailable, Unit};

/// Number of rows of the long tables that an overview shows.
const OVERVIEW: usize = 5;

/// Differences below half a microsecond count as rounding.
const ROUNDING_S: f64 = 5e-7;

/// Index of the bars (delay at scheduled rates) among the columns after the name columns.
const LATER: usize = 2;

pub(super) fn section(
    scenario: &TrainingScenario,
    instance: &Instance,
    setting: &Setting,
    circuits: &[u32],
    mut limited: Limited,
) -> Result<Section, Unavailable> {
    let tried = Robustness::new(scenario, setting, circuits, Trials::default(), &mut limited)
        .map_err(|error| limited.why(error))?;
    let section = Section::empty("Robustness")
        .context(Phrase::new().muted("circuits as planned, simulated again"))
        .answer(answer(&tried))
        .remark("Circuits are fixed; rates, scheduled or max-min fair, are computed again for each case.")
        .block("cases", "Compute jitter, and circuits that fail together", cases(&tried))
        .block("one_slow", "One slow stage or pod", slow(&tried, instance))
        .block("failed_circuit", "One failed circuit", failed_circuits(&tried, instance))
        .block(
            "failed_port",
            "One failed port, on the best and on the worst link",
            failed_ports(&tried, instance),
        );
    let together = tried.together.iter().filter(|cut| cut.circuits > 1);
    Ok(if together.clone().next().is_some() {
        section.block(
            "failed_together",
            "Circuits that fail together",
            failed_together(together, &tried, instance),
        )
    } else {
        section
    })
}

/// Phrase on the largest delay that the failure of one circuit causes, or on the failure that cuts pods off.
fn answer(tried: &Robustness) -> Phrase {
    if tried.circuits.iter().any(|case| case.ends.is_none()) {
        return Phrase::new().bad("a single failure cuts pods off");
    }
    let worst = tried.circuits.iter().filter_map(|case| case.ends).map(|ends| ends.joint_s);
    let worst_s = worst.fold(f64::NEG_INFINITY, f64::max);
    if !worst_s.is_finite() {
        return Phrase::new();
    }
    let later = number(worst_s - tried.planned.joint_s, Unit::MILLISECONDS.signed());
    Phrase::new().answer(format!("{later} ms")).muted(" if a circuit fails")
}

/// Returns the columns `first`, which name the case, followed by the columns of makespans.
fn columns(first: Vec<Column>) -> Vec<Column> {
    let mut columns = first;
    columns.extend([
        Column::numbers("joint_s", "scheduled", Unit::SECONDS).priority(2),
        Column::numbers("joint_later_s", "later", Unit::MILLISECONDS.signed()),
        Column::numbers("fair_s", "max-min fair", Unit::SECONDS).priority(4),
        Column::numbers("fair_later_s", "fair later", Unit::MILLISECONDS.signed()).priority(3),
    ]);
    columns
}

fn table(names: [&'static str; 2], first: Vec<Column>) -> Table {
    let bar = first.len() + LATER - 1;
    Table::new(names, columns(first)).bar(bar)
}

/// A row of a case: the cells that name the case, the meaning of the case, and its makespans, which are missing if pods
/// are cut off.
fn row(first: Vec<Cell>, name: &str, means: &str, ends: Option<Ends>, tried: &Robustness) -> Row {
    let phrase = Phrase::new().answer(format!("> {name}")).muted(format!("  {means}"));
    let mut cells = first;
    let Some(ends) = ends else {
        cells.extend([
            Cell::none(),
            Cell::none().note("cut off").tone(Tone::Bad),
            Cell::none(),
            Cell::none(),
        ]);
        return Row::new(cells).sentence(phrase.bad("  the pods are cut off from each other"));
    };
    let later_s = ends.joint_s - tried.planned.joint_s;
    cells.extend([
        Cell::new(ends.joint_s),
        Cell::new(later_s).tone(if later_s > ROUNDING_S { Tone::Bad } else { Tone::Text }),
        Cell::new(ends.fair_s).tone(Tone::Muted),
        Cell::new(ends.fair_s - tried.planned.fair_s).tone(Tone::Muted),
    ]);
    let seconds = |value: f64| format!("{} s", number(value, Unit::SECONDS));
    let mut phrase = phrase.text(format!("  {}", seconds(ends.joint_s)));
    if later_s.abs() >= ROUNDING_S {
        phrase = phrase.answer(format!("  {} ms", number(later_s, Unit::MILLISECONDS.signed())));
    }
    Row::new(cells).sentence(phrase.muted(format!("  max-min fair {}", seconds(ends.fair_s))))
}

fn cases(tried: &Robustness) -> Table {
    let mut table = table(["case", "cases"], vec![Column::words("case", "case")]);
    let mut case = |name: String, means: &str, ends: Option<Ends>| {
        table.push(row(vec![Cell::new(name.clone())], &name, means, ends, tried));
    };
    case("as planned".to_owned(), "nothing goes wrong", Some(tried.planned));
    if let Some((joint, fair)) = &tried.jitter {
        let share = number(tried.trials.jitter, Unit::PERCENT.with_decimals(0));
        let mut spread = |word: &str, means: &str, of: fn(&Spread) -> f64| {
            let name = format!("compute jitter ±{share} %, {word} of {} samples", tried.trials.draws);
            case(name, means, Some(Ends { joint_s: of(joint), fair_s: of(fair) }));
        };
        spread("mean", "the mean of all samples", |spread| spread.mean_s);
        spread("95 %", "95 of 100 samples end by this time", |spread| spread.p95_s);
        spread("worst", "the longest sample", |spread| spread.worst_s);
    }
    for cut in tried.together.iter().filter(|cut| cut.circuits > 1) {
        let worst = cut.worst.as_ref().map(|worst| worst.1).filter(|_| cut.cut_off == 0);
        let name = format!("{} circuits fail, worst of {} sets", cut.circuits, cut.choices);
        case(name, "the other circuits are fixed", worst);
    }
    table
}

fn slow(tried: &Robustness, instance: &Instance) -> Table {
    let slower = number(tried.trials.slow_factor - 1.0, Unit::PERCENT.with_decimals(0));
    let names = if tried.by_stage { ["stage", "stages"] } else { ["pod", "pods"] };
    let of = names[0];
    let heading = format!("{of} with {slower} % longer compute");
    let mut table = table(names, vec![Column::words(of, heading)]).overview(OVERVIEW);
    let mut order: Vec<_> = tried.slow.iter().collect();
    order.sort_by(|a, b| b.ends.joint_s.total_cmp(&a.ends.joint_s).then(a.place.cmp(&b.place)));
    let means = format!("all of its compute takes {slower} % longer");
    for slow in order {
        let name = if tried.by_stage {
            format!("stage {}", slow.place + 1)
        } else {
            pod_name(instance, slow.place as usize)
        };
        table.push(row(vec![Cell::new(name.clone())], &name, &means, Some(slow.ends), tried));
    }
    table
}

fn failed_circuits(tried: &Robustness, instance: &Instance) -> Table {
    let first = vec![Column::words("link", "pods"), Column::counts("circuits", "circuits")];
    let mut table = table(["link", "links"], first).overview(OVERVIEW);
    let mut order: Vec<_> = tried.circuits.iter().collect();
    let end_s = |found: Option<Ends>| found.map_or(f64::INFINITY, |found| found.joint_s);
    order.sort_by(|a, b| end_s(b.ends).total_cmp(&end_s(a.ends)).then(a.link.cmp(&b.link)));
    for case in order {
        let name = link_name(instance, case.link as usize);
        let means = format!("{} of {} circuits left", case.circuits.saturating_sub(1), case.circuits);
        let first = vec![Cell::new(name.clone()), Cell::new(case.circuits)];
        table.push(row(first, &name, &means, case.ends, tried));
    }
    table
}

fn failed_ports(tried: &Robustness, instance: &Instance) -> Table {
    let first = vec![
        Column::words("pod", "pod"),
        Column::counts("free", "free ports").priority(5),
        Column::words("port", "port"),
        Column::words("link", "pods of the link"),
    ];
    let mut table = table(["port", "ports"], first).overview(OVERVIEW);
    for case in &tried.ports {
        for (word, one) in [("worst", &case.worst), ("best", &case.best)] {
            let pod = pod_name(instance, case.pod as usize);
            let (link, means) = match one.link {
                Some(link) => {
                    let means = counted(case.free.max(0) as u64, "of its ports is", "of its ports are");
                    (Cell::new(link_name(instance, link as usize)), format!("{means} free"))
                }
                None => (Cell::new("a free one"), "no circuit uses it".to_owned()),
            };
            let first = vec![Cell::new(pod.clone()), Cell::new(case.free), Cell::new(word), link];
            table.push(row(first, &format!("{pod}, {word} port"), &means, one.ends, tried));
        }
    }
    table
}

fn failed_together<'a>(
    cuts: impl Iterator<Item = &'a Together>,
    tried: &Robustness,
    instance: &Instance,
) -> Table {
    let first = vec![
        Column::counts("circuits", "circuits"),
        Column::counts("choices", "choices").priority(6),
        Column::counts("cut_off", "cut pods off").priority(5),
        Column::words("delay", "delay"),
        Column::words("links", "pods of the links"),
    ];
    let mut table = table(["choice", "choices"], first);
    for cut in cuts {
        for (word, extreme, found) in [("least", "smallest", &cut.best), ("most", "largest", &cut.worst)] {
            let Some((chosen, ends)) = found else { continue };
            let names: Vec<String> = chosen.iter().map(|id| link_name(instance, *id as usize)).collect();
            let names = names.join(", ");
            let first = vec![
                Cell::new(cut.circuits),
                Cell::new(cut.choices),
                Cell::new(cut.cut_off),
                Cell::new(word),
                Cell::new(names.clone()),
            ];
            let means = format!(
                "{extreme} added delay of all combinations of {} failed circuits that leave the pods connected",
                cut.circuits
            );
            table.push(row(first, &names, &means, Some(*ends), tried));
        }
    }
    table
}
