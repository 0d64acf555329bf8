//! The lightbay program.
fn main() {}
