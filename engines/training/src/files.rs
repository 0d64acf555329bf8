//! Jobs from files of other tools, and plans for other kinds.
//!
//! | module | what |
//! |---|---|
//! | [`import`] | AICB and SimAI workloads as jobs |
//! | [`handover`] | plans as neutral records |

pub mod handover;
pub mod import;
