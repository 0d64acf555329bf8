//! The optimisation model of TONS: circuits and flows at once.

pub mod program;
pub mod relaxation;

#[cfg(test)]
mod tests;
