//! Agent files: texts to one tree that knows where each value came from, and strict decoding of any block of it into
//! its owner's type. No I/O: whoever reads the files hands in their texts.
//!
//! - S1: a setting means the same whether its block is absent, empty, half given or fully given, in HCL or in JSON, in
//!   one file or merged from many.
//! - S2: a key that nobody takes stops the start, with file, line and the likely right place.
//! - S3: every value that holds can be listed with where it came from; secrets are listed as `***`.
//! - S4: no text makes this crate panic.

mod agent;
mod decode;
mod error;
mod lexer;
mod merge;
mod parse;
pub mod reference;
mod source;
mod tree;

pub use agent::{
    Addresses, AgentConfig, AgentFlag, Client, DriverTree, ENVIRONMENT, FLAGS, FlagEffect, FlagKind, HostNetwork,
    HostVolume, Inputs, Log, Plugin, Ports, Reserved, SchedulerDefaults, Server, Telemetry, counts_in_folder,
    docker_options, legacy_docker_options, legacy_mock_options, legacy_raw_exec_options, port_ranges,
};
pub use decode::{Block, Decoded, Effective, Given, Unused, is_taken_by_nomad, nomad_acts_on};
pub use error::Refusal;
pub use source::{Origin, Source, Span, names_a_secret};
pub use tree::{Entry, Node, Object, Tree, Value};

/// Reads one text, HCL or JSON, into a tree of its own.
///
/// # Errors
/// A text that is neither, with the place.
pub fn parse_text(name: &str, text: &str) -> Result<Object, Refusal> {
    parse::parse(&Source::new(name, text), &mut merge::Merging::default())
}

#[cfg(test)]
mod tests;
