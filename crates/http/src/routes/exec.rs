//! `/v1/client/allocation/{alloc}/exec`: a command beside a task, over a WebSocket.
//!
//! The command ends with its caller: a socket that closes, breaks or falls silent ends it. What is wrong with the query is
//! answered in plain HTTP; everything later closes the socket with a code and the error's text.

use std::pin::pin;
use std::time::Duration;

use axum::extract::Path;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_channel::mpsc;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use longshore_api::{
    ExecHandshake, ExecStreamingData, ExecStreamingInput, ExecStreamingOutput, ExecStreamingResult, TerminalSize,
};
use longshore_driver::{ExecInput, ExecOutput, ExecRequest};
use longshore_model::AllocId;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

use super::ask::{here, refused};
use crate::context::{Ask, Context};
use crate::error::{ApiError, Result};
use crate::params::{Params, go_bool};

/// A message of a client: 16 pieces of it may wait for a command that does not read.
const MESSAGE_BYTES_MAX: usize = 1 << 20;
const PIECES_WAITING_MAX: usize = 16;
/// A client says at least every ten seconds that it lives, and answers pings.
const SILENCE_MAX: Duration = Duration::from_secs(60);
const PING_INTERVAL: Duration = Duration::from_secs(10);
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// How long a client may take to say goodbye.
const GOODBYE_MAX: Duration = Duration::from_secs(2);
/// The room for a reason in a close frame.
const REASON_BYTES_MAX: usize = 123;

const CODE_POLICY: u16 = 1008;
const CODE_ERROR: u16 = 1011;

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wanted {
    task: String,
    command: Vec<String>,
    tty: bool,
    handshake: bool,
}

/// `GET /v1/client/allocation/{alloc}/exec`.
pub(crate) async fn exec(
    ask: Ask,
    Path(id): Path<String>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response> {
    let wanted = wanted(&ask.params)?;
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return Ok(rejection.into_response()),
    };
    let upgrade = upgrade.max_message_size(MESSAGE_BYTES_MAX).max_frame_size(MESSAGE_BYTES_MAX);
    let context = ask.context;
    Ok(upgrade.on_upgrade(move |socket| async move { session(context, &id, wanted, socket).await }))
}

fn wanted(params: &Params) -> Result<Wanted> {
    let flag = |name: &str| match params.text(name) {
        "" => Ok(false),
        text => go_bool(text).ok_or_else(|| {
            ApiError::server(format!(
                "{name} value is not a boolean: strconv.ParseBool: parsing {text:?}: invalid syntax"
            ))
        }),
    };
    let tty = flag("tty")?;
    let handshake = flag("ws_handshake")?;
    let command: Vec<String> = serde_json::from_str(params.text("command"))
        .map_err(|why| ApiError::server(format!("failed to marshal command into json: {why}")))?;
    Ok(Wanted { task: params.text("task").to_owned(), command, tty, handshake })
}

async fn session(context: Context, id: &str, wanted: Wanted, mut socket: WebSocket) {
    if wanted.handshake
        && let Err(error) = handshake(&mut socket).await
    {
        return close(socket, error).await;
    }
    let (alloc, wanted) = match begin(&context, id, wanted) {
        Ok(found) => found,
        Err(error) => return close(socket, error).await,
    };
    let (from_client, input) = mpsc::channel(PIECES_WAITING_MAX);
    let (output, to_client) = mpsc::channel(PIECES_WAITING_MAX);
    let request = ExecRequest { command: wanted.command, tty: wanted.tty, input, output };
    let (sink, stream) = socket.split();
    let run = run(&context, alloc, &wanted.task, request);
    // Output ends when the command has, because its sender goes with it.
    let session = async { tokio::join!(run, write_all(sink, to_client)) };
    let mut reading = pin!(read_all(stream, from_client));
    let (outcome, sink) = tokio::select! {
        both = session => both,
        () = &mut reading => return,
    };
    let Some(mut sink) = sink else { return };
    let last = match outcome {
        Ok(exit_code) => {
            for message in farewell(exit_code) {
                if sink.send(text(&message)).await.is_err() {
                    return;
                }
            }
            CloseFrame { code: axum::extract::ws::close_code::NORMAL, reason: "".into() }
        }
        Err(error) => close_frame(&error),
    };
    let goodbye = async {
        if sink.send(Message::Close(Some(last))).await.is_ok() {
            // What a connection still brings when it is closed would have the system throw away what was just sent.
            reading.await;
        }
    };
    let _ = timeout(GOODBYE_MAX, goodbye).await;
}

