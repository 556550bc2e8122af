//! What people read, from what the API answers: data in, text out. No I/O.

pub(crate) mod alloc;
pub(crate) mod deployment;
pub(crate) mod diff;
pub(crate) mod eval;
pub(crate) mod image;
pub(crate) mod job;
pub(crate) mod metric;
pub(crate) mod node;
pub(crate) mod plan;
pub(crate) mod server;
#[cfg(test)]
mod tests;
pub(crate) mod usage;

/// Blocks with an empty line between them; empty ones are left out.
pub(crate) fn blocks(parts: &[String]) -> String {
    parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join("\n\n")
}
