//! Files of other tools: reads counts of tokens by expert; writes tables of circuits, maps of experts and timelines;
//! passes circuits, network and demand to other kinds.

pub mod aicb;
pub mod handover;
pub mod import;
pub mod maps;
pub mod tables;
pub mod timeline;

#[cfg(test)]
mod tests;
