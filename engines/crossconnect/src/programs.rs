//! Integer and linear programs over all switches.
//!
//! | module | content |
//! |---|---|
//! | [`exact`] | circuits of every switch, as one integer program |
//! | [`bound`] | lower bound on the removed circuits, by column generation |

pub mod bound;
pub mod exact;
