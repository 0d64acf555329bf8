//! The knobs of a scenario: what forms, flags and help are made from.

use super::families::{FamilySort, NetworkFamily};
use super::read::{MAX_PER_RANK, RATES, SCALES};
use super::{CollectiveScenario, CollectiveSort, Demand, EpochRule, SwitchHop, sizes};
use crate::scenario::network::LinkNetwork;
use lightbay_core::method::without_effect;
use lightbay_core::param::{Effect, ParamInfo, ParamValue};
use lightbay_core::problem::{Problem, suggestion};

/// Word for an empty list.
const NONE: &str = "none";
/// Entries up to which a knob lists them.
const MOST_LISTED: usize = 64;

/// The knobs of a scenario; of any scenario of the kind if none is given.
pub fn knobs(scenario: Option<&CollectiveScenario>) -> Vec<ParamInfo> {
    let demand = scenario.map(|scenario| &scenario.demand);
    let collectives: Vec<&str> =
        CollectiveSort::ALL.iter().filter(|(_, sort)| sort.is_named()).map(|(name, _)| *name).collect();
    let mut knobs = Vec::new();
    if scenario.is_none_or(|scenario| scenario.family.is_some()) {
        knobs.push(
            ParamInfo::choice(
                "network",
                &FamilySort::ALL.map(|(name, _)| name),
                "ndv2",
                "Family of networks.",
            )
            .effect(Effect::Cold),
        );
        knobs.push(
            ParamInfo::text("network_size", "Chassis, boxes or nodes along each dimension, '2' or '4x4x4'.")
                .effect(Effect::Cold),
        );
    }
    if demand.is_none_or(|demand| demand.collective.is_named()) {
        let help = "Collective that the ranks carry out.";
        knobs.push(ParamInfo::choice("collective", &collectives, "all_gather", help).effect(Effect::Cold));
        let help = "Chunks of every rank, or of every pair of ranks.";
        knobs.push(ParamInfo::int("chunks_per_rank", 1, MAX_PER_RANK, 1, help).effect(Effect::Cold));
        let help = "Size of the buffer that the figure for bandwidth counts.";
        knobs.push(ParamInfo::float("output_buffer_bytes", 1e-6, 1e18, 1e9, help).unit("bytes"));
        let help = "Sizes of the buffer to plan schedules for, beside output_buffer_bytes: '1e3..1e9' doubles from the first on, \
                    '1000,64000' lists them, 'none' for that size alone. Method auto plans them.";
        knobs.push(ParamInfo::text("sizes", help).effect(Effect::Cold));
        let help = "GPU that sends or receives everything, by its place among the ranks.";
        knobs.push(ParamInfo::int("root", 0, super::MAX_NODES as i64, 0, help).effect(Effect::Cold));
    }
    if demand.is_none_or(|demand| !demand.collective.is_named()) {
        knobs.push(ParamInfo::float("chunk_bytes", 1e-6, 1e18, 1e6, "Size of a chunk.").unit("bytes"));
    }
    let both = "fastest_link carries one chunk in an epoch, slowest_link likewise, fixed as epoch_us says.";
    let rule = ParamInfo::choice("epoch", &EpochRule::ALL.map(|(name, _)| name), "fastest_link", both);
    let help = "Copies of chunks on the way: without them the source sends one to each destination.";
    knobs.extend([
        ParamInfo::bool("copy", true, help),
        rule,
        ParamInfo::float("epoch_us", 1e-9, 1e18, 1.0, "Length of an epoch with epoch=fixed.").unit("us"),
        ParamInfo::float("epoch_multiplier", SCALES[0], SCALES[1], 1.0, "Factor of the epoch that the rule gives."),
        ParamInfo::float("alpha_threshold", 0.0, 1e6, 0.1, "Share of an epoch up to which latencies are left out."),
        ParamInfo::bool("switch_copy", true, "If true, switches copy an incoming chunk to several ports (multicast)."),
        ParamInfo::choice(
            "switch_hop",
            &SwitchHop::ALL.map(|(name, _)| name),
            "store_and_forward",
            "When switches pass a chunk on: as soon as its first byte arrives, so that a chain of hops takes its slowest \
             transmission once (cut_through), or after its last byte (store_and_forward).",
        ),
        ParamInfo::bool("switch_reduce", false, "If true, switches reduce incoming chunks (in-network reduction)."),
        ParamInfo::text("capacities", "Rates of single links in GB/s, '0-9:25, 3-4:12.5'; the others stay."),
        ParamInfo::text("failed_links", "Failed links, such as '0-9, 3-4', or 'none'."),
        ParamInfo::text(
            "stragglers",
            "Factors of latency and of time per byte of single links, '0-9:1:2' for half the rate; 'none' for no link.",
        ),
        ParamInfo::int(
            "buffer_limit_chunks",
            0,
            1 << 30,
            0,
            "Chunks that a GPU may hold for others at a time; 0 for no limit.",
        ),
    ]);
    knobs
}

fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|entry| !entry.is_empty() && *entry != NONE)
}

fn wrong(knob: &str, entry: &str, remedy: impl Into<String>) -> Problem {
    Problem::new(knob.to_owned(), format!("has '{entry}'"), remedy)
}

fn listed(entries: impl Iterator<Item = String>) -> Option<ParamValue> {
    let all: Vec<String> = entries.take(MOST_LISTED + 1).collect();
    (all.len() <= MOST_LISTED)
        .then(|| ParamValue::Text(if all.is_empty() { NONE.to_owned() } else { all.join(",") }))
}

/// `4x4x4` as numbers.
fn size(text: &str) -> Option<Vec<u32>> {
    text.split('x').map(|number| number.trim().parse().ok()).collect()
}

impl CollectiveScenario {
    /// Knobs of the kind that cannot act on the scenario.
    pub fn idle(&self) -> Vec<Problem> {
        let mut idle = Vec::new();
        if self.family.is_none() {
            let why = "on a network that is given node by node";
            let remedy = "take a preset such as preset:ndv2x2-allgather-1gb, or edit 'topology' in the file";
            idle.extend(without_effect(["network", "network_size"], why, remedy));
        }
        if self.is_one_machine() {
            let why = "on dgx1, which is one machine";
            idle.extend(without_effect(
                ["network_size"],
                why,
                "set network to a family that has sizes first",
            ));
        }
        if self.sends_one_by_one() {
            let why = "where every chunk has one destination";
            idle.extend(without_effect(["copy"], why, "leave it out, or take all_gather or broadcast"));
        }
        let named = self.demand.collective.is_named();
        if !named {
            let why = "where chunks or tenants are listed";
            let names = ["collective", "chunks_per_rank", "output_buffer_bytes", "sizes", "root"];
            idle.extend(without_effect(names, why, "edit 'demand' in the file"));
        } else if !self.demand.collective.has_root() {
            let why = format!("on {}, where no rank is special", self.demand.collective.label());
            idle.extend(without_effect(["root"], &why, "leave it out, or take broadcast, scatter or gather"));
        }
        if named {
            let remedy = "set output_buffer_bytes";
            idle.extend(without_effect(["chunk_bytes"], "beside the size of the buffer", remedy));
        }
        if self.time.epoch == EpochRule::Fixed {
            let why = "on a fixed epoch";
            idle.extend(without_effect(["epoch_multiplier"], why, "change epoch_us"));
        } else {
            let why = format!("with epoch={}", self.time.epoch.word());
            idle.extend(without_effect(["epoch_us"], &why, "set epoch=fixed as well"));
        }
        if !self.topology.nodes.iter().any(|node| node.kind == super::NodeSort::Switch) {
            let names = ["switch_copy", "switch_hop", "switch_reduce"];
            idle.extend(without_effect(names, "without switches", "leave it out"));
        } else if !self.demand.collective.reduces() {
            let why = "where nothing is added up";
            let remedy = "leave it out, or take reduce_scatter or all_reduce";
            idle.extend(without_effect(["switch_reduce"], why, remedy));
        }
        idle
    }

    /// Returns `true` if the family of the network has one member.
    fn is_one_machine(&self) -> bool {
        self.family.as_ref().is_some_and(|family| family.network == FamilySort::Dgx1)
    }

    /// Returns `true` if every chunk has at most one destination, whether data may be copied or not.
    fn sends_one_by_one(&self) -> bool {
        let Demand { collective, chunks, ranks, .. } = &self.demand;
        match collective {
            CollectiveSort::AllToAll | CollectiveSort::Scatter | CollectiveSort::Gather => true,
            CollectiveSort::Custom => chunks.iter().all(|chunk| chunk.dests.len() < 2),
            CollectiveSort::MultiTenant => false,
            _ => match ranks {
                Some(ranks) => ranks.len() < 3,
                None => self.topology.gpus().take(3).count() < 3,
            },
        }
    }

