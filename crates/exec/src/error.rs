use std::io;
use std::path::PathBuf;

/// Why the supervisor could not be reached or did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    #[error("could not {doing} {path}")]
    Files {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("could not start the supervisor of tasks ({program})")]
    Launch {
        program: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the supervisor of tasks did not answer within {seconds} s; its log is {log}")]
    Silent { seconds: u64, log: PathBuf },
    #[error("could not talk to the supervisor of tasks")]
    Talk(#[source] io::Error),
    #[error("the supervisor of tasks answered something else than was asked")]
    Misunderstood,
    /// The supervisor's own words.
    #[error("{0}")]
    Refused(String),
}
