//! From text to the parser's tree.
//!
//! What the parser leaves undone is done here: texts in quotes are the same within `%{ if … }` and `%{ for … }` as
//! outside of them. Their escapes are resolved, and they end at the next quote and on their line.

use std::ops::Range;

use hcl_edit::expr::Expression;
use hcl_edit::structure::Body;
use hcl_edit::template::{Element, HeredocTemplate, StringTemplate};
use hcl_edit::visit_mut::{
    VisitMut, visit_body_mut, visit_directive_mut, visit_element_mut, visit_expr_mut, visit_heredoc_template_mut,
};
use hcl_edit::{Span, Spanned};
use longshore_values::Diagnostic;

use crate::format::token::{self, Kind};
use crate::mistakes;
use crate::source::Source;

/// A text of fewer bytes has no object that would take long.
const SMALL_BYTES: usize = 64 << 10;
/// The parser compares each member of an object with all before it: so many pairs take about a second. An object of
/// 20,000 members alone is within it.
const PAIRS_MAX: usize = 500_000_000;

/// So many objects that are operands may be open at once.
const OPERANDS_MAX: usize = 8;

/// The body that a text is.
pub(crate) fn body(source: &Source) -> Result<Body, Box<Diagnostic>> {
    check_objects(source)?;
    check_operands(source)?;
    let mut body = hcl_edit::parser::parse_body(&source.text).map_err(|why| error(source, &why))?;
    mend(source, |quoted| visit_body_mut(quoted, &mut body))?;
    Ok(body)
}

/// The expression that a text is.
pub(crate) fn expression(source: &Source) -> Result<Expression, Box<Diagnostic>> {
    check_objects(source)?;
    check_operands(source)?;
    let mut expression = hcl_edit::parser::parse_expr(&source.text).map_err(|why| error(source, &why))?;
    mend(source, |quoted| quoted.visit_expr_mut(&mut expression))?;
    Ok(expression)
}

/// Whether no object that is an operand (`a % { … }`) lies in too many such: for each the parser takes twice as long.
fn check_operands(source: &Source) -> Result<(), Box<Diagnostic>> {
    let mut open = OpenBrackets::default();
    token::each(&source.text, |piece| {
        let Some(piece) = piece else { return };
        match piece.kind {
            Kind::Open => open.push(piece.at, piece.text == "{" && is_behind_operator(&source.text, piece.at)),
            Kind::Close => open.pop(),
            // What is evaluated within texts counts with what is around.
            Kind::Operand | Kind::Heredoc => {
                let outside = open.brackets.len();
                for (at, c) in piece.text.char_indices().filter(|(_, c)| matches!(c, '{' | '}')) {
                    let at = piece.at + at;
                    let is_within = open.brackets.len() > outside;
                    match c {
                        '{' if is_within => open.push(at, is_behind_operator(&source.text, at)),
                        '{' if begins_template(&source.text, at) => open.push(at, false),
                        '}' if is_within => open.pop(),
                        // Plain text.
                        _ => {}
                    }
                }
                while open.brackets.len() > outside {
                    open.pop();
                }
            }
            _ => {}
        }
    });
    let Some(at) = open.too_deep else { return Ok(()) };
    let told = Diagnostic::error(format!("objects are operands within each other more than {OPERANDS_MAX} deep"))
        .hint("put the inner ones into `locals`");
    Err(Box::new(told.at(source.place(at..at + 1))))
}

#[derive(Default)]
struct OpenBrackets {
    /// For each, whether it is an object that is an operand.
    brackets: Vec<bool>,
    operands: usize,
    /// The first that lies in too many.
    too_deep: Option<usize>,
}

impl OpenBrackets {
    fn push(&mut self, at: usize, is_operand: bool) {
        self.brackets.push(is_operand);
        self.operands += usize::from(is_operand);
        if self.operands > OPERANDS_MAX {
            self.too_deep.get_or_insert(at);
        }
    }

    fn pop(&mut self) {
        self.operands -= usize::from(self.brackets.pop() == Some(true));
    }
}

/// Whether the brace at this byte makes `${` or `%{`, and not `$${` or `%%{`.
fn begins_template(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    ['$', '%'].iter().any(|sign| before.strip_suffix(*sign).is_some_and(|before| !before.ends_with(*sign)))
}

/// Whether what begins at this byte stands right behind an operator of two operands.
fn is_behind_operator(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().trim_end();
    let ends = |with: &[&str]| with.iter().any(|end| before.ends_with(end));
    ends(&["+", "-", "*", "/", "%", "<", ">", "&", "|", "==", "!=", "<=", ">="]) && !ends(&["=>"])
}

