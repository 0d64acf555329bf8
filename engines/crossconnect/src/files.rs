//! Installed state from switches, and commands for them.
//!
//! | module | content |
//! |---|---|
//! | [`devices`] | the devices of the switches, and the numbers of their ports |
//! | [`exports`] | commands and tables for the controllers of switches |
//! | [`import`] | import of the installed state from replies of switches |
//! | [`handover`] | scenarios from the circuits of other plans |

pub mod devices;
pub mod exports;
pub mod handover;
pub mod import;
