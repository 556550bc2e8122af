//! Reads the body of a block by its table: every part is known, of the right kind, and in its place.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use hcl_edit::Span;
use hcl_edit::expr::{Expression, ObjectKey};
use hcl_edit::structure::{Attribute, Block, Structure};
use longshore_values::{Diagnostic, GoDuration, nearest};
use serde_json::Value as Json;

use crate::evaluate::{Evaluator, Outcome, Scope, Trouble};
use crate::places::{join, numbered, segment};
use crate::schema::{Body, Fields, JOB, Kind, Nested, Shape};
use crate::value::Value;

/// The units of work of one block. Each keeps about a kilobyte until the whole file is read, and a few nested `dynamic`
/// blocks ask for millions.
const WORK_OF_BLOCK: usize = 250;

/// A label with the place that it was read from.
type Label = (String, Option<Range<usize>>);

/// One block to read: as written, or as one turn of a `dynamic` block.
struct Instance<'b> {
    name: String,
    span: Option<Range<usize>>,
    labels: Vec<Label>,
    body: &'b hcl_edit::structure::Body,
    scope: Rc<Scope>,
}

pub(crate) struct Decoder<'e, 'a> {
    evaluator: &'e Evaluator<'a>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Where blocks and attributes stand, by path.
    pub(crate) places: BTreeMap<String, Range<usize>>,
}

impl<'e, 'a> Decoder<'e, 'a> {
    pub(crate) fn new(evaluator: &'e Evaluator<'a>) -> Self {
        Self { evaluator, diagnostics: Vec::new(), places: BTreeMap::new() }
    }

    fn tell(&mut self, trouble: Trouble) {
        if let Trouble::New(diagnostic) = trouble {
            self.diagnostics.push(*diagnostic);
        }
    }

    fn error(&mut self, span: Option<Range<usize>>, diagnostic: Diagnostic) {
        let trouble = self.evaluator.at(span, diagnostic);
        self.tell(trouble);
    }

