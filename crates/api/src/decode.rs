//! Reading JSON as Go's decoder does, so that whatever clients send there is understood here.
//!
//! - Names of fields are matched without regard to case; an exact match wins. Keys of free maps are left as they are.
//! - Unknown fields are ignored.
//! - `null` for a field is the same as leaving it out.
//! - Numbers and texts are not turned into each other; an error names the path to the value.

use std::fmt;

use serde::de::value::StringDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Value};

/// Why a text could not be read as what was expected.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("{0}")]
    Shape(Fault),
}

/// A value that is not of the type that its field has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// `Job.TaskGroups[0].Count`; empty for the whole.
    path: String,
    message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { path: String::new(), message: message.to_string() }
    }
}

impl Fault {
    /// The way to the value, such as `Job.TaskGroups[0].Count`; empty for the whole.
    pub fn path(&self) -> &str {
        &self.path
    }

    fn below(mut self, step: &str) -> Self {
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{step}{separator}{}", self.path);
        self
    }
}

/// Reads a `T` from JSON text.
pub fn decode<T: DeserializeOwned>(json: &[u8]) -> Result<T, DecodeError> {
    from_value(serde_json::from_slice(json)?)
}

/// Reads a `T` from a JSON value.
pub fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, DecodeError> {
    T::deserialize(Lenient(value)).map_err(DecodeError::Shape)
}

struct Lenient(Value);

impl<'de> Deserializer<'de> for Lenient {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            Value::Array(items) => visitor.visit_seq(Items { items: items.into_iter(), next: 0 }),
            Value::Object(members) => visitor.visit_map(Members { members: members.into_iter(), value: None }),
            scalar => scalar.deserialize_any(visitor).map_err(de::Error::custom),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.0 {
            Value::Object(members) => {
                visitor.visit_map(Members { members: of_fields(fields, members).into_iter(), value: None })
            }
            other => Err(de::Error::custom(format!("expected an object, found {}", describe(&other)))),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.0.deserialize_enum(name, variants, visitor).map_err(de::Error::custom)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

struct Items {
    items: std::vec::IntoIter<Value>,
    next: usize,
}

impl<'de> SeqAccess<'de> for Items {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(item) = self.items.next() else { return Ok(None) };
        let at = self.next;
        self.next += 1;
        seed.deserialize(Lenient(item)).map(Some).map_err(|fault| fault.below(&format!("[{at}]")))
    }
}

/// The members that belong to a field, under the field's own name.
fn of_fields(fields: &'static [&'static str], members: Map<String, Value>) -> Map<String, Value> {
    let mut known = Map::new();
    let mut exact = Vec::new();
    for (key, value) in members.into_iter().filter(|(_, value)| !value.is_null()) {
        if fields.contains(&key.as_str()) {
            exact.push((key, value));
        } else if let Some(field) = fields.iter().find(|field| field.eq_ignore_ascii_case(&key)) {
            known.insert((*field).to_owned(), value);
        }
    }
    known.extend(exact);
    known
}

struct Members {
    members: serde_json::map::IntoIter,
    value: Option<(String, Value)>,
}

impl<'de> MapAccess<'de> for Members {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some((key, value)) = self.members.next() else { return Ok(None) };
        let of_key: StringDeserializer<Fault> = key.clone().into_deserializer();
        self.value = Some((key, value));
        seed.deserialize(of_key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let (key, value) = self.value.take().ok_or_else(|| -> Fault { de::Error::custom("a value before its key") })?;
        seed.deserialize(Lenient(value)).map_err(|fault| fault.below(&key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Job, JobRegisterRequest, Task};

    #[test]
    fn names_match_in_any_case_and_unknown_ones_are_ignored() {
        let json = r#"{"job": {"id": "a", "ID": "b", "TASKGROUPS": [{"name": "g", "count": 0}], "Colour": "red"}}"#;
        let request: JobRegisterRequest = decode(json.as_bytes()).unwrap();
        let job = request.job.unwrap();
        assert_eq!(job.id.as_deref(), Some("b"));
        assert_eq!(job.task_groups[0].count, Some(0), "zero is not absent");
        assert_eq!(job.priority, None);
    }

    #[test]
    fn null_is_absent_but_not_within_free_bodies() {
        let json = r#"{"Name": null, "Leader": null, "Env": null, "Config": {"Args": [null, 1], "x": null}}"#;
        let task: Task = decode(json.as_bytes()).unwrap();
        assert_eq!((task.name.as_str(), task.leader, task.env.len()), ("", false, 0));
        assert_eq!(task.config["Args"], serde_json::json!([null, 1]));
        assert_eq!(task.config["x"], Value::Null);
    }

    #[track_caller]
    fn check_fault(json: &str, expected: &str) {
        assert_eq!(decode::<JobRegisterRequest>(json.as_bytes()).unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_fault_names_the_path_to_the_value() {
        check_fault(r#"{"Job": {"ID": 5}}"#, "Job.ID: invalid type: integer `5`, expected a string");
        check_fault(r#"{"Job": []}"#, "Job: expected an object, found a list");
        check_fault(
            r#"{"Job": {"TaskGroups": [{}, {"Tasks": [{"KillTimeout": "soon"}]}]}}"#,
            "Job.TaskGroups[1].Tasks[0].KillTimeout: time: invalid duration \"soon\"",
        );
        check_fault(r#"{"Job": {"#, "EOF while parsing an object at line 1 column 9");
        check_fault("7", "expected an object, found a number");
    }

    #[test]
    fn a_body_nested_too_deep_is_a_fault() {
        let deep = format!("{}{}", r#"{"Config":{"a":"#.to_owned() + &"[".repeat(5_000), "]".repeat(5_000));
        assert!(matches!(decode::<Task>(deep.as_bytes()), Err(DecodeError::Json(_))));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let _ = decode::<Job>(&bytes);
        }
    }
}
