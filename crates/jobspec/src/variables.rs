//! The variables and local values of a file: what is declared, and which of the given values holds.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use hcl_edit::Span;
use hcl_edit::expr::Expression;
use hcl_edit::structure::{Block, Structure};
use longshore_values::{Diagnostic, nearest};

use crate::evaluate::{Budget, Evaluator, Scope, Trouble};
use crate::source::Source;
use crate::types::Type;
use crate::value::Value;
use crate::{Input, syntax};

/// A variable as its block declares it.
struct Declared<'b> {
    name: String,
    span: Option<Range<usize>>,
    wanted: Type,
    value: Option<Value>,
    validations: Vec<&'b Block>,
    failed: bool,
}

/// Reads `variable` and `variables` blocks, chooses values and hands them to the evaluator.
///
/// Weakest first: the default, the environment, variable files in order, the command line.
pub(crate) fn declare<'a>(
    evaluator: &mut Evaluator<'a>,
    blocks: &[&Block],
    input: &Input<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut declared: BTreeMap<String, Declared<'_>> = BTreeMap::new();
    for block in blocks {
        let found = match block.ident.value().as_str() {
            "variables" => shorthand(evaluator, block, diagnostics),
            _ => variable(evaluator, block, diagnostics).into_iter().collect(),
        };
        for one in found {
            if declared.contains_key(&one.name) {
                let told = Diagnostic::error(format!("the variable {:?} is declared twice", one.name));
                tell(evaluator.at(one.span.clone(), told), diagnostics);
            } else {
                declared.insert(one.name.clone(), one);
            }
        }
    }
    give(evaluator, &mut declared, input, diagnostics);
    for one in declared.values_mut() {
        match one.value.take() {
            _ if one.failed => {}
            Some(value) => {
                evaluator.variables.insert(one.name.clone(), value);
                continue;
            }
            None => {
                let told = Diagnostic::error(format!("the variable {:?} has no value", one.name))
                    .hint(format!("give it a default, or a value with `-var {}=…`", one.name));
                tell(evaluator.at(one.span.clone(), told), diagnostics);
            }
        }
        evaluator.failed_variables.push(one.name.clone());
    }
    for one in declared.values() {
        for validation in &one.validations {
            validate(evaluator, one, validation, diagnostics);
        }
    }
}

/// Makes the local values of a `locals` block known.
pub(crate) fn add_locals<'a>(evaluator: &Evaluator<'a>, block: &'a Block, diagnostics: &mut Vec<Diagnostic>) {
    for structure in &block.body {
        match structure {
            Structure::Attribute(attribute) => {
                let name = attribute.key.value().as_str();
                if !evaluator.add_local(name, &attribute.value) {
                    let told = Diagnostic::error(format!("the local value {name:?} is there twice"));
                    tell(evaluator.at(attribute.key.span(), told), diagnostics);
                }
            }
            Structure::Block(block) => {
                tell(evaluator.fail(block.ident.span(), "locals holds names and values, no blocks"), diagnostics);
            }
        }
    }
}

/// Evaluates every local value, so that errors are told even for those that nobody uses.
pub(crate) fn check_locals(evaluator: &Evaluator<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for name in evaluator.local_names() {
        if let Err(trouble) = evaluator.local(&name, &Expression::null()) {
            tell(trouble, diagnostics);
        }
        diagnostics.append(&mut evaluator.faults.borrow_mut());
    }
}

fn tell(trouble: Trouble, diagnostics: &mut Vec<Diagnostic>) {
    if let Trouble::New(diagnostic) = trouble {
        diagnostics.push(*diagnostic);
    }
}

fn shorthand<'b>(evaluator: &Evaluator<'_>, block: &'b Block, diagnostics: &mut Vec<Diagnostic>) -> Vec<Declared<'b>> {
    let mut found = Vec::new();
    for structure in &block.body {
        let Structure::Attribute(attribute) = structure else {
            let told = Diagnostic::error("variables holds names and defaults, no blocks")
                .hint("write `variable \"name\" { … }` on the top level for the long form");
            tell(evaluator.at(block.ident.span(), told), diagnostics);
            continue;
        };
        let value = evaluator.evaluate(&attribute.value, &Rc::default());
        let failed = value.is_err();
        let value = value.map_err(|trouble| tell(trouble, diagnostics)).ok();
        found.push(Declared {
            name: attribute.key.value().as_str().to_owned(),
            span: attribute.key.span(),
            wanted: value.as_ref().map_or(Type::Any, type_of_default),
            value,
            validations: Vec::new(),
            failed,
        });
    }
    found
}

