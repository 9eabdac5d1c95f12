//! Arithmetic only: who talks to whom, and about which units. Pure functions of ranks and counts.

#![forbid(unsafe_code)]

pub mod bine;
pub mod block_schedule;
pub mod blocks;
pub mod butterfly;
pub mod chain;
pub mod circle;
pub mod circulant;
pub mod complete;
pub mod cube_tree;
pub mod groups;
pub mod hypercube;
pub mod knomial;
pub mod linear_array;
pub mod mesh;
pub mod node_order;
pub mod nodes;
pub mod ordered;
pub mod range_tree;
pub mod segments;
pub mod sparbit;
pub mod tree;
pub mod turns;
pub mod two_tree;
