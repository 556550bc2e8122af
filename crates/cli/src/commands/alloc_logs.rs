use std::time::Duration;

use base64::Engine;
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use longshore_api::{AllocListStub, Allocation, StreamFrame};

use crate::client::Client;
use crate::commands::{Context, Outcome};
use crate::failure::{Failure, While};
use crate::resolve::{job_path, one_allocation};
use crate::ui::Ui;

/// How many lines `-tail` shows when `-n` does not say.
const TAIL_LINES: i64 = 10;
/// How many bytes a line is taken to have at most, when lines are looked for from the end.
const LINE_BYTES: i64 = 120;
/// A stream that is silent for this long has delivered what there was.
const SETTLED: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Out,
    Err,
}

impl Stream {
    fn name(self) -> &'static str {
        match self {
            Self::Out => "stdout",
            Self::Err => "stderr",
        }
    }
}

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
    let client = context.client.in_namespace(&alloc.namespace);
    let request = Request::new(context, &alloc.id, &task);
    if request.follow {
        follow(&mut context.ui, &client, &request, streams).await?;
    } else {
        for stream in streams {
            whole(&mut context.ui, &client, &request, *stream).await?;
        }
    }
    Ok(0)
}

/// An allocation of a job, a running one where there is one.
async fn of_job(context: &Context, job: &str) -> Result<String, Failure> {
    let path = format!("{}/allocations", job_path(job));
    let allocs: Vec<AllocListStub> = context.client.get(&path, &[]).await.doing("Error fetching allocations")?;
    let running = allocs.iter().find(|alloc| alloc.client_status == "running");
    let any = running.or_else(|| allocs.iter().max_by_key(|alloc| alloc.create_index));
    any.map(|alloc| alloc.id.clone())
        .ok_or_else(|| Failure::told(format!("Error fetching allocations: no allocations for job {job:?}")))
}

fn only_task(context: &Context, alloc: &Allocation) -> Result<String, Failure> {
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
    follow: bool,
    /// Bytes from the end to begin at; `None` begins at the start.
    from_end: Option<i64>,
    /// How many lines from the end are shown, of what lies behind that place.
    lines: Option<usize>,
}

impl Request {
    fn new(context: &Context, alloc: &str, task: &str) -> Self {
        let bytes = context.given.integer("c").filter(|bytes| *bytes >= 0);
        let lines = context.given.integer("n").filter(|lines| *lines >= 0);
        let (from_end, lines) = match (context.given.switch("tail"), bytes, lines) {
            (false, _, _) => (None, None),
            (true, Some(bytes), _) => (Some(bytes), None),
            (true, None, lines) => {
                let lines = lines.unwrap_or(TAIL_LINES);
                (Some(lines.saturating_mul(LINE_BYTES)), usize::try_from(lines).ok())
            }
        };
        Self {
            path: format!("/v1/client/fs/logs/{alloc}"),
            task: task.to_owned(),
            follow: context.given.switch("f"),
            from_end,
            lines,
        }
    }

    async fn open(&self, client: &Client, stream: Stream, plain: bool) -> Result<Response<Incoming>, Failure> {
        let offset = self.from_end.unwrap_or(0).to_string();
        let query = [
            ("task", self.task.as_str()),
            ("type", stream.name()),
            ("follow", if self.follow { "true" } else { "false" }),
            ("origin", if self.from_end.is_some() { "end" } else { "start" }),
            ("offset", &offset),
            ("plain", if plain { "true" } else { "false" }),
        ];
        client.stream(&self.path, &query).await.doing("Error reading file")
    }
}

fn write(ui: &mut Ui, stream: Stream, bytes: &[u8]) -> Result<(), Failure> {
    let written = match stream {
        Stream::Out => ui.raw(bytes),
        Stream::Err => ui.raw_error(bytes),
    };
    // Whoever read along has gone: nothing is left to be done.
    written.map_err(|_| Failure::Silent(0))
}

/// Everything that there is now.
async fn whole(ui: &mut Ui, client: &Client, request: &Request, stream: Stream) -> Result<(), Failure> {
    let mut body = request.open(client, stream, true).await?.into_body();
    let mut kept = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|why| Failure::told(format!("Error reading file: {why}")))?;
        let Some(data) = frame.data_ref() else { continue };
        match request.lines {
            None => write(ui, stream, data)?,
            Some(_) => kept.extend_from_slice(data),
        }
    }
    if let Some(lines) = request.lines {
        write(ui, stream, last_lines(&kept, lines))?;
    }
    Ok(())
}

