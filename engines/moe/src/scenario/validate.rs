//! Contradictions between fields, which the validation of single fields cannot detect.

use super::trace::{CountedTrace, GateTrace};
use super::{MAX_EXPERTS, MAX_REDUNDANT, MAX_REGION, MoeScenario};
use lightbay_core::problem::{Problems, counted};
use std::collections::BTreeSet;

/// Maximum number of entries of the demand of one layer, multiplied by the number of layers; a larger scenario would
/// take minutes to plan.
const MAX_WORK: u64 = 1 << 26;

impl MoeScenario {
    /// Checks the scenario.
    ///
    /// # Errors
    /// All problems.
    pub fn validate(&self) -> Result<(), Problems> {
        let mut problems = Problems::new();
        self.validate_model(&mut problems);
        self.validate_region(&mut problems);
        if problems.is_empty() {
            self.validate_placement(&mut problems);
            self.validate_cluster(&mut problems);
            self.validate_failures(&mut problems);
            if let GateTrace::Counts(trace) = &self.trace {
                self.validate_counts(trace, &mut problems);
            }
        }
        problems.into_result(())
    }

    fn validate_model(&self, problems: &mut Problems) {
        let shape = self.shape();
        let gpus = self.region.gpus_per_server;
        if shape.experts > MAX_EXPERTS {
            let remedy = format!("give at most {MAX_EXPERTS}");
            problems.add("model.experts", format!("is {}", shape.experts), remedy);
        }
        self.validate_slots(problems);
        if shape.top_k > shape.experts {
            problems.add(
                "model.top_k",
                format!("is {}, but there are {} experts", shape.top_k, shape.experts),
                "give at most the number of experts",
            );
        }
        if shape.tp > gpus || !gpus.is_multiple_of(shape.tp.max(1)) {
            problems.add(
                "model.tp",
                format!("is {}, which is not a divisor of the {gpus} GPUs of a server", shape.tp),
                "give a divisor of 'gpus_per_server': tensor-parallel traffic stays in the server",
            );
        }
        let wanted = u64::from(shape.ep) * u64::from(shape.tp);
        let whole = wanted.is_multiple_of(u64::from(gpus.max(1)));
        if wanted > u64::from(gpus) && !whole {
            problems.add(
                "model.ep",
                format!("times 'tp' is {wanted} GPUs, which do not fill whole servers of {gpus} GPUs"),
                "give an 'ep' that makes the product a multiple of 'gpus_per_server'",
            );
        } else if wanted.div_ceil(u64::from(gpus.max(1))) != u64::from(self.region.servers) {
            problems.add(
                "region.servers",
                format!(
                    "is {}, but {} ranks of {} GPUs need another number of servers",
                    self.region.servers, shape.ep, shape.tp
                ),
                format!("give {}", wanted.div_ceil(u64::from(gpus.max(1)))),
            );
        }
        if self.region.servers > MAX_REGION {
            let message = format!("is {}", self.region.servers);
            problems.add("region.servers", message, format!("give at most {MAX_REGION}"));
        }
        if shape.pp > shape.layers {
            let message = format!("is {}, but there are {} layers", shape.pp, shape.layers);
            problems.add("model.pp", message, "give at most the number of layers");
        }
        let cells = u64::from(shape.experts) * u64::from(shape.experts.max(shape.ep));
        let work = cells.saturating_mul(u64::from(self.stage_layers()));
        if work > MAX_WORK {
            let remedy = "raise 'pp' or lower 'layers'";
            problems.add(
                "model.layers",
                format!(
                    "gives {} layers per stage, too many for a plan with {} experts",
                    self.stage_layers(),
                    shape.experts
                ),
                remedy,
            );
        }
    }

    fn validate_region(&self, problems: &mut Problems) {
        let region = &self.region;
        let nics = region.nics_per_server;
        let mut seen: BTreeSet<u32> = BTreeSet::new();
        for (key, list) in [("ocs_nics", &region.ocs_nics), ("eps_nics", &region.eps_nics)] {
            for (index, &nic) in list.iter().enumerate() {
                let path = format!("region.{key}[{index}]");
                if nic >= nics {
                    let remedy = format!("NICs are 0 to {}", nics.saturating_sub(1));
                    problems.add(path, format!("is {nic}"), remedy);
                } else if !seen.insert(nic) {
                    problems.add(
                        path,
                        format!("repeats NIC {nic}"),
                        "name every NIC once, in one of the two lists",
                    );
                }
            }
        }
        let missing: Vec<String> =
            (0..nics).filter(|nic| !seen.contains(nic)).map(|nic| nic.to_string()).collect();
        if !missing.is_empty() && problems.is_empty() {
            problems.add(
                "region.eps_nics",
                format!("does not name NIC {}, and neither does 'ocs_nics'", missing.join(", ")),
                "name every NIC in one of the two lists",
            );
        }
        if region.numa_of_nic.len() != nics as usize {
            let message = format!("has {} entries", region.numa_of_nic.len());
            problems.add(
                "region.numa_of_nic",
                message,
                format!("give one entry for each of the {nics} NICs"),
            );
        }
        for (index, node) in region.numa_of_nic.iter().enumerate().filter(|(_, node)| **node > 1) {
            let path = format!("region.numa_of_nic[{index}]");
            problems.add(path, format!("is {node}"), "give 0 or 1: servers have two NUMA nodes");
        }
        let on = |node| region.ocs_nics.iter().filter(|nic| region.numa(**nic) == node).count();
        if on(0).abs_diff(on(1)) > 1 && !region.has_one_node() {
            problems.add(
                "region.ocs_nics",
                format!("has {} NICs of NUMA node 0 and {} of node 1", on(0), on(1)),
                "give both nodes the same number of NICs, or one node one more, so that parallel circuits spread over both nodes; or put all NICs at one node",
            );
        }
        if region.eps_nics.is_empty() && region.eps_total_gbps.is_some_and(|rate| rate > 0.0) {
            problems.add(
                "region.eps_total_gbps",
                "is given, but no NIC is connected to packet switches",
                "leave it out, or name such NICs in 'eps_nics'",
            );
        }
    }

