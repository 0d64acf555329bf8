//! The explicit form of a training scenario: pods, links, inter-pod tasks and the edges between them.
//!
//! Every algorithm of the crate works on this form. A `job` is converted to this form (reduced DAG, replicas
//! collapsed); a file may also contain an instance directly. All ids are dense and 0-based; the order in the file is
//! the order of the ids.

use super::reconfiguration::Reconfiguration;
use lightbay_core::units::{LinkId, PodId, TaskId};
use schemars::JsonSchema;
use serde::Serialize;

/// Pods, links, tasks and edges of one training iteration.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Instance {
    /// Rate B of one NIC and of one circuit per direction, Gb/s.
    pub nic_bandwidth_gbps: f64,
    /// All pods, mirrors included.
    pub pods: Vec<Pod>,
    /// Pod pairs that may get circuits.
    pub links: Vec<Link>,
    /// Inter-pod transfers.
    pub tasks: Vec<Task>,
    /// Precedence with fixed delays.
    pub edges: Vec<Edge>,
    /// Origin of the instance; never read by the solvers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<InstanceProvenance>,
    /// Rules for changing circuits within an iteration; if omitted, circuits are static.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reconfiguration: Option<Reconfiguration>,
}

/// A pod and its optical port budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Pod {
    /// Dense id of the pod.
    pub id: PodId,
    /// Display name.
    pub name: String,
    /// Optical ports; ignored for mirrors.
    pub ports: u32,
    /// A mirror represents ring neighbours of a collapsed replica and has no port limit.
    pub mirror: bool,
}

/// Kind of transfers on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// Pipeline-parallel transfers.
    Pp,
    /// Data-parallel transfers.
    Dp,
    /// Pipeline-parallel and data-parallel transfers.
    Mixed,
}

/// An unordered pod pair that may get circuits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Link {
    /// Dense id of the link.
    pub id: LinkId,
    /// One pod of the link.
    pub pod_a: PodId,
    /// The other pod of the link.
    pub pod_b: PodId,
    /// Kind of the transfers on the link.
    pub kind: LinkKind,
    /// Ports that one circuit needs in `pod_a`.
    pub ports_a: u32,
    /// Ports that one circuit needs in `pod_b`.
    pub ports_b: u32,
}

/// Kind of transfer of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// Activations to the next stage.
    PpFwd,
    /// Gradients to the previous stage.
    PpBwd,
    /// Gradient and weight exchange between replicas.
    Dp,
    /// Anything else.
    Other,
}

/// The GPUs at one end of a task, one per flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GpuSet {
    /// `count` consecutive ids from `first`, as generated from a job.
    Range {
        /// First id of the range.
        first: u32,
        /// Number of ids.
        count: u32,
    },
    /// Explicit ids in flow order, as in a file.
    List(Vec<u32>),
}

impl GpuSet {
    /// Returns the number of GPUs; repeated GPUs are counted each time.
    pub fn len(&self) -> usize {
        match self {
            Self::Range { count, .. } => *count as usize,
            Self::List(ids) => ids.len(),
        }
    }

    /// Returns `true` if the set has no GPU.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The ids in flow order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let (range, list): (std::ops::Range<u32>, &[u32]) = match self {
            Self::Range { first, count } => (*first..first.saturating_add(*count), &[]),
            Self::List(ids) => (0..0, ids),
        };
        range.chain(list.iter().copied())
    }
}

impl Serialize for GpuSet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl JsonSchema for GpuSet {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "GpuSet".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Vec::<u32>::json_schema(generator)
    }
}

/// An aggregated inter-pod transfer: F equal flows with V bytes in total.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Task {
    /// Dense id of the task.
    pub id: TaskId,
    /// Display name, such as `F3 s2>s3`.
    pub name: String,
    /// Kind of transfer.
    pub kind: TaskKind,
    /// Micro-batch, 1-based; 0 = none.
    pub micro_batch: u32,
    /// Stage, 1-based.
    pub stage: u32,
    /// Replica, 0-based.
    pub replica: u32,
    /// Sending pod.
    pub src_pod: PodId,
    /// Receiving pod.
    pub dst_pod: PodId,
    /// F, the number of flows; each runs at no more than one NIC.
    pub flows: u32,
    /// V, bytes of all flows together.
    pub volume_bytes: f64,
    /// Sending GPU of each flow.
    pub src_gpus: GpuSet,
    /// Receiving GPU of each flow.
    pub dst_gpus: GpuSet,
    /// Earliest start.
    pub release_s: f64,
    /// Work that follows the task and ends the iteration.
    pub tail_s: f64,
}

/// `succ` may start no earlier than `delay_s` after `pred` has finished.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Edge {
    /// The earlier task.
    pub pred: TaskId,
    /// The later task.
    pub succ: TaskId,
    /// Fixed work between the two tasks that stays inside a pod.
    pub delay_s: f64,
}

/// Origin of an instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct InstanceProvenance {
    /// The job from which the instance was built, as written in a scenario file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<serde_json::Value>,
    /// Nodes of the full DAG before reduction.
    pub full_dag_nodes: u64,
    /// `true` if replicas are collapsed onto one replica with mirror pods.
    pub collapsed: bool,
    /// Number of replicas that the instance represents.
    pub replicas: u32,
    /// The edges are complete up to this bandwidth; above this bandwidth, edges that the reduction has omitted could
    /// bind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edges_valid_up_to_gbps: Option<f64>,
    /// Duration of an iteration without inter-pod tasks; only present if there are no inter-pod tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute_s: Option<f64>,
}
