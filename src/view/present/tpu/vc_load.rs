//! Pane 1: hops on each virtual channel, before and after balancing, beside routes by dimension on the tori of the
//! same size; and how evenly the channels of each are filled.

mod data;
mod draw;

pub use draw::VcPane;
