//! Templates of `-t`, in the language of Go's `text/template` as far as outputs need it: fields, `range`, `if`, `with`,
//! pipes, and the functions `and or not eq ne lt le gt ge len index print printf println`. Anything else is an error.

use serde_json::Value;

/// Fills `template` with `data`.
///
/// # Errors
/// What is wrong with the template, or with what it asks of the data.
pub(crate) fn render(template: &str, data: &Value) -> Result<String, String> {
    let pieces = split(template)?;
    let mut parser = Parser { pieces: &pieces, at: 0 };
    let (nodes, end) = parser.nodes(0)?;
    if let Some(word) = end {
        return Err(format!("unexpected {{{{{word}}}}}"));
    }
    let mut out = String::new();
    let scope = Scope { dot: data, root: data, depth: 0 };
    run(&nodes, &scope, &mut out)?;
    Ok(out)
}

const DEPTH_MAX: usize = 32;

#[derive(Debug)]
enum Piece {
    Text(String),
    Action(Vec<Word>),
}

#[derive(Debug, Clone, PartialEq)]
enum Word {
    /// `.`, `.A.B`, `$`, `$.A`: the names, and whether they start at the root.
    Field {
        root: bool,
        names: Vec<String>,
    },
    Name(String),
    Literal(Value),
    Pipe,
    Open,
    Close,
}

#[derive(Debug)]
enum Node {
    Text(String),
    Print(Vec<Word>),
    If { test: Vec<Word>, yes: Vec<Node>, no: Vec<Node> },
    With { value: Vec<Word>, yes: Vec<Node>, no: Vec<Node> },
    Range { list: Vec<Word>, each: Vec<Node>, none: Vec<Node> },
}

fn split(template: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = template;
    let mut trim_next = false;
    while let Some((text, after)) = rest.split_once("{{") {
        let (action, after_action) = close(after)?;
        let mut text = if trim_next { text.trim_start() } else { text };
        let mut action = action;
        if let Some(trimmed) = action.strip_prefix("- ") {
            text = text.trim_end();
            action = trimmed;
        }
        trim_next = action.ends_with(" -");
        action = action.strip_suffix(" -").unwrap_or(action);
        pieces.push(Piece::Text(text.to_owned()));
        if !action.trim_start().starts_with("/*") {
            pieces.push(Piece::Action(words(action)?));
        }
        rest = after_action;
    }
    pieces.push(Piece::Text(if trim_next { rest.trim_start() } else { rest }.to_owned()));
    Ok(pieces)
}

/// Splits at the `}}` that ends an action, not at one within a text in quotes.
fn close(after: &str) -> Result<(&str, &str), String> {
    let (mut quote, mut escaped) = (None, false);
    for (at, c) in after.char_indices() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some('"') if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '"' || c == '`' => quote = Some(c),
            None if after.get(at..).is_some_and(|rest| rest.starts_with("}}")) => {
                return Ok((after.get(..at).unwrap_or(""), after.get(at + 2..).unwrap_or("")));
            }
            None => {}
        }
    }
    Err("unclosed action".to_owned())
}

fn words(action: &str) -> Result<Vec<Word>, String> {
    let mut words = Vec::new();
    let mut rest = action.trim_start();
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '|' | '(' | ')' => {
                words.push(match first {
                    '|' => Word::Pipe,
                    '(' => Word::Open,
                    _ => Word::Close,
                });
                1
            }
            '"' => {
                let end = string_end(rest)?;
                let text = rest.get(..end).unwrap_or("");
                let text: String = serde_json::from_str(text).map_err(|why| format!("bad text {text}: {why}"))?;
                words.push(Word::Literal(Value::String(text)));
                end
            }
            '`' => {
                let body = rest.get(1..).unwrap_or("");
                let end = body.find('`').ok_or("unterminated raw text")?;
                words.push(Word::Literal(Value::String(body.get(..end).unwrap_or("").to_owned())));
                end + 2
            }
            _ => {
                let end = rest.find(|c: char| c.is_whitespace() || "|()".contains(c)).unwrap_or(rest.len());
                words.push(word(rest.get(..end).unwrap_or(""))?);
                end
            }
        };
        rest = rest.get(taken..).unwrap_or("").trim_start();
    }
    Ok(words)
}

fn string_end(rest: &str) -> Result<usize, String> {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Ok(at + 1),
            _ => {}
        }
    }
    Err("unterminated text".to_owned())
}

