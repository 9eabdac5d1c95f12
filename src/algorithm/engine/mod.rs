//! Motions that several algorithms share: a pattern says who meets whom about which blocks, an engine carries it out.

pub mod arcs;
pub mod bruck;
pub mod butterfly;
pub mod circulant_blocks;
pub mod digits;
pub mod down;
pub mod exchange;
pub mod flags;
pub mod folding;
pub mod hierarchy;
pub mod node_blocks;
pub mod paces;
pub mod pairs;
pub mod range_tree;
pub mod relay;
pub mod ring;
pub mod scatter;
pub mod slices;
pub mod two_trees;
pub mod up;
pub mod up_down;
pub mod windows;
