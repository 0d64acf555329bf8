//! Files of other tools: counts of tokens by expert are read, tables of circuits are written.

pub mod import;
pub mod tables;

#[cfg(test)]
mod tests;