/// A variable without a type takes the type of its default, as far as that matters for reading values.
fn type_of_default(default: &Value) -> Type {
    match default {
        Value::Text(_) => Type::Text,
        Value::Number(_) => Type::Number,
        Value::Bool(_) => Type::Bool,
        _ => Type::Any,
    }
}

fn variable<'b>(
    evaluator: &Evaluator<'_>,
    block: &'b Block,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Declared<'b>> {
    let [label] = block.labels.as_slice() else {
        tell(evaluator.fail(block.ident.span(), "a variable block takes one label, its name"), diagnostics);
        return None;
    };
    let mut one = Declared {
        name: label.as_str().to_owned(),
        span: label.span(),
        wanted: Type::Any,
        value: None,
        validations: Vec::new(),
        failed: false,
    };
    for structure in &block.body {
        match structure {
            Structure::Attribute(attribute) => match attribute.key.value().as_str() {
                "type" => match Type::read(&attribute.value) {
                    Ok(wanted) => one.wanted = wanted,
                    Err((span, why)) => {
                        one.failed = true;
                        tell(evaluator.fail(span, why), diagnostics);
                    }
                },
                "default" | "description" => {}
                other => {
                    let mut told = Diagnostic::error(format!("there is no attribute {other:?} in variable"));
                    if let Some(near) = nearest(other, ["type", "default", "description", "validation"]) {
                        told.hint = format!("did you mean {near:?}?");
                    }
                    tell(evaluator.at(attribute.key.span(), told), diagnostics);
                }
            },
            Structure::Block(inner) if inner.ident.value().as_str() == "validation" => one.validations.push(inner),
            Structure::Block(inner) => {
                let told = format!("there is no block {:?} in variable", inner.ident.value().as_str());
                tell(evaluator.fail(inner.ident.span(), told), diagnostics);
            }
        }
    }
    if let Some(default) = block.body.get_attribute("default") {
        match evaluator.evaluate(&default.value, &Rc::default()) {
            Ok(value) => {
                if one.wanted == Type::Any {
                    one.wanted = type_of_default(&value);
                }
                match one.wanted.convert(&value) {
                    Ok(value) => one.value = Some(value),
                    Err(why) => {
                        one.failed = true;
                        let told = format!("the default of variable {:?} is not of its type: {why}", one.name);
                        tell(evaluator.fail(default.value.span(), told), diagnostics);
                    }
                }
            }
            Err(trouble) => {
                one.failed = true;
                tell(trouble, diagnostics);
            }
        }
    }
    Some(one)
}

fn give(
    evaluator: &Evaluator<'_>,
    declared: &mut BTreeMap<String, Declared<'_>>,
    input: &Input<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for (name, text) in input.environment {
        if let Some(one) = declared.get_mut(name) {
            let from = format!("environment variable NOMAD_VAR_{name}");
            take_text(one, text, &from, evaluator.budget, diagnostics);
        }
    }
    for (file, text) in input.variable_files {
        read_file(file, text, evaluator.budget, declared, input.strict, diagnostics);
    }
    for (name, text) in input.variables {
        match declared.get_mut(name) {
            Some(one) => take_text(one, text, &format!("-var {name}"), evaluator.budget, diagnostics),
            None if input.strict => diagnostics.push(undeclared(name, declared, &format!("-var {name}"))),
            None => {}
        }
    }
}

fn undeclared(name: &str, declared: &BTreeMap<String, Declared<'_>>, from: &str) -> Diagnostic {
    let told =
        Diagnostic::error(format!("{from} gives a value to {name:?}, but the job file declares no such variable"));
    match nearest(name, declared.keys().map(String::as_str)) {
        Some(near) => told.hint(format!("did you mean {near:?}?")),
        None => told.hint(format!("declare it in the job file: `variable \"{name}\" {{}}`")),
    }
}

/// A value that comes as text: strings and numbers as they are, everything else as an expression.
fn take_text(one: &mut Declared<'_>, text: &str, from: &str, budget: &Budget, diagnostics: &mut Vec<Diagnostic>) {
    let source = Source::new(from, text);
    let value = match one.wanted {
        Type::Text | Type::Number | Type::Bool => Value::text(text),
        _ => match read_expression(&source, budget, one.wanted == Type::Any) {
            Ok(value) => value,
            Err(diagnostic) => {
                one.failed = true;
                diagnostics.push(*diagnostic);
                return;
            }
        },
    };
    take(one, &value, None, from, diagnostics);
}

