//! The job language: HCL2 text to the API's job, with diagnostics that point at the line. No I/O, no clock.
//!
//! 1. What is not understood is an error with its place: no attribute and no block is passed over.
//! 2. All errors of a file are told at once; only a syntax error ends the reading.
//! 3. Names that are not the file's own (`${node.…}`, `${attr.…}`, `${NOMAD_…}`) come out as they are written.
//! 4. No text makes this panic, overflow the stack or work without end.

mod decode;
mod evaluate;
mod format;
mod functions;
mod json;
mod mistakes;
mod number;
mod operators;
mod places;
pub mod reference;
mod schema;
mod source;
mod syntax;
mod template;
#[cfg(test)]
mod tests;
mod types;
mod value;
mod variables;

use std::fmt;

use hcl_edit::Span;
use hcl_edit::structure::{Block, Body, Structure};
use longshore_api::Job;
use longshore_values::{Diagnostic, nearest};

pub use format::format;
pub use places::{Finding, Places, diagnose, locate};

use decode::Decoder;
use evaluate::{Budget, Evaluator};
use source::Source;

/// The longest text that is read, in bytes.
pub const TEXT_BYTES_MAX: usize = 8 << 20;

/// What a job file's functions may do with files; only the command line hands one in.
pub trait Files {
    /// The bytes of a file; paths are relative to where the person stands. Errors are told as they are.
    fn read(&self, path: &str) -> Result<Vec<u8>, String>;
    fn exists(&self, path: &str) -> Result<bool, String>;
    /// The path in full.
    fn absolute(&self, path: &str) -> Result<String, String>;
    /// The path with a leading `~` replaced.
    fn expand_home(&self, path: &str) -> Result<String, String>;
    /// Regular files under `folder` that match the glob, relative to it, sorted.
    fn matching(&self, folder: &str, glob: &str) -> Result<Vec<String>, String>;
}

/// A job file and what was given with it.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The name that diagnostics tell.
    pub file: &'a str,
    pub text: &'a str,
    /// `-var name=value`, in order; the last one holds.
    pub variables: &'a [(String, String)],
    /// Names and texts of `-var-file` files, or the API's `Variables`, in order.
    pub variable_files: &'a [(String, String)],
    /// Names without `NOMAD_VAR_`, and values.
    pub environment: &'a [(String, String)],
    /// Whether a value for a variable that the file does not declare is an error.
    pub strict: bool,
    pub files: Option<&'a dyn Files>,
    /// What `uuidv4` and `bcrypt` draw from: bytes that nobody else knows. Without it they are errors.
    pub seed: Option<[u8; 32]>,
}

impl<'a> Input<'a> {
    /// A file alone, read strictly, without access to other files and without chance.
    pub fn new(file: &'a str, text: &'a str) -> Self {
        Self {
            file,
            text,
            variables: &[],
            variable_files: &[],
            environment: &[],
            strict: true,
            files: None,
            seed: None,
        }
    }
}

/// A job that was read, and where its parts stand.
#[derive(Debug, Clone)]
pub struct Parsed {
    pub job: Job,
    pub places: Places,
    pub warnings: Vec<Diagnostic>,
}

/// Everything that is wrong with a job file; at least one error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ParseError {
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, diagnostic) in self.diagnostics.iter().enumerate() {
            if at > 0 {
                f.write_str("\n\n")?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

impl From<Diagnostic> for ParseError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostics: vec![diagnostic] }
    }
}

/// Reads a job file.
pub fn parse(input: &Input<'_>) -> Result<Parsed, ParseError> {
    if input.text.len() > TEXT_BYTES_MAX {
        let told = format!("{} has {} bytes; a job file may have {TEXT_BYTES_MAX}", input.file, input.text.len());
        return Err(Diagnostic::error(told).into());
    }
    let source = Source::new(input.file, input.text.trim_start_matches('\u{feff}'));
    if source.text.trim_start().starts_with('{') {
        return json::parse(&source, input);
    }
    let body = syntax::body(&source).map_err(|why| ParseError::from(*why))?;
    read_body(&body, &source, input)
}

