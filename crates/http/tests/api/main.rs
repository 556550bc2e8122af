//! The routes over a real server: shapes against what Nomad was recorded to answer, words of errors, blocking queries,
//! streams, and the end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod asked;
mod blocking;
mod browsers;
mod driver;
mod errors;
mod files;
mod ids;
mod images;
mod logs;
mod serving;
mod shapes;
mod world;
mod writes;
