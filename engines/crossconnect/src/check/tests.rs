mod any_change;
mod assembled;
mod mutations;
mod orders;
mod rollout;
mod support;
