//! Writes on jobs: from what clients send, through `longshore_jobs`, to the server.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;
use longshore_api as api;
use longshore_jobs::{Completed, Fault, Invalid, PlacedFault};
use longshore_model::{Job, JobKey, LogIndex};
use longshore_server::{Deregistration, GroupCounts, JobAnswer, Refusal, RegisterJob, ServerError};
use serde_json::json;

use crate::context::Ask;
use crate::error::{ApiError, Result, with_causes};
use crate::show::{self, evaluation, metric, plan};
use crate::{body, reply};

/// `PUT /v1/jobs`.
pub(crate) async fn register(ask: Ask, body: Body) -> Result<Response> {
    let request: api::JobRegisterRequest = body::json(body).await?;
    submit(&ask, request).await
}

/// `PUT /v1/job/{job}`.
pub(crate) async fn update(ask: &Ask, id: &str, body: Body) -> Result<Response> {
    let request: api::JobRegisterRequest = body::json(body).await?;
    if request.job.as_ref().is_some_and(|job| job.id.as_deref().unwrap_or_default() != id) {
        return Err(ApiError::bad_request("Job ID does not match name"));
    }
    submit(ask, request).await
}

async fn submit(ask: &Ask, request: api::JobRegisterRequest) -> Result<Response> {
    let job = named(ask, request.job)?;
    let eval_priority = eval_priority(request.eval_priority)?;
    let enforce_index = request.enforce_index.then_some(LogIndex(request.job_modify_index));
    let mut kept_counts = request.preserve_counts.then(|| GroupCounts::of(&ask.context.server.snapshot(), &key(&job)));
    loop {
        let Completed { job, warnings } = accepted(ask, with_counts(job.clone(), kept_counts.as_ref()))?;
        let wish = RegisterJob { job, enforce_index, eval_priority, kept_counts: kept_counts.clone() };
        match ask.context.server.register_job(wish).await {
            Ok(answer) => return answered(ask, &answer, longshore_jobs::format_warnings(&warnings)),
            // Somebody scaled the job meanwhile: made anew with what holds now.
            Err(ServerError::Refused(Refusal::CountsChanged(now))) => kept_counts = Some(now),
            Err(why) => return Err(why.into()),
        }
    }
}

/// The job of a request, in its region and namespace.
fn named(ask: &Ask, job: Option<api::Job>) -> Result<api::Job> {
    let mut job = job.ok_or_else(|| ApiError::bad_request("Job must be specified"))?;
    if job.id.as_deref().unwrap_or_default().is_empty() {
        return Err(ApiError::bad_request("Job ID hasn't been provided"));
    }
    let own_region = &ask.context.agent.region;
    let region = job.region.get_or_insert_with(|| own_region.clone());
    if region.is_empty() {
        region.clone_from(own_region);
    }
    if region != own_region && ask.params.text("region").is_empty() {
        return Err(ApiError::server("No path to region"));
    }
    let of_query = ask.params.text("namespace");
    if !of_query.is_empty() {
        job.namespace = Some(of_query.to_owned());
    }
    let namespace = job.namespace.get_or_insert_with(|| "default".to_owned());
    if namespace.is_empty() {
        "default".clone_into(namespace);
    }
    if namespace != "default" {
        let id = job.id.as_deref().unwrap_or_default();
        let fault = Fault::plain(format!("job {id:?} is in nonexistent namespace {namespace:?}"));
        let message = fault.to_string();
        return Err(refused(ask, message, &Invalid { faults: vec![fault.within("namespace")] }));
    }
    Ok(job)
}

/// A job with a fault is the client's mistake and is answered as one: here Nomad answers 500, with the same words.
/// What a driver of this node does not understand is such a fault; Nomad finds it when the task starts.
fn accepted(ask: &Ask, job: api::Job) -> Result<Completed> {
    check(ask, job).map_err(|invalid| refused(ask, invalid.to_string(), &invalid))
}

