use longshore_api::{AllocListStub, Deployment, Evaluation, Job, JobListStub, JobSummary};

use crate::commands::{Context, Outcome};
use crate::failure::While;
use crate::render::job::{self, Detail};
use crate::resolve::{client_for, job_path, one_job};

pub(super) async fn run(context: &mut Context) -> Outcome {
    let prefix = match context.given.arguments.as_slice() {
        [] => return list(context).await,
        [prefix] => prefix.clone(),
        _ => return Err(crate::failure::Failure::usage("This command takes either no arguments or one: <job>")),
    };
    one(context, &prefix).await
}

pub(super) async fn list(context: &mut Context) -> Outcome {
    let jobs: Vec<JobListStub> = context.client.get("/v1/jobs", &[]).await.doing("Error querying jobs")?;
    let several = context.client.namespace() == "*";
    let text = job::list(&context.view(), &jobs, several);
    context.ui.line(&text);
    Ok(0)
}

pub(super) async fn one(context: &mut Context, prefix: &str) -> Outcome {
    let found = one_job(&context.client, &context.view(), prefix).await?;
    let client = client_for(&context.client, &found);
    let path = job_path(&found.id);
    let job: Job = client.get(&path, &[]).await.doing("Error querying job")?;
    if context.given.switch("short") {
        let text = job::facts(&context.view(), &job);
        context.ui.line(&text);
        return Ok(0);
    }
    let mut detail = Detail { show_evals: context.given.switch("evals"), ..Detail::default() };
    detail.summary =
        client.get::<JobSummary>(&format!("{path}/summary"), &[]).await.doing("Error querying job summary")?;
    if job.periodic.is_some() || (job.parameterized_job.is_some() && !job.dispatched) {
        let prefix = format!("{}/", found.id);
        let children: Vec<JobListStub> =
            client.get("/v1/jobs", &[("prefix", &prefix)]).await.doing("Error querying jobs")?;
        detail.children = children.into_iter().filter(|child| child.parent_id == found.id).collect();
    } else {
        let all = if context.given.switch("all-allocs") { "true" } else { "false" };
        let doing = "Error querying job allocations";
        detail.allocs = client.get(&format!("{path}/allocations"), &[("all", all)]).await.doing(doing)?;
        detail.evals = client.get(&format!("{path}/evaluations"), &[]).await.doing("Error querying job evaluations")?;
        let doing = "Error querying latest job deployment";
        detail.deployment = client.get::<Option<Deployment>>(&format!("{path}/deployment"), &[]).await.doing(doing)?;
        newest_first(&mut detail.allocs, &mut detail.evals);
    }
    detail.job = job;
    let text = job::status(&context.view(), &detail);
    context.ui.line(&text);
    Ok(0)
}

fn newest_first(allocs: &mut [AllocListStub], evals: &mut [Evaluation]) {
    allocs.sort_by_key(|alloc| std::cmp::Reverse(alloc.create_index));
    evals.sort_by_key(|eval| std::cmp::Reverse(eval.create_index));
}
