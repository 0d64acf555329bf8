//! TONS: topologies, deadlock-free routes, virtual channels and faults of TPU v4/v5p pods.
//!
//! | room | what |
//! |---|---|
//! | [`pod`] | chips, ports, arcs, links and switches of one cube: the numbering of all files |
//! | [`group`], [`topology`] | what the switches are set to; symmetric pods as voltage graphs |
//! | [`metrics`] | distances and what bounds the throughput |
//! | [`scenario`] | the input |
//! | [`plan`] | the result: topology, claims, certificates, routes, faults |
//! | [`watch`] | the connection of long work to its run |
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking"))]

pub mod group;
pub mod metrics;
pub mod plan;
pub mod pod;
pub mod scenario;
pub mod topology;
pub mod watch;
