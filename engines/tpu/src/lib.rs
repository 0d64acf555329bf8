//! TONS: topologies, deadlock-free routes, virtual channels and faults of TPU v4/v5p pods.
//!
//! | room | what |
//! |---|---|
//! | [`pod`] | chips, ports, arcs, links and switches of one cube: the numbering of all files |
//! | [`group`], [`topology`] | what the switches are set to; symmetric pods as voltage graphs |
//! | [`metrics`] | distances and what bounds the throughput |
//! | [`scenario`], [`presets`] | the input |
//! | [`plan`] | the result: topology, claims, certificates, routes, faults |
//! | [`baselines`] | the tori that designs are measured against |
//! | [`analysis`] | figures for people: yardsticks of a size, loads behind a routing |
//! | `report` | scenarios and plans explained as sections |
//! | [`assemble`] | from parts to what plans hold, and back |
//! | [`check`] | the independent checker |
//! | [`kind`] | all of it behind the contract of the core |
//! | [`routing`] | allowed turns, routes, virtual channels |
//! | [`dor`] | dimension-order routes of tori |
//! | [`faults`] | what remains if a switch fails |
//! | [`mcf`] | what a pod carries: the maximum concurrent flow between two certificates |
//! | [`collectives`] | schedules of collectives, and what they reach of the bounds |
//! | [`exports`] | plans for other programs |
//! | [`simulator`] | flits on the routes, cycle by cycle: saturation and latency |
//! | [`methods`] | what can be asked for by name |
//! | [`model`] | the optimisation model over circuits and flows, and its relaxation |
//! | [`radix4`] | directed networks of degree 4, and what they carry |
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking"))]

pub mod analysis;
pub mod anneal;
pub mod assemble;
pub mod baselines;
pub mod check;
pub mod collectives;
pub mod dor;
pub mod exports;
pub mod faults;
pub mod group;
pub mod kind;
pub mod mcf;
pub mod methods;
pub mod metrics;
pub mod model;
pub mod plan;
pub mod pod;
pub mod presets;
pub mod radix4;
mod report;
pub mod routing;
pub mod scenario;
pub mod simulator;
pub mod topology;

pub use kind::Tpu;
pub use plan::TpuResult;
pub use scenario::TpuScenario;
