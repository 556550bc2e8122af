use std::io;
use std::path::PathBuf;

use longshore_model::{AllocId, LogIndex};
use longshore_values::with_causes;

/// Why an agent did not start, or did not go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AgentError {
    #[error("{0}")]
    Endpoint(String),
    #[error("could not make the folder {}", path.display())]
    Folder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("could not lock {}", path.display())]
    Lock {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("another agent uses {}", path.display())]
    InUse { path: PathBuf },
    #[error("could not listen on {address}")]
    Listen {
        address: std::net::SocketAddr,
        #[source]
        source: io::Error,
    },
    #[error("could not open the journal")]
    Journal(#[from] longshore_journal::JournalError),
    #[error(
        "the journal in {} ends at index {journal_index}, but this node runs allocation {alloc} as the server had it at index {alloc_index} (by {})",
        journal.display(),
        node_record.display()
    )]
    JournalLost {
        journal: PathBuf,
        node_record: PathBuf,
        journal_index: LogIndex,
        alloc: AllocId,
        alloc_index: LogIndex,
    },
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
    /// Message, causes and what to try, in one text.
    pub(crate) fn full_text(&self) -> String {
        let hint = self.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
        with_causes(self) + &hint
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::JournalLost { .. } => Some(
                "the journal was lost, cut off or replaced by an older one: put the right one back with all its files; nothing \
                 was touched, and tasks run on. To begin anew instead, move the node's record away: containers that no \
                 allocation knows are then removed after gc.dangling_containers.creation_grace",
            ),
            Self::Client(error) => error.hint(),
            Self::InUse { .. } => Some("end it, or give this one a data_dir of its own"),
            Self::Listen { source, .. } => match source.kind() {
                io::ErrorKind::AddrInUse => Some(
                    "another agent, or another program, listens there: end it, or set ports { http = … } and the like",
                ),
                io::ErrorKind::AddrNotAvailable => {
                    Some("bind_addr and addresses { http } name addresses of this machine")
                }
                io::ErrorKind::PermissionDenied => Some("ports below 1024 need root"),
                _ => None,
            },
            Self::Folder { source, .. } | Self::Lock { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied => {
                    Some("start the agent as a user who may write there, or set data_dir to a folder of its own")
                }
                io::ErrorKind::StorageFull => Some("make room on that file system, or move data_dir to another one"),
                io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                    Some("a file stands where a folder is needed: move it away, or set another data_dir")
                }
                _ => None,
            },
            _ => None,
        }
    }
}