/// Everything that there is, and what comes, until the task's log ends or somebody interrupts.
async fn follow(ui: &mut Ui, client: &Client, request: &Request, streams: &[Stream]) -> Result<(), Failure> {
    let (sender, mut pieces) = tokio::sync::mpsc::channel(16);
    for stream in streams {
        let answer = request.open(client, *stream, false).await?;
        tokio::spawn(forward(answer, *stream, request.lines, sender.clone()));
    }
    drop(sender);
    while let Some((stream, piece)) = pieces.recv().await {
        let bytes = piece.map_err(|why| Failure::told(format!("Error reading file: {why}")))?;
        write(ui, stream, &bytes)?;
    }
    Ok(())
}

type Piece = (Stream, Result<Vec<u8>, String>);

/// Reads frames and hands their bytes on. With `lines`, what is there at first is cut to its last lines.
async fn forward(
    answer: Response<Incoming>,
    stream: Stream,
    lines: Option<usize>,
    to: tokio::sync::mpsc::Sender<Piece>,
) {
    let mut body = answer.into_body();
    let mut frames = Frames::default();
    let mut first = lines.map(|lines| (lines, Vec::new()));
    loop {
        let next = match first.take() {
            None => body.frame().await,
            Some((lines, kept)) => match tokio::time::timeout(SETTLED, body.frame()).await {
                Ok(next) => {
                    first = Some((lines, kept));
                    next
                }
                Err(_) => {
                    if to.send((stream, Ok(last_lines(&kept, lines).to_vec()))).await.is_err() {
                        return;
                    }
                    continue;
                }
            },
        };
        let data = match next {
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            Some(Err(why)) => {
                let _ = to.send((stream, Err(why.to_string()))).await;
                return;
            }
            None => {
                if let Some((lines, kept)) = first {
                    let _ = to.send((stream, Ok(last_lines(&kept, lines).to_vec()))).await;
                }
                return;
            }
        };
        match (frames.take(&data), &mut first) {
            (Err(why), _) => {
                let _ = to.send((stream, Err(why))).await;
                return;
            }
            (Ok(bytes), Some((_, kept))) => kept.extend_from_slice(&bytes),
            (Ok(bytes), None) if bytes.is_empty() => {}
            (Ok(bytes), None) => {
                if to.send((stream, Ok(bytes))).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Frames of a log as they come: JSON objects one after the other, cut anywhere.
#[derive(Debug, Default)]
struct Frames {
    rest: Vec<u8>,
}

impl Frames {
    /// The log's bytes in the frames that are whole by now.
    fn take(&mut self, data: &[u8]) -> Result<Vec<u8>, String> {
        self.rest.extend_from_slice(data);
        let mut bytes = Vec::new();
        let mut objects = serde_json::Deserializer::from_slice(&self.rest).into_iter::<StreamFrame>();
        let mut read = 0;
        while let Some(frame) = objects.next() {
            match frame {
                Ok(frame) => {
                    let piece = base64::engine::general_purpose::STANDARD.decode(&frame.data);
                    bytes.extend(piece.map_err(|why| format!("a frame's data is no base64: {why}"))?);
                    read = objects.byte_offset();
                }
                Err(why) if why.is_eof() => break,
                Err(why) => return Err(format!("not a frame of a log: {why}")),
            }
        }
        self.rest.drain(..read);
        Ok(bytes)
    }
}

/// The last `count` lines of a text; a line break at its end begins no further line.
fn last_lines(text: &[u8], count: usize) -> &[u8] {
    if count == 0 {
        return &[];
    }
    let body = text.strip_suffix(b"\n").unwrap_or(text);
    let breaks = body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    match breaks.map(|(at, _)| at).nth(count - 1) {
        Some(at) => text.get(at + 1..).unwrap_or(text),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_from_the_end() {
        let check = |text: &str, count, expected: &str| {
            assert_eq!(String::from_utf8_lossy(last_lines(text.as_bytes(), count)), expected, "{text:?} {count}");
        };
        check("a\nb\nc\n", 2, "b\nc\n");
        check("a\nb\nc", 2, "b\nc");
        check("a\nb\n", 9, "a\nb\n");
        check("a\n\n", 1, "\n");
        check("a\nb", 0, "");
        check("", 3, "");
    }

    #[test]
    fn frames_may_be_cut_anywhere() {
        let text = br#"{"Data":"bGluZSAxCg==","File":"alloc/logs/x.stdout.0","Offset":7}{}{"Data":"bGluZSAyCg==","Offset":14}"#;
        for cut in 0..text.len() {
            let mut frames = Frames::default();
            let (head, tail) = text.split_at(cut);
            let mut got = frames.take(head).unwrap();
            got.extend(frames.take(tail).unwrap());
            assert_eq!(got, b"line 1\nline 2\n", "cut at {cut}");
        }
        assert!(Frames::default().take(b"nonsense").unwrap_err().starts_with("not a frame of a log"));
    }
}
