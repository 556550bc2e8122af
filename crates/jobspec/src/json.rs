//! The job language written as JSON, turned into the same structures that HCL text gives. It has no places.

use hcl_edit::expr::{Array, Expression, Object, ObjectKey, ObjectValue};
use hcl_edit::structure::{Attribute, Block, BlockLabel, Body};
use hcl_edit::template::{Element, StringTemplate};
use hcl_edit::{Decorated, Ident};
use longshore_values::Diagnostic;
use serde_json::{Map, Value};

use crate::schema::{self, Shape};

type Outcome<T> = Result<T, Box<Diagnostic>>;

fn fail<T>(told: impl Into<String>) -> Outcome<T> {
    Err(Box::new(Diagnostic::error(told)))
}

/// What a JSON text holds.
pub(crate) enum Document {
    /// A job as the API has it.
    Api(Value),
    /// A job file, with `job`, `variable` and the like.
    File(Body),
}

pub(crate) fn read(file: &str, text: &str) -> Outcome<Document> {
    let members = match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(members)) => members,
        Ok(_) => return fail(format!("{file} is no JSON object")),
        Err(why) => return fail(format!("{file} is no JSON: {why}")),
    };
    if members.contains_key("job") {
        return top(&members).map(Document::File);
    }
    let find = |wanted: &str| members.keys().find(|key| key.eq_ignore_ascii_case(wanted));
    if let Some(job) = find("Job").and_then(|key| members.get(key)) {
        return Ok(Document::Api(job.clone()));
    }
    if find("ID").is_some() || find("TaskGroups").is_some() {
        return Ok(Document::Api(Value::Object(members)));
    }
    fail(format!("{file} holds neither a job file in JSON (\"job\") nor a job of the API (\"Job\" or \"ID\")"))
}

fn top(members: &Map<String, Value>) -> Outcome<Body> {
    let mut body = Body::new();
    for (key, value) in members.iter().filter(|(key, _)| key.as_str() != "//") {
        match key.as_str() {
            "job" => labelled(&mut body, "job", value, &|inner| body_of(&schema::JOB, inner))?,
            "variable" => labelled(&mut body, "variable", value, &variable)?,
            "locals" | "variables" => blocks(&mut body, key, value, &attributes)?,
            other => body.push(Attribute::new(ident(other)?, expression(value)?)),
        }
    }
    Ok(body)
}

fn ident(name: &str) -> Outcome<Ident> {
    Ident::try_new(name).or_else(|_| fail(format!("{name:?} is no name")))
}

type MakeBody<'a> = &'a dyn Fn(&Map<String, Value>) -> Outcome<Body>;

/// `{…}` or `[{…}, …]`: one block each.
fn blocks(body: &mut Body, name: &str, value: &Value, make: MakeBody<'_>) -> Outcome<()> {
    match value {
        Value::Object(members) => {
            let mut block = Block::new(ident(name)?);
            block.body = make(members)?;
            body.push(block);
            Ok(())
        }
        Value::Array(items) => items.iter().try_for_each(|item| blocks(body, name, item, make)),
        Value::Null => Ok(()),
        _ => fail(format!("{name:?} must be an object, or a list of objects")),
    }
}

/// `{"label": {…}}`, with lists in both places: one block each.
fn labelled(body: &mut Body, name: &str, value: &Value, make: MakeBody<'_>) -> Outcome<()> {
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| labelled(body, name, item, make)),
        Value::Object(by_label) => {
            by_label.iter().filter(|(label, _)| label.as_str() != "//").try_for_each(|(label, value)| {
                let mut inner = Body::new();
                blocks(&mut inner, name, value, make)?;
                for mut block in inner.into_blocks() {
                    block.labels.push(BlockLabel::String(Decorated::new(label.clone())));
                    body.push(block);
                }
                Ok(())
            })
        }
        Value::Null => Ok(()),
        _ => fail(format!("{name:?} must be an object with labels as keys")),
    }
}

