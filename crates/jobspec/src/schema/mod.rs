//! What the blocks of a job file may hold, what each part is called in the API, and what people read about it.
//!
//! One table a block. Keys that begin with `~` are kept only until the block's `finish` has put them where they belong.

mod connect;
mod finish;
mod group;
mod job;
mod service;
mod shared;
mod task;

pub(crate) use job::JOB;

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
    Counts,
}

#[derive(Debug)]
pub(crate) struct Attribute {
    pub(crate) name: &'static str,
    pub(crate) key: &'static str,
    pub(crate) kind: Kind,
    /// What holds when it is left out, as a job file would write it; what other types of job have stands in
    /// parentheses behind it. Empty when there is none.
    pub(crate) default: &'static str,
    pub(crate) about: &'static str,
    /// The Nomad version that brought it; empty when 1.6 has it.
    pub(crate) since: &'static str,
}

impl Attribute {
    const fn since(self, since: &'static str) -> Self {
        Self { since, ..self }
    }
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
    /// For maps and free bodies; others say it themselves.
    pub(crate) about: &'static str,
    /// The Nomad version that brought it; empty when 1.6 has it.
    pub(crate) since: &'static str,
}

impl Nested {
    const fn since(self, since: &'static str) -> Self {
        Self { since, ..self }
    }
}

/// Puts what was read under `~` keys where it belongs; an error is about the whole block.
type Finish = fn(&mut Fields) -> Result<(), String>;

#[derive(Debug)]
pub(crate) struct Body {
    /// The block's own name, for messages.
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
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

    /// The block nearest below this one (itself first) that holds a block or an attribute of this name.
    pub(crate) fn home_of(&'static self, name: &str, is_block: bool) -> Option<&'static str> {
        let mut level = vec![self];
        while !level.is_empty() {
            let holds = |body: &&&'static Self| match is_block {
                true => body.nested(name).is_some(),
                false => body.attribute(name).is_some(),
            };
            if let Some(home) = level.iter().find(holds) {
                return Some(home.name);
            }
            level = level.iter().flat_map(|body| body.all_nested().map(|nested| nested.body)).collect();
        }
        None
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.attributes.iter().map(|attribute| attribute.name).chain(self.all_nested().map(|nested| nested.name))
    }
}

const fn attribute(
    name: &'static str,
    key: &'static str,
    kind: Kind,
    default: &'static str,
    about: &'static str,
) -> Attribute {
    Attribute { name, key, kind, default, about, since: "" }
}

const fn text(name: &'static str, key: &'static str, default: &'static str, about: &'static str) -> Attribute {
    attribute(name, key, Kind::Text, default, about)
}

const fn bool(name: &'static str, key: &'static str, default: &'static str, about: &'static str) -> Attribute {
    attribute(name, key, Kind::Bool, default, about)
}

const fn int(name: &'static str, key: &'static str, default: &'static str, about: &'static str) -> Attribute {
    attribute(name, key, Kind::Int, default, about)
}

const fn count(name: &'static str, key: &'static str, default: &'static str, about: &'static str) -> Attribute {
    attribute(name, key, Kind::Count, default, about)
}

const fn duration(name: &'static str, key: &'static str, default: &'static str, about: &'static str) -> Attribute {
    attribute(name, key, Kind::Duration, default, about)
}

const fn texts(name: &'static str, key: &'static str, default: &'static str, about: &'static str) -> Attribute {
    attribute(name, key, Kind::Texts, default, about)
}

/// A body whose names are the reader's: maps and free bodies.
static OPEN: Body = Body { name: "", about: "", attributes: &[], blocks: &[], finish: None };

const fn block(name: &'static str, key: &'static str, shape: Shape, body: &'static Body) -> Nested {
    Nested { name, key, shape, body, about: "", since: "" }
}

const fn text_map(name: &'static str, key: &'static str, about: &'static str) -> Nested {
    Nested { name, key, shape: Shape::TextMap, body: &OPEN, about, since: "" }
}

const fn free(name: &'static str, key: &'static str, about: &'static str) -> Nested {
    Nested { name, key, shape: Shape::Free, body: &OPEN, about, since: "" }
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
        for attribute in body.attributes {
            assert!(attribute.about.ends_with('.'), "{}: {} is not told", body.name, attribute.name);
        }
        for nested in body.all_nested() {
            let about = if nested.about.is_empty() { nested.body.about } else { nested.about };
            assert!(about.ends_with('.'), "{}: {} is not told", body.name, nested.name);
            walk(nested.body, seen);
        }
    }

    #[test]
    fn names_are_unique_within_a_block_and_all_are_told_about() {
        let mut seen = BTreeSet::new();
        walk(&JOB, &mut seen);
        assert!(seen.len() > 50, "{} blocks", seen.len());
    }
}
