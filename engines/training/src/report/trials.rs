//! Makespans of a plan if compute varies, a stage is slow, or circuits and ports fail.

use super::{failed, link_name, pod_name};
use crate::analysis::Setting;
use crate::analysis::robustness::{Ends, Robustness, Spread, Trials};
use crate::scenario::TrainingScenario;
use crate::scenario::instance::Instance;
use crate::search::watch::Unwatched;
use lightbay_core::problem::counted;
use lightbay_core::report::text::number;
use lightbay_core::report::{Cell, Column, Section, Table, Tone, Unavailable, Unit};

/// Rows of the long tables that an overview shows.
const OVERVIEW: usize = 5;

pub(super) fn section(
    scenario: &TrainingScenario,
    instance: &Instance,
    setting: &Setting,
    circuits: &[u32],
) -> Result<Section, Unavailable> {
    let tried = Robustness::new(scenario, setting, circuits, Trials::default(), &mut Unwatched::default())
        .map_err(failed)?;
    Ok(Section::empty("Robustness")
        .remark("The circuits stay as planned; rates follow what happens, scheduled or max-min fair.")
        .block("cases", "Compute that varies, and circuits that fail together", cases(&tried))
        .block("one_slow", "One that computes more slowly", slow(&tried, instance))
        .block("failed_circuit", "One failed circuit", failed_circuits(&tried, instance))
        .block("failed_port", "One failed port, of the worst link", failed_ports(&tried, instance)))
}

fn columns(of: Column) -> Vec<Column> {
    vec![
        of,
        Column::numbers("joint_s", "scheduled rates", Unit::SECONDS),
        Column::numbers("fair_s", "max-min fair", Unit::SECONDS),
    ]
}

fn ends(ends: Option<Ends>) -> [Cell; 2] {
    match ends {
        Some(ends) => [Cell::new(ends.joint_s), Cell::new(ends.fair_s)],
        None => [Cell::none().note("cut off").tone(Tone::Bad), Cell::none().note("cut off").tone(Tone::Bad)],
    }
}

fn cases(tried: &Robustness) -> Table {
    let mut table = Table::new(["case", "cases"], columns(Column::words("case", "case")));
    let mut case = |name: String, found: Option<Ends>| {
        let [joint, fair] = ends(found);
        table.row(vec![Cell::new(name), joint, fair]);
    };
    case("as planned".to_owned(), Some(tried.planned));
    if let Some((joint, fair)) = &tried.jitter {
        let share = number(tried.trials.jitter, Unit::PERCENT.with_decimals(0));
        let mut spread = |word: &str, of: fn(&Spread) -> f64| {
            let name = format!("compute jitter ±{share} %, {word} of {} samples", tried.trials.draws);
            case(name, Some(Ends { joint_s: of(joint), fair_s: of(fair) }));
        };
        spread("mean", |spread| spread.mean_s);
        spread("95 %", |spread| spread.p95_s);
        spread("worst", |spread| spread.worst_s);
    }
    for cut in tried.together.iter().filter(|cut| cut.circuits > 1) {
        let worst = cut.worst.as_ref().map(|worst| worst.1).filter(|_| cut.cut_off == 0);
        case(format!("{} circuits fail, the worst of {} choices", cut.circuits, cut.choices), worst);
    }
    table
}

fn slow(tried: &Robustness, instance: &Instance) -> Table {
    let slower = number(tried.trials.slow_factor - 1.0, Unit::PERCENT.with_decimals(0));
    let names = if tried.by_stage { ["stage", "stages"] } else { ["pod", "pods"] };
    let of = names[0];
    let heading = format!("{of}, {slower} % longer");
    let mut table = Table::new(names, columns(Column::words(of, heading))).overview(OVERVIEW);
    let mut order: Vec<_> = tried.slow.iter().collect();
    order.sort_by(|a, b| b.ends.joint_s.total_cmp(&a.ends.joint_s).then(a.place.cmp(&b.place)));
    for slow in order {
        let name = if tried.by_stage {
            format!("stage {}", slow.place + 1)
        } else {
            pod_name(instance, slow.place as usize)
        };
        let [joint, fair] = ends(Some(slow.ends));
        table.row(vec![Cell::new(name), joint, fair]);
    }
    table
}

fn failed_circuits(tried: &Robustness, instance: &Instance) -> Table {
    let mut all = columns(Column::words("link", "pods"));
    all.insert(1, Column::counts("circuits", "circuits"));
    let mut table = Table::new(["link", "links"], all).overview(OVERVIEW);
    let mut order: Vec<_> = tried.circuits.iter().collect();
    let end_s = |found: Option<Ends>| found.map_or(f64::INFINITY, |found| found.joint_s);
    order.sort_by(|a, b| end_s(b.ends).total_cmp(&end_s(a.ends)).then(a.link.cmp(&b.link)));
    for case in order {
        let [joint, fair] = ends(case.ends);
        let name = link_name(instance, case.link as usize);
        table.row(vec![Cell::new(name), Cell::new(case.circuits), joint, fair]).item = Some(case.link);
    }
    table
}

fn failed_ports(tried: &Robustness, instance: &Instance) -> Table {
    let mut all = columns(Column::words("pod", "pod"));
    all.insert(1, Column::counts("free", "free ports"));
    all.insert(2, Column::words("link", "pods of the link"));
    let mut table = Table::new(["pod", "pods"], all).overview(OVERVIEW);
    for case in &tried.ports {
        let [joint, fair] = ends(case.worst.ends);
        let row = table.row(vec![
            Cell::new(pod_name(instance, case.pod as usize)),
            Cell::new(case.free),
            case.worst.link.map_or_else(Cell::none, |link| Cell::new(link_name(instance, link as usize))),
            joint,
            fair,
        ]);
        row.item = Some(case.pod);
        if case.free > 0 {
            row.sentence =
                format!("{} free: no circuit is lost", counted(case.free as u64, "port is", "ports are"));
        }
    }
    table
}