/// With `faults=json` each fault is told with the part of the job that it is about.
fn refused(ask: &Ask, error: String, invalid: &Invalid) -> ApiError {
    match ask.params.text("faults") {
        "json" => ApiError::refused_job(&api::JobRefusal { error, faults: faults_of(invalid) }),
        _ => ApiError::bad_request(error),
    }
}

fn faults_of(invalid: &Invalid) -> Vec<api::JobFault> {
    let told = |one: PlacedFault| api::JobFault { path: one.path, message: one.message };
    invalid.placed().into_iter().map(told).collect()
}

fn check(ask: &Ask, job: api::Job) -> std::result::Result<Completed, Invalid> {
    let mut completed = longshore_jobs::complete(job)?;
    completed.warnings.extend(missing_drivers(ask, &completed.job));
    let faults = driver_faults(ask, &completed.job);
    if faults.is_empty() { Ok(completed) } else { Err(Invalid { faults }) }
}

fn key(job: &api::Job) -> JobKey {
    JobKey::new(job.namespace.clone().unwrap_or_default(), job.id.clone().unwrap_or_default())
}

/// The job, with groups that have a count already keeping it.
fn with_counts(mut job: api::Job, kept: Option<&GroupCounts>) -> api::Job {
    for group in &mut job.task_groups {
        if let Some(count) = group.name.as_deref().and_then(|name| kept?.count(name)) {
            group.count = Some(count.into());
        }
    }
    job
}

/// `None` for the job's own.
fn eval_priority(asked: i64) -> Result<Option<u8>> {
    match asked {
        0 => Ok(None),
        1..=100 => Ok(u8::try_from(asked).ok()),
        _ => Err(ApiError::bad_request("Eval priority must be between 1 and 100 inclusively")),
    }
}

fn answered(ask: &Ask, answer: &JobAnswer, warnings: String) -> Result<Response> {
    let shown = api::JobRegisterResponse {
        eval_id: show::id(answer.eval),
        eval_create_index: answer.eval_create_index.0,
        job_modify_index: answer.job_modify_index.0,
        warnings,
        index: answer.index.0,
        ..api::JobRegisterResponse::default()
    };
    Ok(reply::written_at(reply::json(&ask.params, &shown)?, answer.index))
}

/// `DELETE /v1/job/{job}`.
pub(crate) async fn deregister(ask: &Ask, key: &JobKey) -> Result<Response> {
    ask.params.flag("global")?;
    let how = Deregistration {
        purge: ask.params.flag("purge")?.unwrap_or(false),
        no_shutdown_delay: ask.params.flag("no_shutdown_delay")?.unwrap_or(false),
        eval_priority: eval_priority(ask.params.integer("eval_priority")?.unwrap_or_default())?,
    };
    let answer = ask.context.server.deregister_job(key.clone(), how).await?;
    let shown = api::JobDeregisterResponse {
        eval_id: show::id(answer.eval),
        eval_create_index: answer.eval_create_index.0,
        job_modify_index: answer.job_modify_index.0,
        index: answer.index.0,
        ..api::JobDeregisterResponse::default()
    };
    Ok(reply::written_at(reply::json(&ask.params, &shown)?, answer.index))
}

/// `PUT /v1/job/{job}/evaluate`; without a body it is evaluated as it is.
pub(crate) async fn evaluate(ask: &Ask, key: &JobKey, body: Body) -> Result<Response> {
    let request: Option<api::JobEvaluateRequest> = body::optional_json(body).await?;
    if let Some(request) = &request {
        check_id(&request.job_id, &key.id, "JobID not same as job name")?;
    }
    let force = request.is_some_and(|request| request.eval_options.force_reschedule);
    let answer = ask.context.server.evaluate_job(key.clone(), force).await?;
    answered(ask, &answer, String::new())
}

/// `PUT /v1/job/{job}/revert`.
pub(crate) async fn revert(ask: &Ask, key: &JobKey, body: Body) -> Result<Response> {
    let request: api::JobRevertRequest = body::json(body).await?;
    check_id(&request.job_id, &key.id, "Job ID does not match")?;
    let server = &ask.context.server;
    let answer = server.revert_job(key.clone(), request.job_version, request.enforce_prior_version).await?;
    answered(ask, &answer, String::new())
}