    /// The value of a knob. `None` for unknown names, and for what no knob can express.
    pub fn get(&self, name: &str) -> Option<ParamValue> {
        let text = |text: &str| ParamValue::Text(text.to_owned());
        Some(match name {
            "network" => text(self.family.as_ref()?.network.word()),
            "network_size" => {
                let size: Vec<String> = self.family.as_ref()?.size.iter().map(u32::to_string).collect();
                ParamValue::Text(size.join("x"))
            }
            "collective" => text(self.demand.collective.word()),
            "chunks_per_rank" => ParamValue::Int(i64::from(self.demand.chunks_per_rank)),
            "output_buffer_bytes" => ParamValue::Float(self.demand.output_buffer_bytes?),
            "chunk_bytes" => ParamValue::Float(self.demand.chunk_bytes?),
            "sizes" => listed(self.demand.sizes_bytes.iter().map(u64::to_string))?,
            "root" => ParamValue::Int(i64::from(self.demand.root?)),
            "copy" => ParamValue::Bool(self.demand.copy),
            "epoch" => text(self.time.epoch.word()),
            "epoch_us" => ParamValue::Float(self.time.epoch_us?),
            "epoch_multiplier" => ParamValue::Float(self.time.epoch_multiplier),
            "alpha_threshold" => ParamValue::Float(self.time.alpha_threshold),
            "switch_copy" => ParamValue::Bool(self.topology.switch_model.copy),
            "switch_hop" => text(self.topology.switch_model.hop.word()),
            "switch_reduce" => ParamValue::Bool(self.topology.switch_model.reduce),
            "capacities" => {
                let link = |link: &super::LinkRecord| {
                    format!("{}-{}:{}", link.from, link.to, link.capacity_gbyte_per_s)
                };
                listed(self.topology.links.iter().map(link))?
            }
            "failed_links" => listed(self.failed_links.iter().map(|[from, to]| format!("{from}-{to}")))?,
            "stragglers" => {
                let slow = self
                    .topology
                    .links
                    .iter()
                    .filter(|link| link.alpha_scale != 1.0 || link.beta_scale != 1.0);
                listed(slow.map(|link| {
                    format!("{}-{}:{}:{}", link.from, link.to, link.alpha_scale, link.beta_scale)
                }))?
            }
            "buffer_limit_chunks" => ParamValue::Int(i64::from(self.buffer_limit_chunks.unwrap_or(0))),
            _ => return None,
        })
    }

    /// Changes a knob. Only the knob's own range is checked: several changes may only fit together.
    ///
    /// # Errors
    /// An unknown name or a value that is not valid.
    pub fn set(&mut self, name: &str, index: Option<usize>, value: &ParamValue) -> Result<(), Problem> {
        let all = knobs(Some(self));
        let Some(info) = all.iter().find(|info| info.name == name) else {
            let names: Vec<&str> = all.iter().map(|info| info.name.as_ref()).collect();
            let idle = self.idle().into_iter().find(|problem| problem.path == name);
            return Err(idle.unwrap_or_else(|| {
                Problem::new(name, "is not a parameter of this scenario", suggestion(name, &names))
            }));
        };
        if index.is_some() {
            return Err(Problem::new(name, "has no entries", "write it without [ ]"));
        }
        let value = info.accept(value)?;
        let text = || value.to_string();
        let whole = || value.as_i64().unwrap_or_default();
        let number = || value.as_f64().unwrap_or_default();
        let truth = || value == ParamValue::Bool(true);
        match name {
            "network" => {
                let word = text();
                if let Some((_, network)) = FamilySort::ALL.iter().find(|(name, _)| *name == word) {
                    self.rebuild(name, NetworkFamily { network: *network, size: network.usual_size() })?;
                }
            }
            "network_size" if !self.is_one_machine() => {
                let Some(family) = self.family.clone() else { return Ok(()) };
                let size = size(&text()).ok_or_else(|| wrong(name, &text(), "give '2' or '4x4x4'"))?;
                self.rebuild(name, NetworkFamily { size, ..family })?;
            }
            "collective" => {
                let word = text();
                if let Some((_, sort)) = CollectiveSort::ALL.iter().find(|(name, _)| *name == word) {
                    self.demand.collective = *sort;
                    self.demand.root = sort.has_root().then(|| self.demand.root.unwrap_or(0));
                }
            }
            "chunks_per_rank" => self.demand.chunks_per_rank = whole() as u32,
            "output_buffer_bytes" => {
                (self.demand.output_buffer_bytes, self.demand.chunk_bytes) = (Some(number()), None);
            }
            "chunk_bytes" => self.demand.chunk_bytes = Some(number()),
            "sizes" => {
                let remedy = "give '1e3..1e9', '1000,64000' in whole bytes, or 'none'";
                self.demand.sizes_bytes =
                    sizes::parse(&text()).ok_or_else(|| wrong(name, &text(), remedy))?;
            }
            "root" if self.demand.collective.has_root() => self.demand.root = Some(whole() as u32),
            "copy" if !self.sends_one_by_one() => self.demand.copy = truth(),
            "epoch" => {
                let word = text();
                if let Some((_, rule)) = EpochRule::ALL.iter().find(|(name, _)| *name == word) {
                    self.time.epoch = *rule;
                    // A fixed epoch has a length and no factor, the others the other way round.
                    if *rule == EpochRule::Fixed {
                        self.time.epoch_us = Some(self.time.epoch_us.unwrap_or(1.0));
                        self.time.epoch_multiplier = 1.0;
                    } else {
                        self.time.epoch_us = None;
                    }
                }
            }
            "epoch_us" if self.time.epoch == EpochRule::Fixed => self.time.epoch_us = Some(number()),
            "epoch_multiplier" if self.time.epoch != EpochRule::Fixed => {
                self.time.epoch_multiplier = number();
            }
            "alpha_threshold" => self.time.alpha_threshold = number(),
            "switch_copy" => self.topology.switch_model.copy = truth(),
            "switch_hop" => {
                let word = text();
                if let Some((_, hop)) = SwitchHop::ALL.iter().find(|(name, _)| *name == word) {
                    self.topology.switch_model.hop = *hop;
                }
            }
            "switch_reduce" => self.topology.switch_model.reduce = truth(),
            "capacities" => self.set_links(name, &text(), |link, numbers| match numbers {
                [rate] if (RATES[0]..=RATES[1]).contains(rate) => {
                    link.capacity_gbyte_per_s = *rate;
                    true
                }
                _ => false,
            })?,
            "stragglers" => {
                for link in &mut self.topology.links {
                    (link.alpha_scale, link.beta_scale) = (1.0, 1.0);
                }
                self.set_links(name, &text(), |link, numbers| match numbers {
                    [alpha, beta]
                        if (0.0..=SCALES[1]).contains(alpha) && (SCALES[0]..=SCALES[1]).contains(beta) =>
                    {
                        (link.alpha_scale, link.beta_scale) = (*alpha, *beta);
                        true
                    }
                    _ => false,
                })?;
            }
            "failed_links" => {
                let text = text();
                let links = entries(&text).map(|entry| {
                    ends(entry).ok_or_else(|| wrong(name, entry, "give from-to, such as '0-9', or 'none'"))
                });
                self.failed_links = links.collect::<Result<_, _>>()?;
            }
            "buffer_limit_chunks" => {
                self.buffer_limit_chunks = Some(whole() as u32).filter(|limit| *limit > 0);
            }
            _ => {
                let idle = self.idle().into_iter().find(|problem| problem.path == name);
                return Err(idle.unwrap_or_else(|| Problem::new(name, "has no effect here", "leave it out")));
            }
        }
        Ok(())
    }

