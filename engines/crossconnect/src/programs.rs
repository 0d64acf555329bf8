//! Integer and linear programs over all switches.
//!
//! | module | what |
//! |---|---|
//! | [`exact`] | circuits of every switch as one integer program |
//! | [`bound`] | removed circuits that no plan can avoid, by column generation |

pub mod bound;
pub mod exact;