/// `PUT /v1/job/{job}/stable`.
pub(crate) async fn stable(ask: &Ask, key: &JobKey, body: Body) -> Result<Response> {
    let request: api::JobStabilityRequest = body::json(body).await?;
    check_id(&request.job_id, &key.id, "Job ID does not match")?;
    let index = ask.context.server.set_job_stability(key.clone(), request.job_version, request.stable).await?;
    Ok(reply::written_at(reply::json(&ask.params, &api::IndexResponse { index: index.0 })?, index))
}

fn check_id(in_body: &str, in_path: &str, mismatch: &str) -> Result<()> {
    if in_body.is_empty() {
        return Err(ApiError::bad_request("JobID must be specified"));
    }
    if in_body != in_path {
        return Err(ApiError::bad_request(mismatch));
    }
    Ok(())
}

/// `PUT /v1/job/{job}/plan`.
pub(crate) async fn plan(ask: &Ask, id: &str, body: Body) -> Result<Response> {
    let request: api::JobPlanRequest = body::json(body).await?;
    let job = request.job.ok_or_else(|| ApiError::bad_request("Job must be specified"))?;
    if job.id.as_deref().unwrap_or_default().is_empty() {
        return Err(ApiError::bad_request("Job must have a valid ID"));
    }
    if job.id.as_deref() != Some(id) {
        return Err(ApiError::bad_request("Job ID does not match"));
    }
    let Completed { job, warnings } = accepted(ask, named(ask, Some(job))?)?;
    let server = ask.context.server.clone();
    let wished = job.clone();
    // A plan over many nodes takes its time: not on a thread that answers others.
    let planned = tokio::task::spawn_blocking(move || server.plan_job(wished)).await;
    let planned = planned.map_err(|why| ApiError::server(format!("the plan was cut short: {why}")))?;
    let mut diff = None;
    if request.diff {
        let mut of_job = difference(planned.current.as_deref(), &job)?;
        plan::annotate(&mut of_job, &planned.annotations);
        diff = Some(of_job);
    }
    let shown = api::JobPlanResponse {
        job_modify_index: planned.job_modify_index.0,
        created_evals: planned.created_evaluations.iter().map(evaluation::evaluation).collect(),
        diff,
        annotations: Some(plan::annotations(&planned.annotations)),
        failed_tg_allocs: metric::by_group(&planned.failed_groups),
        next_periodic_launch: None,
        warnings: longshore_jobs::format_warnings(&warnings),
        index: planned.index.0,
    };
    Ok(reply::written_at(reply::json(&ask.params, &shown)?, planned.index))
}

/// What is different in `newer`.
pub(crate) fn difference(older: Option<&Job>, newer: &Job) -> Result<api::JobDiff> {
    let older = older.map(show::job::job).transpose()?;
    Ok(longshore_jobs::diff(older.as_ref(), &show::job::job(newer)?))
}

/// `PUT /v1/validate/job`: 200 whatever is wrong.
pub(crate) async fn validate(ask: Ask, body: Body) -> Result<Response> {
    let request: api::JobValidateRequest = body::json(body).await?;
    let job = named(&ask, request.job)?;
    let shown = match check(&ask, job) {
        Ok(Completed { warnings, .. }) => api::JobValidateResponse {
            driver_config_validated: true,
            warnings: longshore_jobs::format_warnings(&warnings),
            ..api::JobValidateResponse::default()
        },
        Err(invalid) => api::JobValidateResponse {
            driver_config_validated: true,
            validation_errors: invalid.messages(),
            error: invalid.to_string(),
            warnings: String::new(),
            faults: if ask.params.text("faults") == "json" { faults_of(&invalid) } else { Vec::new() },
        },
    };
    reply::json(&ask.params, &shown)
}

