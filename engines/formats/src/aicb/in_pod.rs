//! Sorts the calls of a workload into calls that stay in the pod and calls between pods.

use std::collections::BTreeMap;

use super::collective::{AicbCollective, CollectiveKind, Group};
use super::summary::ImportSummary;
use super::workload::Groups;

impl Groups {
    /// Returns the number of ranks of a group.
    pub(super) const fn ranks(&self, group: Group) -> u64 {
        match group {
            Group::Tp => self.tp,
            Group::Ep => self.ep,
            Group::Dp => self.dp,
            Group::DpEp => self.dp * self.tp / (self.ep * self.expert_tp),
        }
    }

    /// Makes the record of equal calls in a group. `None` if a call has no bytes, or if the group has only one rank;
    /// the summary then lists the calls of a group of one rank as omitted.
    pub(super) fn call(
        &self,
        kind: CollectiveKind,
        group: Group,
        bytes: u64,
        calls: u64,
        summary: &mut ImportSummary,
    ) -> Option<AicbCollective> {
        if bytes == 0 {
            return None;
        }
        let ranks = self.ranks(group);
        if ranks <= 1 {
            summary.skip(
                format!("{} calls", group.name()),
                calls,
                bytes.saturating_mul(calls),
                format!("the group {} has one rank", group.name()),
            );
            return None;
        }
        Some(AicbCollective { kind, group, ranks, bytes, calls })
    }
}

/// Number of equal calls; a map, because a malicious file may contain a million different sizes.
#[derive(Default)]
pub(super) struct Tally(BTreeMap<AicbCollective, u64>);

impl Tally {
    pub(super) fn add(&mut self, call: AicbCollective) {
        let calls = self.0.entry(AicbCollective { calls: 0, ..call }).or_default();
        *calls = calls.saturating_add(call.calls);
    }

    /// Returns the calls in the order of kind, group and size.
    pub(super) fn into_list(self) -> Vec<AicbCollective> {
        self.0.into_iter().map(|(call, calls)| AicbCollective { calls, ..call }).collect()
    }
}

/// Calls by class: in-pod calls of the forward and the backward passes, and data-parallel calls of the iteration.
#[derive(Default)]
pub(super) struct Sorted {
    pub in_pod: [Tally; 2],
    pub crossing: Tally,
    /// The calls between pods that belong to the passes of micro-batches.
    recurring: Tally,
}

impl Sorted {
    /// Sorts a call of the passes of a micro-batch into its class; `pass` is 0 for forward, 1 for backward.
    pub(super) fn add_in_pass(&mut self, call: AicbCollective, pass: usize) {
        if matches!(call.group, Group::Dp | Group::DpEp) {
            self.recurring.add(call);
        }
        self.add(call, pass);
    }

    /// Returns the data-parallel calls that each of the `micro_batches` micro-batches makes. Calls that only some
    /// micro-batches make, such as calls of only the last micro-batch, are left out here: they count once per
    /// iteration.
    pub(super) fn recurring(&mut self, micro_batches: u64) -> Vec<AicbCollective> {
        let calls = std::mem::take(&mut self.recurring).into_list();
        let of_one =
            |call: AicbCollective| AicbCollective { calls: call.calls / micro_batches.max(1), ..call };
        calls.into_iter().map(of_one).filter(|call| call.calls > 0).collect()
    }

    /// Sorts a call into its class; `pass` is 0 for forward, 1 for backward.
    pub(super) fn add(&mut self, call: AicbCollective, pass: usize) {
        match call.group {
            Group::Tp | Group::Ep => self.in_pod[pass].add(call),
            Group::Dp | Group::DpEp => self.crossing.add(call),
        }
    }
}

/// Sums the bytes of all calls of the groups that `wanted` accepts.
pub(super) fn bytes_of<'a>(
    lists: impl IntoIterator<Item = &'a Vec<AicbCollective>>,
    wanted: impl Fn(Group) -> bool,
) -> u64 {
    let calls = lists.into_iter().flatten().filter(|call| wanted(call.group));
    calls.fold(0, |sum, call| sum.saturating_add(call.total_bytes().unwrap_or(u64::MAX)))
}
