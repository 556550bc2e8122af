use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use longshore_api::{AllocListStub, Allocation};

use crate::client::Client;
use crate::commands::tail::{Part, Stream, follow, last_lines, write};
use crate::commands::{Context, Outcome};
use crate::failure::{Failure, While};
use crate::resolve::{job_path, one_allocation};
use crate::ui::Ui;

pub(super) async fn run(context: &mut Context) -> Outcome {
    let arguments = context.given.arguments.clone();
    let Some((target, rest)) = arguments.split_first() else {
        let wanted = if context.given.switch("job") { "A job ID is required" } else { "An allocation ID is required" };
        return Err(Failure::usage(wanted));
    };
    let task = match (context.given.text("task").filter(|task| !task.is_empty()), rest) {
        (_, [_, _, ..]) => return Err(Failure::usage("This command takes one or two arguments")),
        (Some(task), _) => Some(task.to_owned()),
        (None, [task]) => Some(task.clone()),
        (None, _) => None,
    };
    let id = if context.given.switch("job") { of_job(context, target).await? } else { target.clone() };
    let alloc = one_allocation(&context.client, &context.view(), &id).await?;
    let task = task.map_or_else(|| only_task(context, &alloc), Ok)?;
    let streams: &[Stream] = match (context.given.switch("stdout"), context.given.switch("stderr")) {
        (true, false) => &[Stream::Out],
        (false, true) => &[Stream::Err],
        _ => &[Stream::Out, Stream::Err],
    };
    // One that is asked for alone goes where a pipe takes it, whichever it is.
    let target = |stream| if streams.len() == 1 { Stream::Out } else { stream };
    let client = context.client.in_namespace(&alloc.namespace);
    let path = format!("/v1/client/fs/logs/{}", alloc.id);
    let request = Request { path, task, part: Part::of(context) };
    if request.part.follow {
        let mut answers = Vec::new();
        for stream in streams {
            answers.push((target(*stream), request.open(&client, *stream, false).await?));
        }
        follow(&mut context.ui, answers, &request.part).await?;
    } else {
        for stream in streams {
            whole(&mut context.ui, &client, &request, *stream, target(*stream)).await?;
        }
    }
    Ok(0)
}

/// An allocation of a job, a running one where there is one.
pub(super) async fn of_job(context: &Context, job: &str) -> Result<String, Failure> {
    let path = format!("{}/allocations", job_path(job));
    let allocs: Vec<AllocListStub> = context.client.get(&path, &[]).await.doing("Error fetching allocations")?;
    let running = allocs.iter().find(|alloc| alloc.client_status == "running");
    let any = running.or_else(|| allocs.iter().max_by_key(|alloc| alloc.create_index));
    any.map(|alloc| alloc.id.clone())
        .ok_or_else(|| Failure::told(format!("Error fetching allocations: no allocations for job {job:?}")))
}

pub(super) fn only_task(context: &Context, alloc: &Allocation) -> Result<String, Failure> {
    let groups = alloc.job.as_ref().map_or(&[][..], |job| job.task_groups.as_slice());
    let group = groups.iter().find(|group| group.name.as_deref() == Some(&alloc.task_group));
    let names: Vec<&str> =
        group.map_or_else(Vec::new, |group| group.tasks.iter().map(|task| task.name.as_str()).collect());
    match names.as_slice() {
        [only] => Ok((*only).to_owned()),
        [] => Err(Failure::told("Failed to validate task: Could not determine task")),
        several => {
            let list: Vec<String> = several.iter().map(|name| format!("  * {name}")).collect();
            Err(Failure::told(format!(
                "Failed to validate task: Allocation {:?} is running the following tasks:\n{}\n\nPlease specify the task.",
                context.view().id(&alloc.id),
                list.join("\n")
            )))
        }
    }
}

struct Request {
    path: String,
    task: String,
    part: Part,
}

impl Request {
    async fn open(&self, client: &Client, stream: Stream, plain: bool) -> Result<Response<Incoming>, Failure> {
        let offset = self.part.from_end.unwrap_or(0).to_string();
        let query = [
            ("task", self.task.as_str()),
            ("type", stream.name()),
            ("follow", if self.part.follow { "true" } else { "false" }),
            ("origin", if self.part.from_end.is_some() { "end" } else { "start" }),
            ("offset", &offset),
            ("plain", if plain { "true" } else { "false" }),
        ];
        client.stream(&self.path, &query).await.doing("Error reading file")
    }
}

/// Everything that there is now.
async fn whole(ui: &mut Ui, client: &Client, request: &Request, stream: Stream, target: Stream) -> Result<(), Failure> {
    let mut body = request.open(client, stream, true).await?.into_body();
    let mut kept = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|why| Failure::told(format!("Error reading file: {why}")))?;
        let Some(data) = frame.data_ref() else { continue };
        match request.part.lines {
            None => write(ui, target, data)?,
            Some(_) => kept.extend_from_slice(data),
        }
    }
    if let Some(lines) = request.part.lines {
        write(ui, target, last_lines(&kept, lines))?;
    }
    Ok(())
}
