//! Integer and linear programs, solved by HiGHS. Sections are those of docs/methods/collective.md.
//!
//! | module | what |
//! |---|---|
//! | [`solver`] | who solves a program, and how it ended |
//! | [`copying`] | whole chunks that are copied on the way |
//! | [`fluid`] | parts of chunks that are not copied |
//! | [`questions`] | the fewest epochs, by a sequence of feasibility problems |
//! | [`question_series`] | feasibility problems as series of a run |

pub mod copying;
pub mod fluid;
pub mod question_series;
pub mod questions;
pub mod solver;
mod spans;
