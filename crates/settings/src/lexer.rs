use std::sync::Arc;

use longshore_values::Diagnostic;

use crate::source::{Source, Span};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Ident(String),
    Text(String),
    Number(String),
    Bool(bool),
    Assign,
    /// In JSON only.
    Colon,
    Comma,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    End,
}

impl Token {
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Ident(name) => format!("{name:?}"),
            Self::Text(_) => "a text".to_owned(),
            Self::Number(number) => format!("the number {number}"),
            Self::Bool(value) => value.to_string(),
            Self::Assign => "\"=\"".to_owned(),
            Self::Colon => "\":\"".to_owned(),
            Self::Comma => "\",\"".to_owned(),
            Self::OpenBrace => "\"{\"".to_owned(),
            Self::CloseBrace => "\"}\"".to_owned(),
            Self::OpenBracket => "\"[\"".to_owned(),
            Self::CloseBracket => "\"]\"".to_owned(),
            Self::End => "the end of the file".to_owned(),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Spanned {
    pub(crate) token: Token,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Splits HCL1 text into tokens. Offsets are bytes and always lie on character boundaries.
pub(crate) struct Lexer<'a> {
    source: &'a Arc<Source>,
    text: &'a str,
    at: usize,
    /// JSON has no comments, heredocs or `${…}` of its own.
    json: bool,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(source: &'a Arc<Source>, at: usize, json: bool) -> Self {
        Self { source, text: &source.text, at, json }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let len = rest.find(|c| !keep(c)).unwrap_or(rest.len());
        self.at += len;
        rest.get(..len).unwrap_or("")
    }

    pub(crate) fn error(&self, start: usize, end: usize, summary: impl Into<String>) -> Box<Diagnostic> {
        let span = Span { source: Arc::clone(self.source), start, end };
        Box::new(Diagnostic::error(summary).at(span.place()))
    }

    fn skip_blank(&mut self) -> Result<(), Box<Diagnostic>> {
        loop {
            self.take_while(char::is_whitespace);
            if self.json {
                return Ok(());
            }
            let rest = self.rest();
            if rest.starts_with('#') || rest.starts_with("//") {
                self.take_while(|c| c != '\n');
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => self.at += end + 2,
                    None => return Err(self.error(self.at, self.at + 2, "this comment has no end \"*/\"")),
                }
            } else {
                return Ok(());
            }
        }
    }

    pub(crate) fn next(&mut self) -> Result<Spanned, Box<Diagnostic>> {
        self.skip_blank()?;
        let start = self.at;
        let Some(first) = self.peek() else { return Ok(Spanned { token: Token::End, start, end: start }) };
        let single = match first {
            '=' => Some(Token::Assign),
            ':' if self.json => Some(Token::Colon),
            ',' => Some(Token::Comma),
            '{' => Some(Token::OpenBrace),
            '}' => Some(Token::CloseBrace),
            '[' => Some(Token::OpenBracket),
            ']' => Some(Token::CloseBracket),
            _ => None,
        };
        let token = match single {
            Some(token) => {
                self.at += 1;
                token
            }
            None if first == '"' => self.text()?,
            None if !self.json && self.rest().starts_with("<<") => self.heredoc()?,
            None if first.is_ascii_digit() || first == '-' || first == '.' => self.number()?,
            None if first.is_alphabetic() || first == '_' => {
                let name = self.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
                match name {
                    "true" => Token::Bool(true),
                    "false" => Token::Bool(false),
                    _ => Token::Ident(name.to_owned()),
                }
            }
            None => {
                let shown = first.escape_default().to_string();
                return Err(self.error(start, start + first.len_utf8(), format!("unexpected character '{shown}'")));
            }
        };
        Ok(Spanned { token, start, end: self.at })
    }

    fn number(&mut self) -> Result<Token, Box<Diagnostic>> {
        let start = self.at;
        if self.peek() == Some('-') {
            self.at += 1;
        }
        let body = self.take_while(|c| c.is_ascii_alphanumeric() || c == '.');
        // An exponent may carry a sign.
        if body.ends_with(['e', 'E']) && !body.starts_with("0x") && self.rest().starts_with(['+', '-']) {
            self.at += 1;
            self.take_while(|c| c.is_ascii_digit());
        }
        let written = self.text.get(start..self.at).unwrap_or("");
        let unsigned = written.strip_prefix('-').unwrap_or(written);
        let hex = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"));
        let good = match hex {
            Some(digits) => !digits.is_empty() && digits.chars().all(|c| c.is_ascii_hexdigit()),
            None => {
                unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
                    && unsigned.parse::<f64>().is_ok_and(f64::is_finite)
            }
        };
        if good {
            return Ok(Token::Number(written.to_owned()));
        }
        let mut told = self.error(start, self.at.max(start + 1), format!("{written:?} is no number"));
        // What stands on a line about a secret may be the secret.
        if told.place.as_ref().is_some_and(|place| place.line_text.is_empty()) {
            told.summary = "this is no number".to_owned();
        }
        Err(Box::new(told.hint("texts, durations and sizes stand in quotes, as in \"30s\"")))
    }

