//! What can go wrong around a test, told with what was being done.

use std::fmt::Display;
use std::io;
use std::time::Duration;

/// Short form for results of this crate.
pub type Result<T> = std::result::Result<T, HarnessError>;

/// A failure of the surroundings, not of what is tested.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// The system refused something.
    #[error("could not {doing}: {source}")]
    Io {
        /// What was being done, to what.
        doing: String,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// Something answered, but not as it should.
    #[error("could not {doing}: {why}")]
    Refused {
        /// What was being done, to what.
        doing: String,
        /// What was answered instead.
        why: String,
    },
    /// A program that is needed is not installed.
    #[error("the program `{program}` is not installed; hint: `apt-get install {package}`")]
    Missing {
        /// Its name.
        program: String,
        /// The Debian package that has it.
        package: &'static str,
    },
    /// A condition did not come about in time.
    #[error("waited {:.1} s for {what}; last seen: {last}", after.as_secs_f64())]
    Deadline {
        /// The condition.
        what: String,
        /// How long it was waited for.
        after: Duration,
        /// What was there instead.
        last: String,
    },
    /// Somebody wanted the whole thing to end.
    #[error("interrupted while waiting for {what}")]
    Interrupted {
        /// The condition.
        what: String,
    },
    /// The run is being taken away; nothing more is started in it.
    #[error("could not start {what}: the run is ending")]
    Ending {
        /// The program.
        what: String,
    },
}

impl HarnessError {
    /// Something answered, but not as it should.
    pub fn refused(doing: impl Into<String>, why: impl Display) -> Self {
        Self::Refused { doing: doing.into(), why: why.to_string() }
    }
}

/// Says what was being done when the system refused.
pub(crate) trait Doing<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<io::Error>> Doing<T> for std::result::Result<T, E> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|source| HarnessError::Io { doing: what(), source: source.into() })
    }
}
