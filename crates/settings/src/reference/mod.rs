//! Every setting of agent files as people read of it. What this build leaves aside is read by these tables alone; what
//! it acts on is read by its own code, and tests hold the tables to that. The reference page is made from them.

mod client;
mod others;
mod page;
mod row;
mod server;
mod take;
#[cfg(test)]
mod tests;
mod top;

pub use client::CLIENT_OPTIONS;
pub use page::page;
pub use row::{Effect, Kind, Row, Since, Table};
pub(crate) use take::take_rest;

/// All blocks, the top level first.
pub fn tables() -> impl Iterator<Item = &'static Table> {
    [top::TABLES, server::TABLES, client::TABLES, others::TABLES].into_iter().flatten()
}

/// The table of the block at `path`, which is written without the names of named blocks.
pub fn table(path: &str) -> Option<&'static Table> {
    tables().find(|table| table.path == path)
}

/// Whether a change of the setting at `path` holds after SIGHUP, without a new start.
pub fn reloads(path: &str) -> bool {
    let (block, key) = path.rsplit_once('.').unwrap_or(("", path));
    table(block).is_some_and(|table| table.rows.iter().any(|row| row.key == key && row.reloads))
}
