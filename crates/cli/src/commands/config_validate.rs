use crate::commands::{Context, Outcome};
use crate::failure::Failure;

pub(super) fn run(context: &mut Context) -> Outcome {
    if context.given.arguments.is_empty() {
        return Err(Failure::usage("This command takes at least one argument: <path>"));
    }
    let effective = context.given.switch("effective");
    Ok(context.local.validate_config(&context.given.arguments, effective, context.ui.colour_of_errors()))
}
