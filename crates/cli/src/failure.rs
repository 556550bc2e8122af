use longshore_values::Diagnostic;

use crate::client::ClientError;

/// How a command ended that did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The command line makes no sense.
    #[error("{message}")]
    Usage { message: String },
    /// The agent was asked while `doing` something.
    #[error("{doing}: {source}")]
    Api {
        doing: String,
        #[source]
        source: ClientError,
    },
    /// Told in one text, whatever it was.
    #[error("{message}")]
    Told { message: String, code: u8 },
    /// What somebody wrote is wrong, each thing with its place.
    #[error("{message}\n{}", texts(diagnostics))]
    Diagnosed { message: String, diagnostics: Vec<Diagnostic> },
    /// Everything has been said already.
    #[error("exit code {0}")]
    Silent(u8),
}

fn texts(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage { message: message.into() }
    }

    pub(crate) fn told(message: impl Into<String>) -> Self {
        Self::Told { message: message.into(), code: 1 }
    }

    /// The same with another exit code.
    #[must_use]
    pub(crate) fn with_code(self, code: u8) -> Self {
        match self {
            Self::Silent(_) => Self::Silent(code),
            other => Self::Told { message: other.message(), code },
        }
    }

    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Usage { .. } | Self::Api { .. } | Self::Diagnosed { .. } => 1,
            Self::Told { code, .. } | Self::Silent(code) => *code,
        }
    }

    /// What stands on standard error, hint included; nothing when all has been said.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Silent(_) => String::new(),
            Self::Api { source, .. } => match source.hint() {
                Some(hint) => format!("{self}\n{hint}"),
                None => self.to_string(),
            },
            Self::Usage { .. } | Self::Told { .. } | Self::Diagnosed { .. } => self.to_string(),
        }
    }
}

/// Says what was being done when the agent was asked.
pub(crate) trait While<T> {
    /// # Errors
    /// The client's, with `doing` before it.
    fn doing(self, doing: &str) -> Result<T, Failure>;
}

impl<T> While<T> for Result<T, ClientError> {
    fn doing(self, doing: &str) -> Result<T, Failure> {
        self.map_err(|source| Failure::Api { doing: doing.to_owned(), source })
    }
}
