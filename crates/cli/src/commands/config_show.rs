use crate::commands::{Context, Outcome};

pub(super) fn run(context: &mut Context) -> Outcome {
    Ok(context.local.show_config(&context.given.arguments, context.ui.colour_of_errors()))
}
