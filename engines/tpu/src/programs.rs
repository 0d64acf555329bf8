//! The optimisation model of TONS: circuits and flows at once (docs/methods/tpu.md, section 6).

pub mod program;
pub mod relaxation;

#[cfg(test)]
mod tests;