/// Drivers that no node has: the job waits for one that does, perhaps because of a slip.
fn missing_drivers(ask: &Ask, job: &Job) -> Vec<String> {
    let state = ask.context.server.snapshot();
    let known: BTreeSet<&str> = state
        .nodes()
        .flat_map(|node| node.drivers.iter())
        .filter(|(_, it)| it.detected)
        .map(|(name, _)| name.as_str())
        .collect();
    let asked: BTreeSet<&str> =
        job.groups.iter().flat_map(|group| &group.tasks).map(|task| task.driver.as_str()).collect();
    let warning = |driver: &str| {
        let meant = longshore_values::nearest(driver, known.iter().copied());
        let meant = meant.map(|meant| format!(": did you mean {meant:?}?")).unwrap_or_default();
        format!("no node has the driver {driver:?}, so its tasks wait until one does{meant}")
    };
    asked.difference(&known).map(|driver| warning(driver)).collect()
}

/// What this node's drivers say against the `config` of tasks.
fn driver_faults(ask: &Ask, job: &Job) -> Vec<Fault> {
    let Some(client) = &ask.context.client else { return Vec::new() };
    let mut faults = Vec::new();
    for group in &job.groups {
        for task in &group.tasks {
            let place = format!("group {:?} → task {:?} → config", group.name, task.name);
            if let Some(Err(why)) = client.check_config(&task.driver, &task.config) {
                if why.config_faults.is_empty() {
                    faults.push(Fault::plain(format!("{place}: {}", with_causes(&why))).within(&place));
                }
                for fault in &why.config_faults {
                    let path = [place.as_str()].into_iter().chain(fault.path.iter().map(String::as_str));
                    let path = path.collect::<Vec<_>>().join(" → ");
                    faults.push(Fault::plain(format!("{place}: {}", fault.message)).within(&path));
                }
            }
            let labels: Vec<&str> =
                group.networks.iter().flat_map(|network| &network.ports).map(|port| port.label.as_str()).collect();
            for (at, named) in client.ports_named(&task.driver, &task.config).iter().enumerate() {
                if !named.contains("${") && !labels.contains(&named.as_str()) {
                    let has = if labels.is_empty() { "none".to_owned() } else { labels.join(", ") };
                    let told = format!(
                        "{place}: ports names {named:?}, but the group has no port of that label (it has {has})"
                    );
                    faults.push(Fault::plain(told).within(&format!("{place} → ports[{at}]")));
                }
            }
        }
    }
    faults
}

/// `PUT /v1/jobs/parse`. With `diagnostics=json` mistakes are told as JSON, each with its place.
pub(crate) async fn parse(ask: Ask, body: Body) -> Result<Response> {
    let request: api::JobsParseRequest = body::json(body).await?;
    if request.job_hcl.is_empty() {
        return Err(ApiError::bad_request("Job spec is empty"));
    }
    // Expressions may make some millions of steps: not on a thread that answers others.
    let parsed = tokio::task::spawn_blocking(move || {
        let variable_files = [("variables.hcl".to_owned(), request.variables)];
        let given = if variable_files[0].1.is_empty() { &[][..] } else { &variable_files[..] };
        let mut seed = [0; 32];
        let input = longshore_jobspec::Input {
            variable_files: given,
            seed: getrandom::fill(&mut seed).ok().map(|()| seed),
            ..longshore_jobspec::Input::new("input.hcl", &request.job_hcl)
        };
        longshore_jobspec::parse(&input).map(|mut parsed| {
            if request.canonicalize {
                longshore_jobs::canonicalize(&mut parsed.job);
            }
            parsed.job
        })
    });
    let parsed = parsed.await.map_err(|why| ApiError::server(format!("the parsing was cut short: {why}")))?;
    match parsed {
        Ok(job) => reply::json(&ask.params, &job),
        Err(why) if ask.params.text("diagnostics") == "json" => {
            let mut response = reply::json(&ask.params, &json!({ "Diagnostics": why.diagnostics }))?;
            *response.status_mut() = StatusCode::BAD_REQUEST;
            Ok(response)
        }
        Err(why) => Err(ApiError::bad_request(why.to_string())),
    }
}