    fn told<T>(&mut self, outcome: Outcome<T>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(trouble) => {
                self.tell(trouble);
                None
            }
        }
    }

    fn remember(&mut self, path: &str, span: Option<Range<usize>>) {
        if let Some(span) = span {
            self.places.entry(path.to_owned()).or_insert(span);
        }
    }

    /// The parts of a value that is written out.
    fn remember_within(&mut self, path: &str, value: &Expression) {
        match value {
            Expression::Object(object) => {
                for (key, inner) in object {
                    let Some(name) = name_of(key) else { continue };
                    let path = join(path, name);
                    self.remember(&path, key.span());
                    self.remember_within(&path, inner.expr());
                }
            }
            Expression::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    let path = numbered(path, at);
                    self.remember(&path, item.span());
                    self.remember_within(&path, item);
                }
            }
            _ => {}
        }
    }

    /// Reads one labelled block of the top level.
    pub(crate) fn top_block(&mut self, schema: &'static Body, block: &Block, label_key: &str) -> Fields {
        let labels: Vec<Label> = block.labels.iter().map(|label| (label.as_str().to_owned(), label.span())).collect();
        self.remember(schema.name, block.ident.span());
        let mut fields = self.body(schema, &block.body, &Rc::default(), block.ident.span(), "", Fields::new());
        match labels.as_slice() {
            [(label, _)] => {
                fields.entry(label_key).or_insert_with(|| label.as_str().into());
            }
            _ => self.error(block.ident.span(), label_error(schema.name, 1, labels.len())),
        }
        fields
    }

    fn body(
        &mut self,
        schema: &'static Body,
        body: &hcl_edit::structure::Body,
        scope: &Rc<Scope>,
        span: Option<Range<usize>>,
        path: &str,
        mut fields: Fields,
    ) -> Fields {
        for structure in body {
            match structure {
                Structure::Attribute(attribute) => self.attribute(schema, attribute, scope, path, &mut fields),
                Structure::Block(block) => {
                    for instance in self.instances(block, scope) {
                        self.block(schema, &instance, path, &mut fields);
                    }
                }
            }
        }
        if let Some(finish) = schema.finish
            && let Err(why) = finish(&mut fields)
        {
            self.error(span, Diagnostic::error(why));
        }
        fields
    }

    fn attribute(
        &mut self,
        schema: &'static Body,
        attribute: &Attribute,
        scope: &Rc<Scope>,
        path: &str,
        fields: &mut Fields,
    ) {
        let name = attribute.key.value().as_str();
        let path = join(path, name);
        self.remember(&path, attribute.key.span());
        if let Some(known) = schema.attribute(name) {
            let Some(value) = self.value_of(attribute, scope) else { return };
            let span = attribute.value.span();
            let converted = self.convert(name, known.kind, &value, span);
            if let Some(json) = self.told(converted).filter(|json| !json.is_null()) {
                fields.insert(known.key.to_owned(), json);
            }
            self.remember_within(&path, &attribute.value);
            return;
        }
        match schema.nested(name) {
            Some(nested) if matches!(nested.shape, Shape::TextMap | Shape::TextsMap | Shape::Free) => {
                self.remember_within(&path, &attribute.value);
                let Some(value) = self.value_of(attribute, scope) else { return };
                self.map_attribute(nested, &value, attribute, fields);
            }
            Some(_) => self.error(
                attribute.key.span(),
                Diagnostic::error(format!("{name:?} is a block")).hint(format!("write `{name} {{ … }}`, without `=`")),
            ),
            None => {
                let told = unknown_name(schema, name, "attribute");
                self.error(attribute.key.span(), told);
            }
        }
    }

    fn value_of(&mut self, attribute: &Attribute, scope: &Rc<Scope>) -> Option<Value> {
        let outcome = self.evaluator.evaluate(&attribute.value, scope);
        self.told(outcome)
    }

    /// A map that is written with `=`.
    fn map_attribute(&mut self, nested: &Nested, value: &Value, attribute: &Attribute, fields: &mut Fields) {
        let span = attribute.value.span();
        let Value::Object(items) = value else {
            if !value.is_null() {
                let told = format!("{:?} must be an object, not {}", nested.name, value.kind());
                self.error(span, Diagnostic::error(told));
            }
            return;
        };
        let mut spans = BTreeMap::new();
        if let Expression::Object(object) = &attribute.value {
            spans.extend(object.iter().filter_map(|(key, item)| Some((name_of(key)?, item.expr().span()))));
        }
        let mut map = Fields::new();
        for (key, item) in items.iter() {
            let span = spans.get(key.as_str()).cloned().unwrap_or_else(|| span.clone());
            let converted = match nested.shape {
                Shape::TextMap => self.convert(key, Kind::Text, item, span.clone()),
                Shape::TextsMap => self.convert(key, Kind::Texts, item, span.clone()),
                _ => self.json(item, span.clone()),
            };
            if let Some(json) = self.told(converted).filter(|json| !json.is_null()) {
                map.insert(key.clone(), json);
            }
        }
        fields.insert(nested.key.to_owned(), map.into());
    }

    fn block(&mut self, schema: &'static Body, instance: &Instance<'_>, path: &str, fields: &mut Fields) {
        let name = instance.name.as_str();
        let Some(nested) = schema.nested(name) else {
            let told = match schema.attribute(name) {
                Some(_) => Diagnostic::error(format!("{name:?} is no block")).hint(format!("write `{name} = …`")),
                None => unknown_name(schema, name, "block"),
            };
            self.error(instance.span.clone(), told);
            return;
        };
        let wanted = usize::from(matches!(nested.shape, Shape::Labelled(_) | Shape::ByLabel(_)));
        if instance.labels.len() != wanted && nested.shape != Shape::Free {
            self.error(instance.span.clone(), label_error(name, wanted, instance.labels.len()));
            return;
        }
        let label = instance.labels.first().map(|(label, _)| label.as_str());
        let path = match (nested.key, label) {
            ("~tasks", Some(label)) => join(&join(path, &segment("group", Some(label))), &segment(name, Some(label))),
            _ if nested.shape == Shape::Many => {
                let before = fields.get(nested.key).and_then(Json::as_array).map_or(0, Vec::len);
                join(path, &numbered(name, before))
            }
            _ => join(path, &segment(name, label)),
        };
        self.remember(&path, instance.span.clone());
        let read = match nested.shape {
            Shape::TextMap | Shape::TextsMap => self.map_block(nested, instance, &path),
            Shape::Free => self.free_block(instance, &path),
            _ => {
                let labelled = match (nested.shape, label) {
                    (Shape::Labelled(key) | Shape::ByLabel(key), Some(label)) if !key.is_empty() => {
                        Fields::from_iter([(key.to_owned(), label.into())])
                    }
                    _ => Fields::new(),
                };
                self.body(nested.body, instance.body, &instance.scope, instance.span.clone(), &path, labelled)
            }
        };
        self.put(nested, instance, read, fields);
    }

    fn put(&mut self, nested: &Nested, instance: &Instance<'_>, read: Fields, fields: &mut Fields) {
        let slot = fields.entry(nested.key).or_insert(Json::Null);
        match nested.shape {
            Shape::Many | Shape::Labelled(_) => match slot {
                Json::Array(all) => all.push(read.into()),
                other => *other = Json::Array(vec![read.into()]),
            },
            Shape::ByLabel(_) => {
                let label = instance.labels.first().map(|(label, _)| label.clone()).unwrap_or_default();
                let mut all = match slot.take() {
                    Json::Object(all) => all,
                    _ => Fields::new(),
                };
                let twice = all.insert(label.clone(), read.into()).is_some();
                *slot = all.into();
                if twice {
                    let told = format!("there are two {} blocks with the label {label:?}", nested.name);
                    self.error(instance.span.clone(), Diagnostic::error(told));
                }
            }
            Shape::One | Shape::TextMap | Shape::TextsMap | Shape::Free => {
                if slot.is_null() {
                    *slot = read.into();
                } else {
                    let told = format!("{:?} is there twice; one block is allowed", nested.name);
                    self.error(instance.span.clone(), Diagnostic::error(told));
                }
            }
        }
    }

    /// A map that is written as a block: names and texts.
    fn map_block(&mut self, nested: &Nested, instance: &Instance<'_>, path: &str) -> Fields {
        let kind = if nested.shape == Shape::TextsMap { Kind::Texts } else { Kind::Text };
        let mut map = Fields::new();
        for structure in instance.body {
            match structure {
                Structure::Attribute(attribute) => {
                    let name = attribute.key.value().as_str();
                    self.remember(&join(path, name), attribute.key.span());
                    let Some(value) = self.value_of(attribute, &instance.scope) else { continue };
                    let converted = self.convert(name, kind, &value, attribute.value.span());
                    if let Some(json) = self.told(converted).filter(|json| !json.is_null()) {
                        map.insert(name.to_owned(), json);
                    }
                }
                Structure::Block(block) => self.error(
                    block.ident.span(),
                    Diagnostic::error(format!("{:?} holds names and values, no blocks", nested.name)),
                ),
            }
        }
        map
    }

    /// A body that only its reader understands: attributes as they are, blocks as lists of objects.
    fn free_block(&mut self, instance: &Instance<'_>, path: &str) -> Fields {
        let mut fields = Fields::new();
        for structure in instance.body {
            match structure {
                Structure::Attribute(attribute) => {
                    let path = join(path, attribute.key.value().as_str());
                    self.remember(&path, attribute.key.span());
                    self.remember_within(&path, &attribute.value);
                    let Some(value) = self.value_of(attribute, &instance.scope) else { continue };
                    let json = self.json(&value, attribute.value.span());
                    if let Some(json) = self.told(json) {
                        fields.insert(attribute.key.value().as_str().to_owned(), json);
                    }
                }
                Structure::Block(block) => {
                    for inner in self.instances(block, &instance.scope) {
                        let before = fields.get(inner.name.as_str()).and_then(Json::as_array).map_or(0, Vec::len);
                        let mut path = join(path, &numbered(&inner.name, before));
                        self.remember(&path, inner.span.clone());
                        for (label, span) in &inner.labels {
                            path = join(&path, label);
                            self.remember(&path, span.clone());
                        }
                        let mut read = self.free_block(&inner, &path);
                        for (label, _) in inner.labels.iter().rev() {
                            let labelled = Json::Array(vec![read.into()]);
                            read = Fields::from_iter([(label.clone(), labelled)]);
                        }
                        match fields.entry(inner.name.as_str()).or_insert(Json::Null) {
                            Json::Array(all) => all.push(read.into()),
                            slot if slot.is_null() => *slot = Json::Array(vec![read.into()]),
                            _ => {
                                let told = format!("{:?} is there as an attribute and as a block", inner.name);
                                self.error(inner.span.clone(), Diagnostic::error(told));
                            }
                        }
                    }
                }
            }
        }
        fields
    }

    /// The block itself, or what a `dynamic` block makes.
    fn instances<'b>(&mut self, block: &'b Block, scope: &Rc<Scope>) -> Vec<Instance<'b>> {
        let labels: Vec<Label> = block.labels.iter().map(|label| (label.as_str().to_owned(), label.span())).collect();
        let name = block.ident.value().as_str().to_owned();
        if name != "dynamic" {
            let span = block.ident.span();
            let paid = self.evaluator.charge(span.clone(), WORK_OF_BLOCK);
            return match self.told(paid) {
                Some(()) => vec![Instance { name, span, labels, body: &block.body, scope: scope.clone() }],
                None => Vec::new(),
            };
        }
        let [(name, _)] = labels.as_slice() else {
            self.error(block.ident.span(), label_error("dynamic", 1, labels.len()));
            return Vec::new();
        };
        let outcome = self.dynamic(block, name, scope);
        self.told(outcome).unwrap_or_default()
    }

    fn dynamic<'b>(&mut self, block: &'b Block, name: &str, scope: &Rc<Scope>) -> Outcome<Vec<Instance<'b>>> {
        let evaluator = self.evaluator;
        let span = block.ident.span();
        for structure in &block.body {
            let (known, span) = match structure {
                Structure::Attribute(attribute) => {
                    (["for_each", "iterator", "labels"].contains(&attribute.key.value().as_str()), attribute.key.span())
                }
                Structure::Block(inner) => (inner.ident.value().as_str() == "content", inner.ident.span()),
            };
            if !known {
                self.error(span, Diagnostic::error("a dynamic block holds for_each, iterator, labels and content {}"));
            }
        }
        let Some(for_each) = block.body.get_attribute("for_each") else {
            return Err(evaluator.fail(span, "the dynamic block has no for_each"));
        };
        let Some(content) = block.body.get_blocks("content").next() else {
            return Err(evaluator.fail(span, "the dynamic block has no content"));
        };
        let iterator = match block.body.get_attribute("iterator").map(|attribute| &attribute.value) {
            None => name,
            Some(Expression::Variable(iterator)) => iterator.value().as_str(),
            Some(other) => return Err(evaluator.fail(other.span(), "iterator must be a word without quotes")),
        };
        let collection = evaluator.evaluate(&for_each.value, scope)?;
        let mut made = Vec::new();
        for (key, value) in evaluator.elements(&collection, for_each.value.span())? {
            evaluator.charge(for_each.value.span(), WORK_OF_BLOCK)?;
            let turn = Value::object(BTreeMap::from([("key".to_owned(), key), ("value".to_owned(), value)]));
            let inner = Scope::within(scope, vec![(iterator.to_owned(), turn)]);
            let labels = match block.body.get_attribute("labels") {
                Some(attribute) => self.labels(attribute, &inner)?,
                None => Vec::new(),
            };
            made.push(Instance {
                name: name.to_owned(),
                span: span.clone(),
                labels,
                body: &content.body,
                scope: inner,
            });
        }
        Ok(made)
    }

    fn labels(&self, attribute: &Attribute, scope: &Rc<Scope>) -> Outcome<Vec<Label>> {
        let span = attribute.value.span();
        let labels = match self.evaluator.evaluate(&attribute.value, scope)? {
            Value::List(items) => items.iter().map(Value::to_text).collect::<Option<Vec<_>>>(),
            _ => None,
        };
        let labels = labels.ok_or_else(|| self.evaluator.fail(span.clone(), "labels must be a list of strings"))?;
        Ok(labels.into_iter().map(|label| (label.to_string(), span.clone())).collect())
    }

    /// A value as its attribute's kind; null stays null and means "not given".
    fn convert(&self, name: &str, kind: Kind, value: &Value, span: Option<Range<usize>>) -> Outcome<Json> {
        if value.is_null() {
            return Ok(Json::Null);
        }
        let bad = |needed: &str| {
            let told = match value {
                Value::Text(text) if kind != Kind::Text => format!("{text:?}"),
                other => other.kind().to_owned(),
            };
            self.evaluator.fail(span.clone(), format!("{name} must be {needed}, not {told}"))
        };
        let whole = |needed: &str| match (value.to_number(), value.to_number().and_then(crate::number::Number::to_i64))
        {
            (_, Some(whole)) => Ok(whole),
            (Some(number), None) => {
                Err(self.evaluator.fail(span.clone(), format!("{name} must be {needed}, not {number}")))
            }
            (None, None) => Err(bad(needed)),
        };
        match kind {
            Kind::Text => {
                let text = value.to_text().ok_or_else(|| bad("a string"))?;
                self.evaluator.charge(span.clone(), text.len())?;
                Ok(text.as_ref().into())
            }
            Kind::Bool => value.to_bool().map(Json::Bool).ok_or_else(|| bad("true or false")),
            Kind::Int => whole("a whole number").map(Json::from),
            Kind::Count => match whole("a whole number from 0 on")? {
                negative @ i64::MIN..0 => {
                    Err(self.evaluator.fail(span.clone(), format!("{name} must not be negative, but is {negative}")))
                }
                count => Ok(count.into()),
            },
            Kind::Duration => match value {
                Value::Number(_) => {
                    whole("a duration such as \"30s\", or a whole number of nanoseconds").map(Json::from)
                }
                Value::Text(text) => match text.parse::<GoDuration>() {
                    Ok(span) => Ok(span.as_nanoseconds().into()),
                    Err(why) => {
                        let told = Diagnostic::error(format!("{name} must be a duration such as \"30s\": {why}"));
                        Err(self.evaluator.at(span.clone(), told))
                    }
                },
                _ => Err(bad("a duration such as \"30s\"")),
            },
            Kind::Counts => {
                let Value::List(items) = value else { return Err(bad("a list of whole numbers")) };
                let counts = items.iter().map(|item| self.convert(name, Kind::Count, item, span.clone()));
                counts.collect::<Outcome<Vec<Json>>>().map(Json::from)
            }
            Kind::Texts => {
                let Value::List(items) = value else { return Err(bad("a list of strings")) };
                let texts = items.iter().map(|item| self.convert(name, Kind::Text, item, span.clone()));
                let texts = texts.collect::<Outcome<Vec<Json>>>()?;
                if texts.iter().any(Json::is_null) {
                    return Err(self
                        .evaluator
                        .fail(span.clone(), format!("{name} must be a list of strings, not of null")));
                }
                Ok(texts.into())
            }
        }
    }

    /// A value as JSON, whatever it is; the work counts, since shared parts are written out here.
    fn json(&self, value: &Value, span: Option<Range<usize>>) -> Outcome<Json> {
        self.evaluator.charge(span.clone(), 1)?;
        Ok(match value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Number(number) => number.to_json(),
            Value::Text(text) => {
                self.evaluator.charge(span, text.len())?;
                text.as_ref().into()
            }
            Value::List(items) => {
                let items = items.iter().map(|item| self.json(item, span.clone()));
                Json::Array(items.collect::<Outcome<_>>()?)
            }
            Value::Object(items) => {
                let items = items.iter().map(|(key, item)| Ok((key.clone(), self.json(item, span.clone())?)));
                Json::Object(items.collect::<Outcome<_>>()?)
            }
        })
    }
}

