//! The messages of `/v1/client/allocation/:id/exec`, each a JSON text of a WebSocket.

use serde::{Deserialize, Serialize};

use crate::empty::is_default;

/// What a client sends; an empty one (`{}`) says that it lives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExecStreamingInput {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<ExecStreamingData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tty_size: Option<TerminalSize>,
}

/// A piece of a stream, its end, or both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExecStreamingData {
    /// Base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub close: bool,
}

/// In characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TerminalSize {
    pub height: i64,
    pub width: i64,
}

/// What the node sends; the last one has `exited`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExecStreamingOutput {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout: Option<ExecStreamingData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<ExecStreamingData>,
    #[serde(skip_serializing_if = "is_default")]
    pub exited: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<ExecStreamingResult>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExecStreamingResult {
    pub exit_code: i32,
}

/// The first message of a client that cannot set headers (`ws_handshake=true`).
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ExecHandshake {
    pub version: i64,
    pub auth_token: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_that_clients_know() {
        let input = |text: &str| serde_json::from_str::<ExecStreamingInput>(text).unwrap();
        assert_eq!(input("{}"), ExecStreamingInput::default());
        let typed = ExecStreamingData { data: Some("aGk=".to_owned()), close: false };
        assert_eq!(input(r#"{"stdin":{"data":"aGk="}}"#).stdin, Some(typed.clone()));
        assert!(input(r#"{"stdin":{"close":true}}"#).stdin.unwrap().close);
        let size = TerminalSize { height: 3, width: 4 };
        assert_eq!(input(r#"{"tty_size":{"height":3,"width":4}}"#).tty_size, Some(size));

        let text = |output: ExecStreamingOutput| serde_json::to_string(&output).unwrap();
        let said = ExecStreamingOutput { stdout: Some(typed), ..ExecStreamingOutput::default() };
        assert_eq!(text(said), r#"{"stdout":{"data":"aGk="}}"#);
        let result = Some(ExecStreamingResult { exit_code: 0 });
        let exited = ExecStreamingOutput { exited: true, result, ..ExecStreamingOutput::default() };
        assert_eq!(text(exited), r#"{"exited":true,"result":{"exit_code":0}}"#);
        assert_eq!(serde_json::to_string(&ExecStreamingInput::default()).unwrap(), "{}");
    }
}
