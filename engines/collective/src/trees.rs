//! Spanning trees along which data is spread, and schedules made of them (docs/methods/collective-trees.md, section
//! 11).
//!
//! | module | content |
//! |---|---|
//! | [`fold`] | one GPU and one link for each orbit of a group of symmetries |
//! | [`tree`] | spanning trees whose hops may pass through switches |
//! | [`grow`], [`hops`], [`arborescence`] | trees with a low price |
//! | [`balance`] | trees for networks with few symmetries, whose links are equally busy |
//! | [`columns`] | shares of the trees, from a linear program with column generation |
//! | [`timing`], [`pieces`], [`list`] | equal pieces, sent as soon as links are free |
//! | [`matching`] | equal pieces, each along a separate tree that grows over the free links |
//! | [`periodic`] | periodic schedules: every tree sends one piece in each epoch |
//! | [`sends`] | sends of all pieces over all links |
//! | [`mod@compact`] | schedules in compact form |
//! | [`parts`] | the trees of all parts of a collective, in epochs of one length |
//! | [`library`] | trees that are computed once, and the best schedule along them for any size |

pub mod arborescence;
pub mod balance;
pub mod columns;
pub mod compact;
pub mod fold;
pub mod grow;
pub mod hops;
pub mod library;
pub mod list;
pub mod matching;
pub mod parts;
pub mod periodic;
pub mod pieces;
pub mod sends;
pub mod timing;
pub mod tree;
