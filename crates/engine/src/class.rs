//! What happened, told from an answer's status and text.

use std::fmt;

/// What kind of failure an answer of the engine is. The texts are the engine's own and those of registries behind it;
/// `tests/recorded/` keeps answers that each row was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// The thing asked about is not there (any more).
    NotFound,
    /// A container of that name exists.
    NameTaken,
    /// An image that a container uses, or that has children.
    InUse,
    /// The container is not running, or not in the state that the call needs.
    WrongState,
    /// Another removal of the same container is under way.
    BeingRemoved,
    /// Any other conflict.
    Conflict,
    /// A crash of the engine left this container in a state in which it can never start: remove it and create it anew.
    StuckStart,
    /// The engine's disk is full.
    NoSpace,
    /// A host port is held by somebody else.
    PortTaken,
    /// The image has no such command, or it cannot be executed.
    BadCommand,
    /// The engine refused what was asked as wrong.
    BadRequest,
    /// The image's registry cannot be reached: name, network, or it hangs up.
    RegistryUnreachable,
    /// The registry was reached, but not over a connection that the engine trusts.
    RegistryUntrusted,
    /// The registry refused the credentials, or wants some.
    RegistryDenied,
    /// The registry asks for fewer requests.
    RegistryLimited,
    /// The registry failed on its side.
    RegistryFailed,
    /// The registry does not have this tag, digest or repository.
    ManifestMissing,
    /// The registry has the image, but not for this platform.
    PlatformMissing,
    /// What the registry sent does not fit together, or is no image.
    ImageBroken,
    /// The engine itself cannot be reached.
    EngineUnreachable,
    /// The engine hung up in the middle of an answer: the outcome is not known.
    Cut,
    /// No answer within the call's deadline: the outcome is not known.
    Timeout,
    /// The engine speaks no version of its API that this client speaks.
    Version,
    /// An answer that could not be read, or was larger than its limit.
    Malformed,
    /// A failure of the engine that no row knows.
    Server,
}

/// What was asked, as far as it decides how an answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Pull,
    Other,
}

impl Class {
    pub(crate) fn of_answer(asked: Asked, status: Option<u16>, text: &str) -> Self {
        let text = text.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if has(&["no space left on device", "disk quota exceeded"]) {
            return Self::NoSpace;
        }
        match asked {
            Asked::Pull => Self::of_pull(status, &text),
            Asked::Other => Self::of_call(status, &text),
        }
    }

    fn of_pull(status: Option<u16>, text: &str) -> Self {
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if has(&["toomanyrequests", "http 429", "429 too many requests"]) {
            Self::RegistryLimited
        } else if has(&["no matching manifest for", "does not match the specified platform"]) {
            Self::PlatformMissing
        } else if has(&[
            "manifest unknown",
            "name unknown",
            "not found: manifest",
            "manifest for ",
            "repository name not known",
            "http 404 response",
        ]) {
            Self::ManifestMissing
        } else if has(&[
            "access denied",
            "access to the resource is denied",
            "unauthorized",
            "no basic auth credentials",
            "authentication required",
            "incorrect username or password",
            "http 403 response",
            "403 forbidden",
            "401 unauthorized",
            "denied",
        ]) {
            Self::RegistryDenied
        } else if has(&["x509:", "server gave http response to https client", "tls: ", "certificate"]) {
            Self::RegistryUntrusted
        } else if has(&[
            "verification failed",
            "failed to register layer",
            "don't match image configuration",
            "unknown blob",
            "error unmarshalling content",
            "cannot unmarshal",
            "invalid character",
            "unsupported manifest",
            "unsupported media type",
        ]) {
            Self::ImageBroken
        } else if has(&["received unexpected http status: 5", "error parsing http 5"]) {
            Self::RegistryFailed
        } else if has(&[
            "dial tcp",
            "connection refused",
            "no such host",
            "i/o timeout",
            "deadline exceeded",
            "client.timeout",
            "tls handshake timeout",
            "connection reset",
            "broken pipe",
            "unreachable",
            "no route to host",
            "server misbehaving",
            "failed to do request",
            "unexpected eof",
        ]) || text.ends_with("eof")
        {
            Self::RegistryUnreachable
        } else {
            match status {
                Some(404) => Self::ManifestMissing,
                Some(400) => Self::BadRequest,
                _ => Self::Server,
            }
        }
    }

