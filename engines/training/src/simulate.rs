//! Makespans and schedules of given circuits (docs/methods/training.md, sections 4 and 5).
//!
//! | module | what |
//! |---|---|
//! | [`iteration`] | one iteration, event by event: ideal, max-min fair, level-first |
//! | [`tail`] | transfers that share a link and have no successors: when the last one ends |
//! | [`evaluate`] | makespan of a circuit vector, by the cheapest exact way |
//! | [`schedule`] | a simulated run as the result that a plan carries |
//! | [`replicas`] | a plan of one replica copied onto all of them |
//! | [`windows`] | earliest and latest times of tasks (DELTA Alg. 4), and of interval indices (Alg. 1) |
//! | [`contention`] | tasks that can ever compete |
//! | [`critical_path`] | the chain of tasks that dictates the makespan |

pub mod contention;
pub mod critical_path;
pub mod evaluate;
pub mod iteration;
pub mod replicas;
pub mod schedule;
pub mod tail;
pub mod windows;
