//! The pieces of an HCL text, blanks left out. Texts, heredocs and comments are one piece each, as they are written.

use std::iter::Peekable;
use std::str::CharIndices;

/// What a piece is, as far as its neighbours matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name, a number, a text in quotes.
    Operand,
    Heredoc,
    /// `(`, `[`, `{`.
    Open,
    /// `)`, `]`, `}`.
    Close,
    /// Everything else: operators, commas, dots.
    Sign,
    /// To the end of its line.
    LineComment,
    /// `/* … */`.
    InlineComment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    /// The byte at which it begins.
    pub(crate) at: usize,
    /// Whether blanks stood before it.
    pub(crate) spaced: bool,
}

/// The pieces line by line; a line that holds a heredoc or a comment of several lines stands for all of them.
pub(crate) fn lines(text: &str) -> Vec<Vec<Token<'_>>> {
    let mut lines = vec![Vec::new()];
    each(text, |piece| match piece {
        Some(token) => lines.last_mut().into_iter().for_each(|line| line.push(token)),
        None => lines.push(Vec::new()),
    });
    lines
}

/// Hands out one piece after the other, and `None` at the end of a line.
pub(crate) fn each<'t>(text: &'t str, mut take: impl FnMut(Option<Token<'t>>)) {
    let mut rest = text;
    let mut spaced = false;
    let mut after_dot = false;
    while let Some(c) = rest.chars().next() {
        if c == '\n' {
            take(None);
            (rest, spaced, after_dot) = (rest.get(1..).unwrap_or(""), false, false);
            continue;
        }
        if c.is_whitespace() {
            (rest, spaced) = (rest.get(c.len_utf8()..).unwrap_or(""), true);
            continue;
        }
        let (kind, length) = next(rest, after_dot);
        let (piece, after) = rest.split_at(length);
        after_dot = piece == ".";
        take(Some(Token { kind, text: piece, at: text.len() - rest.len(), spaced }));
        (rest, spaced) = (after, false);
    }
}

/// `after_dot`: what stands before is a dot.
fn next(rest: &str, after_dot: bool) -> (Kind, usize) {
    let c = rest.chars().next().unwrap_or(' ');
    match c {
        _ if c == '#' || rest.starts_with("//") => {
            (Kind::LineComment, rest.get(..line_comment(rest)).unwrap_or("").trim_end().len())
        }
        '/' if rest.starts_with("/*") => (Kind::InlineComment, inline_comment(rest)),
        '"' => (Kind::Operand, quoted(rest)),
        '<' if rest.starts_with("<<") => match heredoc(rest) {
            Some(length) => (Kind::Heredoc, length),
            None => (Kind::Sign, 1),
        },
        '(' | '[' | '{' => (Kind::Open, 1),
        ')' | ']' | '}' => (Kind::Close, 1),
        '0'..='9' => (Kind::Operand, number(rest, after_dot)),
        c if c.is_alphabetic() || c == '_' => {
            let in_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            (Kind::Operand, rest.find(|c| !in_name(c)).unwrap_or(rest.len()))
        }
        _ => {
            let long = ["...", "==", "!=", "<=", ">=", "&&", "||", "=>"];
            let length = long.iter().find(|sign| rest.starts_with(**sign)).map_or(c.len_utf8(), |sign| sign.len());
            (Kind::Sign, length)
        }
    }
}

/// `12`, `1.5e-3`; after a dot (`a.0.b`) digits alone.
fn number(rest: &str, after_dot: bool) -> usize {
    let digits = |from: usize| {
        let tail = rest.get(from..).unwrap_or("");
        from + (tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_digit()).len())
    };
    let mut end = digits(0);
    if after_dot {
        return end;
    }
    if rest.get(end..).is_some_and(|tail| tail.starts_with('.')) && digits(end + 1) > end + 1 {
        end = digits(end + 1);
    }
    if rest.get(end..).is_some_and(|tail| tail.starts_with(['e', 'E'])) {
        let sign = usize::from(rest.get(end + 1..).is_some_and(|tail| tail.starts_with(['+', '-'])));
        if digits(end + 1 + sign) > end + 1 + sign {
            end = digits(end + 1 + sign);
        }
    }
    end
}

/// The length of a text in quotes, with the expressions in it; to the end when it does not end.
fn quoted(rest: &str) -> usize {
    // What is open: texts, and `${` or `{` within them.
    let mut open: Vec<char> = Vec::new();
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let in_text = open.last() == Some(&'"');
        let after = || rest.get(at + c.len_utf8()..).unwrap_or("");
        match c {
            // In comments of expressions anything may stand.
            '#' if !in_text => skip_to(&mut chars, at + line_comment(rest.get(at..).unwrap_or(""))),
            '/' if !in_text && after().starts_with('/') => {
                skip_to(&mut chars, at + line_comment(rest.get(at..).unwrap_or("")));
            }
            '/' if !in_text && after().starts_with('*') => {
                skip_to(&mut chars, at + inline_comment(rest.get(at..).unwrap_or("")));
            }
            '<' if !in_text && after().starts_with('<') => {
                if let Some(length) = heredoc(rest.get(at..).unwrap_or("")) {
                    skip_to(&mut chars, at + length);
                }
            }
            '\\' if in_text => drop(chars.next()),
            '"' if in_text => {
                open.pop();
                if open.is_empty() {
                    return at + 1;
                }
            }
            '"' => open.push('"'),
            '$' | '%' if in_text => {
                // A doubled sign stands for itself.
                let doubled = chars.next_if(|(_, next)| *next == c).is_some();
                if chars.next_if(|(_, next)| *next == '{').is_some() && !doubled {
                    open.push('{');
                }
            }
            '{' if !in_text => open.push('{'),
            '}' if !in_text => drop(open.pop()),
            _ => {}
        }
    }
    rest.len()
}

fn line_comment(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

fn inline_comment(rest: &str) -> usize {
    rest.get(2..).and_then(|after| after.find("*/")).map_or(rest.len(), |at| at + 4)
}

fn skip_to(chars: &mut Peekable<CharIndices<'_>>, at: usize) {
    while chars.next_if(|(here, _)| *here < at).is_some() {}
}

/// The length of a heredoc; to the end when it does not end.
fn heredoc(rest: &str) -> Option<usize> {
    let after = rest.get(2..)?;
    let after = after.strip_prefix('-').unwrap_or(after);
    let (head, _) = after.split_once('\n')?;
    let word = head.trim_end();
    if word.is_empty() || !word.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') {
        return None;
    }
    let mut at = rest.len() - after.len() + head.len() + 1;
    for line in rest.get(at..)?.split_inclusive('\n') {
        if line.trim() == word {
            return Some(at + line.trim_end().len());
        }
        at += line.len();
    }
    Some(rest.len())
}