fn word(text: &str) -> Result<Word, String> {
    let names = |path: &str| path.split('.').filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    if let Some(path) = text.strip_prefix('$') {
        if !path.is_empty() && !path.starts_with('.') {
            return Err(format!("undefined variable \"{text}\""));
        }
        return Ok(Word::Field { root: true, names: names(path) });
    }
    if text.starts_with('.') {
        return Ok(Word::Field { root: false, names: names(text) });
    }
    match text {
        "true" => return Ok(Word::Literal(Value::Bool(true))),
        "false" => return Ok(Word::Literal(Value::Bool(false))),
        "nil" => return Ok(Word::Literal(Value::Null)),
        _ => {}
    }
    if let Ok(number) = text.parse::<i64>() {
        return Ok(Word::Literal(number.into()));
    }
    if let Ok(number) = text.parse::<f64>() {
        return Ok(Word::Literal(number.into()));
    }
    Ok(Word::Name(text.to_owned()))
}

struct Parser<'a> {
    pieces: &'a [Piece],
    at: usize,
}

impl Parser<'_> {
    /// Nodes up to `end` or `else` or the template's own end, and which of these it was.
    fn nodes(&mut self, depth: usize) -> Result<(Vec<Node>, Option<String>), String> {
        if depth > DEPTH_MAX {
            return Err("blocks lie too deep in one another".to_owned());
        }
        let mut nodes = Vec::new();
        while let Some(piece) = self.pieces.get(self.at) {
            self.at += 1;
            let words = match piece {
                Piece::Text(text) => {
                    nodes.push(Node::Text(text.clone()));
                    continue;
                }
                Piece::Action(words) => words,
            };
            let Some((Word::Name(keyword), rest)) = words.split_first() else {
                nodes.push(Node::Print(words.clone()));
                continue;
            };
            match keyword.as_str() {
                "end" | "else" if rest.is_empty() => return Ok((nodes, Some(keyword.clone()))),
                "if" | "with" | "range" => {
                    let (yes, end) = self.nodes(depth + 1)?;
                    let no = match end.as_deref() {
                        Some("else") => {
                            let (no, end) = self.nodes(depth + 1)?;
                            if end.as_deref() != Some("end") {
                                return Err(format!("{keyword} without end"));
                            }
                            no
                        }
                        Some(_) => Vec::new(),
                        None => return Err(format!("{keyword} without end")),
                    };
                    let value = rest.to_vec();
                    nodes.push(match keyword.as_str() {
                        "if" => Node::If { test: value, yes, no },
                        "with" => Node::With { value, yes, no },
                        _ => Node::Range { list: value, each: yes, none: no },
                    });
                }
                _ => nodes.push(Node::Print(words.clone())),
            }
        }
        Ok((nodes, None))
    }
}

#[derive(Clone, Copy)]
struct Scope<'a> {
    dot: &'a Value,
    root: &'a Value,
    depth: usize,
}

fn run(nodes: &[Node], scope: &Scope<'_>, out: &mut String) -> Result<(), String> {
    for node in nodes {
        match node {
            Node::Text(text) => out.push_str(text),
            Node::Print(words) => out.push_str(&show(&evaluate(words, scope)?)),
            Node::If { test, yes, no } => {
                run(if holds(&evaluate(test, scope)?) { yes } else { no }, scope, out)?;
            }
            Node::With { value, yes, no } => {
                let value = evaluate(value, scope)?;
                if holds(&value) {
                    run(yes, &Scope { dot: &value, ..*scope }, out)?;
                } else {
                    run(no, scope, out)?;
                }
            }
            Node::Range { list, each, none } => {
                let list = evaluate(list, scope)?;
                let items: Vec<&Value> = match &list {
                    Value::Array(items) => items.iter().collect(),
                    Value::Object(map) => map.values().collect(),
                    Value::Null => Vec::new(),
                    other => return Err(format!("range can't iterate over {}", show(other))),
                };
                if items.is_empty() {
                    run(none, scope, out)?;
                }
                for item in items {
                    run(each, &Scope { dot: item, ..*scope }, out)?;
                }
            }
        }
    }
    Ok(())
}

/// The value of a pipeline.
fn evaluate(words: &[Word], scope: &Scope<'_>) -> Result<Value, String> {
    if scope.depth > DEPTH_MAX {
        return Err("parentheses lie too deep in one another".to_owned());
    }
    let mut piped: Option<Value> = None;
    let mut nested = 0_usize;
    let stages = words.split(|word| {
        match word {
            Word::Open => nested += 1,
            Word::Close => nested = nested.saturating_sub(1),
            Word::Field { .. } | Word::Name(_) | Word::Literal(_) | Word::Pipe => {}
        }
        nested == 0 && *word == Word::Pipe
    });
    for stage in stages {
        piped = Some(command(stage, piped, scope)?);
    }
    piped.ok_or_else(|| "missing value for command".to_owned())
}

