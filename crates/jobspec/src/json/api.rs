//! Where the parts of a job of the API stand in its JSON.

use std::collections::BTreeMap;
use std::ops::Range;

use super::tree::{Kind, Member, Node};
use crate::places::{join, numbered, segment};
use crate::schema::{self, Shape};

type Spans = BTreeMap<String, Range<usize>>;

/// The places of a job's blocks and attributes by the paths that a job file would give them.
pub(super) fn spans(job: &Node) -> Spans {
    let mut spans = BTreeMap::new();
    of_body(&schema::JOB, job, "", &mut spans);
    spans
}

fn of_body(schema: &'static schema::Body, node: &Node, path: &str, spans: &mut Spans) {
    let Kind::Object(members) = &node.kind else { return };
    for member in members {
        let is = |key: &str| key.eq_ignore_ascii_case(&member.key);
        if let Some(attribute) = schema.attributes.iter().find(|attribute| is(attribute.key)) {
            let path = join(path, attribute.name);
            remember(spans, path.clone(), &member.key_span);
            of_value(&member.value, &path, spans);
        } else if let Some(nested) = schema.all_nested().find(|nested| is(nested.key)) {
            of_block(nested, member, path, spans);
        }
    }
}

/// The parts of a value whose names are the reader's.
fn of_value(node: &Node, path: &str, spans: &mut Spans) {
    match &node.kind {
        Kind::Object(members) => {
            for member in members {
                let path = join(path, &member.key);
                remember(spans, path.clone(), &member.key_span);
                of_value(&member.value, &path, spans);
            }
        }
        Kind::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                let path = numbered(path, at);
                remember(spans, path.clone(), &item.span);
                of_value(item, &path, spans);
            }
        }
        Kind::Plain | Kind::Text(_) => {}
    }
}

fn of_block(nested: &schema::Nested, member: &Member, path: &str, spans: &mut Spans) {
    let mut block = |name: String, node: &Node, span: &Range<usize>| {
        let path = join(path, &name);
        remember(spans, path.clone(), span);
        match nested.shape {
            Shape::TextMap | Shape::TextsMap | Shape::Free => of_value(node, &path, spans),
            _ => of_body(nested.body, node, &path, spans),
        }
    };
    match (nested.shape, &member.value.kind) {
        (Shape::Labelled(key), Kind::Array(items)) => {
            for item in items {
                let label = find(item, key);
                let name = segment(nested.name, label.and_then(text));
                block(name, item, &label.map_or(first_byte(item), |label| label.span.clone()));
            }
        }
        (Shape::ByLabel(_), Kind::Object(members)) => {
            for inner in members {
                block(segment(nested.name, Some(&inner.key)), &inner.value, &inner.key_span);
            }
        }
        (Shape::Many, Kind::Array(items)) => {
            for (at, item) in items.iter().enumerate() {
                block(numbered(nested.name, at), item, &first_byte(item));
            }
        }
        _ => block(nested.name.to_owned(), &member.value, &member.key_span),
    }
}

fn remember(spans: &mut Spans, path: String, span: &Range<usize>) {
    spans.entry(path).or_insert_with(|| span.clone());
}

fn first_byte(node: &Node) -> Range<usize> {
    node.span.start..node.span.start + 1
}

fn find<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let Kind::Object(members) = &node.kind else { return None };
    members.iter().find(|member| member.key.eq_ignore_ascii_case(key)).map(|member| &member.value)
}

fn text(node: &Node) -> Option<&str> {
    match &node.kind {
        Kind::Text(text) => Some(text),
        _ => None,
    }
}

/// The span of the value that a path such as `TaskGroups[0].Count` leads to, as far as it leads.
pub(super) fn follow(node: &Node, path: &str) -> Range<usize> {
    let mut node = node;
    let mut rest = path;
    loop {
        let next = match &node.kind {
            Kind::Array(items) => {
                let step = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
                step.and_then(|(at, rest)| Some((items.get(at.parse::<usize>().ok()?)?, rest)))
            }
            Kind::Object(members) => members.iter().find_map(|member| {
                let (start, end) = rest.split_at_checked(member.key.len())?;
                let is_whole = end.is_empty() || end.starts_with(['.', '[']);
                (is_whole && start.eq_ignore_ascii_case(&member.key)).then_some((&member.value, end))
            }),
            _ => None,
        };
        let Some((inner, end)) = next else { return node.span.clone() };
        (node, rest) = (inner, end.trim_start_matches('.'));
    }
}