    /// A text in quotes. `${…}` is kept as written, quotes inside of it included.
    fn text(&mut self) -> Result<Token, Box<Diagnostic>> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        let mut depth = 0_usize;
        loop {
            let here = self.at;
            let Some(c) = self.peek() else {
                return Err(self.error(start, start + 1, "this text has no closing quote"));
            };
            self.at += c.len_utf8();
            match c {
                '"' if depth == 0 => return Ok(Token::Text(out)),
                '\n' if depth == 0 => {
                    return Err(self.error(start, here, "this text has no closing quote on its line"));
                }
                '$' if !self.json && depth == 0 && self.rest().starts_with('{') => {
                    self.at += 1;
                    depth = 1;
                    out.push_str("${");
                }
                '\\' if depth == 0 => self.escape(here, &mut out)?,
                other => {
                    match other {
                        '{' if depth > 0 => depth += 1,
                        '}' if depth > 0 => depth -= 1,
                        _ => {}
                    }
                    out.push(other);
                }
            }
        }
    }

    fn escape(&mut self, start: usize, out: &mut String) -> Result<(), Box<Diagnostic>> {
        let Some(c) = self.peek() else {
            return Err(self.error(start, start + 1, "this text has no closing quote"));
        };
        self.at += c.len_utf8();
        let plain = match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '\\' | '"' | '/' | '\'' => c,
            'x' => return self.code_point(start, 2, 16, out),
            'u' => return self.code_point(start, 4, 16, out),
            'U' => return self.code_point(start, 8, 16, out),
            '0'..='7' => {
                self.at -= 1;
                return self.code_point(start, 3, 8, out);
            }
            other => {
                let told = self.error(start, self.at, format!("unknown escape \"\\{}\"", other.escape_default()));
                return Err(Box::new(told.hint("a backslash itself is written \"\\\\\"")));
            }
        };
        out.push(plain);
        Ok(())
    }

    fn code_point(&mut self, start: usize, digits: usize, radix: u32, out: &mut String) -> Result<(), Box<Diagnostic>> {
        let code = self.rest().get(..digits).and_then(|text| u32::from_str_radix(text, radix).ok());
        let Some(code) = code else {
            return Err(self.error(start, self.at, format!("this escape needs {digits} digits")));
        };
        self.at += digits;
        // JSON writes characters outside of the basic plane as two escapes.
        let code = match code {
            0xD800..=0xDBFF if digits == 4 => self.low_surrogate(code).unwrap_or(code),
            code => code,
        };
        match char::from_u32(code) {
            Some(c) => {
                out.push(c);
                Ok(())
            }
            None => Err(self.error(start, self.at, "this escape stands for no character")),
        }
    }

    fn low_surrogate(&mut self, high: u32) -> Option<u32> {
        let low = u32::from_str_radix(self.rest().strip_prefix("\\u")?.get(..4)?, 16).ok()?;
        if !(0xDC00..=0xDFFF).contains(&low) {
            return None;
        }
        self.at += 6;
        Some(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    }

    /// `<<EOF` … `EOF`; with `<<-EOF` the indentation that all lines share is dropped.
    fn heredoc(&mut self) -> Result<Token, Box<Diagnostic>> {
        let start = self.at;
        self.at += 2;
        let indented = self.rest().starts_with('-');
        if indented {
            self.at += 1;
        }
        let anchor = self.take_while(|c| c.is_alphanumeric() || c == '_');
        let ends_line = self.take_while(|c| c == '\r' || c == ' ' || c == '\t');
        if anchor.is_empty() || !self.rest().starts_with('\n') || ends_line.contains(' ') {
            let told = self.error(start, self.at, "this heredoc has no anchor alone on its line");
            return Err(Box::new(told.hint("write <<EOF, the text on lines of its own, then EOF alone on a line")));
        }
        self.at += 1;
        let mut lines: Vec<&str> = Vec::new();
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                return Err(self.error(
                    start,
                    start + 2 + anchor.len(),
                    format!("this heredoc never meets its end {anchor:?}"),
                ));
            }
            let (line, after) = rest.split_once('\n').map_or((rest, rest.len()), |(line, _)| (line, line.len() + 1));
            let bare = line.trim_end_matches('\r');
            let is_end = if indented { bare.trim() == anchor } else { bare.trim_start() == anchor };
            if is_end {
                // The anchor's own line break stays: it separates items.
                self.at += line.len();
                break;
            }
            self.at += after;
            lines.push(bare);
        }
        let shared = if indented {
            let indents = lines.iter().filter(|line| !line.trim().is_empty());
            indents.map(|line| line.len() - line.trim_start_matches([' ', '\t']).len()).min().unwrap_or(0)
        } else {
            0
        };
        let mut out = String::new();
        for line in lines {
            out.push_str(line.get(shared..).unwrap_or(""));
            out.push('\n');
        }
        Ok(Token::Text(out))
    }
}