/// Whether the objects of a text are small enough to be read in a time that people wait.
fn check_objects(source: &Source) -> Result<(), Box<Diagnostic>> {
    if source.text.len() < SMALL_BYTES {
        return Ok(());
    }
    // How many members the brackets that are open have, and where they were opened.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut pairs = 0_usize;
    let mut largest = (0, 0);
    token::each(&source.text, |piece| {
        let Some(piece) = piece else { return };
        match piece.kind {
            Kind::Open => open.push((0, piece.at)),
            Kind::Close => {
                let (members, at) = open.pop().unwrap_or_default();
                pairs = pairs.saturating_add(members.saturating_mul(members));
                largest = largest.max((members, at));
            }
            Kind::Sign if matches!(piece.text, "=" | ":") => {
                if let Some((members, _)) = open.last_mut() {
                    *members += 1;
                }
            }
            _ => {}
        }
    });
    if pairs <= PAIRS_MAX {
        return Ok(());
    }
    let (members, at) = largest;
    let told =
        Diagnostic::error(format!("the objects of this text have too many members to be read, this one {members}"))
            .hint("write them as a block, each on a line of its own, or in several objects: `merge({ … }, { … })`");
    Err(Box::new(told.at(source.place(at..at + 1))))
}

fn error(source: &Source, why: &hcl_edit::parser::Error) -> Box<Diagnostic> {
    let at = why.location().offset();
    if source.is_made() {
        return Box::new(Diagnostic::error(format!("syntax error: {}", why.message())).at(source.place(at..at + 1)));
    }
    Box::new(mistakes::of_syntax(source, at, why.message()))
}

fn mend(source: &Source, visit: impl FnOnce(&mut Quoted<'_>)) -> Result<(), Box<Diagnostic>> {
    if !source.text.contains("%{") {
        return Ok(());
    }
    let mut quoted = Quoted { source, is_raw: false, fault: None };
    visit(&mut quoted);
    quoted.fault.map_or(Ok(()), Err)
}

struct Quoted<'s> {
    source: &'s Source,
    /// Whether literals are read as they are written, though they stand within quotes.
    is_raw: bool,
    fault: Option<Box<Diagnostic>>,
}

impl Quoted<'_> {
    fn with(&mut self, is_raw: bool, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.is_raw, is_raw);
        visit(self);
        self.is_raw = before;
    }
}

