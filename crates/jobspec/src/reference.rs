//! What the job language knows, told for people who write documentation, and for tests that must miss nothing.
//!
//! 1. It comes from the very tables that job files are read by: what is told is what is read.
//! 2. Blocks stand in the order of their tables, each one everywhere where it may stand.

use crate::functions;
use crate::schema::{self, Attribute, Body, Kind, Nested, Shape};

/// A block, at one of the places where it may stand.
#[derive(Debug, Clone)]
pub struct Block {
    /// From the job on; the last step is the block itself.
    pub path: Vec<Step>,
    pub about: &'static str,
    /// Its names are its reader's own: a map, or a free body.
    pub is_open: bool,
    /// It may stand there more than once.
    pub is_repeated: bool,
    /// The Nomad version that brought it; empty when 1.6 has it.
    pub since: &'static str,
    pub attributes: Vec<Setting>,
}

/// One step of the way to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub name: &'static str,
    /// It is written with a label.
    pub has_label: bool,
}

/// An attribute of a block.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    pub name: &'static str,
    /// What it holds, in words.
    pub kind: &'static str,
    /// What holds when it is left out, as a job file would write it, and in parentheses behind it what is different
    /// for other types of job; empty when there is none.
    pub default: &'static str,
    pub about: &'static str,
    /// The Nomad version that brought it; empty when 1.6 has it.
    pub since: &'static str,
}

impl Setting {
    /// The default of a service job, as an expression of the job language.
    pub fn default_of_services(&self) -> Option<&'static str> {
        let plain = self.default.split_once(" (").map_or(self.default, |(plain, _)| plain);
        (!plain.is_empty()).then_some(plain)
    }
}

/// A function, as people call it.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    pub name: &'static str,
    /// Such as `join(separator, list…)`.
    pub call: &'static str,
    pub about: &'static str,
}

/// All blocks of a job file, the job itself first.
pub fn blocks() -> Vec<Block> {
    let mut found = Vec::new();
    let job = Step { name: "job", has_label: true };
    found.push(block(vec![job], schema::JOB.about, false, false, "", &schema::JOB));
    walk(&schema::JOB, &[job], &mut found);
    found
}

/// All functions, in the order of their names.
pub fn functions() -> Vec<Function> {
    functions::names().map(|name| functions::about(name).unwrap_or(Function { name, call: "", about: "" })).collect()
}

fn walk(body: &'static Body, path: &[Step], found: &mut Vec<Block>) {
    for nested in body.all_nested() {
        let has_label = matches!(nested.shape, Shape::Labelled(_) | Shape::ByLabel(_));
        let mut path = path.to_vec();
        path.push(Step { name: nested.name, has_label });
        let is_open = matches!(nested.shape, Shape::TextMap | Shape::TextsMap | Shape::Free);
        let is_repeated = has_label || nested.shape == Shape::Many;
        found.push(block(path.clone(), about(nested), is_open, is_repeated, nested.since, nested.body));
        walk(nested.body, &path, found);
    }
}

fn about(nested: &Nested) -> &'static str {
    if nested.about.is_empty() { nested.body.about } else { nested.about }
}

fn block(
    path: Vec<Step>,
    about: &'static str,
    is_open: bool,
    is_repeated: bool,
    since: &'static str,
    body: &'static Body,
) -> Block {
    let attributes = body.attributes.iter().map(setting).collect();
    Block { path, about, is_open, is_repeated, since, attributes }
}

fn setting(attribute: &'static Attribute) -> Setting {
    let Attribute { name, default, about, since, .. } = *attribute;
    let kind = match attribute.kind {
        Kind::Text => "string",
        Kind::Bool => "bool",
        Kind::Int | Kind::Count => "number",
        Kind::Duration => "duration",
        Kind::Texts => "list of strings",
        Kind::Counts => "list of numbers",
    };
    Setting { name, kind, default, about, since }
}

