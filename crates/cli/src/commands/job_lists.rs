//! `job allocs` and `job deployments`: what belongs to a job.

use longshore_api::{AllocListStub, Deployment};

use crate::commands::{Context, Outcome};
use crate::failure::{Failure, While};
use crate::render::{alloc, deployment};
use crate::resolve::{client_for, job_path, one_job};

pub(super) async fn allocations(context: &mut Context) -> Outcome {
    let doing = "Error retrieving allocations";
    let value = read(context, "allocations", doing).await?;
    context.show(value, doing, |view, mut allocs: Vec<AllocListStub>| {
        allocs.sort_by_key(|alloc| std::cmp::Reverse(alloc.create_index));
        alloc::list(view, &allocs)
    })
}

pub(super) async fn deployments(context: &mut Context) -> Outcome {
    let doing = "Error retrieving deployments";
    if context.given.switch("latest") {
        let value = read(context, "deployment", doing).await?;
        return context.show(value, doing, |view, latest: Option<Deployment>| match latest {
            Some(latest) => deployment::status(view, &latest),
            None => "No deployment found".to_owned(),
        });
    }
    let value = read(context, "deployments", doing).await?;
    context.show(value, doing, super::deployment::newest_first)
}

async fn read(context: &Context, what: &str, doing: &str) -> Result<serde_json::Value, Failure> {
    let prefix = context.one_argument("This command takes one argument: <job>")?;
    let job = one_job(&context.client, &context.view(), &prefix).await?;
    let client = client_for(&context.client, &job);
    let all = if context.given.switch("all") { "true" } else { "false" };
    client.get_value(&format!("{}/{what}", job_path(&job.id)), &[("all", all)]).await.doing(doing)
}
