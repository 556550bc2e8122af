use std::io;
use std::path::PathBuf;

use longshore_settings::Refusal;

/// Why an agent did not start, or did not go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AgentError {
    #[error(transparent)]
    Settings(#[from] Refusal),
    #[error(transparent)]
    Address(#[from] crate::addresses::BadAddress),
    #[error("{0}")]
    Endpoint(String),
    #[error(
        "this build has no servers elsewhere: a client needs its server in the same process (server {{ enabled = true }})"
    )]
    ClientAlone,
    #[error("this build runs one server: server.bootstrap_expect = {0} asks for several")]
    SeveralServers(i64),
    #[error("could not make the folder {}", path.display())]
    Folder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("another agent uses {}: end it, or give this one a data_dir of its own", path.display())]
    InUse { path: PathBuf },
    #[error("could not listen on {address}")]
    Listen {
        address: std::net::SocketAddr,
        #[source]
        source: io::Error,
    },
    #[error("could not open the journal")]
    Journal(#[from] longshore_journal::JournalError),
    #[error("could not start the server")]
    Server(#[from] longshore_server::StartError),
    #[error("could not start the client")]
    Client(#[from] longshore_client::ClientError),
    #[error("could not serve the API")]
    Http(#[from] longshore_http::HttpError),
    #[error("could not start a driver")]
    Driver(#[from] longshore_driver::DriverError),
    #[error("could not {doing}")]
    System {
        doing: &'static str,
        #[source]
        source: io::Error,
    },
}

impl AgentError {
    /// Message and causes in one text.
    pub(crate) fn full_text(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}
