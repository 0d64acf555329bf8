mod any_change;
mod assembled;
mod bounds;
mod mutations;
mod orders;
mod rollout;
mod support;
