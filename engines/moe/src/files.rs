//! Files of other tools: counts of tokens by expert are read; tables of circuits, maps of experts and timelines are
//! written; other kinds take circuits, network and demand.

pub mod aicb;
pub mod handover;
pub mod import;
pub mod maps;
pub mod tables;
pub mod timeline;

#[cfg(test)]
mod tests;
