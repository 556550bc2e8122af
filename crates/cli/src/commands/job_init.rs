use std::io::Write;

use crate::commands::{Context, Outcome};
use crate::failure::Failure;

const DEFAULT_NAME: &str = "example.nomad.hcl";

const LONG: &str = include_str!("../../assets/example.nomad.hcl");
const SHORT: &str = include_str!("../../assets/example-short.nomad.hcl");

pub(super) fn run(context: &mut Context) -> Outcome {
    if context.given.switch("connect")
        || context.given.switch("list-templates")
        || context.given.text("template").is_some()
    {
        return Err(Failure::told("Templates and service meshes are not in this build: only the plain example is"));
    }
    let name = match context.given.arguments.as_slice() {
        [] => DEFAULT_NAME.to_owned(),
        [name] => name.clone(),
        _ => return Err(Failure::usage("This command takes either no arguments or one: <filename>")),
    };
    let text = if context.given.switch("short") { SHORT } else { LONG };
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(&name);
    let mut file = file.map_err(|why| match why.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::told(format!("Job '{name}' already exists")),
        _ => Failure::told(format!("Failed to write '{name}': {why}")),
    })?;
    file.write_all(text.as_bytes()).map_err(|why| Failure::told(format!("Failed to write '{name}': {why}")))?;
    context.ui.line(&format!("Example job file written to {name}"));
    Ok(0)
}