async fn run(context: &Context, alloc: AllocId, task: &str, request: ExecRequest) -> Result<i32> {
    let Some(client) = &context.client else { return Err(ApiError::not_found("No path to node")) };
    match context.unless_ended(client.exec(alloc, task, request)).await {
        Some(outcome) => outcome.map_err(refused),
        None => Err(ApiError::server("the agent is ending")),
    }
}

/// Everything that is wrong before anything runs.
fn begin(context: &Context, id: &str, wanted: Wanted) -> Result<(AllocId, Wanted)> {
    let (alloc, _) = here(context, id)?;
    if wanted.task.is_empty() {
        return Err(ApiError::bad_request("taskName is required"));
    }
    if wanted.command.first().is_none_or(String::is_empty) {
        return Err(ApiError::bad_request("command is not present"));
    }
    Ok((alloc, wanted))
}

/// The first message of a client that cannot set headers. There are no ACLs, so any token will do.
async fn handshake(socket: &mut WebSocket) -> Result<()> {
    let bad = |why: &str| ApiError::bad_request(format!("failed to read the handshake: {why}"));
    let first = timeout(HANDSHAKE_MAX, socket.recv()).await.map_err(|_| bad("nothing came in 10 s"))?;
    let Some(Ok(Message::Text(text))) = first else { return Err(bad("no text message came")) };
    let handshake: ExecHandshake = serde_json::from_str(&text).map_err(|why| bad(&why.to_string()))?;
    match handshake.version {
        1 => Ok(()),
        other => Err(bad(&format!("unexpected version {other}"))),
    }
}

/// Hands on what the client sends; returns when it has gone.
async fn read_all(mut stream: SplitStream<WebSocket>, mut input: mpsc::Sender<ExecInput>) {
    while let Ok(Some(Ok(message))) = timeout(SILENCE_MAX, stream.next()).await {
        let text = match &message {
            Message::Text(text) => text.as_bytes(),
            Message::Binary(bytes) => bytes,
            Message::Ping(_) | Message::Pong(_) => continue,
            Message::Close(_) => return,
        };
        let Ok(pieces) = pieces(text) else { return };
        for piece in pieces {
            // A command that has ended takes nothing more; its end is being told.
            let _ = input.send(piece).await;
        }
    }
}

/// What a message of a client comes to.
fn pieces(text: &[u8]) -> Result<Vec<ExecInput>, String> {
    let message: ExecStreamingInput = serde_json::from_slice(text).map_err(|why| why.to_string())?;
    let mut pieces = Vec::new();
    if let Some(TerminalSize { height, width }) = message.tty_size {
        let size = |number: i64| u16::try_from(number).map_err(|_| format!("{number} is no size of a terminal"));
        pieces.push(ExecInput::Resize { rows: size(height)?, columns: size(width)? });
    }
    if let Some(ExecStreamingData { data, close }) = message.stdin {
        if let Some(data) = data.filter(|data| !data.is_empty()) {
            pieces.push(ExecInput::Stdin(STANDARD.decode(data).map_err(|why| why.to_string())?));
        }
        pieces.extend(close.then_some(ExecInput::StdinEnd));
    }
    Ok(pieces)
}

/// Writes what the command says, to its end; `None` when the client does not take it any more.
async fn write_all(
    mut sink: SplitSink<WebSocket, Message>,
    mut output: mpsc::Receiver<ExecOutput>,
) -> Option<SplitSink<WebSocket, Message>> {
    let mut pings = interval_at(Instant::now() + PING_INTERVAL, PING_INTERVAL);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            piece = output.next() => match piece {
                Some(piece) => text(&said(&piece)),
                None => return Some(sink),
            },
            _ = pings.tick() => Message::Ping(Default::default()),
        };
        sink.send(message).await.ok()?;
    }
}

fn said(piece: &ExecOutput) -> ExecStreamingOutput {
    let data = |bytes: &[u8]| Some(ExecStreamingData { data: Some(STANDARD.encode(bytes)), close: false });
    match piece {
        ExecOutput::Stdout(bytes) => ExecStreamingOutput { stdout: data(bytes), ..ExecStreamingOutput::default() },
        ExecOutput::Stderr(bytes) => ExecStreamingOutput { stderr: data(bytes), ..ExecStreamingOutput::default() },
    }
}

