use http_body_util::BodyExt;
use longshore_api::AllocFileInfo;

use crate::client::Client;
use crate::commands::alloc_logs::of_job;
use crate::commands::tail::{Part, Stream, follow, write};
use crate::commands::{Context, Outcome};
use crate::failure::Failure;
use crate::resolve::one_allocation;
use crate::table::table;
use crate::view::bytes;

pub(super) async fn run(context: &mut Context) -> Outcome {
    let by_job = context.given.switch("job");
    let (target, path) = match context.given.arguments.as_slice() {
        [target] => (target.clone(), "/".to_owned()),
        [target, path] => (target.clone(), path.clone()),
        [] if by_job => return Err(Failure::usage("A job ID is required")),
        _ => return Err(Failure::usage("This command takes one or two arguments: <allocation> [<path>]")),
    };
    let id = if by_job { of_job(context, &target).await? } else { target };
    let alloc = one_allocation(&context.client, &context.view(), &id).await?;
    let client = context.client.in_namespace(&alloc.namespace);
    let call = |verb: &str| format!("/v1/client/fs/{verb}/{}", alloc.id);
    let file: AllocFileInfo = client.get(&call("stat"), &[("path", &path)]).await.map_err(told)?;
    let part = Part::of(context);
    if context.given.switch("stat") {
        tell(context, &[file], true);
    } else if file.is_dir {
        let files: Vec<AllocFileInfo> = client.get(&call("ls"), &[("path", &path)]).await.map_err(told)?;
        tell(context, &files, false);
    } else if part.follow || part.from_end.is_some() {
        let offset = part.from_end.unwrap_or(0).to_string();
        let query = [
            ("path", path.as_str()),
            ("offset", &offset),
            ("origin", if part.from_end.is_some() { "end" } else { "start" }),
            ("follow", if part.follow { "true" } else { "false" }),
        ];
        let frames = client.stream(&call("stream"), &query).await.map_err(told)?;
        follow(&mut context.ui, vec![(Stream::Out, frames)], &part).await?;
    } else {
        whole(context, &client, &call("cat"), &path).await?;
    }
    Ok(0)
}

/// The agent's words alone.
fn told(error: crate::client::ClientError) -> Failure {
    match error.hint() {
        Some(hint) => Failure::told(format!("{error}\n{hint}")),
        None => Failure::told(error.to_string()),
    }
}

async fn whole(context: &mut Context, client: &Client, call: &str, path: &str) -> Result<(), Failure> {
    let mut body = client.stream(call, &[("path", path)]).await.map_err(told)?.into_body();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|why| Failure::told(format!("Error reading file: {why}")))?;
        if let Some(data) = frame.data_ref() {
            write(&mut context.ui, Stream::Out, data)?;
        }
    }
    Ok(())
}

fn tell(context: &mut Context, files: &[AllocFileInfo], with_content: bool) {
    let view = context.view();
    let plain_sizes = context.given.switch("H");
    let mut head = ["Mode", "Size", "Modified Time"].map(str::to_owned).to_vec();
    head.extend(with_content.then(|| "Content Type".to_owned()));
    head.push("Name".to_owned());
    let mut rows = vec![head];
    for file in files {
        let name = if file.is_dir { format!("{}/", file.name) } else { file.name.clone() };
        let size = if plain_sizes { file.size.to_string() } else { bytes(u64::try_from(file.size).unwrap_or(0)) };
        let mut row = vec![file.file_mode.clone(), size, view.time(file.mod_time.as_nanoseconds())];
        row.extend(with_content.then(|| file.content_type.clone()));
        row.push(name);
        rows.push(row);
    }
    context.ui.line(&table(&rows));
}