fn read_expression(source: &Source, budget: &Budget, else_text: bool) -> Result<Value, Box<Diagnostic>> {
    let expression = match syntax::expression(source) {
        Ok(Expression::Variable(_) | Expression::Traversal(_)) if else_text => {
            return Ok(Value::text(source.text.as_str()));
        }
        Ok(expression) => expression,
        Err(_) if else_text => return Ok(Value::text(source.text.as_str())),
        Err(why) => return Err(why),
    };
    let evaluator = Evaluator::new(source, budget, None);
    match evaluator.evaluate(&expression, &Rc::default()) {
        Ok(value) => Ok(value),
        Err(Trouble::New(diagnostic)) => Err(diagnostic),
        Err(Trouble::Told) => {
            let told = evaluator.faults.borrow_mut().pop();
            Err(Box::new(told.unwrap_or_else(|| Diagnostic::error(format!("{} has no value", source.file)))))
        }
    }
}

fn take(
    one: &mut Declared<'_>,
    value: &Value,
    place: Option<longshore_values::Place>,
    from: &str,
    diagnostics: &mut Vec<Diagnostic>,
) {
    match one.wanted.convert(value) {
        Ok(value) => one.value = Some(value),
        Err(why) => {
            one.failed = true;
            let mut told = Diagnostic::error(format!(
                "the value of {from} is not of the type of variable {:?}, {}: {why}",
                one.name, one.wanted
            ));
            told.place = place;
            diagnostics.push(told);
        }
    }
}

fn read_file(
    file: &str,
    text: &str,
    budget: &Budget,
    declared: &mut BTreeMap<String, Declared<'_>>,
    strict: bool,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let source = Source::new(file, text);
    if text.trim_start().starts_with('{') {
        let items: serde_json::Map<String, serde_json::Value> = match serde_json::from_str(text) {
            Ok(items) => items,
            Err(why) => return diagnostics.push(Diagnostic::error(format!("{file} is no JSON object: {why}"))),
        };
        for (name, json) in &items {
            match declared.get_mut(name) {
                Some(one) => take(one, &Value::from_json(json), None, file, diagnostics),
                None if strict => diagnostics.push(undeclared(name, declared, file)),
                None => {}
            }
        }
        return;
    }
    let body = match syntax::body(&source) {
        Ok(body) => body,
        Err(why) => return diagnostics.push(*why),
    };
    let evaluator = Evaluator::new(&source, budget, None);
    for structure in &body {
        let Structure::Attribute(attribute) = structure else {
            let told = format!("{file} holds names and values of variables, no blocks");
            let span = structure.as_block().and_then(|block| block.ident.span());
            tell(evaluator.fail(span, told), diagnostics);
            continue;
        };
        let name = attribute.key.value().as_str();
        let place = attribute.key.span().map(|span| source.place(span));
        match declared.get_mut(name) {
            Some(one) => match evaluator.evaluate(&attribute.value, &Rc::default()) {
                Ok(value) => take(one, &value, place, file, diagnostics),
                Err(trouble) => {
                    one.failed = true;
                    tell(trouble, diagnostics);
                }
            },
            None if strict => {
                let mut told = undeclared(name, declared, file);
                told.place = place;
                diagnostics.push(told);
            }
            None => {}
        }
    }
    diagnostics.append(&mut evaluator.faults.borrow_mut());
}

fn validate(evaluator: &Evaluator<'_>, one: &Declared<'_>, block: &Block, diagnostics: &mut Vec<Diagnostic>) {
    let span = block.ident.span();
    let (Some(condition), Some(message)) =
        (block.body.get_attribute("condition"), block.body.get_attribute("error_message"))
    else {
        let told = "a validation block needs a condition and an error_message";
        return tell(evaluator.fail(span, told), diagnostics);
    };
    let scope: Rc<Scope> = Rc::default();
    let message = match evaluator.evaluate(&message.value, &scope) {
        Ok(value) => value.to_text().unwrap_or_else(|| "".into()),
        Err(trouble) => return tell(trouble, diagnostics),
    };
    let is_sentence = message.chars().next().is_some_and(char::is_uppercase) && message.ends_with(['.', '?', '!']);
    if !is_sentence {
        let told = "error_message must be a sentence: it starts with a capital letter and ends with `.`, `?` or `!`";
        return tell(evaluator.fail(span, told), diagnostics);
    }
    match evaluator.evaluate(&condition.value, &scope) {
        Ok(value) => match value.to_bool() {
            Some(true) => {}
            Some(false) => {
                let told = Diagnostic::error(format!("the value of variable {:?} is not valid", one.name))
                    .detail(message.to_string());
                tell(evaluator.at(one.span.clone(), told), diagnostics);
            }
            None => tell(evaluator.fail(condition.value.span(), "the condition must be true or false"), diagnostics),
        },
        Err(trouble) => tell(trouble, diagnostics),
    }
}
