//! Where the parts of a job of the API stand in its JSON.

use std::collections::BTreeMap;
use std::ops::Range;

use longshore_values::Place;

use super::tree::{Kind, Member, Node};
use crate::decode::{join, segment};
use crate::schema::{self, Shape};
use crate::source::Source;

/// The places of a job's blocks and attributes by the paths that a job file would give them.
pub(super) fn places(job: &Node, source: &Source) -> BTreeMap<String, Place> {
    let mut places = BTreeMap::new();
    of_body(&schema::JOB, job, "", source, &mut places);
    places
}

fn of_body(
    schema: &'static schema::Body,
    node: &Node,
    path: &str,
    source: &Source,
    places: &mut BTreeMap<String, Place>,
) {
    let Kind::Object(members) = &node.kind else { return };
    for member in members {
        let is = |key: &str| key.eq_ignore_ascii_case(&member.key);
        if let Some(attribute) = schema.attributes.iter().find(|attribute| is(attribute.key)) {
            remember(places, join(path, attribute.name), &member.key_span, source);
        } else if let Some(nested) = schema.all_nested().find(|nested| is(nested.key)) {
            of_block(nested, member, path, source, places);
        }
    }
}

fn of_block(
    nested: &schema::Nested,
    member: &Member,
    path: &str,
    source: &Source,
    places: &mut BTreeMap<String, Place>,
) {
    let mut block = |label: Option<&str>, node: &Node, span: &Range<usize>| {
        let path = join(path, &segment(nested.name, label));
        remember(places, path.clone(), span, source);
        of_body(nested.body, node, &path, source, places);
    };
    match (nested.shape, &member.value.kind) {
        (Shape::Labelled(key), Kind::Array(items)) => {
            for item in items {
                let label = find(item, key);
                block(label.and_then(text), item, &label.map_or(first_byte(item), |label| label.span.clone()));
            }
        }
        (Shape::ByLabel(_), Kind::Object(members)) => {
            members.iter().for_each(|inner| block(Some(&inner.key), &inner.value, &inner.key_span));
        }
        (_, Kind::Array(items)) => items.iter().for_each(|item| block(None, item, &first_byte(item))),
        _ => block(None, &member.value, &member.key_span),
    }
}

fn remember(places: &mut BTreeMap<String, Place>, path: String, span: &Range<usize>, source: &Source) {
    places.entry(path).or_insert_with(|| source.place(span.clone()));
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
