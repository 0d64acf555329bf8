//! The network with exact capacities, and what follows from it.
//!
//! | module | what |
//! |---|---|
//! | [`rational`] | exact fractions |
//! | [`network`] | nodes and links with capacities, and the symmetries of both |

pub mod network;
pub mod rational;
