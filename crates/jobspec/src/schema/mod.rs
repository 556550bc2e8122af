//! What the blocks of a job file may hold, and what each part is called in the API.
//!
//! One table a block. Keys that begin with `~` are kept only until the block's `finish` has put them where they belong.

mod connect;
mod finish;
mod group;
mod job;
mod later;
mod service;
mod shared;
mod task;

pub(crate) use job::JOB;
pub(crate) use later::later;

use serde_json::{Map, Value};

pub(crate) type Fields = Map<String, Value>;

/// What an attribute's value is turned into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Bool,
    Int,
    /// A whole number from 0 on.
    Count,
    /// A text such as `"30s"`, or a number of nanoseconds.
    Duration,
    Texts,
}

#[derive(Debug)]
pub(crate) struct Attribute {
    pub(crate) name: &'static str,
    pub(crate) key: &'static str,
    pub(crate) kind: Kind,
}

/// How a block appears in what it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// At most once, without a label.
    One,
    /// Any number of times, without a label.
    Many,
    /// Any number of times, each with one label, which goes to this key.
    Labelled(&'static str),
    /// An object with the label as key; the label goes to this key of each, too, unless it is empty.
    ByLabel(&'static str),
    /// Names and texts, written as a block or as an attribute.
    TextMap,
    /// Names and lists of texts, written as a block or as an attribute.
    TextsMap,
    /// Whatever its reader understands.
    Free,
}

#[derive(Debug)]
pub(crate) struct Nested {
    pub(crate) name: &'static str,
    pub(crate) key: &'static str,
    pub(crate) shape: Shape,
    pub(crate) body: &'static Body,
}

/// Puts what was read under `~` keys where it belongs; an error is about the whole block.
type Finish = fn(&mut Fields) -> Result<(), String>;

#[derive(Debug)]
pub(crate) struct Body {
    /// The block's own name, for messages.
    pub(crate) name: &'static str,
    pub(crate) attributes: &'static [Attribute],
    pub(crate) blocks: &'static [&'static [Nested]],
    pub(crate) finish: Option<Finish>,
}

impl Body {
    pub(crate) fn attribute(&self, name: &str) -> Option<&'static Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    pub(crate) fn nested(&self, name: &str) -> Option<&'static Nested> {
        self.all_nested().find(|nested| nested.name == name)
    }

    pub(crate) fn all_nested(&self) -> impl Iterator<Item = &'static Nested> {
        self.blocks.iter().copied().flatten()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.attributes.iter().map(|attribute| attribute.name).chain(self.all_nested().map(|nested| nested.name))
    }
}

const fn text(name: &'static str, key: &'static str) -> Attribute {
    Attribute { name, key, kind: Kind::Text }
}

const fn bool(name: &'static str, key: &'static str) -> Attribute {
    Attribute { name, key, kind: Kind::Bool }
}

const fn int(name: &'static str, key: &'static str) -> Attribute {
    Attribute { name, key, kind: Kind::Int }
}

const fn count(name: &'static str, key: &'static str) -> Attribute {
    Attribute { name, key, kind: Kind::Count }
}

const fn duration(name: &'static str, key: &'static str) -> Attribute {
    Attribute { name, key, kind: Kind::Duration }
}

const fn texts(name: &'static str, key: &'static str) -> Attribute {
    Attribute { name, key, kind: Kind::Texts }
}

/// A body whose names are the reader's: maps and free bodies.
static OPEN: Body = Body { name: "", attributes: &[], blocks: &[], finish: None };

const fn block(name: &'static str, key: &'static str, shape: Shape, body: &'static Body) -> Nested {
    Nested { name, key, shape, body }
}

const fn text_map(name: &'static str, key: &'static str) -> Nested {
    block(name, key, Shape::TextMap, &OPEN)
}

const fn free(name: &'static str, key: &'static str) -> Nested {
    block(name, key, Shape::Free, &OPEN)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn walk(body: &'static Body, seen: &mut BTreeSet<*const Body>) {
        if !seen.insert(body) {
            return;
        }
        let names: Vec<&str> = body.names().collect();
        let distinct: BTreeSet<&&str> = names.iter().collect();
        assert_eq!(distinct.len(), names.len(), "a name stands twice in {}", body.name);
        for nested in body.all_nested() {
            walk(nested.body, seen);
        }
    }

    #[test]
    fn names_are_unique_within_a_block() {
        let mut seen = BTreeSet::new();
        walk(&JOB, &mut seen);
        assert!(seen.len() > 40, "{} blocks", seen.len());
    }
}
