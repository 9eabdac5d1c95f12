//! Tests of tuning: rows and decision trees out of measurements that are made up.

mod rows;
mod trees;
