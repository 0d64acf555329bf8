//! Limits on the size of a scenario. They are checked before any graph is built.

/// Maximum number of inter-pod tasks of an instance; their order relation takes a bit per pair.
pub const MAX_TASKS: u64 = 20_000;
/// Maximum number of edges between the tasks of an instance.
pub const MAX_EDGES: usize = 2_000_000;
/// Maximum number of nodes of a full graph.
pub const MAX_NODES: u64 = 1_000_000;
/// Maximum number of GPUs of a job.
pub const MAX_GPUS: u32 = 1 << 24;
/// Maximum number of GPUs that run one stage.
pub const MAX_GPUS_PER_STAGE: u64 = 1 << 16;
/// Maximum number of ports of a pod.
pub const MAX_PORTS: u32 = 1_000_000;
/// Largest size in a model.
pub const MAX_SIZE: u32 = 1 << 26;
/// Maximum number of layers of a model.
pub const MAX_LAYERS: u32 = 1 << 16;
/// Maximum time in a file, seconds.
pub const MAX_SECONDS: f64 = 1e9;
/// Largest volume in a file, bytes.
pub const MAX_BYTES: f64 = 1e18;
/// Minimum volume of a transfer, bytes; smaller volumes are below the tolerance of the checker.
pub const MIN_BYTES: f64 = 1.0;
/// Minimum length of an iteration of an instance, seconds: index windows treat events within 1e-9 s as simultaneous.
pub const MIN_ITERATION_S: f64 = 1e-8;
/// Largest size of an activation value between stages, bytes.
pub const MAX_ACT_BYTES: f64 = 16.0;
/// Smallest bandwidth, Gb/s.
pub const MIN_GBPS: f64 = 0.001;
/// Largest bandwidth, Gb/s.
pub const MAX_GBPS: f64 = 1e6;
