//! A job file in JSON, written out as the job language's own text.

use std::ops::Range;

use hcl_edit::Span;
use hcl_edit::template::{Directive, Element, Template};
use longshore_values::Diagnostic;

use super::tree::{Kind, Member, Node};
use crate::schema::{self, Shape};
use crate::source::Source;

/// What a member of a body is turned into.
type WriteBody<'a> = &'a dyn Fn(&mut Writer<'_>, &[Member]);

struct Writer<'s> {
    json: &'s Source,
    out: String,
    /// From which byte of `out` on text comes from which bytes of the JSON.
    origins: Vec<(usize, Range<usize>)>,
    diagnostics: Vec<Diagnostic>,
}

/// The text of a job file, with places in the JSON; and what could not be written.
pub(super) fn job_file(members: &[Member], json: &Source) -> (Source, Vec<Diagnostic>) {
    let mut writer = Writer { json, out: String::new(), origins: Vec::new(), diagnostics: Vec::new() };
    for member in told(members) {
        match member.key.as_str() {
            "job" => writer.labelled("job", &member.value, &|writer, inner| writer.body(&schema::JOB, inner)),
            "variable" => writer.labelled("variable", &member.value, &|writer, inner| writer.variable(inner)),
            "locals" | "variables" => {
                writer.blocks(&member.key, member, &member.value, None, &|writer, inner| writer.attributes(inner))
            }
            _ => writer.attribute(member, &member.value),
        }
    }
    (json.written_as(writer.out, writer.origins), writer.diagnostics)
}

/// All but comments.
fn told(members: &[Member]) -> impl Iterator<Item = &Member> {
    members.iter().filter(|member| member.key != "//")
}

