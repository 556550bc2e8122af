//! A JSON text with the place of each of its values.

use std::ops::Range;

/// A value, and the bytes that it stands on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// Null, true, false and numbers: as they are written, which is as the job language writes them.
    Plain,
    Text(String),
    Array(Vec<Node>),
    Object(Vec<Member>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) key_span: Range<usize>,
    pub(super) value: Node,
}

/// Reads a text that serde_json has found to be JSON: it is well formed and not nested too deeply.
pub(super) fn read(text: &str) -> Option<Node> {
    Reader { text, at: 0 }.value()
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// The next byte that is no blank, if it is this one.
    fn takes(&mut self, wanted: u8) -> bool {
        self.skip_blanks();
        let is_there = self.peek() == Some(wanted);
        self.at += usize::from(is_there);
        is_there
    }

    fn value(&mut self) -> Option<Node> {
        self.skip_blanks();
        let start = self.at;
        let kind = match self.peek()? {
            b'"' => Kind::Text(self.string()?),
            b'[' => Kind::Array(self.array()?),
            b'{' => Kind::Object(self.object()?),
            _ => {
                let is_end = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b']' | b'}');
                while self.peek().is_some_and(|byte| !is_end(byte)) {
                    self.at += 1;
                }
                Kind::Plain
            }
        };
        Some(Node { span: start..self.at, kind })
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek()? {
                b'\\' => self.at += 2,
                b'"' => break,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        serde_json::from_str(self.text.get(start..self.at)?).ok()
    }

    fn array(&mut self) -> Option<Vec<Node>> {
        let mut items = Vec::new();
        self.at += 1;
        while !self.takes(b']') {
            items.push(self.value()?);
            self.takes(b',');
        }
        Some(items)
    }

    fn object(&mut self) -> Option<Vec<Member>> {
        let mut members = Vec::new();
        self.at += 1;
        while !self.takes(b'}') {
            let start = self.at;
            let key = self.string()?;
            let key_span = start..self.at;
            self.takes(b':');
            members.push(Member { key, key_span, value: self.value()? });
            self.takes(b',');
        }
        Some(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(node: &Node, text: &str) -> serde_json::Value {
        match &node.kind {
            Kind::Plain => serde_json::from_str(&text[node.span.clone()]).unwrap(),
            Kind::Text(text) => text.as_str().into(),
            Kind::Array(items) => items.iter().map(|item| plain(item, text)).collect(),
            Kind::Object(members) => {
                members.iter().map(|member| (member.key.clone(), plain(&member.value, text))).collect()
            }
        }
    }

    #[track_caller]
    fn check(text: &str) {
        let node = read(text).unwrap();
        assert_eq!(plain(&node, text), serde_json::from_str::<serde_json::Value>(text).unwrap());
    }

    #[test]
    fn values_are_what_serde_json_reads() {
        check("null");
        check(" [ ] ");
        check("{}");
        check(r#"{"a": [1, -2.5e3, true,false , null], "b\"\\é\u00e9": {"": "x\n"}}"#);
    }

    #[test]
    fn spans_hold_what_they_name() {
        let text = r#"{"é": [10, "b"]}"#;
        let Kind::Object(members) = read(text).unwrap().kind else { panic!("no object") };
        assert_eq!(&text[members[0].key_span.clone()], "\"é\"");
        let Kind::Array(items) = &members[0].value.kind else { panic!("no array") };
        assert_eq!(&text[items[0].span.clone()], "10");
        assert_eq!(&text[items[1].span.clone()], "\"b\"");
    }
}
