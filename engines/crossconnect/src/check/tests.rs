mod any_change;
mod assembled;
mod bounds;
mod mutations;
mod orders;
mod prices;
mod rollout;
mod support;
