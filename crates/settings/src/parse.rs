//! Agent files as text to a tree: HCL in its first version, or JSON, told apart by what the text begins with.
//!
//! Both become the same [`Object`], so that a setting means the same in either. No text makes it panic: what cannot be
//! read is a [`Refusal`] with the place.

use std::sync::Arc;

use longshore_values::Diagnostic;

use crate::error::Refusal;
use crate::lexer::{Lexer, Spanned, Token};
use crate::merge::{Merging, overlay};
use crate::source::{Origin, Source, Span};
use crate::tree::{Entry, Node, Object, Value};

/// How deep blocks and lists may lie in one another.
const DEPTH_MAX: usize = 64;
/// How long an agent file may be, in bytes.
const FILE_BYTES_MAX: usize = 4 << 20;

/// Reads one agent file.
pub(crate) fn parse(source: &Arc<Source>, merging: &mut Merging) -> Result<Object, Refusal> {
    if source.text.len() > FILE_BYTES_MAX {
        let bytes = source.text.len();
        let told = format!("{} has {bytes} bytes; an agent file may have at most {FILE_BYTES_MAX}", source.name);
        return Err(Refusal::one(Diagnostic::error(told)));
    }
    let start = if source.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let is_json = source.text.get(start..).is_some_and(|text| text.trim_start().starts_with('{'));
    let mut parser = Parser { lexer: Lexer::new(source, start, is_json), source, ahead: None, merging };
    let object = if is_json { parser.json_file() } else { parser.items(None, 0) };
    object.map_err(|told| Refusal::one(*told))
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    source: &'a Arc<Source>,
    ahead: Option<Spanned>,
    merging: &'a mut Merging,
}

