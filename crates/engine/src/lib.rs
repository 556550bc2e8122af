//! Speaks to a Docker Engine: what it answered, in our own types, and nothing decided about it.
//!
//! Promises:
//! - E1 **The version is negotiated and sent.** Every path but `/_ping` and `/version` carries the engine's own version,
//!   held between what it says it can still speak and what was tested here.
//! - E2 **An unknown word fails nothing.** States, actions and fields that no one knew when this was written are kept
//!   as they came; an entry of a list that cannot be read is reported beside the others ([`Listed::unreadable`]).
//! - E3 **Dropping is cancelling.** Each call has a connection of its own, which ends with the value that was handed out:
//!   a dropped [`PullStream`] ends the pull on the engine.
//! - E4 **Errors are classes, by status and text.** The engine tells a refused registry as 500, and a failed pull inside
//!   an answer of 200; [`Class`] says what happened whichever way it came.
//! - E5 **Nothing is without bound.** Answers, lines and frames have limits, and each limit is named when it is met.
//!   Calls have a deadline each; only streams, waits and pulls leave it to their caller.

mod auth;
mod calls;
mod class;
mod client;
mod endpoint;
mod error;
mod frames;
mod lines;
mod model;
mod path;
mod streams;
mod time;
mod version;

pub use auth::RegistryAuth;
pub use calls::{DeleteOptions, ListContainers, LogOptions, RemoveOptions};
pub use class::Class;
pub use client::Engine;
pub use endpoint::{BadEndpoint, Endpoint};
pub use error::{Error, Limit};
pub use frames::{Frame, FrameDecoder, LogStreamKind};
pub use lines::LineDecoder;
pub use model::container::{
    Container, ContainerConfig, ContainerState, ContainerStatus, ContainerSummary, CreatedContainer, EndpointSettings,
    MountPoint, NetworkSettings, WaitAnswer,
};
pub use model::create::{
    BindOptions, CreateContainer, DeviceMapping, EndpointConfig, Healthcheck, HostConfig, IpamConfig, LogSettings,
    Mount, NetworkingConfig, PortBinding, TmpfsOptions, Ulimit, VolumeDriver, VolumeOptions,
};
pub use model::event::{EngineEvent, EventActor};
pub use model::exec::{CreateExec, CreatedExec, Exec};
pub use model::image::{HistoryStep, Image, ImageConfig, ImageRemoval, ImageRootFs, ImageSummary};
pub use model::progress::{LayerProgress, PullMessage};
pub use model::stats::{CpuStats, MemoryStats, PidsStats, Stats};
pub use model::system::{Info, Network, RuntimeInfo, ServerVersion};
pub use model::{Listed, Unreadable};
pub use streams::{EventStream, ExecInputStream, ExecOutputStream, ExecStreams, LogStream, PullStream};
pub use time::{parse_rfc3339_nanoseconds, unix_seconds_text};
pub use version::ApiVersion;