impl Writer<'_> {
    fn error(&mut self, span: &Range<usize>, summary: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(summary).at(self.json.place(span.clone())));
    }

    /// What is written from here on comes from there.
    fn from(&mut self, span: &Range<usize>) {
        self.origins.push((self.out.len(), span.clone()));
    }

    /// A name, if it is one.
    fn name(&mut self, member: &Member) -> bool {
        let is_name = hcl_edit::Ident::try_new(member.key.as_str()).is_ok();
        if !is_name {
            self.error(&member.key_span, format!("{:?} is no name", member.key));
        }
        is_name
    }

    /// `{…}` or `[{…}, …]`: one block each.
    fn blocks(&mut self, name: &str, member: &Member, value: &Node, label: Option<&Member>, write: WriteBody<'_>) {
        match &value.kind {
            Kind::Object(members) => {
                self.from(&label.unwrap_or(member).key_span);
                self.out.push_str(name);
                if let Some(label) = label {
                    self.out.push(' ');
                    quote(&label.key, &mut self.out);
                }
                self.out.push_str(" {\n");
                write(self, members);
                self.out.push_str("}\n");
            }
            Kind::Array(items) => items.iter().for_each(|item| self.blocks(name, member, item, label, write)),
            Kind::Plain if self.is_null(value) => {}
            _ => self.error(&value.span, format!("{name:?} must be an object, or a list of objects")),
        }
    }

    fn is_null(&self, value: &Node) -> bool {
        self.json.slice(value.span.clone()) == Some("null")
    }

    /// `{"label": {…}}`, with lists in both places: one block each.
    fn labelled(&mut self, name: &str, value: &Node, write: WriteBody<'_>) {
        match &value.kind {
            Kind::Array(items) => items.iter().for_each(|item| self.labelled(name, item, write)),
            Kind::Object(by_label) => {
                told(by_label).for_each(|label| self.blocks(name, label, &label.value, Some(label), write));
            }
            Kind::Plain if self.is_null(value) => {}
            _ => self.error(&value.span, format!("{name:?} must be an object with labels as keys")),
        }
    }

    fn body(&mut self, schema: &'static schema::Body, members: &[Member]) {
        for member in told(members) {
            let key = member.key.as_str();
            if key == "dynamic" {
                self.dynamic(schema, member);
                continue;
            }
            match schema.nested(key).map(|nested| (nested.shape, nested.body)) {
                Some((Shape::One | Shape::Many, inner)) => {
                    self.blocks(key, member, &member.value, None, &|writer, members| writer.body(inner, members));
                }
                Some((Shape::Labelled(_) | Shape::ByLabel(_), inner)) => {
                    self.labelled(key, &member.value, &|writer, members| writer.body(inner, members));
                }
                Some((Shape::TextMap | Shape::TextsMap | Shape::Free, _)) => {
                    let only = match &member.value.kind {
                        Kind::Array(items) if items.len() == 1 => items.first().unwrap_or(&member.value),
                        _ => &member.value,
                    };
                    self.attribute(member, only);
                }
                None => self.attribute(member, &member.value),
            }
        }
    }

    fn dynamic(&mut self, schema: &'static schema::Body, member: &Member) {
        let Kind::Object(by_name) = &member.value.kind else {
            return self.error(&member.value.span, "\"dynamic\" must be an object with blocks as keys");
        };
        for block in told(by_name) {
            let content = schema.nested(&block.key).map(|nested| nested.body);
            let write = |writer: &mut Writer<'_>, members: &[Member]| {
                for member in told(members) {
                    match (member.key.as_str(), content, &member.value.kind) {
                        ("content", Some(content), _) => {
                            let inner = |writer: &mut Writer<'_>, members: &[Member]| writer.body(content, members);
                            writer.blocks("content", member, &member.value, None, &inner);
                        }
                        ("iterator", _, Kind::Text(word)) if hcl_edit::Ident::try_new(word.as_str()).is_ok() => {
                            writer.raw(member, word);
                        }
                        _ => writer.attribute(member, &member.value),
                    }
                }
            };
            self.blocks("dynamic", block, &block.value, Some(block), &write);
        }
    }

    fn attributes(&mut self, members: &[Member]) {
        told(members).for_each(|member| self.attribute(member, &member.value));
    }

    fn variable(&mut self, members: &[Member]) {
        for member in told(members) {
            match (member.key.as_str(), &member.value.kind) {
                ("type", Kind::Text(text)) => match hcl_edit::parser::parse_expr(text) {
                    Ok(_) => self.raw(member, text),
                    Err(_) => self.error(&member.value.span, format!("{text:?} is no type")),
                },
                ("validation", _) => {
                    self.blocks("validation", member, &member.value, None, &|writer, inner| writer.attributes(inner))
                }
                _ => self.attribute(member, &member.value),
            }
        }
    }

    /// An attribute whose value is this text of the job language.
    fn raw(&mut self, member: &Member, text: &str) {
        self.from(&member.key_span);
        self.out.push_str(&member.key);
        self.out.push_str(" = ");
        self.from(&member.value.span);
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn attribute(&mut self, member: &Member, value: &Node) {
        if !self.name(member) {
            return;
        }
        self.from(&member.key_span);
        self.out.push_str(&member.key);
        self.out.push_str(" = ");
        self.expression(value);
        self.out.push('\n');
    }

    /// A value; texts are templates.
    fn expression(&mut self, value: &Node) {
        self.from(&value.span);
        match &value.kind {
            Kind::Plain => self.out.push_str(self.json.slice(value.span.clone()).unwrap_or("null")),
            Kind::Text(text) => self.template(text, &value.span),
            Kind::Array(items) => {
                self.out.push_str("[\n");
                for item in items {
                    self.expression(item);
                    self.out.push_str(",\n");
                }
                self.out.push(']');
            }
            Kind::Object(members) => {
                self.out.push_str("{\n");
                for member in members {
                    self.from(&member.key_span);
                    quote(&member.key.replace("${", "$${").replace("%{", "%%{"), &mut self.out);
                    self.out.push_str(" = ");
                    self.expression(&member.value);
                    self.out.push('\n');
                }
                self.out.push('}');
            }
        }
    }

    /// A template in quotes: what is literal in it is escaped, what is evaluated stays as it is.
    fn template(&mut self, text: &str, span: &Range<usize>) {
        let parsed = match hcl_edit::parser::parse_template(text) {
            Ok(parsed) => parsed,
            Err(why) => {
                self.error(span, format!("{text:?} is no template: {}", why.message()));
                return self.out.push_str("null");
            }
        };
        let mut literals = Vec::new();
        find_literals(&parsed, &mut literals);
        self.out.push('"');
        let mut at = 0;
        for literal in literals {
            self.out.push_str(text.get(at..literal.start).unwrap_or_default());
            escape(text.get(literal.clone()).unwrap_or_default(), &mut self.out);
            at = literal.end;
        }
        self.out.push_str(text.get(at..).unwrap_or_default());
        self.out.push('"');
    }
}

/// The spans of what stands for itself in a template, in their order.
fn find_literals(template: &Template, spans: &mut Vec<Range<usize>>) {
    for element in template {
        match element {
            Element::Literal(literal) => spans.extend(literal.span()),
            Element::Interpolation(_) => {}
            Element::Directive(directive) => match directive.as_ref() {
                Directive::If(conditional) => {
                    find_literals(&conditional.if_expr.template, spans);
                    if let Some(otherwise) = &conditional.else_expr {
                        find_literals(&otherwise.template, spans);
                    }
                }
                Directive::For(each) => find_literals(&each.for_expr.template, spans),
            },
        }
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    escape(text, out);
    out.push('"');
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
}
