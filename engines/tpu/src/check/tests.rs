mod figures;
mod mutations;
mod rerouted;
mod support;