    /// Another member of a family. Links that were changed by hand would be lost, so it refuses then.
    fn rebuild(&mut self, knob: &str, family: NetworkFamily) -> Result<(), Problem> {
        let model = self.topology.switch_model;
        if let Some(before) = &self.family {
            let usual = before.topology()?;
            if usual.links != self.topology.links || !self.failed_links.is_empty() {
                return Err(Problem::new(
                    knob,
                    "would rebuild the network and discard your changes to single links",
                    "set it first and the links after it, or start from the preset again",
                ));
            }
            self.topology = family.topology()?;
            if usual.switch_model != model {
                self.topology.switch_model = model;
            }
        }
        self.family = Some(family);
        Ok(())
    }

    /// Changes links as `FROM-TO:NUMBER:…` says, and drops the symmetries that do not hold any more.
    fn set_links(
        &mut self,
        knob: &str,
        text: &str,
        change: impl Fn(&mut super::LinkRecord, &[f64]) -> bool,
    ) -> Result<(), Problem> {
        let remedy = match knob {
            "capacities" => "give from-to:rate of a link, such as '0-9:25'",
            _ => "give from-to:alpha:beta of a link, such as '0-9:1:2', or 'none'",
        };
        for entry in entries(text) {
            let (pair, numbers) = entry.split_once(':').ok_or_else(|| wrong(knob, entry, remedy))?;
            let numbers: Option<Vec<f64>> =
                numbers.split(':').map(|number| number.trim().parse().ok()).collect();
            let link = ends(pair).and_then(|[from, to]| {
                self.topology.links.iter_mut().find(|link| (link.from, link.to) == (from, to))
            });
            let changed = link.zip(numbers).is_some_and(|(link, numbers)| change(link, &numbers));
            if !changed {
                return Err(wrong(knob, entry, remedy));
            }
        }
        let bare = super::Topology { symmetry_generators: Vec::new(), ..self.topology.clone() };
        if let Ok(network) = LinkNetwork::of(&bare) {
            self.topology.symmetry_generators.retain(|generator| network.symmetry(generator).is_ok());
        }
        Ok(())
    }
}

fn ends(pair: &str) -> Option<[u32; 2]> {
    let (from, to) = pair.split_once('-')?;
    Some([from.trim().parse().ok()?, to.trim().parse().ok()?])
}