/// The last messages of a command that ran.
fn farewell(exit_code: i32) -> [ExecStreamingOutput; 3] {
    let end = || Some(ExecStreamingData { data: None, close: true });
    let result = Some(ExecStreamingResult { exit_code });
    [
        ExecStreamingOutput { stdout: end(), ..ExecStreamingOutput::default() },
        ExecStreamingOutput { stderr: end(), ..ExecStreamingOutput::default() },
        ExecStreamingOutput { exited: true, result, ..ExecStreamingOutput::default() },
    ]
}

fn text(message: &ExecStreamingOutput) -> Message {
    Message::Text(serde_json::to_string(message).unwrap_or_default().into())
}

async fn close(mut socket: WebSocket, error: ApiError) {
    let goodbye = async {
        socket.send(Message::Close(Some(close_frame(&error)))).await?;
        // Until the client has answered: what is closed before may be lost.
        while let Some(Ok(_)) = socket.recv().await {}
        Ok::<_, axum::Error>(())
    };
    let _ = timeout(GOODBYE_MAX, goodbye).await;
}

fn close_frame(error: &ApiError) -> CloseFrame {
    let code = if error.status == StatusCode::INTERNAL_SERVER_ERROR { CODE_ERROR } else { CODE_POLICY };
    let cut = error.message.floor_char_boundary(REASON_BYTES_MAX);
    CloseFrame { code, reason: error.message.get(..cut).unwrap_or_default().into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: &str) {
        let got = match wanted(&Params::parse(query)) {
            Ok(Wanted { task, command, tty, handshake }) => format!("{task} {command:?} {tty} {handshake}"),
            Err(error) => format!("{} {}", error.status.as_u16(), error.message),
        };
        assert_eq!(got, expected, "{query}");
    }

    #[test]
    fn queries() {
        check("task=web&command=[%22ls%22,%22-l%22]&tty=true", r#"web ["ls", "-l"] true false"#);
        check("task=web&command=[]&ws_handshake=1", "web [] false true");
        check(
            "command=[]&tty=maybe",
            r#"500 tty value is not a boolean: strconv.ParseBool: parsing "maybe": invalid syntax"#,
        );
        check("command=ls", "500 failed to marshal command into json: expected value at line 1 column 1");
        check("", "500 failed to marshal command into json: EOF while parsing a value at line 1 column 0");
    }

    #[track_caller]
    fn check_pieces(text: &str, expected: &str) {
        let got = match pieces(text.as_bytes()) {
            Ok(pieces) => format!("{pieces:?}"),
            Err(why) => format!("error: {why}"),
        };
        assert!(got.starts_with(expected), "{text} gave {got}");
    }

    #[test]
    fn messages_of_clients() {
        check_pieces("{}", "[]");
        check_pieces(r#"{"stdin":{"data":"AP8="}}"#, "[Stdin([0, 255])]");
        check_pieces(r#"{"stdin":{"data":"AA==","close":true}}"#, "[Stdin([0]), StdinEnd]");
        check_pieces(r#"{"tty_size":{"height":24,"width":80}}"#, "[Resize { rows: 24, columns: 80 }]");
        check_pieces(r#"{"tty_size":{"height":-1,"width":80}}"#, "error: -1 is no size");
        check_pieces(r#"{"stdin":{"data":"*"}}"#, "error: Invalid symbol");
        check_pieces("not json", "error: expected");
    }

    #[test]
    fn messages_to_clients_and_the_reason_of_an_end() {
        let texts: Vec<String> = farewell(3).iter().map(|it| serde_json::to_string(it).unwrap()).collect();
        assert_eq!(
            texts,
            [
                r#"{"stdout":{"close":true}}"#,
                r#"{"stderr":{"close":true}}"#,
                r#"{"exited":true,"result":{"exit_code":3}}"#
            ]
        );
        assert_eq!(
            serde_json::to_string(&said(&ExecOutput::Stderr(vec![0, 255]))).unwrap(),
            r#"{"stderr":{"data":"AP8="}}"#
        );
        let frame = close_frame(&ApiError::server("é".repeat(100)));
        assert_eq!((frame.code, frame.reason.len()), (CODE_ERROR, 122));
        assert_eq!(close_frame(&ApiError::not_found("x")).code, CODE_POLICY);
    }
}