fn command(words: &[Word], piped: Option<Value>, scope: &Scope<'_>) -> Result<Value, String> {
    let (name, rest) = match words.split_first() {
        Some((Word::Name(name), rest)) => (Some(name.as_str()), rest),
        _ => (None, words),
    };
    let mut arguments = operands(rest, scope)?;
    arguments.extend(piped);
    match name {
        Some(name) => call(name, &arguments),
        None => match <[Value; 1]>::try_from(arguments) {
            Ok([value]) => Ok(value),
            Err(arguments) if arguments.is_empty() => Err("missing value for command".to_owned()),
            Err(_) => Err("can't give argument to non-function".to_owned()),
        },
    }
}

fn operands(mut words: &[Word], scope: &Scope<'_>) -> Result<Vec<Value>, String> {
    let mut values = Vec::new();
    while let Some((first, rest)) = words.split_first() {
        words = rest;
        values.push(match first {
            Word::Literal(value) => value.clone(),
            Word::Field { root, names } => field(if *root { scope.root } else { scope.dot }, names)?,
            Word::Name(name) => call(name, &[])?,
            Word::Open => {
                let (inner, after) = parenthesised(rest)?;
                words = after;
                evaluate(inner, &Scope { depth: scope.depth + 1, ..*scope })?
            }
            Word::Close | Word::Pipe => return Err("unexpected \")\"".to_owned()),
        });
    }
    Ok(values)
}

fn parenthesised(words: &[Word]) -> Result<(&[Word], &[Word]), String> {
    let mut nested = 0_usize;
    for (at, word) in words.iter().enumerate() {
        match word {
            Word::Open => nested += 1,
            Word::Close if nested == 0 => {
                return Ok((words.get(..at).unwrap_or(&[]), words.get(at + 1..).unwrap_or(&[])));
            }
            Word::Close => nested -= 1,
            Word::Field { .. } | Word::Name(_) | Word::Literal(_) | Word::Pipe => {}
        }
    }
    Err("unclosed left paren".to_owned())
}

fn field(value: &Value, names: &[String]) -> Result<Value, String> {
    let mut value = value;
    for name in names {
        value = match value {
            Value::Object(map) => map.get(name).ok_or_else(|| format!("can't evaluate field {name}"))?,
            Value::Null => return Err(format!("nil data; no entry for key {name:?}")),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return Err(format!("can't evaluate field {name} in {}", show(value)));
            }
        };
    }
    Ok(value.clone())
}

fn call(name: &str, arguments: &[Value]) -> Result<Value, String> {
    let pair = || match arguments {
        [a, b] => Ok((a, b)),
        _ => Err(format!("wrong number of args for {name}: want 2 got {}", arguments.len())),
    };
    let order = || pair().and_then(|(a, b)| compare(a, b));
    match name {
        "print" => Ok(Value::String(print(arguments))),
        "println" => Ok(Value::String(format!("{}\n", arguments.iter().map(show).collect::<Vec<_>>().join(" ")))),
        "printf" => match arguments.split_first() {
            Some((Value::String(format), rest)) => printf(format, rest).map(Value::String),
            _ => Err("printf wants a format".to_owned()),
        },
        "len" => match arguments {
            [Value::Array(items)] => Ok(items.len().into()),
            [Value::Object(map)] => Ok(map.len().into()),
            [Value::String(text)] => Ok(text.len().into()),
            [Value::Null] => Ok(0.into()),
            _ => Err("len of what has no length".to_owned()),
        },
        "index" => arguments.split_first().ok_or_else(|| "index of nothing".to_owned()).and_then(|(first, keys)| {
            keys.iter().try_fold(first.clone(), |value, key| match (&value, key) {
                (Value::Object(map), Value::String(key)) => Ok(map.get(key).cloned().unwrap_or(Value::Null)),
                (Value::Array(items), Value::Number(at)) => {
                    let at = at.as_u64().and_then(|at| usize::try_from(at).ok());
                    at.and_then(|at| items.get(at).cloned()).ok_or_else(|| "index out of range".to_owned())
                }
                _ => Err(format!("can't index item of {}", show(&value))),
            })
        }),
        "not" => match arguments {
            [value] => Ok(Value::Bool(!holds(value))),
            _ => Err(format!("wrong number of args for not: want 1 got {}", arguments.len())),
        },
        "and" => Ok(arguments.iter().find(|it| !holds(it)).or(arguments.last()).cloned().unwrap_or(Value::Null)),
        "or" => Ok(arguments.iter().find(|it| holds(it)).or(arguments.last()).cloned().unwrap_or(Value::Null)),
        "eq" => match arguments.split_first() {
            Some((first, rest)) if !rest.is_empty() => Ok(Value::Bool(rest.iter().any(|other| same(first, other)))),
            _ => Err("missing argument for comparison".to_owned()),
        },
        "ne" => pair().map(|(a, b)| Value::Bool(!same(a, b))),
        "lt" => order().map(|order| Value::Bool(order.is_lt())),
        "le" => order().map(|order| Value::Bool(order.is_le())),
        "gt" => order().map(|order| Value::Bool(order.is_gt())),
        "ge" => order().map(|order| Value::Bool(order.is_ge())),
        _ => Err(format!("function {name:?} not defined")),
    }
}

fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

fn compare(a: &Value, b: &Value) -> Result<std::cmp::Ordering, String> {
    let incompatible = || "incompatible types for comparison".to_owned();
    match (a, b) {
        (Value::String(a), Value::String(b)) => Ok(a.cmp(b)),
        _ => a.as_f64().zip(b.as_f64()).and_then(|(a, b)| a.partial_cmp(&b)).ok_or_else(incompatible),
    }
}

/// Go's `Sprint`: a space between two operands of which neither is a text.
fn print(arguments: &[Value]) -> String {
    let mut out = String::new();
    for (at, value) in arguments.iter().enumerate() {
        if at > 0 && !value.is_string() && arguments.get(at - 1).is_some_and(|before| !before.is_string()) {
            out.push(' ');
        }
        out.push_str(&show(value));
    }
    out
}

fn printf(format: &str, arguments: &[Value]) -> Result<String, String> {
    let mut out = String::new();
    let mut arguments = arguments.iter();
    let mut letters = format.chars();
    while let Some(c) = letters.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut verb = letters.next();
        let (left, mut width) = (verb == Some('-'), String::new());
        if left {
            verb = letters.next();
        }
        while let Some(digit) = verb.filter(char::is_ascii_digit) {
            width.push(digit);
            verb = letters.next();
        }
        let shown = match verb {
            Some('%') => "%".to_owned(),
            Some('s' | 'v' | 'd' | 't') => show(arguments.next().ok_or("printf has too few arguments")?),
            Some('q') => format!("{:?}", show(arguments.next().ok_or("printf has too few arguments")?)),
            other => return Err(format!("printf does not know %{}", other.map(String::from).unwrap_or_default())),
        };
        let width = width.parse::<usize>().unwrap_or(0).min(1_000);
        let gap = " ".repeat(width.saturating_sub(shown.chars().count()));
        out.push_str(&if left { format!("{shown}{gap}") } else { format!("{gap}{shown}") });
    }
    Ok(out)
}

/// What Go takes for true: anything but the zero value.
fn holds(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

fn show(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(" ")),
        Value::Object(map) => {
            let pairs: Vec<String> = map.iter().map(|(key, value)| format!("{key}:{}", show(value))).collect();
            format!("map[{}]", pairs.join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[track_caller]
    fn check(template: &str, expected: &str) {
        let data = json!({
            "ID": "shop-web", "Version": 4, "Stable": true, "Tags": ["a", "b"], "Meta": {"k": "v"}, "None": null,
            "Nodes": [{"ID": "n1", "Status": "ready"}, {"ID": "n2", "Status": "down"}],
        });
        let got = render(template, &data).unwrap_or_else(|why| format!("error: {why}"));
        assert_eq!(got, expected, "{template}");
    }

    #[test]
    fn templates() {
        check("{{.ID}} {{.Version}}", "shop-web 4");
        check("{{range .Nodes}}{{.ID}} {{.Status}}{{println}}{{end}}", "n1 ready\nn2 down\n");
        check("{{range .Nodes}}{{if eq .Status \"ready\"}}{{.ID}}{{else}}-{{end}}{{end}}", "n1-");
        check("{{range .None}}x{{else}}none{{end}}", "none");
        check("{{with .Meta}}{{.k}} {{$.ID}}{{end}}", "v shop-web");
        check("{{len .Tags}} {{index .Tags 1}} {{index .Meta \"k\"}}", "2 b v");
        check("{{.ID | printf \"%-10s|%q\" 5 }}", "5         |\"shop-web\"");
        check("a {{- .Version -}} b", "a4b");
        check("{{(index .Nodes 0).ID}}", "error: can't give argument to non-function");
        check("{{and .Stable (gt .Version 3)}}", "true");
        check("{{.Tags}} {{.Meta}} {{.None}}", "[a b] map[k:v] <nil>");
        check("{{/* no */}}x", "x");
        check("{{.Missing}}", "error: can't evaluate field Missing");
        check("{{range .Tags}}", "error: range without end");
        check("{{end}}", "error: unexpected {{end}}");
        check("{{.ID", "error: unclosed action");
        check("{{frob .ID}}", "error: function \"frob\" not defined");
        check("{{\"}}\"}}", "}}");
    }

    proptest! {
        #[test]
        fn no_template_panics(template in "(\\{\\{|\\}\\}|range|if|end|else|[.$|() \"`a-]|index|printf|%[0-9s]){0,20}") {
            let _ = render(&template, &json!({"a": [1, {"b": "c"}]}));
        }
    }
}
