//! YAML as the language's documentation describes it: what JSON can say, with anchors, and no types of one's own.

use std::collections::{BTreeMap, BTreeSet};

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use super::{Context, Function, function};
use crate::number::Number;
use crate::value::Value;

/// How many lists and objects may lie within each other.
const LEVELS_MAX: usize = 64;

pub(super) const FUNCTIONS: &[Function] = &[
    function("yamldecode", 1, 1, |context, a| {
        let text = a.text(0)?;
        context.budget.charge(text.len())?;
        decode(context, &text)
    }),
    function("yamlencode", 1, 1, |context, a| {
        let mut out = String::new();
        write(context, a.any(0), 0, &mut out)?;
        Ok(out.into())
    }),
];

/// A list or an object that is not yet complete.
struct Open {
    anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Value>),
    Object { items: BTreeMap<String, Value>, key: Option<Key>, merged: BTreeMap<String, Value> },
}

enum Key {
    Name(String),
    /// `<<`: the object's items are those of another, where it has none of its own.
    Merge,
}

fn decode(context: &Context<'_>, text: &str) -> Result<Value, String> {
    let mut open: Vec<Open> = Vec::new();
    let mut anchors: BTreeMap<usize, Value> = BTreeMap::new();
    let mut unfinished: BTreeSet<usize> = BTreeSet::new();
    let mut whole: Option<Value> = None;
    let mut documents = 0;
    for step in Parser::new_from_str(text) {
        context.budget.charge(8)?;
        let (event, _) = step.map_err(|why| format!("no YAML: {why}"))?;
        let (value, anchor) = match event {
            Event::Alias(id) if unfinished.contains(&id) => {
                return Err("an anchor cannot be referred to from inside its own definition".to_owned());
            }
            Event::Alias(id) => (anchors.get(&id).cloned().ok_or("there is no such anchor")?, 0),
            Event::Scalar(text, style, anchor, tag) => (scalar(&text, style, tag.as_deref(), &open)?, anchor),
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag)
                if tag.as_deref().is_some_and(|tag| !is_core(tag, &["seq", "map"])) =>
            {
                let _ = anchor;
                return Err(unsupported(tag.as_deref()));
            }
            Event::SequenceStart(anchor, _) => {
                begin(&mut open, &mut unfinished, anchor, Content::List(Vec::new()))?;
                continue;
            }
            Event::MappingStart(anchor, _) => {
                let content = Content::Object { items: BTreeMap::new(), key: None, merged: BTreeMap::new() };
                begin(&mut open, &mut unfinished, anchor, content)?;
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(done) = open.pop() else { continue };
                unfinished.remove(&done.anchor);
                let value = match done.content {
                    Content::List(items) => Value::list(items),
                    Content::Object { items, mut merged, .. } => {
                        merged.extend(items);
                        Value::object(merged)
                    }
                };
                (value, done.anchor)
            }
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return Err("there is more than one document".to_owned());
                }
                continue;
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => continue,
        };
        if anchor > 0 {
            anchors.insert(anchor, value.clone());
        }
        match open.last_mut() {
            Some(around) => take(&mut around.content, value)?,
            None => whole = Some(value),
        }
    }
    Ok(whole.unwrap_or(Value::Null))
}

fn begin(
    open: &mut Vec<Open>,
    unfinished: &mut BTreeSet<usize>,
    anchor: usize,
    content: Content,
) -> Result<(), String> {
    if open.len() >= LEVELS_MAX {
        return Err(format!("it is nested more than {LEVELS_MAX} levels deep"));
    }
    if anchor > 0 {
        unfinished.insert(anchor);
    }
    open.push(Open { anchor, content });
    Ok(())
}

fn take(content: &mut Content, value: Value) -> Result<(), String> {
    match content {
        Content::List(items) => items.push(value),
        Content::Object { items, key, merged } => match key.take() {
            None => {
                let name = value.to_text().ok_or_else(|| format!("a key must be a string, not {}", value.kind()))?;
                *key = Some(if name.as_ref() == "<<" { Key::Merge } else { Key::Name(name.to_string()) });
            }
            Some(Key::Name(name)) => {
                items.insert(name, value);
            }
            Some(Key::Merge) => {
                let others = match &value {
                    Value::List(others) => others.as_slice(),
                    only => std::slice::from_ref(only),
                };
                for other in others {
                    let Value::Object(other) = other else { return Err("`<<` merges objects only".to_owned()) };
                    for (name, value) in other.iter() {
                        merged.entry(name.clone()).or_insert_with(|| value.clone());
                    }
                }
            }
        },
    }
    Ok(())
}

