//! All-to-all throughput of a pod, and bounds on it.
//!
//! | module | content |
//! |---|---|
//! | [`metrics`] | distances, and the bounds that follow from them |
//! | [`mcf`] | the maximum concurrent flow between two certificates |

pub mod mcf;
pub mod metrics;
