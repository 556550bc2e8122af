use std::collections::BTreeMap;

use serde::Deserialize;

use super::null_is_empty;

/// Something that happened on the engine. What an event leaves untold is for a list to tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct EngineEvent {
    /// `image`, `container`, …
    #[serde(default, rename = "Type", deserialize_with = "null_is_empty")]
    pub kind: String,
    /// `pull`, `die`, `exec_create: /bin/sh -c …`: match by prefix.
    #[serde(default, rename = "Action", deserialize_with = "null_is_empty")]
    pub action: String,
    #[serde(default, rename = "Actor", deserialize_with = "null_is_empty")]
    pub actor: EventActor,
    /// Nanoseconds since 1970.
    #[serde(default, rename = "timeNano")]
    pub time_nano: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct EventActor {
    #[serde(default, rename = "ID", deserialize_with = "null_is_empty")]
    pub id: String,
    #[serde(default, rename = "Attributes", deserialize_with = "null_is_empty")]
    pub attributes: BTreeMap<String, String>,
}
