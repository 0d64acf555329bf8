//! Reading the result of a plan from JSON, all problems at once.
//!
//! Only form is checked here: whether the plan is right is the checker's business. Indices have to be written as
//! integers.

use super::{
    Action, Batch, Changes, CrossconnectResult, Entry, EntryRef, OcsChanges, PhaseOrder, PhaseRule, Totals,
};
use lightbay_core::problem::Problems;
use lightbay_core::read::{Fields, brief, whole_numbers};

impl CrossconnectResult {
    /// Reads the keys of a `result`; values of a wrong type and missing keys are problems. The caller finishes `fields`,
    /// which reports unknown keys.
    pub fn read(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        if fields.has("phases") {
            return order(fields, problems).map(Self::Order);
        }
        let ocs = fields.each("ocs", problems, |fields, problems| {
            let ocs_id = index(fields, "ocs_id", problems);
            let cross_connects = fields.each("cross_connects", problems, entry);
            Some(OcsChanges { ocs_id: ocs_id?, cross_connects: cross_connects? })
        });
        let totals = fields.object("totals", problems).and_then(|mut inner| {
            let totals = totals(&mut inner, problems);
            inner.finish(problems);
            totals
        });
        let batches = match fields.optional("batches") {
            None => Some(Vec::new()),
            Some(_) => fields.each("batches", problems, |fields, problems| {
                let changes = fields.each("changes", problems, |fields, problems| {
                    let (ocs_id, entry) =
                        (index(fields, "ocs_id", problems), index(fields, "entry", problems));
                    Some(EntryRef { ocs_id: ocs_id?, entry: entry? })
                });
                let dark = count(fields, "dark_circuits", problems);
                Some(Batch { changes: changes?, dark_circuits: dark? })
            }),
        };
        Some(Self::Changes(Changes { ocs: ocs?, totals: totals?, batches: batches? }))
    }
}

fn order(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<PhaseOrder> {
    let rule = fields.choice("rule", &PhaseRule::ALL, problems);
    let gpus_per_pod = index(fields, "gpus_per_pod", problems);
    let path = fields.path_of("phases");
    let phases = fields.list("phases", problems).and_then(|list| {
        let rows: Vec<Vec<u32>> = list
            .iter()
            .enumerate()
            .filter_map(|(phase, row)| whole_numbers(row, &format!("{path}[{phase}]"), problems))
            .collect();
        (rows.len() == list.len()).then_some(rows)
    });
    let flows = index(fields, "max_flows_per_pod_pair", problems);
    let contended = index(fields, "contended_phases", problems);
    Some(PhaseOrder {
        rule: rule?,
        gpus_per_pod: gpus_per_pod?,
        phases: phases?,
        max_flows_per_pod_pair: flows?,
        contended_phases: contended?,
    })
}

fn entry(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Entry> {
    let action = fields.choice("action", &Action::ALL, problems);
    let (pod_a, port_a_index) = (index(fields, "pod_a", problems), index(fields, "port_a_index", problems));
    let switch_port_a = index(fields, "switch_port_a", problems);
    let (pod_b, port_b_index) = (index(fields, "pod_b", problems), index(fields, "port_b_index", problems));
    let switch_port_b = index(fields, "switch_port_b", problems);
    Some(Entry {
        action: action?,
        pod_a: pod_a?,
        port_a_index: port_a_index?,
        switch_port_a: switch_port_a?,
        pod_b: pod_b?,
        port_b_index: port_b_index?,
        switch_port_b: switch_port_b?,
    })
}

fn totals(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Totals> {
    let kept = count(fields, "kept_circuits", problems);
    let added = count(fields, "added_circuits", problems);
    let removed = count(fields, "removed_circuits", problems);
    let bound = count(fields, "lower_bound_removed_circuits", problems);
    let mut optional = |key: &'static str| match fields.optional(key) {
        None => Some(None),
        Some(_) => count(fields, key, problems).map(Some),
    };
    let forced = optional("forced_removed_circuits");
    let unmet = optional("unmet_circuits");
    let least_unmet = optional("lower_bound_unmet_circuits");
    Some(Totals {
        kept_circuits: kept?,
        added_circuits: added?,
        removed_circuits: removed?,
        lower_bound_removed_circuits: bound?,
        forced_removed_circuits: forced?,
        unmet_circuits: unmet?,
        lower_bound_unmet_circuits: least_unmet?,
    })
}

fn count(fields: &mut Fields<'_>, key: &'static str, problems: &mut Problems) -> Option<u64> {
    let value = fields.required(key, problems)?;
    let number = value.as_u64();
    if number.is_none() {
        problems.add(
            fields.path_of(key),
            format!("is {}", brief(value)),
            "give a whole number, without a point",
        );
    }
    number
}

fn index(fields: &mut Fields<'_>, key: &'static str, problems: &mut Problems) -> Option<u32> {
    let number = count(fields, key, problems)?;
    let index = u32::try_from(number).ok();
    if index.is_none() {
        let remedy = format!("give a whole number of at most {}", u32::MAX);
        problems.add(fields.path_of(key), format!("is {number}"), remedy);
    }
    index
}
