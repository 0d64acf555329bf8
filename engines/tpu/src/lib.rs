//! TONS: topologies, deadlock-free routes, virtual channels and faults of TPU v4/v5p pods.
//!
//! | module | content |
//! |---|---|
//! | [`scenario`] | the input: size, topology and routing of a pod, presets |
//! | [`plan`] | the result: topology, claims, certificates, routes, faults |
//! | [`model`] | pods as groups of cubes, and the links between their chips |
//! | [`throughput`] | all-to-all throughput of a pod, and bounds on it |
//! | [`routing`] | allowed turns, routes, virtual channels, failed switches |
//! | [`simulate`] | flits on the routes, cycle by cycle: saturation and latency |
//! | [`collectives`] | schedules of collectives, compared with their bounds |
//! | [`programs`] | the optimisation model over circuits and flows, and its relaxation |
//! | [`search`] | searches for pods and networks of large throughput |
//! | [`analysis`] | figures for display: reference values of a size, loads of a routing |
//! | `report` | scenarios and plans as sections |
//! | [`check`] | the independent checker |
//! | [`files`] | plans for other programs |
//! | [`methods`] | the methods by name |
//! | [`series`] | names of the series that running methods report |
//! | [`kind`] | the implementation of the traits of the core |
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking"))]

pub mod analysis;
pub mod check;
pub mod collectives;
pub mod files;
pub mod kind;
pub mod methods;
pub mod model;
pub mod plan;
pub mod programs;
pub mod report;
pub mod routing;
pub mod scenario;
pub mod search;
pub mod series;
pub mod simulate;
pub mod throughput;

pub use plan::TpuResult;
pub use scenario::TpuScenario;

/// Topologies, routes and faults of TPU pods (TONS).
#[derive(Debug)]
pub struct Tpu;
