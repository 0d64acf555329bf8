//! Searches for circuits, rates and ports.
//!
//! | module | what |
//! |---|---|
//! | [`circuits`] | circuits that are found and handed over |
//! | [`baselines`] | circuits from the traffic matrix alone |
//! | [`repair`] | circuit vectors made to fit the ports (DELTA Alg. 5, 6) |
//! | `carry` | circuits of one plan on another scenario |
//! | [`polish`] | coordinate search around one vector |
//! | `known` | the best circuits for given ports, from a plan that is known |
//! | [`ga`] | genetic search (DELTA Alg. 3) |
//! | [`outer`] | all vectors or boxes of them, with a proof |
//! | [`order`] | better schedules for given circuits, by the order of events |
//! | [`general`] | bounds and proofs where more than last transfers compete |
//! | [`worst`] | circuits for several configurations at once |
//! | [`ports`] | the fewest ports that keep the makespan |
//! | [`reallocate`] | ports passed between several jobs |
//! | `frontier` | open boxes of a best-first search |

pub mod baselines;
pub(crate) mod carry;
pub mod circuits;
mod frontier;
pub mod ga;
pub mod general;
pub(crate) mod known;
pub mod order;
pub mod outer;
pub mod polish;
pub mod ports;
pub mod reallocate;
pub mod repair;
pub mod worst;
