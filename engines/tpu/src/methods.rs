//! The methods of kind `tpu`, one file each, and what they share.

mod baseline;
mod evaluate;
mod fast;
pub mod finish;
mod random;

use crate::kind::Tpu;
use lightbay_core::method::Method;
use std::sync::Arc;

/// All methods, in the order in which they are listed.
pub fn all() -> Vec<Arc<dyn Method<Tpu>>> {
    vec![
        Arc::new(fast::Fast),
        Arc::new(random::Random),
        Arc::new(baseline::Baseline { twisted: false }),
        Arc::new(baseline::Baseline { twisted: true }),
        Arc::new(evaluate::Evaluate),
    ]
}
