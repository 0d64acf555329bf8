//! Searches for circuits, rates and ports. Sections 9 and 10 are in docs/methods/training-exact.md, the others in
//! docs/methods/training-search.md.
//!
//! | module | what |
//! |---|---|
//! | [`circuits`] | circuits with their makespan and ports |
//! | [`baselines`] | circuits from the traffic matrix alone (section 6) |
//! | [`repair`] | circuit allocations made to fit the ports (DELTA Alg. 5, 6; section 6) |
//! | `carry` | circuits of one plan on another scenario |
//! | [`polish`] | coordinate search around one allocation (section 6) |
//! | `reoptimise` | the best circuits for given ports, starting from a known plan |
//! | [`ga`] | genetic search (DELTA Alg. 3; section 6) |
//! | [`allocations`] | enumeration, or branch and bound over boxes, of circuit allocations (section 7) |
//! | [`order`] | better schedules for given circuits, by the order of events (section 9) |
//! | [`event_orders`] | branch and bound over event orders, where more than last transfers compete (section 10) |
//! | [`phases`] | circuits that change within an iteration (docs/methods/reconfiguration-search.md) |
//! | [`robust`] | circuits for the worst of several configurations (section 12) |
//! | [`ports`] | the fewest ports that keep the makespan (section 12) |
//! | [`reallocate`] | ports that move between several jobs (section 12) |
//! | `frontier` | open boxes of a best-first search |

pub mod allocations;
pub mod baselines;
pub(crate) mod carry;
pub mod circuits;
pub mod event_orders;
mod frontier;
pub mod ga;
pub mod order;
pub mod phases;
pub mod polish;
pub mod ports;
pub mod reallocate;
pub(crate) mod reoptimise;
pub mod repair;
pub mod robust;
