use crate::ConfigVerdict;
use crate::commands::{Context, Outcome};
use crate::failure::Failure;

pub(super) fn run(context: &mut Context) -> Outcome {
    if context.given.arguments.is_empty() {
        return Err(Failure::usage("This command takes at least one argument: <path>"));
    }
    let effective = context.given.switch("effective");
    let form = match (context.given.text("diagnostics").unwrap_or("text"), effective) {
        ("text", effective) => ConfigVerdict::Text { effective, colour: context.ui.colour_of_errors() },
        ("json", false) => ConfigVerdict::Json,
        ("json", true) => {
            let told = "-effective goes with text; `config show -json` lists what holds as JSON";
            return Err(Failure::usage(told));
        }
        (other, _) => return Err(Failure::usage(format!("-diagnostics takes \"text\" or \"json\", not {other:?}"))),
    };
    Ok(context.local.validate_config(&context.given.arguments, form))
}
