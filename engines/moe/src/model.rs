//! Times of computing, demand of the all-to-alls, networks that are compared, time of an iteration, and cost.
//!
//! | module | content |
//! |---|---|
//! | [`times`] | times of compute and of tensor-parallel exchanges of a layer |
//! | [`demand`] | bytes between servers, GPUs and rails |
//! | [`rates`] | rates of a region |
//! | [`circulant`] | circuits in a ring pattern that is the same for every server |
//! | [`fabrics`] | all-to-alls on networks without regional circuits |
//! | [`iteration`] | time of an iteration and of the gradient reduction |
//! | [`cost`] | cost of the parts of a network |

pub mod circulant;
pub mod cost;
pub mod demand;
pub mod fabrics;
pub mod iteration;
pub mod rates;
pub mod times;

#[cfg(test)]
mod tests;
