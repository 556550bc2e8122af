//! From what a person writes (an id, or the beginning of one) to the one thing that is meant.

use longshore_api::{AllocListStub, Allocation, Deployment, Evaluation, JobListStub, NodeListStub};

use crate::client::{Client, escape};
use crate::failure::{Failure, While};
use crate::render::{alloc, deployment, eval, job, node};
use crate::view::View;

/// The part of an id that a list can be asked for: an even number of digits, hyphens not counted.
pub(crate) fn even(prefix: &str) -> &str {
    let digits = prefix.chars().filter(|c| *c != '-').count();
    if digits % 2 == 0 {
        return prefix;
    }
    let last = prefix.char_indices().last().map_or(0, |(at, _)| at);
    prefix.get(..last).unwrap_or(prefix)
}

fn too_short(prefix: &str, text: &str) -> Result<(), Failure> {
    if prefix.chars().count() == 1 { Err(Failure::told(text)) } else { Ok(()) }
}

/// What one-character prefixes of allocations are answered with.
pub(crate) const SHORT_ALLOC: &str = "Alloc ID must contain at least two characters.";
/// The same for everything else.
pub(crate) const SHORT_ID: &str = "Identifier must contain at least two characters.";

/// The job that an id or prefix means; an exact id wins.
///
/// # Errors
/// No such job, or several, told as a table.
pub(crate) async fn one_job(client: &Client, view: &View, prefix: &str) -> Result<JobListStub, Failure> {
    let jobs: Vec<JobListStub> = client.get("/v1/jobs", &[("prefix", prefix)]).await.doing("Error querying jobs")?;
    let exact: Vec<&JobListStub> = jobs.iter().filter(|job| job.id == prefix).collect();
    match (jobs.as_slice(), exact.as_slice()) {
        ([], _) => Err(Failure::told(format!("No job(s) with prefix or ID {prefix:?} found"))),
        ([only], _) => Ok(only.clone()),
        (_, [only]) => Ok((*only).clone()),
        _ => {
            let several = client.namespace() == "*";
            let table = job::list(view, &jobs, several);
            Err(Failure::told(format!("Prefix {prefix:?} matched multiple jobs\n\n{table}")))
        }
    }
}

/// The client for the namespace that a job was found in.
pub(crate) fn client_for(client: &Client, job: &JobListStub) -> Client {
    if job.namespace.is_empty() { client.clone() } else { client.in_namespace(&job.namespace) }
}

/// The path of a job.
pub(crate) fn job_path(id: &str) -> String {
    format!("/v1/job/{}", escape(id))
}

/// What a prefix of allocations came to.
pub(crate) enum Allocations {
    One(Box<Allocation>),
    /// A table of them.
    Several(String),
}

/// The allocation that an id or prefix means.
///
/// # Errors
/// No such allocation, or a prefix of one character (answered with `short`).
pub(crate) async fn allocations(
    client: &Client,
    view: &View,
    prefix: &str,
    short: &str,
) -> Result<Allocations, Failure> {
    too_short(prefix, short)?;
    let doing = "Error querying allocation";
    let found: Vec<AllocListStub> = client.get("/v1/allocations", &[("prefix", even(prefix))]).await.doing(doing)?;
    let found: Vec<AllocListStub> = found.into_iter().filter(|alloc| matches(&alloc.id, prefix)).collect();
    match found.as_slice() {
        [] => Err(Failure::told(format!("No allocation(s) with prefix or id {prefix:?} found"))),
        [only] => {
            let client = if only.namespace.is_empty() { client.clone() } else { client.in_namespace(&only.namespace) };
            Ok(Allocations::One(Box::new(client.get(&format!("/v1/allocation/{}", only.id), &[]).await.doing(doing)?)))
        }
        _ => Ok(Allocations::Several(format!("Prefix matched multiple allocations\n\n{}", alloc::list(view, &found)))),
    }
}

