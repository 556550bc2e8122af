use std::collections::BTreeMap;
use std::sync::Arc;

use crate::number::Number;

/// A value of the job language. Lists and objects are shared, so that copying one costs nothing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(Arc<str>),
    List(Arc<Vec<Value>>),
    /// Objects and maps, in the order of their keys.
    Object(Arc<BTreeMap<String, Value>>),
}

impl Value {
    pub(crate) fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn list(items: Vec<Self>) -> Self {
        Self::List(Arc::new(items))
    }

    pub(crate) fn object(items: BTreeMap<String, Self>) -> Self {
        Self::Object(Arc::new(items))
    }

    /// The language's word for what this is.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a bool",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// As HCL2 converts to a string: numbers and bools become their text, everything else has none.
    pub(crate) fn to_text(&self) -> Option<Arc<str>> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Number(number) => Some(number.to_string().into()),
            Self::Bool(value) => Some(if *value { "true" } else { "false" }.into()),
            _ => None,
        }
    }

    /// As HCL2 converts to a number: texts that read as one.
    pub(crate) fn to_number(&self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => Number::parse(text),
            _ => None,
        }
    }

    /// As HCL2 converts to a bool: `"true"` and `"false"`, also `"1"` and `"0"`.
    pub(crate) fn to_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            Self::Text(text) => match text.as_ref() {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// From JSON as it was read; numbers that do not fit become texts of themselves.
    pub(crate) fn from_json(json: &serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(*value),
            serde_json::Value::Number(number) => {
                let text = number.to_string();
                Number::parse(&text).map_or_else(|| Self::text(text), Self::Number)
            }
            serde_json::Value::String(text) => Self::text(text.as_str()),
            serde_json::Value::Array(items) => Self::list(items.iter().map(Self::from_json).collect()),
            serde_json::Value::Object(items) => {
                Self::object(items.iter().map(|(key, value)| (key.clone(), Self::from_json(value))).collect())
            }
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Number> for Value {
    fn from(value: Number) -> Self {
        Self::Number(value)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::text(value)
    }
}
