mod assembled;
mod mutations;
mod orders;
mod rollout;
mod support;