/// The same, several being an error.
///
/// # Errors
/// As [`allocations`], and several of them.
pub(crate) async fn one_allocation(client: &Client, view: &View, prefix: &str) -> Result<Allocation, Failure> {
    match allocations(client, view, prefix, SHORT_ALLOC).await? {
        Allocations::One(alloc) => Ok(*alloc),
        Allocations::Several(table) => Err(Failure::told(table)),
    }
}

/// Lists are asked for an even number of digits, which may match more than was written.
fn matches(id: &str, prefix: &str) -> bool {
    let plain = |text: &str| text.replace('-', "");
    plain(id).starts_with(&plain(prefix))
}

/// The evaluation that an id or prefix means.
///
/// # Errors
/// No such evaluation, or several.
pub(crate) async fn one_evaluation(client: &Client, view: &View, prefix: &str) -> Result<Evaluation, Failure> {
    too_short(prefix, SHORT_ID)?;
    let doing = "Error querying evaluation";
    let found: Vec<Evaluation> = client.get("/v1/evaluations", &[("prefix", even(prefix))]).await.doing(doing)?;
    let found: Vec<Evaluation> = found.into_iter().filter(|eval| matches(&eval.id, prefix)).collect();
    match found.as_slice() {
        [] => Err(Failure::told(format!("No evaluation(s) with prefix or id {prefix:?} found"))),
        [only] => client.get(&format!("/v1/evaluation/{}", only.id), &[]).await.doing(doing),
        _ => Err(Failure::told(format!("Prefix matched multiple evaluations\n\n{}", eval::list(view, &found)))),
    }
}

/// The node that an id or prefix means.
///
/// # Errors
/// No such node, or several.
pub(crate) async fn one_node(client: &Client, view: &View, prefix: &str) -> Result<NodeListStub, Failure> {
    too_short(prefix, SHORT_ID)?;
    let doing = "Error querying node info";
    let found: Vec<NodeListStub> = client.get("/v1/nodes", &[("prefix", even(prefix))]).await.doing(doing)?;
    let found: Vec<NodeListStub> = found.into_iter().filter(|node| matches(&node.id, prefix)).collect();
    match found.as_slice() {
        [] => Err(Failure::told(format!("No node(s) with prefix {prefix:?} found"))),
        [only] => Ok(only.clone()),
        _ => Err(Failure::told(format!("Prefix matched multiple nodes\n\n{}", node::matches(view, &found)))),
    }
}

/// The deployment that an id or prefix means.
///
/// # Errors
/// No such deployment, or several.
pub(crate) async fn one_deployment(client: &Client, view: &View, prefix: &str) -> Result<Deployment, Failure> {
    let doing = "Error retrieving deployment";
    too_short(prefix, &format!("{doing}: {SHORT_ID}"))?;
    if prefix.len() == 36 {
        return client.get(&format!("/v1/deployment/{prefix}"), &[]).await.doing(doing);
    }
    let found: Vec<Deployment> = client.get("/v1/deployments", &[("prefix", even(prefix))]).await.doing(doing)?;
    let found: Vec<Deployment> = found.into_iter().filter(|it| matches(&it.id, prefix)).collect();
    match found.as_slice() {
        [] => Err(Failure::told(format!("{doing}: Deployment ID {prefix:?} matched no deployments"))),
        [only] => Ok(only.clone()),
        _ => Err(Failure::told(format!("Prefix matched multiple deployments\n\n{}", deployment::list(view, &found)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_cut_to_whole_bytes() {
        let got: Vec<&str> = ["ab", "abc", "e5f2369a", "e5f2369a-1", "e5f2369a-1e", "", "é"].map(even).to_vec();
        assert_eq!(got, ["ab", "ab", "e5f2369a", "e5f2369a-", "e5f2369a-1e", "", ""]);
        assert!(matches("e5f2369a-1e1d", "e5f2369a1"));
        assert!(!matches("e5f2369a-1e1d", "e5f2369a-2"));
    }
}
