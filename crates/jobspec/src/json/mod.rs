//! JSON jobs: as the API has them, and the job language written as JSON.
//!
//! The latter is written out as the language's own text, so that there is one reading of it; each piece of that text
//! keeps where in the JSON it comes from, and errors are shown there.

mod api;
mod tree;
mod write;

use longshore_values::Diagnostic;

use crate::places::Places;
use crate::source::Source;
use crate::{Input, ParseError, Parsed, read_body, syntax};
use tree::{Kind, Member, Node};

/// Reads a text that begins like a JSON object.
pub(crate) fn parse(source: &Source, input: &Input<'_>) -> Result<Parsed, ParseError> {
    let root = read(source)?;
    let members = members(&root, source)?;
    if members.iter().any(|member| member.key == "job") {
        return parse_file(members, source, input);
    }
    let find = |key: &str| members.iter().find(|member| member.key.eq_ignore_ascii_case(key));
    let job = match find("Job") {
        Some(job) => &job.value,
        None if find("ID").is_some() || find("TaskGroups").is_some() => &root,
        None => {
            let file = input.file;
            let told =
                format!("{file} holds neither a job file in JSON (\"job\") nor a job of the API (\"Job\" or \"ID\")");
            let first = members.first().map_or(0..1, |member| member.key_span.clone());
            return Err(Diagnostic::error(told).at(source.place(first)).into());
        }
    };
    parse_job(job, source)
}

/// Reads a job of the API, alone or as `Job`.
pub(crate) fn parse_api(source: &Source) -> Result<Parsed, ParseError> {
    let root = read(source)?;
    let members = members(&root, source)?;
    parse_job(members.iter().find(|member| member.key == "Job").map_or(&root, |member| &member.value), source)
}

fn read(source: &Source) -> Result<Node, ParseError> {
    let file = &source.file;
    if let Err(why) = serde_json::from_str::<serde_json::Value>(&source.text) {
        let at = source.offset(why.line(), why.column());
        let reason = why.to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default();
        return Err(Diagnostic::error(format!("{file} is no JSON: {reason}")).at(source.place(at..at + 1)).into());
    }
    tree::read(&source.text).ok_or_else(|| Diagnostic::error(format!("{file} is no JSON")).into())
}

fn members<'n>(root: &'n Node, source: &Source) -> Result<&'n [Member], ParseError> {
    match &root.kind {
        Kind::Object(members) => Ok(members),
        _ => {
            let told = format!("{} is no JSON object", source.file);
            Err(Diagnostic::error(told).at(source.place(root.span.clone())).into())
        }
    }
}

fn parse_job(job: &Node, source: &Source) -> Result<Parsed, ParseError> {
    let text = source.slice(job.span.clone()).unwrap_or_default();
    match longshore_api::decode(text.as_bytes()) {
        Ok(read) => {
            let places = Places::new(source.clone(), api::spans(job));
            Ok(Parsed { job: read, places, warnings: Vec::new() })
        }
        Err(why) => {
            let span = match &why {
                longshore_api::DecodeError::Shape(fault) => api::follow(job, fault.path()),
                longshore_api::DecodeError::Json(_) => job.span.clone(),
            };
            Err(Diagnostic::error(format!("the job is not valid: {why}")).at(source.place(span)).into())
        }
    }
}

fn parse_file(members: &[Member], source: &Source, input: &Input<'_>) -> Result<Parsed, ParseError> {
    let (written, mut diagnostics) = write::job_file(members, source);
    let read = match syntax::body(&written) {
        Ok(body) => read_body(&body, &written, input),
        Err(why) => Err((*why).into()),
    };
    if diagnostics.is_empty() {
        return read;
    }
    diagnostics.extend(read.err().into_iter().flat_map(|error| error.diagnostics));
    Err(ParseError { diagnostics })
}
