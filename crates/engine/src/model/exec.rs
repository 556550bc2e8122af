use serde::{Deserialize, Serialize};

use super::null_is_empty;

/// A command to run in a running container, with all three streams.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct CreateExec {
    pub attach_stdin: bool,
    pub attach_stdout: bool,
    pub attach_stderr: bool,
    pub tty: bool,
    pub cmd: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct CreatedExec {
    #[serde(deserialize_with = "null_is_empty")]
    pub id: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct StartExec {
    pub(crate) detach: bool,
    pub(crate) tty: bool,
}

/// How a command in a container is getting on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Exec {
    #[serde(deserialize_with = "null_is_empty")]
    pub running: bool,
    /// `None` before its end.
    pub exit_code: Option<i64>,
    /// As the engine's host counts; 0 before its start.
    #[serde(deserialize_with = "null_is_empty")]
    pub pid: i32,
    #[serde(rename = "ContainerID", deserialize_with = "null_is_empty")]
    pub container_id: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_engine_tells_it() {
        let exec: Exec = serde_json::from_str(r#"{"Running":true,"ExitCode":null,"Pid":7,"ContainerID":"c"}"#).unwrap();
        assert_eq!(exec, Exec { running: true, exit_code: None, pid: 7, container_id: "c".to_owned() });
        let body = CreateExec { cmd: vec!["ls".to_owned()], tty: true, ..CreateExec::default() };
        assert_eq!(
            serde_json::to_string(&body).unwrap(),
            r#"{"AttachStdin":false,"AttachStdout":false,"AttachStderr":false,"Tty":true,"Cmd":["ls"]}"#
        );
    }
}
