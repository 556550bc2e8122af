use std::collections::BTreeMap;

use crate::source::Origin;

/// What stands on the right of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(String),
    /// A number as it was written.
    Number(String),
    Bool(bool),
    List(Vec<Node>),
    Object(Object),
}

impl Value {
    /// What kind of value it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Number(_) => "a number",
            Self::Bool(_) => "true or false",
            Self::List(_) => "a list",
            Self::Object(_) => "a block",
        }
    }
}

/// A value and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub value: Value,
    pub origin: Origin,
}

/// A key of an object: where the key stands, and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub key_origin: Origin,
    pub node: Node,
}

/// A block, an object or a map: they are one thing here, in HCL as in JSON.
///
/// `plugin "docker" { … }` is the key `docker` in the object `plugin`; a block that is given twice, and a list of
/// objects, are one object, later keys winning.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Object {
    pub entries: BTreeMap<String, Entry>,
}

impl Object {
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries.get(key).map(|entry| &entry.node)
    }

    /// The object below `key`, when there is one.
    pub fn object(&self, key: &str) -> Option<&Self> {
        match self.get(key)?.value {
            Value::Object(ref object) => Some(object),
            Value::Text(_) | Value::Number(_) | Value::Bool(_) | Value::List(_) => None,
        }
    }

    /// Puts `value` at `path`, making the objects on the way; whatever stood there is replaced.
    pub fn set<K: AsRef<str>>(&mut self, path: &[K], value: Value, origin: &Origin) {
        let Some((last, parents)) = path.split_last() else { return };
        let mut object = self;
        for parent in parents {
            let entry = object.entries.entry(parent.as_ref().to_owned()).or_insert_with(|| Entry {
                key_origin: origin.clone(),
                node: Node { value: Value::Object(Self::default()), origin: origin.clone() },
            });
            if !matches!(entry.node.value, Value::Object(_)) {
                entry.node = Node { value: Value::Object(Self::default()), origin: origin.clone() };
            }
            match &mut entry.node.value {
                Value::Object(inner) => object = inner,
                Value::Text(_) | Value::Number(_) | Value::Bool(_) | Value::List(_) => return,
            }
        }
        let node = Node { value, origin: origin.clone() };
        object.entries.insert(last.as_ref().to_owned(), Entry { key_origin: origin.clone(), node });
    }

    /// The value at `path`.
    pub fn at<K: AsRef<str>>(&self, path: &[K]) -> Option<&Node> {
        let (last, parents) = path.split_last()?;
        let mut object = self;
        for parent in parents {
            object = object.object(parent.as_ref())?;
        }
        object.get(last.as_ref())
    }

    /// The object at `path`, when there is one.
    pub fn object_at<K: AsRef<str>>(&self, path: &[K]) -> Option<&Self> {
        path.iter().try_fold(self, |object, key| object.object(key.as_ref()))
    }

    /// The paths of all leaves with where they came from.
    pub fn leaves(&self) -> Vec<(Vec<String>, &Origin)> {
        let mut found = Vec::new();
        self.collect_leaves(&[], &mut found);
        found
    }

    fn collect_leaves<'a>(&'a self, above: &[String], found: &mut Vec<(Vec<String>, &'a Origin)>) {
        for (key, entry) in &self.entries {
            let mut path = above.to_vec();
            path.push(key.clone());
            match &entry.node.value {
                Value::Object(inner) if !inner.entries.is_empty() => inner.collect_leaves(&path, found),
                Value::Object(_) | Value::Text(_) | Value::Number(_) | Value::Bool(_) | Value::List(_) => {
                    found.push((path, &entry.node.origin));
                }
            }
        }
    }
}

/// A block that somebody else decodes: its place in the whole, for messages, and what it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// As a person writes it: `plugin "docker" { config }` reads `plugin.docker.config`.
    pub path: String,
    pub object: Object,
}
