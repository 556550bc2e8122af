use std::fmt;
use std::io;
use std::time::Duration;

use crate::class::{Asked, Class};
use crate::endpoint::Endpoint;
use crate::version::ApiVersion;

/// Why a call to the engine failed. `doing` says what was asked, of what.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{doing}: the Docker engine at {endpoint} cannot be reached")]
    Unreachable {
        doing: String,
        endpoint: Endpoint,
        #[source]
        source: io::Error,
    },
    #[error("{doing}: no answer from the Docker engine within {after:?}")]
    Timeout { doing: String, after: Duration },
    /// The engine said no, or said so in the middle of a stream.
    #[error("{doing}: {message}")]
    Answered { doing: String, status: Option<u16>, class: Class, message: String },
    #[error("{doing}: the Docker engine hung up in the middle of its answer")]
    Cut {
        doing: String,
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    #[error("{doing}: the Docker engine's answer cannot be read")]
    Unreadable {
        doing: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("{doing}: {limit}")]
    TooLarge { doing: String, limit: Limit },
    #[error(
        "the Docker engine speaks API versions {oldest} to {newest}; Longshore speaks {} to {}",
        ApiVersion::OLDEST,
        ApiVersion::NEWEST
    )]
    NoCommonVersion { oldest: ApiVersion, newest: ApiVersion },
    /// What was to be sent could not be read or written down.
    #[error("{doing}: the request could not be made")]
    Request {
        doing: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// A bound that was met, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    pub name: &'static str,
    pub bytes: usize,
}

impl Limit {
    /// One whole answer that is read into memory.
    pub const ANSWER: Self = Self { name: "engine answer", bytes: 64 << 20 };
    /// The text of a refusal; the rest is cut off.
    pub const REFUSAL: Self = Self { name: "engine refusal", bytes: 64 << 10 };
    /// One line of progress or one event.
    pub const LINE: Self = Self { name: "engine stream line", bytes: 1 << 20 };
    /// One frame of a log.
    pub const FRAME: Self = Self { name: "engine log frame", bytes: 4 << 20 };
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "larger than the limit \"{}\" of {} bytes", self.name, self.bytes)
    }
}

impl Error {
    pub fn class(&self) -> Class {
        match self {
            Self::Unreachable { .. } => Class::EngineUnreachable,
            Self::Timeout { .. } => Class::Timeout,
            Self::Answered { class, .. } => *class,
            Self::Cut { .. } => Class::Cut,
            Self::Unreadable { .. } | Self::TooLarge { .. } => Class::Malformed,
            Self::NoCommonVersion { .. } => Class::Version,
            Self::Request { .. } => Class::BadRequest,
        }
    }

    /// The engine's own words, where it said something.
    pub fn engine_message(&self) -> Option<&str> {
        match self {
            Self::Answered { message, .. } => Some(message),
            _ => None,
        }
    }

    pub fn is_not_found(&self) -> bool {
        self.class() == Class::NotFound
    }

    pub(crate) fn answered(asked: Asked, doing: &str, status: Option<u16>, message: String) -> Self {
        let class = Class::of_answer(asked, status, &message);
        Self::Answered { doing: doing.to_owned(), status, class, message }
    }

    pub(crate) fn unreadable(doing: &str, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unreadable { doing: doing.to_owned(), source: source.into() }
    }
}