/// The whole reference as Markdown.
pub fn markdown() -> String {
    let mut out = String::from(HEAD);
    let blocks = blocks();
    let mut told: Vec<String> = Vec::new();
    for block in blocks.iter().filter(|block| !block.is_open) {
        let Some(step) = block.path.last() else { continue };
        let key = format!("{} {}", step.name, block.about);
        if told.contains(&key) {
            continue;
        }
        told.push(key);
        let same: Vec<&Block> = blocks
            .iter()
            .filter(|other| other.about == block.about && other.path.last() == block.path.last())
            .collect();
        out.push_str(&section(block, &same, &blocks));
    }
    out.push_str(FUNCTIONS_HEAD);
    for function in functions() {
        out.push_str(&format!("| `{}` | {} |\n", function.call, cell(function.about)));
    }
    out
}

fn section(block: &Block, same: &[&Block], all: &[Block]) -> String {
    let Some(step) = block.path.last() else { return String::new() };
    let label = if step.has_label { " \"…\"" } else { "" };
    let mut out = format!("\n## `{}{label}`", step.name);
    let mut parents: Vec<&str> = Vec::new();
    for other in same {
        let parent = other.path.iter().rev().nth(1).map(|step| step.name);
        parents.extend(parent.filter(|parent| !parents.contains(parent)));
    }
    if !parents.is_empty() {
        let parents: Vec<String> = parents.iter().map(|parent| format!("`{parent}`")).collect();
        out.push_str(&format!(" in {}", parents.join(", ")));
    }
    out.push_str(&format!("\n\n{}", block.about));
    if !block.since.is_empty() {
        out.push_str(&format!(" Since Nomad {}.", block.since));
    }
    out.push('\n');
    let inner: Vec<&Block> = all
        .iter()
        .filter(|other| other.path.len() == block.path.len() + 1 && other.path.starts_with(&block.path))
        .collect();
    if block.attributes.is_empty() && inner.is_empty() {
        return out;
    }
    out.push_str("\n| Name | Kind | Default | Meaning |\n| --- | --- | --- | --- |\n");
    for attribute in &block.attributes {
        let default = if attribute.default.is_empty() { String::new() } else { format!("`{}`", attribute.default) };
        let since = told_since(attribute.since);
        out.push_str(&format!(
            "| `{}` | {} | {} | {}{since} |\n",
            attribute.name,
            attribute.kind,
            cell(&default),
            cell(attribute.about)
        ));
    }
    for inner in inner {
        let Some(step) = inner.path.last() else { continue };
        let kind = match (inner.is_open, inner.is_repeated) {
            (true, _) => "block or map",
            (false, true) => "blocks",
            (false, false) => "block",
        };
        out.push_str(&format!("| `{}` | {kind} | | {}{} |\n", step.name, cell(inner.about), told_since(inner.since)));
    }
    out
}

fn told_since(since: &str) -> String {
    if since.is_empty() { String::new() } else { format!(" Since Nomad {since}.") }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

const HEAD: &str = "\
# Job files

<!-- Made from the tables that job files are read by: `LONGSHORE_WRITE_REFERENCE=1 cargo nextest run -p longshore-jobs reference`. -->

A job file is written in HCL2, or in JSON with the same names. On its top level stand one `job` block, and `variable`,
`variables` and `locals` blocks. Longshore reads what Nomad 1.6 knows and the later parts that are marked so. What this
version does not act on is read and shown, but a job that asks for it is refused at its registration, with its line.

- A **duration** is a text such as `\"30s\"` or `\"1h15m\"`, or a whole number of nanoseconds.
- A **block or map** is written as `meta { … }` or as `meta = { … }`.
- Any block can be made by `dynamic \"name\" { for_each = …, iterator = …, labels = […], content { … } }`.
- Names that are not the file's own, such as `${attr.kernel.name}`, `${node.class}`, `${meta.rack}`, `${env[\"X\"]}` and
  `${NOMAD_PORT_http}`, stay as they are written: the node fills them in. `$${` and `%%{` stand for `${` and `%{`.
- Values for variables, weakest first: the default, `NOMAD_VAR_name`, `-var-file`, `-var`.
";

const FUNCTIONS_HEAD: &str = "
## Functions

File functions work on the command line only, not over the API.

| Call | Result |
| --- | --- |
";
