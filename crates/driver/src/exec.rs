use futures_channel::mpsc;

/// A command that somebody runs beside a task, and the ends of its streams.
#[derive(Debug)]
pub struct ExecRequest {
    /// The program and its arguments; not empty.
    pub command: Vec<String>,
    /// With a terminal of its own: then all output is standard output.
    pub tty: bool,
    /// Its end means that nobody types any more: the same as [`ExecInput::StdinEnd`].
    pub input: mpsc::Receiver<ExecInput>,
    pub output: mpsc::Sender<ExecOutput>,
}

/// What reaches a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecInput {
    Stdin(Vec<u8>),
    StdinEnd,
    /// The terminal's size, in characters. Without a terminal nothing happens.
    Resize {
        rows: u16,
        columns: u16,
    },
}

/// What a command says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecOutput {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
}
