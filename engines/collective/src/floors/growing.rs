//! Lower bounds with latencies from weighted sums of growing cuts (docs/methods/collective-floors.md).
//!
//! A growing cut is a set of nodes to which each node belongs from some time on: the source from the start, the target
//! only at the end. Data of the source leaves the set on some link `u -> v` after `u` has joined the set and before `v`
//! joins it. So all data of the source crosses the links of the cut in these windows of time. If several cuts, with
//! weights, need more capacity in their windows than the links have, no schedule completes in that time.
//!
//! | module | content |
//! |---|---|
//! | [`question`] | the data to spread, and orbits of pairs of source and link |
//! | [`proven`] | the longest time that a weighted sum of cuts excludes |
//! | [`separate`] | cuts that a fractional spread of the data violates, from flows over time |
//! | [`program`] | weights of cuts, from an LP model whose columns are cuts |
//! | [`search`] | the search for the largest bound |

pub mod program;
pub mod proven;
pub mod question;
pub mod search;
pub mod separate;

#[cfg(test)]
mod tests;
