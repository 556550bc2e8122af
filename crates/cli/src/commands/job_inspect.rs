use longshore_api::JobVersionsResponse;
use serde_json::{Value, json};

use crate::commands::{Context, Outcome};
use crate::failure::{Failure, While};
use crate::json::{formatted, pretty};
use crate::resolve::{client_for, job_path, one_job};

pub(super) async fn run(context: &mut Context) -> Outcome {
    let (as_json, template) = (context.given.switch("json"), context.given.text("t").map(str::to_owned));
    if context.given.arguments.is_empty() && (as_json || template.is_some()) {
        let jobs = context.client.get_value("/v1/jobs", &[]).await.doing("Error querying jobs")?;
        if let Some(text) = formatted(as_json, template.as_deref(), &jobs)? {
            context.ui.line(&text);
        }
        return Ok(0);
    }
    let prefix = context.one_argument("This command takes one argument: <job>")?;
    let found = one_job(&context.client, &context.view(), &prefix).await?;
    let client = client_for(&context.client, &found);
    let path = job_path(&found.id);
    let job = match context.given.text("version").filter(|text| !text.is_empty()) {
        None => client.get_value(&path, &[]).await.doing("Error inspecting job")?,
        Some(text) => {
            let wanted: u64 = text
                .parse()
                .map_err(|_| Failure::told(format!("Error parsing version value {text:?}: it is no whole number")))?;
            version(&client.get_value(&format!("{path}/versions"), &[]).await.doing("Error inspecting job")?, wanted)?
        }
    };
    let text = match formatted(as_json, template.as_deref(), &job)? {
        Some(text) if !as_json => text,
        _ => pretty(&json!({ "Job": job }))?,
    };
    context.ui.line(&text);
    Ok(0)
}

fn version(answer: &Value, wanted: u64) -> Result<Value, Failure> {
    let shape = |why| Failure::told(format!("Error inspecting job: {why}"));
    let versions: JobVersionsResponse = longshore_api::from_value(answer.clone()).map_err(shape)?;
    let at = versions.versions.iter().position(|job| job.version == Some(wanted));
    let job = at.and_then(|at| answer.get("Versions")?.get(at).cloned());
    job.ok_or_else(|| Failure::told(format!("Error inspecting job: job has no version {wanted}")))
}
