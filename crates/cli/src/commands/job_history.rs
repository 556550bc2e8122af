use longshore_api::{Job, JobDiff, JobVersionsResponse};
use serde_json::Value;

use crate::commands::{Context, Outcome};
use crate::failure::{Failure, While};
use crate::json::{formatted, pretty};
use crate::render::job::version;
use crate::resolve::{client_for, job_path, one_job};

pub(super) async fn run(context: &mut Context) -> Outcome {
    let prefix = context.one_argument("This command takes one argument: <job>")?;
    let (json, template) = (context.given.switch("json"), context.given.text("t").map(str::to_owned));
    let machine = json || template.is_some();
    let (diffs, full) = (context.given.switch("p"), context.given.switch("full"));
    if machine && (diffs || full) {
        return Err(Failure::told("-json and -t are exclusive with -p and -full"));
    }
    let job = one_job(&context.client, &context.view(), &prefix).await?;
    let client = client_for(&context.client, &job);
    let path = format!("{}/versions", job_path(&job.id));
    let query = [("diffs", if diffs { "true" } else { "false" })];
    let doing = "Error retrieving job versions";
    let raw: Value = client.get(&path, &query).await.doing(doing)?;
    let shape = |why| Failure::told(format!("{doing}: {why}"));
    let answer: JobVersionsResponse = longshore_api::from_value(raw.clone()).map_err(shape)?;
    let raw_versions = raw.get("Versions").and_then(Value::as_array).cloned().unwrap_or_default();
    let wanted = wanted_version(context)?;
    let shown: Vec<(usize, &Job)> = answer
        .versions
        .iter()
        .enumerate()
        .filter(|(_, job)| wanted.is_none_or(|wanted| job.version == Some(wanted)))
        .collect();
    if shown.is_empty() {
        return Err(Failure::told("Error printing job history for non-existing job or job version"));
    }
    if machine {
        let picked: Vec<Value> = shown.iter().filter_map(|(at, _)| raw_versions.get(*at).cloned()).collect();
        let value = match (wanted, picked.into_iter().collect::<Vec<_>>()) {
            (Some(_), mut one) if one.len() == 1 => one.pop().unwrap_or_default(),
            (_, all) => Value::Array(all),
        };
        if let Some(text) = formatted(json, template.as_deref(), &value)? {
            context.ui.line(&text);
        }
        return Ok(0);
    }
    let view = context.view();
    let mut texts = Vec::new();
    for (at, job) in shown {
        let difference: Option<&JobDiff> = if diffs { answer.diffs.get(at) } else { None };
        let full = if full { raw_versions.get(at).map(pretty).transpose()? } else { None };
        texts.push(version(&view, job, difference, full.as_deref()));
    }
    context.ui.line(&texts.join("\n\n"));
    Ok(0)
}

fn wanted_version(context: &Context) -> Result<Option<u64>, Failure> {
    let Some(text) = context.given.text("version").filter(|text| !text.is_empty()) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        let why = "invalid syntax";
        Failure::told(format!("Error parsing version value {text:?}: strconv.ParseUint: parsing {text:?}: {why}"))
    })
}
