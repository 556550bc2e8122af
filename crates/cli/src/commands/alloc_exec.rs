use std::future::pending;
use std::io::Read;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::stream::SplitSink;
use futures_util::{SinkExt, StreamExt};
use longshore_api::{ExecStreamingData, ExecStreamingInput, ExecStreamingOutput};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, interval_at};
use tokio_tungstenite::tungstenite::Message;

use crate::client::WebSocket;
use crate::commands::alloc_logs::{of_job, only_task};
use crate::commands::escape::Escape;
use crate::commands::tail::{Stream, write};
use crate::commands::target::must_have;
use crate::commands::terminal::{self, Raw};
use crate::commands::{Context, Outcome};
use crate::failure::Failure;
use crate::resolve::one_allocation;
use crate::ui::Ui;

const PIECE_BYTES: usize = 32 * 1024;
/// The agent takes a caller that is silent for much longer for gone.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);

pub(super) async fn run(context: &mut Context) -> Outcome {
    let by_job = context.given.switch("job");
    let stdin = context.given.switch_or("i", true);
    let tty = context.given.switch_or("t", stdin && terminal::is_there());
    if tty && !stdin {
        return Err(Failure::usage("-i must be enabled if running with tty"));
    }
    let escape = escape_key(context.given.text("e").unwrap_or("~"))?;
    let (target, command) = match context.given.arguments.split_first() {
        None if by_job => return Err(Failure::usage("A job ID is required")),
        None => return Err(Failure::usage("An allocation ID is required")),
        Some((_, [])) => return Err(Failure::usage("A command is required")),
        Some((target, command)) => (target.clone(), command.to_vec()),
    };
    let id = if by_job { of_job(context, &target).await? } else { target };
    let alloc = one_allocation(&context.client, &context.view(), &id).await?;
    let task = match context.given.text("task").filter(|task| !task.is_empty()) {
        Some(task) => task.to_owned(),
        None => only_task(context, &alloc)?,
    };
    must_have(&alloc, &task)?;
    let command = serde_json::to_string(&command).map_err(|why| Failure::told(why.to_string()))?;
    let query = [("task", task.as_str()), ("command", &command), ("tty", if tty { "true" } else { "false" })];
    let path = format!("/v1/client/allocation/{}/exec", alloc.id);
    let client = context.client.in_namespace(&alloc.namespace);
    let socket = client.web_socket(&path, &query).await.map_err(|why| match why.hint() {
        Some(hint) => failed(&format!("{why}\n{hint}")),
        None => failed(&why.to_string()),
    })?;
    let raw =
        if tty { Some(Raw::begin().map_err(|why| failed(&format!("setting up the terminal: {why}")))?) } else { None };
    let outcome = talk(&mut context.ui, socket, stdin, tty.then_some(escape)).await;
    drop(raw);
    outcome
}

fn failed(why: &str) -> Failure {
    Failure::told(format!("failed to exec into task: {why}"))
}

/// The character that `-e` names.
fn escape_key(text: &str) -> Result<Option<u8>, Failure> {
    match text.as_bytes() {
        b"none" | b"" => Ok(None),
        [key] if key.is_ascii() => Ok(Some(*key)),
        _ => Err(Failure::usage("-e requires 'none' or a single character")),
    }
}

/// Both ways at once: a command that is not listened to may not read on.
async fn talk(ui: &mut Ui, socket: WebSocket, stdin: bool, terminal: Option<Option<u8>>) -> Outcome {
    let (sink, mut stream) = socket.split();
    let listen = async {
        while let Some(message) = stream.next().await {
            let message = message.map_err(|why| failed(&format!("the connection to the agent broke: {why}")))?;
            let text = match &message {
                Message::Text(text) => text.as_bytes(),
                Message::Binary(bytes) => bytes,
                Message::Close(Some(frame)) => return Err(failed(reason(&frame.reason))),
                Message::Close(None) => break,
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => continue,
            };
            if let Some(exit_code) = heard(ui, text)? {
                return Ok(exit_code);
            }
        }
        Err(failed("the connection ended before the command did"))
    };
    tokio::select! {
        outcome = listen => outcome,
        outcome = speak(sink, stdin, terminal) => outcome,
    }
}

fn reason(text: &str) -> &str {
    if text.is_empty() { "the agent ended the connection before the command's end" } else { text }
}

/// Shows what came; the exit code, when it was the last.
fn heard(ui: &mut Ui, text: &[u8]) -> Result<Option<u8>, Failure> {
    let strange = |why: &str| failed(&format!("the agent said what is not understood here: {why}"));
    let message: ExecStreamingOutput = serde_json::from_slice(text).map_err(|why| strange(&why.to_string()))?;
    for (stream, said) in [(Stream::Out, message.stdout), (Stream::Err, message.stderr)] {
        if let Some(data) = said.and_then(|said| said.data) {
            let bytes = STANDARD.decode(data).map_err(|why| strange(&why.to_string()))?;
            write(ui, stream, &bytes)?;
        }
    }
    let code = message.exited.then(|| message.result.unwrap_or_default().exit_code);
    Ok(code.map(|code| u8::try_from(code).unwrap_or(u8::MAX)))
}

