//! Integer and linear programs, solved by HiGHS. Sections are those of docs/methods/collective-search.md.
//!
//! | module | content |
//! |---|---|
//! | [`solver`] | interface to the solver of a model, and the result |
//! | [`copying`] | model of whole chunks that are copied on the way |
//! | [`fluid`] | model of parts of chunks that are not copied |
//! | [`questions`] | the minimum number of epochs, by a sequence of feasibility problems |
//! | [`question_series`] | feasibility problems recorded as series of a run |

pub mod copying;
pub mod fluid;
pub mod question_series;
pub mod questions;
pub mod solver;
mod spans;
