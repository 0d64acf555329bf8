//! DELTA: circuits between the pods of one LLM training job, from its computation-communication DAG.
#![forbid(unsafe_code)]

pub mod instance;
pub mod plan;