    /// Adds a problem if the ranks cannot all have the same number of slots: the slots are one per expert and one per
    /// redundant expert.
    fn validate_slots(&self, problems: &mut Problems) {
        let shape = self.shape();
        let (experts, ranks) = (shape.experts, shape.ep);
        if ranks == 0 {
            return problems.add("model.ep", "is 0", "give at least 1");
        }
        let spare = self.placement.map_or(0, |room| room.redundant_experts);
        let slots = u64::from(experts) + u64::from(spare);
        if slots.is_multiple_of(u64::from(ranks)) {
            return;
        }
        // The smallest number of replicas that fills the slots of all ranks.
        let fill = slots.next_multiple_of(u64::from(ranks)) - u64::from(experts);
        match self.placement {
            None => problems.add(
                "model.experts",
                format!("is {experts}, which does not divide evenly among {ranks} ranks"),
                format!("give a multiple of 'ep', or set expert_placement=free and redundant_experts={fill}"),
            ),
            Some(_) => problems.add(
                "placement.redundant_experts",
                format!(
                    "is {spare}: {experts} experts and {} do not divide evenly among {ranks} ranks",
                    counted(u64::from(spare), "replica", "replicas")
                ),
                format!("give {fill}, so that every rank has the same number of slots"),
            ),
        }
    }

    fn validate_placement(&self, problems: &mut Problems) {
        let (shape, Some(room)) = (self.shape(), self.placement) else { return };
        if room.redundant_experts > MAX_REDUNDANT {
            let message = format!("is {}", room.redundant_experts);
            problems.add("placement.redundant_experts", message, format!("give at most {MAX_REDUNDANT}"));
        }
        if room.expert_groups == 0 || !shape.experts.is_multiple_of(room.expert_groups) {
            problems.add(
                "placement.expert_groups",
                format!(
                    "is {}, but {} experts do not divide evenly into that number of groups",
                    room.expert_groups, shape.experts
                ),
                "give a divisor of 'experts'",
            );
        }
    }

    fn validate_cluster(&self, problems: &mut Problems) {
        let shape = self.shape();
        let one = u64::from(shape.ep) * u64::from(shape.tp) * u64::from(shape.pp);
        let gpus = u64::from(self.cluster.servers) * u64::from(self.region.gpus_per_server);
        if !gpus.is_multiple_of(one) || gpus < one {
            let per = one.div_ceil(u64::from(self.region.gpus_per_server));
            problems.add(
                "cluster.servers",
                format!("is {}, which is not a whole number of replicas of the model", self.cluster.servers),
                format!("give a multiple of {per}: a replica needs {one} GPUs"),
            );
        }
        if self.prices.of_rate(self.region.link_gbps).is_none() {
            let known: Vec<String> = self.prices.rates.iter().map(|row| row.link_gbps.to_string()).collect();
            problems.add(
                "prices.rates",
                format!("has no prices of parts for {} Gb/s", self.region.link_gbps),
                format!("add these prices, or set link_gbps to one of {}", known.join(", ")),
            );
        }
    }

    fn validate_counts(&self, trace: &CountedTrace, problems: &mut Problems) {
        let shape = self.shape();
        let (experts, ranks) = (shape.experts as usize, shape.ep as usize);
        let mut seen: BTreeSet<(u32, u32)> = BTreeSet::new();
        for (index, count) in trace.counts.iter().enumerate() {
            let path = format!("trace.counts[{index}]");
            if count.layer >= self.stage_layers() {
                let remedy = format!("layers of the stage are 0 to {}", self.stage_layers() - 1);
                problems.add(format!("{path}.layer"), format!("is {}", count.layer), remedy);
            }
            if !seen.insert((count.iteration, count.layer)) {
                let message = format!("repeats layer {} of iteration {}", count.layer, count.iteration);
                problems.add(path.clone(), message, "give every layer once per iteration");
            }
            if count.tokens.iter().flatten().any(|tokens| !tokens.is_finite() || *tokens < 0.0) {
                let message = "has a negative or non-finite number";
                problems.add(format!("{path}.tokens"), message, "give counts of tokens");
            }
            let rows = count.tokens.len();
            if rows != 1 && rows != ranks {
                let remedy =
                    format!("give one row for each of {ranks} ranks, or one row for all ranks together");
                problems.add(format!("{path}.tokens"), format!("has {rows} rows"), remedy);
            }
            for (number, row) in count.tokens.iter().enumerate().filter(|(_, row)| row.len() != experts) {
                let path = format!("{path}.tokens[{number}]");
                problems.add(
                    path,
                    format!("has {} entries", row.len()),
                    format!("give one count for each of {experts} experts"),
                );
            }
        }
        let wanted = (0..self.stage_layers()).filter(|layer| !seen.contains(&(trace.iteration, *layer)));
        let missing: Vec<String> = wanted.map(|layer| layer.to_string()).collect();
        if !missing.is_empty() {
            problems.add(
                "trace.counts",
                format!("has no counts of layer {} in iteration {}", missing.join(", "), trace.iteration),
                "add these counts, set 'iteration' to a counted iteration, or lower 'layers' of the model",
            );
        }
    }
}
