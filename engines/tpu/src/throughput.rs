//! All-to-all throughput of a pod, and bounds on it.
//!
//! | module | what |
//! |---|---|
//! | [`metrics`] | distances, and what they bound |
//! | [`mcf`] | the maximum concurrent flow between two certificates |

pub mod mcf;
pub mod metrics;
