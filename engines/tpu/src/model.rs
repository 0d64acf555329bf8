//! The optimisation model of TONS: circuits and flows at once.

pub mod relaxation;

#[cfg(test)]
mod tests;