impl VisitMut for Quoted<'_> {
    fn visit_expr_mut(&mut self, node: &mut Expression) {
        self.with(false, |inner| visit_expr_mut(inner, node));
    }

    fn visit_heredoc_template_mut(&mut self, node: &mut HeredocTemplate) {
        self.with(false, |inner| visit_heredoc_template_mut(inner, node));
    }

    fn visit_string_template_mut(&mut self, node: &mut StringTemplate) {
        for element in &mut *node {
            match element {
                Element::Directive(directive) => self.with(true, |inner| visit_directive_mut(inner, directive)),
                other => self.with(false, |inner| visit_element_mut(inner, other)),
            }
        }
    }

    fn visit_literal_mut(&mut self, node: &mut Spanned<String>) {
        if !self.is_raw || self.fault.is_some() {
            return;
        }
        let Some(span) = node.span() else { return };
        match unescaped(self.source.slice(span.clone()).unwrap_or_default()) {
            Ok(text) => *node.value_mut() = text,
            Err(Flaw { at, kind }) => {
                let place = self.source.place(span.start + at.start..span.start + at.end);
                self.fault = Some(Box::new(kind.diagnostic().at(place)));
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Flaw {
    at: Range<usize>,
    kind: FlawKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FlawKind {
    Quote,
    LineEnd,
    Escape,
}

impl FlawKind {
    fn diagnostic(self) -> Diagnostic {
        match self {
            Self::Quote => Diagnostic::error("syntax error: this text ends before its `%{ … }` does")
                .hint("close it with `%{ endif }` or `%{ endfor }`; a quote within a text is written as `\\\"`"),
            Self::LineEnd => Diagnostic::error("syntax error: this text does not end on its line")
                .hint("close it with `\"`; a text of several lines is written as `<<-EOT`"),
            Self::Escape => Diagnostic::error("syntax error: there is no such escape").hint(
                "after a backslash stand n, r, t, `\"`, a backslash, u with four or U with eight hexadecimal digits",
            ),
        }
    }
}

/// What the part of a text in quotes stands for.
fn unescaped(written: &str) -> Result<String, Flaw> {
    let flaw = |at: usize, length: usize, kind| Err(Flaw { at: at..at + length, kind });
    let mut out = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(c) = rest.chars().next() {
        let at = written.len() - rest.len();
        let (stands_for, length) = match c {
            '"' => return flaw(at, 1, FlawKind::Quote),
            '\n' => return flaw(at, 1, FlawKind::LineEnd),
            '$' if rest.starts_with("$${") => ('$', 2),
            '%' if rest.starts_with("%%{") => ('%', 2),
            '\\' => match escape(rest) {
                Some(found) => found,
                None => return flaw(at, 2, FlawKind::Escape),
            },
            other => (other, other.len_utf8()),
        };
        out.push(stands_for);
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(out)
}

/// The character that an escape stands for, and the length of the escape.
fn escape(text: &str) -> Option<(char, usize)> {
    let digits = |length: usize| {
        let digits = text.get(2..2 + length).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        Some((char::from_u32(u32::from_str_radix(digits, 16).ok()?)?, 2 + length))
    };
    match text.as_bytes().get(1)? {
        b'n' => Some(('\n', 2)),
        b'r' => Some(('\r', 2)),
        b't' => Some(('\t', 2)),
        b'\\' => Some(('\\', 2)),
        b'"' => Some(('"', 2)),
        b'u' => digits(4),
        b'U' => digits(8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, expected: &str) {
        assert_eq!(unescaped(written).as_deref(), Ok(expected), "{written}");
    }

    #[track_caller]
    fn refused(written: &str, at: usize, kind: FlawKind) {
        let flaw = unescaped(written).unwrap_err();
        assert_eq!((flaw.at.start, flaw.kind), (at, kind), "{written}");
    }

    #[test]
    fn escapes_are_resolved() {
        check("", "");
        check("plain é", "plain é");
        check(r#"a\"b\\c\n\r\t"#, "a\"b\\c\n\r\t");
        check(r"\u00e9\U0001F600", "é😀");
        check("$${x} %%{y} $x %x $$x", "${x} %{y} $x %x $$x");
        refused("é\"", 2, FlawKind::Quote);
        refused("a\nb", 1, FlawKind::LineEnd);
        refused(r"a\q", 1, FlawKind::Escape);
        refused(r"\u00", 0, FlawKind::Escape);
        refused(r"\ud800", 0, FlawKind::Escape);
        refused("\\", 0, FlawKind::Escape);
        refused("\\é", 0, FlawKind::Escape);
    }

    #[test]
    fn objects_are_not_larger_than_can_be_read() {
        #[track_caller]
        fn check(text: &str, expected: Option<(usize, usize)>) {
            let told = check_objects(&Source::new("a.hcl", text));
            let place = told.err().and_then(|told| told.place).map(|place| (place.line, place.column));
            assert_eq!(place, expected);
        }
        let object =
            |members: usize| format!("{{ {} }}", (0..members).map(|at| format!("k{at} = 1,")).collect::<String>());
        check(&format!("a = {}\n", object(20_000)), None);
        check(&format!("a = 1\nb = [{}]\n", object(25_000)), Some((2, 6)));
        check(&format!("a = {}\nb = {}\n", object(17_000), object(18_000)), Some((2, 5)));
        check(&"a = { b = 1 }\n".repeat(20_000), None);
        check(&"a {\n b = 1\n}\n".repeat(20_000), None);
    }

    #[test]
    fn operands_are_not_deeper_than_can_be_read() {
        #[track_caller]
        fn check(text: &str, expected: Option<usize>) {
            let told = body(&Source::new("a.hcl", text)).map_err(|told| told.to_string());
            let message = "objects are operands within each other more than 8 deep";
            let expected = expected.map(|column| format!("a.hcl:1:{column}: {message}"));
            match (&told, expected) {
                (Err(told), Some(expected)) => assert!(told.starts_with(&expected), "{text}\n{told}"),
                (_, expected) => {
                    assert!(expected.is_none() && !told.is_err_and(|told| told.contains(message)), "{text}")
                }
            }
        }
        check(&format!("a = e{}\n", "%{a%b".repeat(8)), None);
        check(&format!("a = e{}\n", "%{a%b".repeat(40)), Some(47));
        check(&format!("a = e{}\n", "== {a = 1, b = c ".repeat(40)), Some(145));
        check(&format!("a = \"${{e{}\"\n", "%{a%b".repeat(40)), Some(50));
        check(&format!("a = {}1{}\n", "{ a = ".repeat(40), "}".repeat(40)), None);
        check(&format!("a = [{}]\n", "e == { a = 1 }, ".repeat(40)), None);
        check(&format!("a = \"{}\"\n", "%%{ ${b} %{ if c }d%{ endif } - {".repeat(40)), None);
    }

    #[test]
    fn texts_in_quotes_are_the_same_within_directives() {
        #[track_caller]
        fn fails(text: &str, expected: &str) {
            let told = body(&Source::new("a.hcl", text)).unwrap_err().to_string();
            assert!(told.starts_with(expected), "{text}\n{told}");
        }
        fails("a = \"%{ if b }c\"\nd = \"%{ endif }\"\n", "a.hcl:1:16: syntax error: this text ends before");
        fails("a = \"%{ for b in c }\n%{ endfor }\"\n", "a.hcl:1:21: syntax error: this text does not end on its line");
        fails("a = [\"%{ if b }%{ for c in d }\\y%{ endfor }%{ endif }\"]\n", "a.hcl:1:31: syntax error: there is no");
        for fine in [
            "a = \"%{ if \"x\" == \"y\" }${f(\"z\")}%{ endif }\"\n",
            "a = \"${<<EOT\n%{ if b }\"\n%{ endif }\nEOT\n}\"\n",
            "a = <<EOT\n%{ if b }\"\\q%{ endif }\nEOT\n",
        ] {
            body(&Source::new("a.hcl", fine)).unwrap_or_else(|why| panic!("{fine}: {why}"));
        }
    }
}