fn is_core(tag: &Tag, kinds: &[&str]) -> bool {
    tag.handle == "tag:yaml.org,2002:" && kinds.contains(&tag.suffix.as_str())
}

fn unsupported(tag: Option<&Tag>) -> String {
    format!("the tag {:?} is not supported", tag.map(|tag| tag.suffix.as_str()).unwrap_or_default())
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>, open: &[Open]) -> Result<Value, String> {
    // What stands as a key stays the text that it is.
    let is_key = matches!(open.last().map(|open| &open.content), Some(Content::Object { key: None, .. }));
    match tag {
        None if style != ScalarStyle::Plain || is_key => Ok(Value::text(text)),
        None => Ok(plain(text)),
        Some(tag) if is_core(tag, &["str", "binary", "timestamp"]) => Ok(Value::text(text)),
        Some(tag) if is_core(tag, &["int", "float", "bool", "null"]) => {
            let value = plain(text);
            let fits = match tag.suffix.as_str() {
                "bool" => matches!(value, Value::Bool(_)),
                "null" => value.is_null(),
                _ => matches!(value, Value::Number(_)),
            };
            if fits { Ok(value) } else { Err(format!("{text:?} is no {}", tag.suffix)) }
        }
        Some(tag) => Err(unsupported(Some(tag))),
    }
}

/// A text without quotes is what it looks like.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    for (prefix, base) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = digits.strip_prefix(prefix)
            && let Ok(number) = i64::from_str_radix(digits, base)
            && !digits.starts_with(['-', '+'])
        {
            return Number::from(if negative { number.saturating_neg() } else { number }).into();
        }
    }
    let decimal = if digits.starts_with('.') { format!("0{digits}") } else { digits.to_owned() };
    let decimal = decimal.strip_suffix('.').unwrap_or(&decimal);
    let is_number = decimal.starts_with(|c: char| c.is_ascii_digit());
    match Number::parse(decimal).filter(|_| is_number) {
        Some(number) => (if negative { number.neg() } else { number }).into(),
        None => Value::text(text),
    }
}

/// Block style, as the documentation shows it; `indent` is that of the lines after the first.
fn write(context: &Context<'_>, value: &Value, indent: usize, out: &mut String) -> Result<(), String> {
    context.budget.charge(8 + indent)?;
    if indent / 2 > LEVELS_MAX {
        return Err(format!("the value is nested more than {LEVELS_MAX} levels deep"));
    }
    match value {
        Value::List(items) if items.is_empty() => out.push_str("[]\n"),
        Value::Object(items) if items.is_empty() => out.push_str("{}\n"),
        Value::List(items) => {
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(&" ".repeat(indent));
                }
                out.push_str("- ");
                write(context, item, indent + 2, out)?;
            }
        }
        Value::Object(items) => {
            for (at, (key, item)) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(&" ".repeat(indent));
                }
                context.budget.charge(key.len())?;
                out.push_str(&quoted(key));
                match item {
                    Value::List(items) if !items.is_empty() => {
                        out.push_str(&format!(":\n{}", " ".repeat(indent)));
                        write(context, item, indent, out)?;
                    }
                    Value::Object(items) if !items.is_empty() => {
                        out.push_str(&format!(":\n{}", " ".repeat(indent + 2)));
                        write(context, item, indent + 2, out)?;
                    }
                    _ => {
                        out.push_str(": ");
                        write(context, item, indent + 2, out)?;
                    }
                }
            }
        }
        Value::Text(text) => {
            context.budget.charge(text.len())?;
            out.push_str(&text_of(text, indent.max(2)));
            out.push('\n');
        }
        Value::Null => out.push_str("null\n"),
        Value::Bool(value) => out.push_str(if *value { "true\n" } else { "false\n" }),
        Value::Number(number) => out.push_str(&format!("{number}\n")),
    }
    Ok(())
}

fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

/// A text of several lines stands line by line, where that says the same.
fn text_of(text: &str, indent: usize) -> String {
    let plain = |c: char| !c.is_control() || c == '\n';
    if !text.contains('\n') || !text.chars().all(plain) || text.starts_with([' ', '\n']) || text.contains('\u{feff}') {
        return quoted(text);
    }
    let body = text.trim_end_matches('\n');
    let chomp = match text.len() - body.len() {
        0 => "-",
        1 => "",
        _ => "+",
    };
    let mut out = format!("|{chomp}");
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        out.push('\n');
        if !line.is_empty() {
            out.push_str(&" ".repeat(indent));
            out.push_str(line);
        }
    }
    out
}
