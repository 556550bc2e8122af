//! Lists, maps and blocks within a block.

use std::collections::BTreeMap;

use super::scalars::scalar_text;
use super::{Block, Given};
use crate::source::Origin;
use crate::tree::{Object, Tree, Value};

impl Block<'_> {
    /// A list of texts.
    pub fn take_strings(&mut self, key: &str) -> Option<Vec<String>> {
        let node = self.take(key)?;
        let Value::List(items) = &node.value else {
            if let Value::Text(text) = &node.value {
                self.note_given_text(key, format!("[{text:?}]"), &node.origin);
                return Some(vec![text.clone()]);
            }
            self.wrong_kind(key, &node, "a list of texts");
            return None;
        };
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match scalar_text(&item.value) {
                Some(text) => texts.push(text),
                None => self.wrong_kind(key, item, "texts as its elements"),
            }
        }
        self.note_given_text(key, format!("{texts:?}"), &node.origin);
        Some(texts)
    }

    pub fn take_strings_or(&mut self, key: &str, default: &[&str]) -> Vec<String> {
        match self.take_strings(key) {
            Some(texts) => texts,
            None => {
                self.note(key, format!("{default:?}"), &Origin::Default);
                default.iter().map(|text| (*text).to_owned()).collect()
            }
        }
    }

    /// A map of names to texts, as a block or an object.
    pub fn take_given_map(&mut self, key: &str) -> BTreeMap<String, Given<String>> {
        let Some(object) = self.take_object(key) else { return BTreeMap::new() };
        let mut map = BTreeMap::new();
        for (name, entry) in object.entries {
            let dotted = format!("{key}.{name}");
            match scalar_text(&entry.node.value) {
                Some(text) => {
                    self.note_given_text(&dotted, text.clone(), &entry.node.origin);
                    map.insert(name, Given { value: text, origin: entry.node.origin });
                }
                None => self.wrong_kind(&dotted, &entry.node, "a text"),
            }
        }
        map
    }

    pub fn take_map(&mut self, key: &str) -> BTreeMap<String, String> {
        self.take_given_map(key).into_iter().map(|(name, given)| (name, given.value)).collect()
    }

    /// Reads the block at `key`; an absent one reads as an empty one.
    pub fn take_block<T>(&mut self, key: &str, read: impl FnOnce(&mut Block<'_>) -> T) -> T {
        let origin = self.origin_of(key).unwrap_or(Origin::Default);
        let object = self.take_object(key).unwrap_or_default();
        self.read_inner(key, origin, object, read)
    }

    /// Reads the block at `key` if it was given.
    pub fn take_block_if_given<T>(&mut self, key: &str, read: impl FnOnce(&mut Block<'_>) -> T) -> Option<T> {
        let origin = self.origin_of(key).unwrap_or(Origin::Default);
        let object = self.take_object(key)?;
        Some(self.read_inner(key, origin, object, read))
    }

    /// Reads each of the blocks that carry a name: `host_volume "data" { … }`.
    pub fn take_named_blocks<T>(
        &mut self,
        key: &str,
        mut read: impl FnMut(&str, &mut Block<'_>) -> T,
    ) -> BTreeMap<String, T> {
        let mut found = BTreeMap::new();
        for (name, entry) in self.take_object(key).unwrap_or_default().entries {
            let dotted = format!("{key}.{name}");
            match entry.node.value {
                Value::Object(object) => {
                    let value = self.read_inner(&dotted, entry.node.origin, object, |block| read(&name, block));
                    found.insert(name, value);
                }
                Value::Text(_) | Value::Number(_) | Value::Bool(_) | Value::List(_) => {
                    let summary = format!("{} takes blocks with a name, not a value", self.path_of(key));
                    self.refuse(&entry.key_origin, summary, format!("write {key} \"NAME\" {{ … }}"));
                }
            }
        }
        found
    }

    /// The block at `key` for somebody else to decode.
    pub fn take_tree(&mut self, key: &str) -> Option<Tree> {
        let object = self.take_object(key)?;
        Some(Tree { path: self.path_of(key), object })
    }

    fn read_inner<T>(
        &mut self,
        key: &str,
        origin: Origin,
        object: Object,
        read: impl FnOnce(&mut Block<'_>) -> T,
    ) -> T {
        let path = self.path_of(key);
        let mut inner = Block::new(path, origin, object, &mut *self.report);
        let value = read(&mut inner);
        inner.finish();
        value
    }

    fn take_object(&mut self, key: &str) -> Option<Object> {
        let node = self.take(key)?;
        match node.value {
            Value::Object(object) => Some(object),
            Value::List(items) if items.is_empty() => Some(Object::default()),
            Value::Text(_) | Value::Number(_) | Value::Bool(_) | Value::List(_) => {
                self.wrong_kind(key, &node, "a block");
                None
            }
        }
    }
}
