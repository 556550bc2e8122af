//! The job language as a whole: the corpus of job files, what every block has when it says nothing, random texts, and
//! the reference that is made from the tables.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod blocks;
mod corpus;
mod random;
mod reference;
mod rules;
