use std::rc::Rc;

use hcl_edit::Span;
use hcl_edit::template::{Directive, Element, ForDirective, IfDirective, Strip, Template};

use crate::evaluate::{Evaluator, Outcome, Scope};
use crate::value::Value;

/// Which sides of a piece of text lose their blanks to a `~` beside it.
#[derive(Debug, Clone, Copy, Default)]
struct Trim {
    start: bool,
    end: bool,
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
        self.append(template, Trim::default(), scope, &mut out)?;
        Ok(out)
    }

    fn append(&self, template: &Template, outer: Trim, scope: &Rc<Scope>, out: &mut String) -> Outcome<()> {
        let elements: Vec<&Element> = template.iter().collect();
        for (at, element) in elements.iter().enumerate() {
            match element {
                Element::Literal(text) => {
                    let before = at.checked_sub(1).and_then(|before| elements.get(before));
                    let trim = Trim {
                        start: before.map_or(outer.start, |before| last_strip(before).is_some_and(Strip::strip_end)),
                        end: elements
                            .get(at + 1)
                            .map_or(outer.end, |after| first_strip(after).is_some_and(Strip::strip_start)),
                    };
                    let text = text.value().as_str();
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
                    Directive::If(directive) => self.append_if(directive, scope, out)?,
                    Directive::For(directive) => self.append_for(directive, scope, out)?,
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

    fn append_if(&self, directive: &IfDirective, scope: &Rc<Scope>, out: &mut String) -> Outcome<()> {
        let start = &directive.if_expr;
        let condition = self.evaluate(&start.cond_expr, scope)?;
        let end = directive.endif_expr.strip.strip_start();
        match (condition.to_bool(), &directive.else_expr) {
            (Some(true), other) => {
                let end = other.as_ref().map_or(end, |other| other.strip.strip_start());
                self.append(&start.template, Trim { start: start.strip.strip_end(), end }, scope, out)
            }
            (Some(false), Some(other)) => {
                self.append(&other.template, Trim { start: other.strip.strip_end(), end }, scope, out)
            }
            (Some(false), None) => Ok(()),
            (None, _) => Err(self.fail(
                start.cond_expr.span(),
                format!("the condition must be true or false, not {}", condition.kind()),
            )),
        }
    }

    fn append_for(&self, directive: &ForDirective, scope: &Rc<Scope>, out: &mut String) -> Outcome<()> {
        let start = &directive.for_expr;
        let collection = self.evaluate(&start.collection_expr, scope)?;
        let trim = Trim { start: start.strip.strip_end(), end: directive.endfor_expr.strip.strip_start() };
        for (key, value) in self.elements(&collection, start.collection_expr.span())? {
            self.charge(start.collection_expr.span(), 1)?;
            let mut names = vec![(start.value_var.value().as_str().to_owned(), value)];
            if let Some(key_name) = &start.key_var {
                names.push((key_name.value().as_str().to_owned(), key));
            }
            self.append(&start.template, trim, &Scope::within(scope, names), out)?;
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