/// The key of an object, when it is written and not made.
fn name_of(key: &ObjectKey) -> Option<&str> {
    match key {
        ObjectKey::Ident(name) => Some(name.value().as_str()),
        ObjectKey::Expression(Expression::String(name)) => Some(name.value().as_str()),
        ObjectKey::Expression(_) => None,
    }
}

fn label_error(name: &str, wanted: usize, given: usize) -> Diagnostic {
    match (wanted, given) {
        (0, _) => Diagnostic::error(format!("{name} takes no label")),
        (_, 0) => Diagnostic::error(format!("the {name} block has no label")).hint(format!("write `{name} \"…\" {{`")),
        _ => Diagnostic::error(format!("a {name} block takes {wanted} label, {given} are given")),
    }
}

fn unknown_name(schema: &'static Body, name: &str, what: &str) -> Diagnostic {
    let told = Diagnostic::error(format!("there is no {what} {name:?} in {}", schema.name));
    let is_block = what == "block";
    if let Some(near) = nearest(name, schema.names()) {
        return told.hint(format!("did you mean {near:?}?"));
    }
    match schema.home_of(name, is_block).or_else(|| JOB.home_of(name, is_block)) {
        Some(home) => told.hint(format!("{name:?} belongs in the block {home:?}")),
        None => told,
    }
}
