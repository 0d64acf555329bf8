//! Files of plans for other programs.
//!
//! | module | content |
//! |---|---|
//! | [`exports`] | routes, circuits, graphs and schedules in the formats of other programs |

pub mod exports;
