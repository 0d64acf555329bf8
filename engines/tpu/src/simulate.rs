//! A flit-level simulator of a routed pod (after TONS, section 6.1 "Simulation of Networks"): wormhole switching, virtual
//! channels with escape labels, credits, and the offered rate at which the network saturates.
//!
//! | item | content |
//! |---|---|
//! | [`SimulatedPod`] | a pod with routes and settings, prepared once and shared by all runs |
//! | [`Simulator`] | the state of one run with ideal allocators, cycle by cycle |
//! | [`CrossbarSimulator`] | the state of one run with input-queued routers and their allocators |
//! | [`measure`] | one run at one offered rate: warm-up, window, figures |
//! | [`simulate`] | the saturation point and the curve from many runs, in parallel |
//!
//! # Model with ideal allocators
//! Every cycle, in this order: packets are generated (Bernoulli; more than one per cycle and node is possible) and join
//! the source queue of their first port; flits whose route has ended leave the network when they have arrived; every
//! output link sends at most one flit, chosen by rotating priority among the heads of the input buffers and the source
//! queue of the port, at most one flit per input port and cycle. A flit needs a free slot downstream, where flits on
//! the link count as present. It uses the emptier of the free lanes, or the lane of its planned label if these have no
//! space.
//!
//! # Why it cannot deadlock
//! The labels of a route increase in one order of all channels. The highest occupied escape lane can always drain; by
//! induction, all others can drain too, regardless of the free lanes in between. Packets of several flits need one more
//! rule: a head enters a free lane only if the whole packet fits, or the lane is empty. Otherwise a packet could hold
//! an escape lane while its head waits behind another packet that needs a lower one.

mod allocator;
mod crossbar;
mod engine;
mod network;
mod search;
mod traffic;
mod wheel;

pub use crossbar::CrossbarSimulator;
pub use engine::{Counts, Simulator};
pub use network::SimulatedPod;
pub use search::{Point, SaturationSearch, measure, simulate};

#[cfg(test)]
mod tests;
