//! The methods of kind `crossconnect`, one file each, and what they share.

mod all_to_all;

use crate::kind::Crossconnect;
use lightbay_core::method::Method;
use std::sync::Arc;

/// All methods, in the order in which they are listed.
pub fn all() -> Vec<Arc<dyn Method<Crossconnect>>> {
    vec![Arc::new(all_to_all::AllToAll)]
}
