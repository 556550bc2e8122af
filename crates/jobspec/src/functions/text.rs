use longshore_values::regular_expression;
use unicode_segmentation::UnicodeSegmentation;

use super::format::format;
use super::{Arguments, Context, Function, MANY, function};
use crate::value::Value;

/// What it takes to make a pattern ready, as steps; and to look for it, for each byte of the text.
const PATTERN_UNITS: usize = 10_000;
const PATTERN_UNITS_A_BYTE: usize = 32;

pub(super) const FUNCTIONS: &[Function] = &[
    function("chomp", 1, 1, |_, a| Ok(Value::text(a.text(0)?.trim_end_matches(['\n', '\r'])))),
    function("format", 1, MANY, |context, a| {
        let text = format(&a.text(0)?, a.all().get(1..).unwrap_or(&[]))?;
        context.budget.charge(text.len())?;
        Ok(text.into())
    }),
    function("formatlist", 1, MANY, format_list),
    function("indent", 2, 2, indent),
    function("join", 2, MANY, join),
    function("lower", 1, 1, |_, a| Ok(a.text(0)?.to_lowercase().into())),
    function("upper", 1, 1, |_, a| Ok(a.text(0)?.to_uppercase().into())),
    function("regex_replace", 3, 3, |context, a| {
        let (text, pattern) = (a.text(0)?, a.text(1)?);
        context.budget.charge(PATTERN_UNITS.saturating_add(text.len().saturating_mul(PATTERN_UNITS_A_BYTE)))?;
        let regex =
            regular_expression(&pattern).map_err(|why| format!("{pattern:?} is no regular expression: {why}"))?;
        bounded(context, regex.replace_all(&text, a.text(2)?.as_ref()).into_owned())
    }),
    function("replace", 3, 3, replace),
    function("split", 2, 2, |context, a| {
        let (separator, text) = (a.text(0)?, a.text(1)?);
        context.budget.charge(text.len() + 1)?;
        let parts: Vec<Value> = match separator.is_empty() {
            true => text.chars().map(|c| Value::text(c.to_string())).collect(),
            false => text.split(separator.as_ref()).map(Value::text).collect(),
        };
        Ok(Value::list(parts))
    }),
    function("strlen", 1, 1, |_, a| Ok(crate::number::Number::from(a.text(0)?.graphemes(true).count()).into())),
    function("strrev", 1, 1, |_, a| Ok(a.text(0)?.graphemes(true).rev().collect::<String>().into())),
    function("substr", 3, 3, substring),
    function("title", 1, 1, |_, a| Ok(title(&a.text(0)?).into())),
    function("trim", 2, 2, |_, a| {
        let set: Vec<char> = a.text(1)?.chars().collect();
        Ok(Value::text(a.text(0)?.trim_matches(set.as_slice())))
    }),
    function("trimprefix", 2, 2, |_, a| {
        let (text, prefix) = (a.text(0)?, a.text(1)?);
        Ok(Value::text(text.strip_prefix(prefix.as_ref()).unwrap_or(&text)))
    }),
    function("trimsuffix", 2, 2, |_, a| {
        let (text, suffix) = (a.text(0)?, a.text(1)?);
        Ok(Value::text(text.strip_suffix(suffix.as_ref()).unwrap_or(&text)))
    }),
    function("trimspace", 1, 1, |_, a| Ok(Value::text(a.text(0)?.trim()))),
];

fn bounded(context: &Context<'_>, text: String) -> Result<Value, String> {
    context.budget.charge(text.len())?;
    Ok(text.into())
}

fn replace(context: &Context<'_>, arguments: &Arguments<'_>) -> Result<Value, String> {
    let (text, old, new) = (arguments.text(0)?, arguments.text(1)?, arguments.text(2)?);
    let longest = text.len().saturating_add(1).saturating_mul(new.len() + 1);
    context.budget.charge(if old.is_empty() { longest } else { longest / old.len() + text.len() })?;
    Ok(text.replace(old.as_ref(), &new).into())
}

fn indent(context: &Context<'_>, arguments: &Arguments<'_>) -> Result<Value, String> {
    let (spaces, text) = (arguments.count(0)?, arguments.text(1)?);
    let lines = text.matches('\n').count();
    context.budget.charge(spaces.saturating_mul(lines).saturating_add(text.len()))?;
    if lines == 0 {
        return Ok(Value::Text(text));
    }
    Ok(text.replace('\n', &format!("\n{}", " ".repeat(spaces))).into())
}

fn join(context: &Context<'_>, arguments: &Arguments<'_>) -> Result<Value, String> {
    let separator = arguments.text(0)?;
    let mut parts = Vec::new();
    for at in 1..arguments.all().len() {
        parts.extend(arguments.texts(at)?);
    }
    let length = parts.iter().map(|part| part.len() + separator.len()).fold(0, usize::saturating_add);
    context.budget.charge(length)?;
    Ok(parts.join(separator.as_ref()).into())
}

fn substring(_: &Context<'_>, arguments: &Arguments<'_>) -> Result<Value, String> {
    let text = arguments.text(0)?;
    let (offset, length) = (arguments.whole(1)?, arguments.whole(2)?);
    let total = i64::try_from(text.graphemes(true).count()).unwrap_or(i64::MAX);
    let start = if offset < 0 { (total.saturating_add(offset)).max(0) } else { offset };
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    // A character is what people see as one.
    let rest = text.graphemes(true).skip(start);
    Ok(match usize::try_from(length) {
        Ok(length) => rest.take(length).collect::<String>(),
        Err(_) => rest.collect::<String>(),
    }
    .into())
}

fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at_start = true;
    for c in text.chars() {
        if at_start {
            out.extend(c.to_uppercase());
        } else {
            out.push(c);
        }
        at_start = !(c.is_alphanumeric() || c == '_' || c == '\'');
    }
    out
}

fn format_list(context: &Context<'_>, arguments: &Arguments<'_>) -> Result<Value, String> {
    let template = arguments.text(0)?;
    let rest = arguments.all().get(1..).unwrap_or(&[]);
    let lengths: Vec<usize> =
        rest.iter().filter_map(|value| if let Value::List(items) = value { Some(items.len()) } else { None }).collect();
    let length = lengths.first().copied().unwrap_or(1);
    if lengths.iter().any(|other| *other != length) {
        return Err("the lists must be of one length".to_owned());
    }
    let mut out = Vec::new();
    for at in 0..length {
        let row: Vec<Value> = rest
            .iter()
            .map(|value| match value {
                Value::List(items) => items.get(at).cloned().unwrap_or(Value::Null),
                other => other.clone(),
            })
            .collect();
        let text = format(&template, &row)?;
        context.budget.charge(text.len() + 1)?;
        out.push(text.into());
    }
    Ok(Value::list(out))
}
