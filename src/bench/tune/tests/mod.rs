//! Tests of tuning: rows and decision trees out of measurements that are made up.

mod estimates;
mod made_up;
mod rows;
mod trees;
mod verdicts;
