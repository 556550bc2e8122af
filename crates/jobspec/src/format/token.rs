//! The pieces of an HCL text, blanks left out. Texts, heredocs and comments are one piece each, as they are written.

/// What a piece is, as far as its neighbours matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// Whether blanks stood before it.
    pub(super) spaced: bool,
}

/// The pieces line by line; a line that holds a heredoc or a comment of several lines stands for all of them.
pub(super) fn lines(text: &str) -> Vec<Vec<Token<'_>>> {
    let mut lines = vec![Vec::new()];
    let mut rest = text;
    let mut spaced = false;
    while let Some(c) = rest.chars().next() {
        if c == '\n' {
            lines.push(Vec::new());
            (rest, spaced) = (rest.get(1..).unwrap_or(""), false);
            continue;
        }
        if c.is_whitespace() {
            (rest, spaced) = (rest.get(c.len_utf8()..).unwrap_or(""), true);
            continue;
        }
        let before = lines.last().and_then(|line| line.last());
        let (kind, length) = next(rest, before);
        let (text, after) = rest.split_at(length);
        if let Some(line) = lines.last_mut() {
            line.push(Token { kind, text, spaced });
        }
        (rest, spaced) = (after, false);
    }
    lines
}

fn next(rest: &str, before: Option<&Token<'_>>) -> (Kind, usize) {
    let to_line_end = || rest.find('\n').unwrap_or(rest.len());
    let c = rest.chars().next().unwrap_or(' ');
    match c {
        '#' => (Kind::LineComment, rest.get(..to_line_end()).unwrap_or("").trim_end().len()),
        '/' if rest.starts_with("//") => (Kind::LineComment, rest.get(..to_line_end()).unwrap_or("").trim_end().len()),
        '/' if rest.starts_with("/*") => (Kind::InlineComment, rest.find("*/").map_or(rest.len(), |end| end + 2)),
        '"' => (Kind::Operand, quoted(rest)),
        '<' if rest.starts_with("<<") => match heredoc(rest) {
            Some(length) => (Kind::Heredoc, length),
            None => (Kind::Sign, 1),
        },
        '(' | '[' | '{' => (Kind::Open, 1),
        ')' | ']' | '}' => (Kind::Close, 1),
        '0'..='9' => (Kind::Operand, number(rest, before.is_some_and(|before| before.text == "."))),
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
        match c {
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
    None
}
