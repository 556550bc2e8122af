//! What the engine says, in our own structures: unknown fields are passed over, missing and null ones are empty.

pub(crate) mod container;
pub(crate) mod create;
pub(crate) mod event;
pub(crate) mod exec;
pub(crate) mod image;
pub(crate) mod progress;
pub(crate) mod stats;
pub(crate) mod system;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

/// A list, and what of it could not be read: "unknown" must not be taken for "not there".
#[derive(Debug, Clone, PartialEq)]
pub struct Listed<T> {
    pub items: Vec<T>,
    pub unreadable: Vec<Unreadable>,
}

/// An entry of a list that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Its id, when at least that could be read.
    pub id: Option<String>,
    pub why: String,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { items: Vec::new(), unreadable: Vec::new() }
    }
}

impl<T: DeserializeOwned> Listed<T> {
    pub(crate) fn of_values(values: Vec<serde_json::Value>) -> Self {
        let mut listed = Self::default();
        for value in values {
            let id = value.get("Id").and_then(|id| id.as_str()).map(str::to_owned);
            match serde_json::from_value(value) {
                Ok(item) => listed.items.push(item),
                Err(why) => listed.unreadable.push(Unreadable { id, why: why.to_string() }),
            }
        }
        listed
    }
}

/// `null` as the empty value.
pub(crate) fn null_is_empty<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