/// Reads a job as the API has it in JSON, alone or as the member `Job`.
///
/// # Errors
/// What is no JSON, or not of the kind that its field has, with its place.
pub fn parse_api(file: &str, text: &str) -> Result<Parsed, ParseError> {
    json::parse_api(&Source::new(file, text.trim_start_matches('\u{feff}')))
}

fn read_body(body: &Body, source: &Source, input: &Input<'_>) -> Result<Parsed, ParseError> {
    let budget = Budget::new(input.seed);
    let mut diagnostics = Vec::new();
    let mut evaluator = Evaluator::new(source, &budget, input.files);

    let mut jobs: Vec<&Block> = Vec::new();
    let mut declarations: Vec<&Block> = Vec::new();
    let mut locals: Vec<&Block> = Vec::new();
    for structure in body {
        match structure {
            Structure::Block(block) => match block.ident.value().as_str() {
                "job" => jobs.push(block),
                "variable" | "variables" => declarations.push(block),
                "locals" => locals.push(block),
                other => diagnostics.push(misplaced(source, other, block.ident.span(), "block")),
            },
            Structure::Attribute(attribute) => {
                let name = attribute.key.value().as_str();
                diagnostics.push(misplaced(source, name, attribute.key.span(), "attribute"));
            }
        }
    }
    variables::declare(&mut evaluator, &declarations, input, &mut diagnostics);
    for block in locals {
        variables::add_locals(&evaluator, block, &mut diagnostics);
    }
    variables::check_locals(&evaluator, &mut diagnostics);
    diagnostics.append(&mut evaluator.faults.borrow_mut());
    let job = match jobs.as_slice() {
        [job] => *job,
        [] => {
            if diagnostics.is_empty() {
                diagnostics.push(Diagnostic::error(format!("{} has no job block", input.file)));
            }
            return Err(ParseError { diagnostics });
        }
        [_, second, ..] => {
            let told = Diagnostic::error("there is a second job block; a file holds one job");
            diagnostics.push(placed(source, second.ident.span(), told));
            return Err(ParseError { diagnostics });
        }
    };
    let mut decoder = Decoder::new(&evaluator);
    let mut fields = decoder.top_block(&schema::JOB, job, "ID");
    let places = Places::new(source.clone(), std::mem::take(&mut decoder.places));
    diagnostics.append(&mut decoder.diagnostics);
    diagnostics.append(&mut evaluator.faults.borrow_mut());
    if !diagnostics.is_empty() {
        return Err(ParseError { diagnostics });
    }
    if let Some(label) = job.labels.first() {
        fields.entry("Name").or_insert_with(|| label.as_str().into());
    }
    let warnings = evaluator.warnings.take();
    finished(fields.into(), places, warnings)
}

fn finished(job: serde_json::Value, places: Places, warnings: Vec<Diagnostic>) -> Result<Parsed, ParseError> {
    let job =
        longshore_api::from_value(job).map_err(|why| Diagnostic::error(format!("the job is not valid: {why}")))?;
    Ok(Parsed { job, places, warnings })
}

fn placed(source: &Source, span: Option<std::ops::Range<usize>>, diagnostic: Diagnostic) -> Diagnostic {
    match span {
        Some(span) => diagnostic.at(source.place(span)),
        None => diagnostic,
    }
}

fn misplaced(source: &Source, name: &str, span: Option<std::ops::Range<usize>>, what: &str) -> Diagnostic {
    let told = Diagnostic::error(format!("there is no {what} {name:?} at the top of a job file"));
    let told = match nearest(name, ["job", "variable", "variables", "locals"]) {
        Some(near) => told.hint(format!("did you mean {near:?}?")),
        None => match schema::JOB.home_of(name, what == "block") {
            Some(home) => told.hint(format!("{name:?} belongs in the block {home:?}")),
            None => told.hint("a job file holds job, variable, variables and locals blocks"),
        },
    };
    placed(source, span, told)
}
