//! The topology and the DAG as graphs for other programs.

use super::facts::{Facts, link_word, task_word};
use crate::analysis::TaskFacts;
use lightbay_core::param::ParamInfo;
use lightbay_core::quantity;
use lightbay_formats::graph::{Attribute, Graph, Sort, Value};

/// Value of the parameter that selects the reduced DAG.
pub(super) const DAG: &str = "dag";
/// Value of the parameter that selects the graph of pods and circuits.
const TOPOLOGY: &str = "topology";

/// Returns the parameter that selects the graph to write.
pub(super) fn what() -> ParamInfo {
    ParamInfo::choice(
        "what",
        &[TOPOLOGY, DAG],
        TOPOLOGY,
        "Graph to write: pods and circuits, or tasks and their dependencies.",
    )
}

/// Attributes under construction, filled node by node or edge by edge.
struct Columns {
    attributes: Vec<Attribute>,
}

impl Columns {
    fn new(of: &[(&'static str, Sort)]) -> Self {
        Self { attributes: of.iter().map(|&(name, sort)| Attribute { name, sort }).collect() }
    }

    fn also(mut self, wanted: bool, of: &[(&'static str, Sort)]) -> Self {
        if wanted {
            self.attributes.extend(Self::new(of).attributes);
        }
        self
    }
}

/// Attributes of nodes for Graphviz, in addition to their labels.
const NODE_LOOK: [(&str, Sort); 2] = [("shape", Sort::Text), ("style", Sort::Text)];
const EDGE_LOOK: [(&str, Sort); 2] = [("penwidth", Sort::Float), ("style", Sort::Text)];

/// Builds a node for each pod, and an edge for each pair of pods that may get circuits. If `drawn` is false, the file
/// only carries figures, and the nodes and edges have no attributes for Graphviz.
pub(super) fn topology(facts: &Facts, drawn: bool) -> Graph {
    let instance = facts.instance();
    let explained = facts.explained();
    let free = explained.map(|plan| facts.network().budget.free(&plan.analysis.circuits));
    let nodes = instance.pods.iter().enumerate().map(|(index, pod)| {
        let used = free.as_ref().map(|free| if pod.mirror { 0 } else { i64::from(pod.ports) - free[index] });
        let name = facts.pod(index);
        let label = match used {
            _ if pod.mirror => name.to_owned(),
            Some(used) => format!("{name}\n{used} of {} ports", pod.ports),
            None => format!("{name}\n{} ports", pod.ports),
        };
        let mut values: Vec<Value> = vec![
            if drawn { label } else { name.to_owned() }.into(),
            pod.ports.into(),
            i64::from(pod.mirror).into(),
        ];
        values.extend(used.map(Value::Int));
        if drawn {
            values.push("box".into());
            values.push(if pod.mirror { "dashed" } else { "solid" }.into());
        }
        values
    });
    let nic_gbps = instance.nic_bandwidth_gbps;
    let edges = instance.links.iter().enumerate().map(|(index, link)| {
        let known = explained.map(|plan| &plan.analysis.links[index]);
        let bytes = [2 * index, 2 * index + 1].map(|direction| facts.carried_bytes(direction));
        let mut values: Vec<Value> = vec![link_word(link.kind).into(), bytes[0].into(), bytes[1].into()];
        if let Some(known) = known {
            let capacity_gbps = f64::from(known.circuits) * nic_gbps;
            values.extend([known.circuits.into(), capacity_gbps.into(), known.busy.into()]);
        }
        if drawn {
            let label = known.map_or_else(
                || format!("{:.2} GB", bytes.iter().sum::<i64>() as f64 / 1e9),
                |known| format!("{} × {} Gb/s", known.circuits, quantity::number(nic_gbps)),
            );
            let width = known.map_or(1.0, |known| 1.0 + 0.5 * f64::from(known.circuits.min(16)));
            let style = if known.is_some() { "solid" } else { "dotted" };
            values.extend([label.into(), width.into(), style.into()]);
        }
        (link.pod_a.0, link.pod_b.0, values)
    });
    let planned = explained.is_some();
    Graph {
        name: facts.name.clone(),
        directed: false,
        node_attributes: Columns::new(&[("label", Sort::Text), ("ports", Sort::Int), ("mirror", Sort::Int)])
            .also(planned, &[("ports_used", Sort::Int)])
            .also(drawn, &NODE_LOOK)
            .attributes,
        edge_attributes: Columns::new(&[
            ("kind", Sort::Text),
            ("bytes_ab", Sort::Int),
            ("bytes_ba", Sort::Int),
        ])
        .also(
            planned,
            &[("circuits", Sort::Int), ("capacity_gbps", Sort::Float), ("busy_share", Sort::Float)],
        )
        .also(drawn, &[("label", Sort::Text)])
        .also(drawn, &EDGE_LOOK)
        .attributes,
        nodes: nodes.collect(),
        edges: edges.collect(),
        drawing: vec![("rankdir", "LR"), ("nodesep", "0.5")],
    }
}

/// Builds a node for each task, and an edge for each dependency between tasks. If there is a plan, the nodes also have
/// its times; if the graph is drawn, the critical path is bold.
pub(super) fn dag(facts: &Facts, drawn: bool) -> Graph {
    let network = facts.network();
    let explained = facts.explained();
    let nodes = facts.instance().tasks.iter().enumerate().map(|(index, task)| {
        let known = explained.map(|plan| &plan.analysis.tasks[index]);
        let [src, dst] = [task.src_pod, task.dst_pod].map(|pod| facts.pod(pod.index()));
        let label = if drawn {
            let time_s = known.map_or(network.tau[index], TaskFacts::takes_s);
            format!("{}\n{src} → {dst}\n{} ms", task.name, quantity::number((time_s * 1e6).round() / 1e3))
        } else {
            task.name.clone()
        };
        let mut values: Vec<Value> = vec![
            label.into(),
            task_word(task.kind).into(),
            task.micro_batch.into(),
            task.stage.into(),
            src.into(),
            dst.into(),
            task.flows.into(),
            facts.bytes(index).into(),
            network.tau[index].into(),
        ];
        if let Some(known) = known {
            let critical = i64::from(known.critical);
            values.extend([
                known.start_s.into(),
                known.finish_s.into(),
                known.slack_s.into(),
                critical.into(),
            ]);
        }
        if drawn {
            values.push("box".into());
            values.push(if known.is_some_and(|known| known.critical) { "bold" } else { "solid" }.into());
        }
        values
    });
    let edges = facts.instance().edges.iter().map(|edge| {
        let mut values: Vec<Value> = vec![edge.delay_s.into()];
        let tight = explained.map(|plan| {
            let [before, after] = [edge.pred, edge.succ].map(|task| &plan.analysis.tasks[task.index()]);
            before.critical && after.critical && before.finish_s + edge.delay_s >= after.start_s - TIGHT_S
        });
        if drawn {
            values.push(if tight == Some(true) { 3.0 } else { 1.0 }.into());
            values.push("solid".into());
        }
        (edge.pred.0, edge.succ.0, values)
    });
    let (int, text, float) = (Sort::Int, Sort::Text, Sort::Float);
    Graph {
        name: facts.name.clone(),
        directed: true,
        node_attributes: Columns::new(&[
            ("label", text),
            ("kind", text),
            ("micro_batch", int),
            ("stage", int),
            ("src", text),
            ("dst", text),
            ("flows", int),
            ("bytes", int),
            ("least_s", float),
        ])
        .also(
            explained.is_some(),
            &[("start_s", float), ("finish_s", float), ("slack_s", float), ("critical", int)],
        )
        .also(drawn, &NODE_LOOK)
        .attributes,
        edge_attributes: Columns::new(&[("delay_s", float)]).also(drawn, &EDGE_LOOK).attributes,
        nodes: nodes.collect(),
        edges: edges.collect(),
        drawing: vec![("rankdir", "LR"), ("ranksep", "0.3"), ("nodesep", "0.15")],
    }
}

/// A task counts as delayed by a predecessor if it starts at most this long after the predecessor allows, seconds.
const TIGHT_S: f64 = 1e-7;