/// Sends what is typed, the terminal's size, and that we live. Returns when the person hangs up.
async fn speak(mut sink: SplitSink<WebSocket, Message>, stdin: bool, terminal: Option<Option<u8>>) -> Outcome {
    let mut escape = Escape::new(terminal.flatten());
    let mut window = Window::open(terminal.is_some())?;
    let mut typed = if stdin { read_stdin() } else { mpsc::channel(1).1 };
    let mut types = true;
    let mut heartbeats = interval_at(Instant::now() + HEARTBEAT_INTERVAL, HEARTBEAT_INTERVAL);
    if terminal.is_some() {
        say(&mut sink, resized()).await;
    }
    loop {
        let message = tokio::select! {
            piece = typed.recv(), if types => match piece {
                Some(piece) => {
                    let (passed, hung_up) = escape.take(&piece);
                    if hung_up {
                        return Err(failed("you hung up"));
                    }
                    let data = ExecStreamingData { data: Some(STANDARD.encode(passed)), close: false };
                    ExecStreamingInput { stdin: Some(data), ..ExecStreamingInput::default() }
                }
                None => {
                    types = false;
                    let end = ExecStreamingData { data: None, close: true };
                    ExecStreamingInput { stdin: Some(end), ..ExecStreamingInput::default() }
                }
            },
            changed = window.changed() => match changed {
                Change::Size => resized(),
                Change::End(signal) => return Err(failed(&format!("{signal} ended it"))),
            },
            _ = heartbeats.tick() => ExecStreamingInput::default(),
        };
        say(&mut sink, message).await;
    }
}

/// What cannot be sent any more is told by what is heard: the command's end, or that of the connection.
async fn say(sink: &mut SplitSink<WebSocket, Message>, message: ExecStreamingInput) {
    let text = serde_json::to_string(&message).unwrap_or_default();
    if sink.send(Message::Text(text.into())).await.is_err() {
        pending::<()>().await;
    }
}

fn resized() -> ExecStreamingInput {
    ExecStreamingInput { tty_size: terminal::size(), ..ExecStreamingInput::default() }
}

/// Standard input, piece by piece; ends with it. Its thread is not waited for: it may sit in a read for ever.
fn read_stdin() -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut buffer = vec![0; PIECE_BYTES];
        while let Ok(count @ 1..) = std::io::stdin().read(&mut buffer) {
            let piece = buffer.get(..count).unwrap_or_default().to_vec();
            if sender.blocking_send(piece).is_err() {
                return;
            }
        }
    });
    receiver
}

/// What happens to a terminal that keys go through raw; nothing, without one.
struct Window(Option<[Signal; 3]>);

enum Change {
    Size,
    End(&'static str),
}

impl Window {
    fn open(is_terminal: bool) -> Result<Self, Failure> {
        let listen = |kind| signal(kind).map_err(|why| failed(&format!("listening for signals: {why}")));
        let kinds = [SignalKind::window_change(), SignalKind::terminate(), SignalKind::hangup()];
        let [size, terminate, hang_up] = kinds.map(|kind| is_terminal.then(|| listen(kind)).transpose());
        Ok(Self(size?.zip(terminate?).zip(hang_up?).map(|((size, terminate), hang_up)| [size, terminate, hang_up])))
    }

    async fn changed(&mut self) -> Change {
        let Some([size, terminate, hang_up]) = &mut self.0 else { return pending().await };
        tokio::select! {
            _ = size.recv() => Change::Size,
            _ = terminate.recv() => Change::End("SIGTERM"),
            _ = hang_up.recv() => Change::End("SIGHUP"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_heard() {
        let (mut ui, [out, err]) = Ui::captured();
        for (text, code) in [
            (r#"{"stdout":{"data":"aGk="}}"#, None),
            (r#"{"stderr":{"data":"bm8="}}"#, None),
            (r#"{"stdout":{"close":true}}"#, None),
            ("{}", None),
            (r#"{"exited":true,"result":{}}"#, Some(0)),
            (r#"{"exited":true,"result":{"exit_code":7}}"#, Some(7)),
            (r#"{"exited":true,"result":{"exit_code":-1}}"#, Some(255)),
        ] {
            assert_eq!(heard(&mut ui, text.as_bytes()).unwrap(), code, "{text}");
        }
        assert_eq!((out.text().as_str(), err.text().as_str()), ("hi", "no"));
        let strange = heard(&mut ui, b"?").unwrap_err().message();
        assert!(
            strange.starts_with("failed to exec into task: the agent said what is not understood here"),
            "{strange}"
        );
    }

    #[test]
    fn escape_characters() {
        for (text, key) in [("~", Some(b'~')), ("#", Some(b'#')), ("none", None), ("", None)] {
            assert_eq!(escape_key(text).unwrap(), key, "{text}");
        }
        assert_eq!(escape_key("ab").unwrap_err().message(), "-e requires 'none' or a single character");
    }
}