fn body_of(schema: &'static schema::Body, members: &Map<String, Value>) -> Outcome<Body> {
    let mut body = Body::new();
    for (key, value) in members.iter().filter(|(key, _)| key.as_str() != "//") {
        if key == "dynamic" {
            dynamic(schema, &mut body, value)?;
            continue;
        }
        match schema.nested(key) {
            Some(nested) => match nested.shape {
                Shape::One | Shape::Many => blocks(&mut body, key, value, &|inner| body_of(nested.body, inner))?,
                Shape::Labelled(_) | Shape::ByLabel(_) => {
                    labelled(&mut body, key, value, &|inner| body_of(nested.body, inner))?;
                }
                Shape::TextMap | Shape::TextsMap | Shape::Free => {
                    let only = match value {
                        Value::Array(items) if items.len() == 1 => items.first().unwrap_or(value),
                        other => other,
                    };
                    body.push(Attribute::new(ident(key)?, expression(only)?));
                }
            },
            None => body.push(Attribute::new(ident(key)?, expression(value)?)),
        }
    }
    Ok(body)
}

fn dynamic(schema: &'static schema::Body, body: &mut Body, value: &Value) -> Outcome<()> {
    let Value::Object(by_name) = value else { return fail("\"dynamic\" must be an object with blocks as keys") };
    for (name, value) in by_name {
        let content = schema.nested(name).map(|nested| nested.body);
        let make = |members: &Map<String, Value>| {
            let mut inner = Body::new();
            for (key, value) in members {
                match (key.as_str(), content, value) {
                    ("content", Some(content), _) => {
                        blocks(&mut inner, "content", value, &|members| body_of(content, members))?;
                    }
                    ("iterator", _, Value::String(word)) => {
                        let word = Expression::Variable(Decorated::new(ident(word)?));
                        inner.push(Attribute::new(ident(key)?, word));
                    }
                    _ => inner.push(Attribute::new(ident(key)?, expression(value)?)),
                }
            }
            Ok(inner)
        };
        let one = Value::Object(Map::from_iter([(name.clone(), value.clone())]));
        labelled(body, "dynamic", &one, &make)?;
    }
    Ok(())
}

fn attributes(members: &Map<String, Value>) -> Outcome<Body> {
    let mut body = Body::new();
    for (key, value) in members.iter().filter(|(key, _)| key.as_str() != "//") {
        body.push(Attribute::new(ident(key)?, expression(value)?));
    }
    Ok(body)
}

fn variable(members: &Map<String, Value>) -> Outcome<Body> {
    let mut body = Body::new();
    for (key, value) in members.iter().filter(|(key, _)| key.as_str() != "//") {
        match (key.as_str(), value) {
            ("type", Value::String(text)) => {
                let wanted = hcl_edit::parser::parse_expr(text);
                let wanted = wanted.or_else(|_| fail(format!("{text:?} is no type")))?;
                body.push(Attribute::new(ident(key)?, wanted));
            }
            ("validation", _) => blocks(&mut body, "validation", value, &attributes)?,
            _ => body.push(Attribute::new(ident(key)?, expression(value)?)),
        }
    }
    Ok(body)
}

/// A value; texts are templates.
fn expression(value: &Value) -> Outcome<Expression> {
    Ok(match value {
        Value::Null => Expression::null(),
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(number), _, _) => number.into(),
            (_, Some(number), _) => number.into(),
            (_, _, Some(number)) => number.into(),
            _ => return fail(format!("{number} is too large a number")),
        },
        Value::String(text) => template(text)?,
        Value::Array(items) => {
            let mut array = Array::new();
            for item in items {
                array.push(expression(item)?);
            }
            Expression::Array(array)
        }
        Value::Object(members) => {
            let mut object = Object::new();
            for (key, item) in members {
                let key = ObjectKey::Expression(Expression::from(key.as_str()));
                object.insert(key, ObjectValue::new(expression(item)?));
            }
            Expression::Object(object)
        }
    })
}

fn template(text: &str) -> Outcome<Expression> {
    let parsed = hcl_edit::parser::parse_template(text);
    let parsed = parsed.or_else(|why| fail(format!("{text:?} is no template: {}", why.message())))?;
    match parsed.as_single_element() {
        Some(Element::Literal(only)) => Ok(Expression::from(only.value().as_str())),
        None if parsed.is_empty() => Ok(Expression::from("")),
        _ => Ok(Expression::StringTemplate(parsed.into_iter().collect::<StringTemplate>())),
    }
}
