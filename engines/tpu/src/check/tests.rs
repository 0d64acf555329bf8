mod figures;
mod imports;
mod mutations;
mod support;
