use std::borrow::Cow;

use longshore_values::printable;
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
    let text = String::from_utf8(out).map_err(|why| Failure::told(format!("Error converting to JSON: {why}")))?;
    Ok(escaped(&text).into_owned())
}

/// What a terminal would act on as JSON writes it; serde does that only where JSON must.
fn escaped(json: &str) -> Cow<'_, str> {
    match printable(json) {
        Cow::Borrowed(json) => Cow::Borrowed(json),
        // Outside of ASCII, and so within a string.
        Cow::Owned(_) => Cow::Owned(json.chars().fold(String::with_capacity(json.len()), |mut out, c| {
            match printable(c.encode_utf8(&mut [0; 4])) {
                Cow::Owned(_) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
                Cow::Borrowed(same) => out.push_str(same),
            }
            out
        })),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_json_and_does_nothing_to_a_terminal() {
        let value = Value::from("a\u{1b}b\u{9b}c\u{7f}\u{202e}\u{e9}");
        let text = pretty(&value).unwrap();
        assert_eq!(text, "\"a\\u001bb\\u009bc\\u007f\\u202e\u{e9}\"");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
