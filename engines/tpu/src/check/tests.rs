mod figures;
mod mutations;
mod support;