    fn of_call(status: Option<u16>, text: &str) -> Self {
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if has(&["client version"]) && has(&["too new", "too old"]) {
            return Self::Version;
        }
        if has(&["failed to get digest"]) {
            // The image went away while a container was being made from it.
            return Self::NotFound;
        }
        if has(&["port is already allocated", "address already in use"]) {
            return Self::PortTaken;
        }
        if text.starts_with("task ") && has(&[": already exists"]) {
            return Self::StuckStart;
        }
        match status {
            Some(404) => Self::NotFound,
            Some(409) if has(&["is already in use by container"]) => Self::NameTaken,
            Some(409) if has(&["removal of container", "already in progress", "marked for removal"]) => {
                Self::BeingRemoved
            }
            Some(409)
                if has(&[
                    "unable to remove repository reference",
                    "unable to delete",
                    "image is being used",
                    "image is in use",
                    "dependent child images",
                ]) =>
            {
                Self::InUse
            }
            Some(409)
                if has(&[
                    "is not running",
                    "cannot remove a running",
                    "cannot remove a paused",
                    "is paused",
                    "paused",
                ]) =>
            {
                Self::WrongState
            }
            Some(409) => Self::Conflict,
            Some(400 | 500)
                if has(&["oci runtime create failed", "runc create failed"])
                    && has(&[
                        "executable file not found",
                        "no such file or directory",
                        "permission denied",
                        "is a directory",
                    ]) =>
            {
                Self::BadCommand
            }
            Some(status) if (400..500).contains(&status) => Self::BadRequest,
            _ => Self::Server,
        }
    }

    /// Whether the same call may well succeed later without anybody changing the job.
    pub fn may_pass(self) -> bool {
        !matches!(self, Self::BadRequest | Self::BadCommand | Self::PlatformMissing | Self::Version)
    }

    /// Whether the outcome of the call is unknown: it may have taken effect.
    pub fn is_unknown_outcome(self) -> bool {
        matches!(self, Self::Cut | Self::Timeout | Self::Malformed | Self::Server)
    }

    /// What a person may try; empty where there is nothing to say in general.
    pub fn hint(self) -> &'static str {
        match self {
            Self::NoSpace => {
                "free room on the engine's data root, or set gc.disk_high or a shorter gc.image_delay so that idle images go earlier"
            }
            Self::PortTaken => "another process or container holds the port; ask for a dynamic port or free it",
            Self::BadCommand => "check command, args and entrypoint against what the image contains",
            Self::RegistryUnreachable => "check that the node reaches the registry and that its name resolves there",
            Self::RegistryUntrusted => {
                "give the engine the registry's certificate, or list it under insecure-registries in daemon.json"
            }
            Self::RegistryDenied => {
                "check the task's auth block or the agent's plugin \"docker\" auth settings, and that the repository exists"
            }
            Self::RegistryLimited => "wait, pull with an account, or use a mirror",
            Self::RegistryFailed => "see the registry's own log; the pull is tried again under the restart policy",
            Self::ManifestMissing => "check the image's name and tag, and that it was pushed",
            Self::PlatformMissing => "push the image for this node's platform, or constrain the job to fitting nodes",
            Self::ImageBroken => "push the image again; when other images fail as well, see the engine's own log",
            Self::EngineUnreachable => "check that the Docker daemon runs and that the agent may use its socket",
            Self::Version => "use an engine of version 20.10 or later",
            _ => "",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFound => "not found",
            Self::NameTaken => "name taken",
            Self::InUse => "in use",
            Self::WrongState => "wrong state",
            Self::BeingRemoved => "being removed",
            Self::Conflict => "conflict",
            Self::StuckStart => "stuck start",
            Self::NoSpace => "no space left",
            Self::PortTaken => "port taken",
            Self::BadCommand => "bad command",
            Self::BadRequest => "bad request",
            Self::RegistryUnreachable => "registry unreachable",
            Self::RegistryUntrusted => "registry not trusted",
            Self::RegistryDenied => "registry refused access",
            Self::RegistryLimited => "registry limits requests",
            Self::RegistryFailed => "registry failed",
            Self::ManifestMissing => "no such image in the registry",
            Self::PlatformMissing => "no such platform in the registry",
            Self::ImageBroken => "broken image",
            Self::EngineUnreachable => "engine unreachable",
            Self::Cut => "answer cut short",
            Self::Timeout => "timeout",
            Self::Version => "no API version in common",
            Self::Malformed => "unreadable answer",
            Self::Server => "engine failure",
        })
    }
}
