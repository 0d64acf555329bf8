//! Plans for other programs.
//!
//! | module | what |
//! |---|---|
//! | [`exports`] | routes, circuits, graphs and schedules in the formats of other programs |

pub mod exports;
