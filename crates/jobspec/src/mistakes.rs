//! What people probably meant where a text is no job file at all.

use longshore_values::Diagnostic;

use crate::source::Source;

/// A syntax error at a byte of the text, with what to try. It stands where its cause is, if that can be told.
pub(crate) fn of_syntax(source: &Source, offset: usize, why: &str) -> Diagnostic {
    let lines: Vec<&str> = source.text.lines().collect();
    let place = source.place(offset..offset + 1);
    // A text in quotes ends on its line: an open one is the cause of what is wrong on the next.
    let earlier = [place.line.saturating_sub(1), place.line].into_iter().filter(|line| *line > 0);
    for line in earlier {
        let Some(column) = lines.get(line - 1).and_then(|text| open_quote(text)) else { continue };
        let start = source.line_start(line) + column;
        return Diagnostic::error("syntax error: this text does not end on its line")
            .hint("close it with `\"`; a text of several lines is written as `<<-EOT`")
            .at(source.place(start..start + 1));
    }
    let told = Diagnostic::error(format!("syntax error: {why}"));
    let text = place.line_text.as_str();
    let (name, rest) = first_word(text);
    let hint = if is_unclosed_directive(text) {
        "a `%{ if … }` or `%{ for … }` needs its `%{ endif }` or `%{ endfor }`".to_owned()
    } else if text.trim_start().starts_with('"') && rest.trim_start().starts_with(['=', ':']) {
        "names of attributes stand without quotes; a map takes any name: `meta = { \"a b\" = 1 }`".to_owned()
    } else if rest.starts_with('.') {
        "a name has no dots; a map takes any name: `meta = { \"a.b\" = 1 }`".to_owned()
    } else if rest.trim_start().starts_with(':') && !name.is_empty() {
        format!("write `{name} = …`")
    } else if why.contains("heredoc") {
        "the word after `<<` must stand alone on a later line".to_owned()
    } else if is_within_block_of_one_line(text, place.column) {
        "a block on one line holds one attribute at most; write what stands after its `{` on lines of its own"
            .to_owned()
    } else if offset >= source.text.trim_end().len() {
        match unclosed_brace(&lines) {
            Some(line) => format!("a `}}` is missing: the block of line {line} is not closed"),
            None => String::new(),
        }
    } else {
        String::new()
    };
    told.hint(hint).at(place)
}

/// The first word of a line, in quotes or not, and what follows.
fn first_word(line: &str) -> (&str, &str) {
    let line = line.trim_start();
    if let Some(quoted) = line.strip_prefix('"') {
        return quoted.split_once('"').unwrap_or((quoted, ""));
    }
    let end = line.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).unwrap_or(line.len());
    line.split_at(end)
}

/// Whether the column (from 1) is behind a `{` that opens a block on this line and closes later.
fn is_within_block_of_one_line(line: &str, column: usize) -> bool {
    let before: String = line.chars().take(column.saturating_sub(1)).collect();
    let (mut quoted, mut last, mut open) = (false, ' ', Vec::new());
    for c in before.chars() {
        match c {
            '"' => quoted = !quoted,
            // Behind these stands an object.
            '{' if !quoted => open.push(!"=:([,{?$%".contains(last)),
            '}' if !quoted => drop(open.pop()),
            _ => {}
        }
        if !c.is_whitespace() {
            last = c;
        }
    }
    open.last() == Some(&true)
}

fn is_unclosed_directive(line: &str) -> bool {
    let count = |word: &str| line.matches(word).count();
    let without_blanks: String = line.split_whitespace().collect();
    let opened = without_blanks.matches("%{if").count() + without_blanks.matches("%{for").count();
    opened > count("endif") + count("endfor")
}

/// The byte at which a quoted text begins that the line does not end.
fn open_quote(line: &str) -> Option<usize> {
    let mut open: Vec<usize> = Vec::new();
    // What is open around: quotes, and `${` within them.
    let mut within: Vec<char> = Vec::new();
    let mut rest = line.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let quoted = within.last() == Some(&'"');
        match c {
            '\\' if quoted => drop(rest.next()),
            '"' if quoted => {
                within.pop();
                open.pop();
            }
            '"' => {
                within.push('"');
                open.push(at);
            }
            '$' | '%' if quoted && rest.next_if(|(_, next)| *next == '{').is_some() => within.push('{'),
            '{' if !quoted && !within.is_empty() => within.push('{'),
            '}' if !quoted && within.last() == Some(&'{') => drop(within.pop()),
            '#' if !quoted && within.is_empty() => return None,
            '/' if !quoted && within.is_empty() && matches!(rest.peek(), Some((_, '/' | '*'))) => return None,
            _ => {}
        }
    }
    open.first().copied()
}

/// The line of the last block that is begun and not closed.
fn unclosed_brace(lines: &[&str]) -> Option<usize> {
    let mut open = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let mut quoted = false;
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                '#' if !quoted => break,
                '{' if !quoted => open.push(at + 1),
                '}' if !quoted => drop(open.pop()),
                _ => {}
            }
        }
    }
    open.last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<usize>) {
        assert_eq!(open_quote(line), expected, "{line}");
    }

    #[test]
    fn blocks_of_one_line_are_found() {
        let check = |line: &str, expected| {
            let column = line.find('^').unwrap() + 1;
            assert_eq!(is_within_block_of_one_line(line, column), expected, "{line}");
        };
        check("network { port ^\"http\" {} }", true);
        check("config { image = \"a\" ^args = [] }", true);
        check("port \"http\" { to = 1 ^static = 2 }", true);
        check("a = { b = 1 ^c = 2 }", false);
        check("a = f({ b = 1 ^c = 2 })", false);
        check("a = \"${b} { \" ^c", false);
        check("port \"http\" {} ^x", false);
    }

    #[test]
    fn open_quotes_are_found() {
        check("a = \"b\"", None);
        check("a = \"b", Some(4));
        check("a = \"b\\\"", Some(4));
        check("a = \"${f(\"b\")}\"", None);
        check("a = \"${f(\"b)}\"", Some(4));
        check("a = 1 # it\"s", None);
        check("a = \"x # y\"", None);
    }
}
