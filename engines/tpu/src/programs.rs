//! The optimisation model of TONS, for circuits and flows together (docs/methods/tpu-search.md, section 6).

pub mod program;
pub mod relaxation;

#[cfg(test)]
mod tests;
