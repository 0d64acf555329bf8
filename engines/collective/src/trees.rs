//! Spanning trees along which data is spread, and schedules made of them (docs/methods/collective.md, section 11).
//!
//! | module | what |
//! |---|---|
//! | [`fold`] | one GPU and one link for each orbit of a group of symmetries |
//! | [`tree`] | spanning trees whose hops may pass through switches |
//! | [`grow`], [`hops`], [`arborescence`] | trees of small price |
//! | [`columns`] | shares of trees by a linear program that makes its columns |
//! | [`timing`], [`pieces`], [`list`] | equal pieces, sent as soon as links are free |
//! | [`matching`] | equal pieces, each along a tree of its own that grows over the links that are free |
//! | [`periodic`] | one piece per tree and epoch |
//! | [`sends`] | sends over all links |
//! | [`mod@compact`] | schedules in short form |
//! | [`parts`] | the trees of a collective, whose parts share their epochs |
//! | [`library`] | trees prepared once, and the best schedule of them for any size |

pub mod arborescence;
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
