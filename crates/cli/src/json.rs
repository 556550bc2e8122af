use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use crate::failure::Failure;

/// JSON as people read it: four spaces a level.
///
/// # Errors
/// A value that cannot be written as JSON.
pub(crate) fn pretty<T: Serialize>(value: &T) -> Result<String, Failure> {
    let mut out = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut out, PrettyFormatter::with_indent(b"    "));
    value.serialize(&mut serializer).map_err(|why| Failure::told(format!("Error converting to JSON: {why}")))?;
    String::from_utf8(out).map_err(|why| Failure::told(format!("Error converting to JSON: {why}")))
}

/// As `-json` and `-t` ask, or `None` when neither was given.
///
/// # Errors
/// Both at once, or a template that cannot be carried out.
pub(crate) fn formatted(json: bool, template: Option<&str>, value: &Value) -> Result<Option<String>, Failure> {
    match (json, template.filter(|template| !template.is_empty())) {
        (true, Some(_)) => Err(Failure::told("Both json and template formatting are not allowed")),
        (true, None) => pretty(value).map(Some),
        (false, Some(template)) => crate::template::render(template, value)
            .map(Some)
            .map_err(|why| Failure::told(format!("Error formatting the data with the template: {why}"))),
        (false, None) => Ok(None),
    }
}
