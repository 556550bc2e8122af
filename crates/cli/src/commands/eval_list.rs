use longshore_api::Evaluation;

use crate::commands::{Context, Outcome};
use crate::failure::While;
use crate::render::eval;

pub(super) async fn run(context: &mut Context) -> Outcome {
    context.no_arguments()?;
    let (job, status) = (text(context, "job"), text(context, "status"));
    let query: Vec<(&str, &str)> =
        [("job", job.as_str()), ("status", &status)].into_iter().filter(|(_, value)| !value.is_empty()).collect();
    let doing = "Error querying evaluations";
    let value = context.client.get_value("/v1/evaluations", &query).await.doing(doing)?;
    context.show(value, doing, |view, mut evals: Vec<Evaluation>| {
        evals.sort_by_key(|eval| std::cmp::Reverse(eval.create_index));
        eval::list_of_all(view, &evals)
    })
}

fn text(context: &Context, flag: &str) -> String {
    context.given.text(flag).unwrap_or("").to_owned()
}
