//! Ports that one job could give up without a longer iteration.

use super::limited::Limited;
use super::pod_name;
use crate::analysis::Setting;
use crate::search::reallocate::{Surplus, surplus};
use crate::simulate::evaluate::Rates;
use lightbay_core::report::text::number;
use lightbay_core::report::{Cell, Column, Facts, Phrase, Row, Section, Table, Tone, Unavailable, Unit};

pub(super) fn section(
    setting: &Setting,
    circuits: &[u32],
    rates: Rates,
    makespan_s: f64,
    mut limited: Limited,
) -> Result<Section, Unavailable> {
    // Where the path model is exact, scheduled rates never need more ports than max-min fair rates.
    let scheduled = setting.evaluator.exact(Rates::Best);
    let at = if scheduled { Rates::Best } else { rates };
    let found = surplus(&setting.evaluator, at, circuits, makespan_s, &mut limited)
        .map_err(|error| limited.why(error))?;
    let (has, needs): (u32, u32) = (found.ports.iter().sum(), found.needed.iter().sum());
    let spare = has.saturating_sub(needs);
    let used: u32 = found.used.iter().sum();
    let mut section = Section::empty("Reallocation")
        .context(Phrase::new().muted("spare ports of this job"))
        .answer(Phrase::new().answer(format!("{spare} of {has}")).muted(" ports to spare"));
    if needs < used {
        let how = if scheduled && rates == Rates::Fair { " with scheduled rates" } else { "" };
        section = section.remark(format!(
            "The plan uses {used} ports, but {needs} are enough for its makespan{how}. Set min_ports=true to use only these."
        ));
    }
    Ok(section
        .remark("In a scenario of several jobs, another job can use the ports that one job does not need.")
        .block("sum", "", sums(&found, has, needs))
        .block("pods", "Ports by pod", pods(setting, &found)))
}

fn sums(found: &Surplus, has: u32, needs: u32) -> Facts {
    let mut facts = Facts::new();
    facts.add("needed", "needed", Cell::new(needs).tone(Tone::Answer));
    let makespan = number(found.fewest.makespan, Unit::SECONDS);
    facts.sentence(if found.proven {
        format!("fewer ports cannot keep a makespan of {makespan} s")
    } else {
        format!("the fewest ports found for a makespan of {makespan} s")
    });
    facts.add("used", "the plan uses", found.used.iter().sum::<u32>());
    facts.add("ports", "ports", has);
    facts.add("spare", "spare", Cell::new(has.saturating_sub(needs)).tone(Tone::Good));
    facts
}

fn pods(setting: &Setting, found: &Surplus) -> Table {
    let columns = vec![
        Column::words("pod", "pod"),
        Column::counts("ports", "ports"),
        Column::counts("used", "plan uses").priority(1),
        Column::counts("needed", "needs"),
        Column::counts("spare", "spare"),
    ];
    let mut table = Table::new(["pod", "pods"], columns).bar(4);
    let real = setting.instance.pods.iter().enumerate().filter(|(_, pod)| !pod.mirror);
    for (place, (index, _)) in real.enumerate() {
        let at = |list: &[u32]| list.get(place).copied().unwrap_or(0);
        let (has, uses, needs) = (at(&found.ports), at(&found.used), at(&found.needed));
        let spare = has.saturating_sub(needs);
        let name = pod_name(&setting.instance, index);
        let sentence = Phrase::new()
            .answer(format!("> {name}"))
            .text(format!("  {needs} of {has} ports keep the makespan"))
            .muted(format!("  the plan uses {uses}"));
        table.push(
            Row::new(vec![
                Cell::new(name),
                Cell::new(has),
                Cell::new(uses).tone(Tone::Muted),
                Cell::new(needs),
                Cell::new(spare).tone(if spare > 0 { Tone::Good } else { Tone::Muted }),
            ])
            .item(index as u32)
            .sentence(sentence),
        );
    }
    table
}
