//! Searches for pods and networks of large throughput.
//!
//! | module | content |
//! |---|---|
//! | [`anneal`] | annealing of pods with and without symmetry (docs/methods/tpu-search.md, section 5) |
//! | [`radix4`] | directed networks of degree 4 |

pub mod anneal;
pub mod radix4;
