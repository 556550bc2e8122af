use longshore_api::{JobRegisterResponse, JobRevertRequest};

use crate::commands::{Context, Outcome};
use crate::failure::{Failure, While};
use crate::monitor::Cancelled;
use crate::resolve::{client_for, job_path, one_job};

pub(super) async fn run(context: &mut Context) -> Outcome {
    let [prefix, version] = context.given.arguments.as_slice() else {
        return Err(Failure::usage("This command takes two arguments: <job> <version>"));
    };
    let (prefix, version) = (prefix.clone(), version.clone());
    let job_version = version.parse().map_err(|_| {
        let why = "invalid syntax";
        Failure::told(format!("Failed to parse job-version flag: strconv.ParseUint: parsing {version:?}: {why}"))
    })?;
    let job = one_job(&context.client, &context.view(), &prefix).await?;
    let client = client_for(&context.client, &job);
    let token = |name: &str| context.given.text(name).unwrap_or("").to_owned();
    let request = JobRevertRequest {
        job_id: job.id.clone(),
        job_version,
        enforce_prior_version: None,
        consul_token: token("consul-token"),
        vault_token: token("vault-token"),
    };
    let path = format!("{}/revert", job_path(&job.id));
    let answer: JobRegisterResponse = client.put(&path, &[], &request).await.doing("Error retrieving job versions")?;
    if answer.eval_id.is_empty() {
        return Ok(0);
    }
    if context.given.switch("detach") {
        context.ui.line(&format!("Evaluation ID: {}", answer.eval_id));
        return Ok(0);
    }
    Ok(context.monitor(&client, Cancelled::IsFailure).evaluation(&answer.eval_id).await.code())
}
