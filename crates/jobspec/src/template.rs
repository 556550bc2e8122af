use std::borrow::Cow;
use std::rc::Rc;

use hcl_edit::Span;
use hcl_edit::template::{Directive, Element, ForDirective, HeredocTemplate, IfDirective, Strip, Template};

use crate::evaluate::{Evaluator, Outcome, Scope};
use crate::value::Value;

/// Which sides of a piece of text lose their blanks to a `~` beside it.
#[derive(Debug, Clone, Copy, Default)]
struct Trim {
    start: bool,
    end: bool,
}

/// What holds at the edges of a template.
#[derive(Debug, Clone, Copy, Default)]
struct Outer {
    trim: Trim,
    /// How many blanks its lines still begin with too many.
    indent: usize,
    /// The same for templates within its directives.
    indent_within: usize,
}

impl Outer {
    fn within(trim: Trim, indent: usize) -> Self {
        Self { trim, indent, indent_within: indent }
    }
}

fn dedented(text: &str, indent: usize) -> Cow<'_, str> {
    if indent == 0 || !text.contains('\n') {
        return text.into();
    }
    let mut lines = text.split('\n');
    let mut out = lines.next().unwrap_or("").to_owned();
    for line in lines {
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        out.push('\n');
        out.push_str(line.get(blanks.min(indent)..).unwrap_or(""));
    }
    out.into()
}

impl Evaluator<'_> {
    /// A quoted template: one lone `${…}` keeps the kind of its value, everything else is text.
    pub(crate) fn quoted_template(&self, template: &Template, scope: &Rc<Scope>) -> Outcome<Value> {
        match template.as_single_element() {
            Some(Element::Interpolation(only)) => self.evaluate(&only.expr, scope),
            _ => self.template_text(template, scope).map(Value::from),
        }
    }

    pub(crate) fn template_text(&self, template: &Template, scope: &Rc<Scope>) -> Outcome<String> {
        let mut out = String::new();
        self.append(template, Outer::default(), scope, &mut out)?;
        Ok(out)
    }

    /// The parser has taken the shared blanks (`<<-`) off the lines, but not of those within directives.
    pub(crate) fn heredoc(&self, heredoc: &HeredocTemplate, scope: &Rc<Scope>) -> Outcome<String> {
        let mut out = String::new();
        let outer = Outer { indent_within: heredoc.indent().unwrap_or(0), ..Outer::default() };
        self.append(&heredoc.template, outer, scope, &mut out)?;
        Ok(out)
    }

    fn append(&self, template: &Template, outer: Outer, scope: &Rc<Scope>, out: &mut String) -> Outcome<()> {
        let elements: Vec<&Element> = template.iter().collect();
        for (at, element) in elements.iter().enumerate() {
            match element {
                Element::Literal(text) => {
                    let before = at.checked_sub(1).and_then(|before| elements.get(before));
                    let trim = Trim {
                        start: before
                            .map_or(outer.trim.start, |before| last_strip(before).is_some_and(Strip::strip_end)),
                        end: elements
                            .get(at + 1)
                            .map_or(outer.trim.end, |after| first_strip(after).is_some_and(Strip::strip_start)),
                    };
                    let text = dedented(text.value().as_str(), outer.indent);
                    let text = text.as_ref();
                    let text = if trim.start { text.trim_start() } else { text };
                    let text = if trim.end { text.trim_end() } else { text };
                    self.push(out, text, element.span())?;
                }
                Element::Interpolation(part) => {
                    let value = self.evaluate(&part.expr, scope)?;
                    let Some(text) = value.to_text() else {
                        return Err(self.fail(
                            part.expr.span(),
                            format!("{} cannot stand in a text; a string, number or bool can", value.kind()),
                        ));
                    };
                    self.push(out, &text, element.span())?;
                }
                Element::Directive(directive) => match directive.as_ref() {
                    Directive::If(directive) => self.append_if(directive, outer.indent_within, scope, out)?,
                    Directive::For(directive) => self.append_for(directive, outer.indent_within, scope, out)?,
                },
            }
        }
        Ok(())
    }

    fn push(&self, out: &mut String, text: &str, span: Option<std::ops::Range<usize>>) -> Outcome<()> {
        self.charge(span, text.len())?;
        out.push_str(text);
        Ok(())
    }

    fn append_if(&self, directive: &IfDirective, indent: usize, scope: &Rc<Scope>, out: &mut String) -> Outcome<()> {
        let start = &directive.if_expr;
        let condition = self.evaluate(&start.cond_expr, scope)?;
        let end = directive.endif_expr.strip.strip_start();
        match (condition.to_bool(), &directive.else_expr) {
            (Some(true), other) => {
                let end = other.as_ref().map_or(end, |other| other.strip.strip_start());
                self.append(
                    &start.template,
                    Outer::within(Trim { start: start.strip.strip_end(), end }, indent),
                    scope,
                    out,
                )
            }
            (Some(false), Some(other)) => self.append(
                &other.template,
                Outer::within(Trim { start: other.strip.strip_end(), end }, indent),
                scope,
                out,
            ),
            (Some(false), None) => Ok(()),
            (None, _) => Err(self.fail(
                start.cond_expr.span(),
                format!("the condition must be true or false, not {}", condition.kind()),
            )),
        }
    }

    fn append_for(&self, directive: &ForDirective, indent: usize, scope: &Rc<Scope>, out: &mut String) -> Outcome<()> {
        let start = &directive.for_expr;
        let collection = self.evaluate(&start.collection_expr, scope)?;
        let trim = Trim { start: start.strip.strip_end(), end: directive.endfor_expr.strip.strip_start() };
        for (key, value) in self.elements(&collection, start.collection_expr.span())? {
            self.charge(start.collection_expr.span(), 1)?;
            let mut names = vec![(start.value_var.value().as_str().to_owned(), value)];
            if let Some(key_name) = &start.key_var {
                names.push((key_name.value().as_str().to_owned(), key));
            }
            self.append(&start.template, Outer::within(trim, indent), &Scope::within(scope, names), out)?;
        }
        Ok(())
    }
}

fn first_strip(element: &Element) -> Option<Strip> {
    match element {
        Element::Literal(_) => None,
        Element::Interpolation(part) => Some(part.strip),
        Element::Directive(directive) => Some(match directive.as_ref() {
            Directive::If(directive) => directive.if_expr.strip,
            Directive::For(directive) => directive.for_expr.strip,
        }),
    }
}

fn last_strip(element: &Element) -> Option<Strip> {
    match element {
        Element::Literal(_) => None,
        Element::Interpolation(part) => Some(part.strip),
        Element::Directive(directive) => Some(match directive.as_ref() {
            Directive::If(directive) => directive.endif_expr.strip,
            Directive::For(directive) => directive.endfor_expr.strip,
        }),
    }
}
