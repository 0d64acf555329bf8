//! Installed state from switches, and commands for them.
//!
//! | module | what |
//! |---|---|
//! | [`devices`] | the boxes behind the switches, and how their ports are numbered |
//! | [`exports`] | commands and tables for the controllers of switches |
//! | [`import`] | installed state from what switches answer |
//! | [`handover`] | from the circuits of another plan to a scenario |

pub mod devices;
pub mod exports;
pub mod handover;
pub mod import;
