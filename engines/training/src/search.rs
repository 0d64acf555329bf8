//! Searches for circuits, rates and ports. Sections are those of docs/methods/training.md.
//!
//! | module | what |
//! |---|---|
//! | [`circuits`] | circuits that are found and handed over |
//! | [`baselines`] | circuits from the traffic matrix alone (section 6) |
//! | [`repair`] | circuit vectors made to fit the ports (DELTA Alg. 5, 6; section 6) |
//! | `carry` | circuits of one plan on another scenario |
//! | [`polish`] | coordinate search around one vector (section 6) |
//! | `known` | the best circuits for given ports, from a plan that is known |
//! | [`ga`] | genetic search (DELTA Alg. 3; section 6) |
//! | [`outer`] | all vectors or boxes of them, with a proof (section 7) |
//! | [`order`] | better schedules for given circuits, by the order of events (section 9) |
//! | [`general`] | bounds and proofs where more than last transfers compete (section 10) |
//! | [`worst`] | circuits for several configurations at once (section 12) |
//! | [`ports`] | the fewest ports that keep the makespan (section 12) |
//! | [`reallocate`] | ports passed between several jobs (section 12) |
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
pub mod phases;
pub mod polish;
pub mod ports;
pub mod reallocate;
pub mod repair;
pub mod worst;
