//! Jobs from files of other tools, plans for other programs and for other kinds.
//!
//! | module | what |
//! |---|---|
//! | [`import`] | AICB and SimAI workloads as jobs |
//! | `exports` | scenarios and plans for people and other programs |
//! | [`handover`] | plans as neutral records |

pub(crate) mod exports;
pub mod handover;
pub mod import;
