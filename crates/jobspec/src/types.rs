use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use hcl_edit::Span;
use hcl_edit::expr::{Expression, FuncCall, ObjectKey};

use crate::value::Value;

/// A type constraint, as `variable` blocks and `convert` write it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
    Any,
    Text,
    Number,
    Bool,
    List(Box<Type>),
    Set(Box<Type>),
    Map(Box<Type>),
    Object(BTreeMap<String, Type>),
    Tuple(Vec<Type>),
}

/// Where a type is wrong, and why.
type BadType = (Option<Range<usize>>, String);

impl Type {
    pub(crate) fn read(expression: &Expression) -> Result<Self, BadType> {
        match expression {
            Expression::Variable(name) => match name.value().as_str() {
                "string" => Ok(Self::Text),
                "number" => Ok(Self::Number),
                "bool" => Ok(Self::Bool),
                "any" => Ok(Self::Any),
                "list" => Ok(Self::List(Box::new(Self::Any))),
                "set" => Ok(Self::Set(Box::new(Self::Any))),
                "map" => Ok(Self::Map(Box::new(Self::Any))),
                other => Err((expression.span(), format!("there is no type {other:?}; {KNOWN}"))),
            },
            Expression::FuncCall(call) => Self::read_call(call, expression),
            Expression::Parenthesis(inner) => Self::read(inner.inner()),
            _ => Err((expression.span(), format!("a type is a word without quotes: {KNOWN}"))),
        }
    }

    fn read_call(call: &FuncCall, whole: &Expression) -> Result<Self, BadType> {
        let name = call.name.name.value().as_str();
        let bad = |why: String| Err((whole.span(), why));
        let (Some(argument), 1) = (call.args.get(0), call.args.len()) else {
            return bad(format!("{name}(…) takes one type"));
        };
        match name {
            "list" => Ok(Self::List(Box::new(Self::read(argument)?))),
            "set" => Ok(Self::Set(Box::new(Self::read(argument)?))),
            "map" => Ok(Self::Map(Box::new(Self::read(argument)?))),
            "tuple" => match argument {
                Expression::Array(items) => items.iter().map(Self::read).collect::<Result<_, _>>().map(Self::Tuple),
                _ => bad("tuple(…) takes a list of types, such as `tuple([string, number])`".to_owned()),
            },
            "object" => match argument {
                Expression::Object(items) => {
                    let mut types = BTreeMap::new();
                    for (key, value) in items {
                        let name = match key {
                            ObjectKey::Ident(name) => name.value().as_str().to_owned(),
                            ObjectKey::Expression(Expression::String(name)) => name.value().clone(),
                            ObjectKey::Expression(other) => return Err((other.span(), "a key must be a word".into())),
                        };
                        types.insert(name, Self::read(value.expr())?);
                    }
                    Ok(Self::Object(types))
                }
                _ => bad("object(…) takes the types of its keys, such as `object({ name = string })`".to_owned()),
            },
            other => bad(format!("there is no type {other:?}; {KNOWN}")),
        }
    }

    /// `value` as this type, with HCL2's conversions; otherwise why it cannot be.
    pub(crate) fn convert(&self, value: &Value) -> Result<Value, String> {
        if value.is_null() || *self == Self::Any {
            return Ok(value.clone());
        }
        let bad = || format!("{} is needed, not {}", self.needed(), value.kind());
        match self {
            Self::Any => Ok(value.clone()),
            Self::Text => value.to_text().map(Value::Text).ok_or_else(bad),
            Self::Number => value.to_number().map(Value::Number).ok_or_else(bad),
            Self::Bool => value.to_bool().map(Value::Bool).ok_or_else(bad),
            Self::List(item) => {
                let Value::List(items) = value else { return Err(bad()) };
                items.iter().map(|value| item.convert(value)).collect::<Result<_, _>>().map(Value::list)
            }
            Self::Set(item) => {
                let Value::List(items) = value else { return Err(bad()) };
                let mut seen = BTreeSet::new();
                let mut distinct = Vec::new();
                for value in items.iter() {
                    let value = item.convert(value)?;
                    if seen.insert(format!("{value:?}")) {
                        distinct.push(value);
                    }
                }
                Ok(in_order(Value::list(distinct)))
            }
            Self::Map(item) => {
                let Value::Object(items) = value else { return Err(bad()) };
                let converted = items.iter().map(|(key, value)| Ok((key.clone(), item.convert(value)?)));
                converted.collect::<Result<_, String>>().map(Value::object)
            }
            Self::Object(types) => {
                let Value::Object(items) = value else { return Err(bad()) };
                let converted = types.iter().map(|(key, wanted)| match items.get(key) {
                    Some(value) => Ok((key.clone(), wanted.convert(value).map_err(|why| format!("{key}: {why}"))?)),
                    None => Err(format!("attribute {key:?} is required")),
                });
                converted.collect::<Result<_, String>>().map(Value::object)
            }
            Self::Tuple(types) => {
                let Value::List(items) = value else { return Err(bad()) };
                if items.len() != types.len() {
                    return Err(format!("a tuple of {} is needed, not {} elements", types.len(), items.len()));
                }
                types
                    .iter()
                    .zip(items.iter())
                    .map(|(wanted, value)| wanted.convert(value))
                    .collect::<Result<_, _>>()
                    .map(Value::list)
            }
        }
    }

    fn needed(&self) -> &'static str {
        match self {
            Self::Any => "any value",
            Self::Text => "a string",
            Self::Number => "a number",
            Self::Bool => "a bool",
            Self::List(_) | Self::Set(_) | Self::Tuple(_) => "a list",
            Self::Map(_) | Self::Object(_) => "an object",
        }
    }
}

/// The elements of a set in the order in which the language walks over them: numbers and texts by size, others as
/// they came.
pub(crate) fn in_order(set: Value) -> Value {
    let Value::List(items) = &set else { return set };
    let mut items = items.to_vec();
    if items.iter().all(|item| matches!(item, Value::Text(_) | Value::Number(_) | Value::Bool(_))) {
        items.sort_by(|left, right| match (left, right) {
            (Value::Number(left), Value::Number(right)) => left.compare(*right),
            _ => left.to_text().cmp(&right.to_text()),
        });
    }
    Value::list(items)
}

const KNOWN: &str = "types are string, number, bool, any, list(…), set(…), map(…), object({…}) and tuple([…])";

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Text => f.write_str("string"),
            Self::Number => f.write_str("number"),
            Self::Bool => f.write_str("bool"),
            Self::List(item) => write!(f, "list({item})"),
            Self::Set(item) => write!(f, "set({item})"),
            Self::Map(item) => write!(f, "map({item})"),
            Self::Object(items) => {
                let items: Vec<String> = items.iter().map(|(key, item)| format!("{key} = {item}")).collect();
                write!(f, "object({{{}}})", items.join(", "))
            }
            Self::Tuple(items) => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "tuple([{}])", items.join(", "))
            }
        }
    }
}