impl Parser<'_> {
    fn next(&mut self) -> Result<Spanned, Box<Diagnostic>> {
        match self.ahead.take() {
            Some(token) => Ok(token),
            None => self.lexer.next(),
        }
    }

    fn peek(&mut self) -> Result<&Token, Box<Diagnostic>> {
        let token = self.next()?;
        Ok(&self.ahead.insert(token).token)
    }

    fn origin(&self, start: usize, end: usize) -> Origin {
        Origin::File(Span { source: Arc::clone(self.source), start, end })
    }

    fn unexpected(&self, got: &Spanned, wanted: &str) -> Box<Diagnostic> {
        self.lexer.error(got.start, got.end, format!("expected {wanted}, found {}", got.token.describe()))
    }

    fn too_deep(&self, at: &Spanned) -> Box<Diagnostic> {
        self.lexer.error(at.start, at.end, format!("more than {DEPTH_MAX} blocks and lists lie in one another"))
    }

    /// The items of a block up to its `}`, or of the file up to its end.
    fn items(&mut self, opened: Option<&Spanned>, depth: usize) -> Result<Object, Box<Diagnostic>> {
        let mut object = Object::default();
        loop {
            let token = self.next()?;
            match (&token.token, opened) {
                (Token::Comma, _) => {}
                (Token::End, None) | (Token::CloseBrace, Some(_)) => return Ok(object),
                (Token::End, Some(opened)) => {
                    return Err(self.lexer.error(opened.start, opened.end, "this block has no closing \"}\""));
                }
                (Token::Ident(_) | Token::Text(_) | Token::Bool(_), _) => self.item(token, &mut object, depth)?,
                _ => return Err(self.unexpected(&token, "a key")),
            }
        }
    }

    /// `key = value`, `key { … }` or `key "label" { … }`.
    fn item(&mut self, first: Spanned, into: &mut Object, depth: usize) -> Result<(), Box<Diagnostic>> {
        let mut keys = vec![first];
        loop {
            let token = self.next()?;
            match &token.token {
                Token::Ident(_) | Token::Text(_) | Token::Bool(_) if keys.len() < DEPTH_MAX => keys.push(token),
                Token::Assign if keys.len() == 1 => {
                    let node = self.below(&keys, |parser| parser.value(depth))?;
                    self.put(&keys, node, into);
                    return Ok(());
                }
                Token::OpenBrace => {
                    if depth >= DEPTH_MAX {
                        return Err(self.too_deep(&token));
                    }
                    let deeper = depth + keys.len();
                    let object = self.below(&keys, |parser| parser.items(Some(&token), deeper))?;
                    let origin = self.origin(token.start, token.end);
                    self.put(&keys, Node { value: Value::Object(object), origin }, into);
                    return Ok(());
                }
                Token::Assign => return Err(self.unexpected(&token, "\"{\" after a block's label")),
                _ => return Err(self.unexpected(&token, "\"=\" or \"{\" after a key")),
            }
        }
    }

    /// Reads on with the path of the keys as the one that merging speaks of.
    fn below<T>(&mut self, keys: &[Spanned], read: impl FnOnce(&mut Self) -> T) -> T {
        let above = self.merging.path.len();
        self.merging.path.extend(keys.iter().map(key_name));
        let value = read(self);
        self.merging.path.truncate(above);
        value
    }

    fn put(&mut self, keys: &[Spanned], node: Node, into: &mut Object) {
        let mut node = node;
        for key in keys.iter().rev() {
            let key_origin = self.origin(key.start, key.end);
            let origin = node.origin.clone();
            let mut around = Object::default();
            around.entries.insert(key_name(key), Entry { key_origin, node });
            node = Node { value: Value::Object(around), origin };
        }
        if let Value::Object(whole) = node.value {
            overlay(into, whole, self.merging);
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Box<Diagnostic>> {
        let token = self.next()?;
        let origin = self.origin(token.start, token.end);
        let value = match &token.token {
            Token::Text(text) => Value::Text(text.clone()),
            Token::Number(number) => Value::Number(number.clone()),
            Token::Bool(value) => Value::Bool(*value),
            Token::OpenBrace | Token::OpenBracket if depth >= DEPTH_MAX => return Err(self.too_deep(&token)),
            Token::OpenBrace => Value::Object(self.items(Some(&token), depth + 1)?),
            Token::OpenBracket => self.list(&token, depth + 1)?,
            Token::Ident(name) => {
                let told = self.unexpected(&token, "a value");
                // What stands on a line about a secret may be the secret.
                if told.place.as_ref().is_some_and(|place| place.line_text.is_empty()) {
                    let told = self.lexer.error(token.start, token.end, "expected a value, found a word");
                    return Err(Box::new(told.hint("a text stands in quotes")));
                }
                return Err(Box::new(told.hint(format!("a text stands in quotes: \"{name}\""))));
            }
            _ => return Err(self.unexpected(&token, "a value")),
        };
        Ok(Node { value, origin })
    }

    fn list(&mut self, opened: &Spanned, depth: usize) -> Result<Value, Box<Diagnostic>> {
        let mut items = Vec::new();
        loop {
            match self.peek()? {
                Token::CloseBracket => {
                    self.next()?;
                    return Ok(self.folded(items));
                }
                Token::End => {
                    return Err(self.lexer.error(opened.start, opened.end, "this list has no closing \"]\""));
                }
                _ => items.push(self.value(depth)?),
            }
            let token = self.next()?;
            match token.token {
                Token::Comma => {}
                Token::CloseBracket => return Ok(self.folded(items)),
                _ => return Err(self.unexpected(&token, "\",\" or \"]\" in a list")),
            }
        }
    }

    /// A list of objects is how JSON writes a block that is given several times.
    fn folded(&mut self, items: Vec<Node>) -> Value {
        if items.is_empty() || !items.iter().all(|item| matches!(item.value, Value::Object(_))) {
            return Value::List(items);
        }
        let mut whole = Object::default();
        for item in items {
            if let Value::Object(object) = item.value {
                overlay(&mut whole, object, self.merging);
            }
        }
        Value::Object(whole)
    }

    fn json_file(&mut self) -> Result<Object, Box<Diagnostic>> {
        let opened = self.next()?;
        let object = self.json_object(&opened, 1)?;
        let after = self.next()?;
        match after.token {
            Token::End => Ok(object),
            _ => Err(self.unexpected(&after, "the end of the file")),
        }
    }

    fn json_object(&mut self, opened: &Spanned, depth: usize) -> Result<Object, Box<Diagnostic>> {
        let mut object = Object::default();
        if matches!(self.peek()?, Token::CloseBrace) {
            self.next()?;
            return Ok(object);
        }
        loop {
            let key = self.next()?;
            match key.token {
                Token::Text(_) => {}
                Token::End => {
                    return Err(self.lexer.error(opened.start, opened.end, "this object has no closing \"}\""));
                }
                _ => return Err(self.unexpected(&key, "a key in quotes")),
            }
            let colon = self.next()?;
            if colon.token != Token::Colon {
                return Err(self.unexpected(&colon, "\":\" after a key"));
            }
            let keys = [key];
            if let Some(node) = self.below(&keys, |parser| parser.json_value(depth))? {
                self.put(&keys, node, &mut object);
            }
            let token = self.next()?;
            match token.token {
                Token::Comma => {}
                Token::CloseBrace => return Ok(object),
                _ => return Err(self.unexpected(&token, "\",\" or \"}\" in an object")),
            }
        }
    }

    /// `None` for `null`, which is the same as not given.
    fn json_value(&mut self, depth: usize) -> Result<Option<Node>, Box<Diagnostic>> {
        let token = self.next()?;
        let origin = self.origin(token.start, token.end);
        let value = match &token.token {
            Token::Text(text) => Value::Text(text.clone()),
            Token::Number(number) => Value::Number(number.clone()),
            Token::Bool(value) => Value::Bool(*value),
            Token::Ident(name) if name == "null" => return Ok(None),
            Token::OpenBrace | Token::OpenBracket if depth >= DEPTH_MAX => return Err(self.too_deep(&token)),
            Token::OpenBrace => Value::Object(self.json_object(&token, depth + 1)?),
            Token::OpenBracket => self.json_list(&token, depth + 1)?,
            _ => return Err(self.unexpected(&token, "a value")),
        };
        Ok(Some(Node { value, origin }))
    }

    fn json_list(&mut self, opened: &Spanned, depth: usize) -> Result<Value, Box<Diagnostic>> {
        let mut items = Vec::new();
        if matches!(self.peek()?, Token::CloseBracket) {
            self.next()?;
            return Ok(Value::List(items));
        }
        loop {
            if matches!(self.peek()?, Token::End) {
                return Err(self.lexer.error(opened.start, opened.end, "this list has no closing \"]\""));
            }
            items.extend(self.json_value(depth)?);
            let token = self.next()?;
            match token.token {
                Token::Comma => {}
                Token::CloseBracket => return Ok(self.folded(items)),
                _ => return Err(self.unexpected(&token, "\",\" or \"]\" in a list")),
            }
        }
    }
}

fn key_name(key: &Spanned) -> String {
    match &key.token {
        Token::Ident(name) | Token::Text(name) => name.clone(),
        Token::Bool(value) => value.to_string(),
        _ => String::new(),
    }
}
