use std::time::Duration;

use crate::client::{CHANGE_DEADLINE, Call, Engine};
use crate::error::Error;
use crate::model::Listed;
use crate::model::container::{Container, ContainerSummary, CreatedContainer, WaitAnswer};
use crate::model::create::CreateContainer;
use crate::model::stats::Stats;
use crate::path::Path;
use crate::streams::LogStream;
use crate::time::unix_seconds_text;

/// Which containers to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListContainers<'a> {
    /// Also those that do not run: created, exited, dead.
    pub all: bool,
    /// `key` or `key=value`; all must match.
    pub labels: &'a [&'a str],
}

/// What of a container's output to read.
#[derive(Debug, Clone, Copy)]
pub struct LogOptions {
    pub stdout: bool,
    pub stderr: bool,
    pub follow: bool,
    /// A time stamp in front of each entry.
    pub timestamps: bool,
    /// Nanoseconds since 1970, inclusive.
    pub since: Option<i64>,
    /// Whether the container has a terminal: its output is not framed then.
    pub tty: bool,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self { stdout: true, stderr: true, follow: false, timestamps: false, since: None, tty: false }
    }
}

/// How a container is removed.
#[derive(Debug, Clone, Copy, Default)]
pub struct RemoveOptions {
    /// Kill it first if it runs.
    pub force: bool,
    /// With its anonymous volumes.
    pub volumes: bool,
}

impl Engine {
    pub async fn containers(&self, which: ListContainers<'_>) -> Result<Listed<ContainerSummary>, Error> {
        let mut path = Path::new("/containers/json").flag("all", which.all);
        if !which.labels.is_empty() {
            path = path.query("filters", &serde_json::json!({ "label": which.labels }).to_string());
        }
        self.json(Call::get(path, "listing containers")).await.map(Listed::of_values)
    }

    /// `id`: an id or a name.
    pub async fn container(&self, id: &str) -> Result<Container, Error> {
        self.json(Call::get(container(id, "json"), format!("inspecting container {id}"))).await
    }

    pub async fn create_container(&self, name: &str, body: &CreateContainer) -> Result<CreatedContainer, Error> {
        let path = Path::new("/containers/create").query("name", name);
        let doing = format!("creating container {name} from image {}", body.image);
        self.json(Call::post(path, doing).json(body)?).await
    }

    /// Also done when it already runs.
    pub async fn start_container(&self, id: &str) -> Result<(), Error> {
        self.done(Call::post(container(id, "start"), format!("starting container {id}"))).await
    }

    /// The image's stop signal or SIGTERM, and SIGKILL after `timeout` (whole seconds; less than one is at once). Also
    /// done when it does not run. The engine goes on when the caller hangs up.
    pub async fn stop_container(&self, id: &str, timeout: Duration) -> Result<(), Error> {
        let path = container(id, "stop").query("t", &timeout.as_secs().to_string());
        let mut call = Call::post(path, format!("stopping container {id}"));
        call.deadline = Some(timeout.saturating_add(CHANGE_DEADLINE));
        self.done(call).await
    }

    /// `signal`: a name such as `SIGHUP`, or a number.
    pub async fn kill_container(&self, id: &str, signal: &str) -> Result<(), Error> {
        let path = container(id, "kill").query("signal", signal);
        self.done(Call::post(path, format!("sending {signal} to container {id}"))).await
    }

    /// Answers when the container does not run (any more). One that never ran counts as not running, with code 0: wait
    /// only after a start. No deadline.
    pub async fn wait_container(&self, id: &str) -> Result<WaitAnswer, Error> {
        let path = container(id, "wait").query("condition", "not-running");
        let mut call = Call::post(path, format!("waiting for container {id}"));
        call.deadline = None;
        self.json(call).await
    }

    pub async fn remove_container(&self, id: &str, options: RemoveOptions) -> Result<(), Error> {
        let path = Path::new("/containers").then(id).flag("force", options.force).flag("v", options.volumes);
        self.done(Call::delete(path, format!("removing container {id}"))).await
    }

    pub async fn container_logs(&self, id: &str, options: LogOptions) -> Result<LogStream, Error> {
        let mut path = container(id, "logs")
            .flag("stdout", options.stdout)
            .flag("stderr", options.stderr)
            .flag("follow", options.follow)
            .flag("timestamps", options.timestamps);
        if let Some(since) = options.since {
            path = path.query("since", &unix_seconds_text(since));
        }
        let answer = self.send(Call::get(path, format!("reading the log of container {id}"))).await?;
        Ok(LogStream::new(answer, options.tty))
    }

    /// Two readings, the earlier one's processor times beside the later one's; about two seconds.
    pub async fn container_stats_twice(&self, id: &str) -> Result<Stats, Error> {
        let path = container(id, "stats").query("stream", "false");
        self.json(Call::get(path, format!("measuring container {id}"))).await
    }

    /// One reading; about a second.
    pub async fn container_stats(&self, id: &str) -> Result<Stats, Error> {
        let path = container(id, "stats").query("stream", "false").query("one-shot", "true");
        self.json(Call::get(path, format!("measuring container {id}"))).await
    }
}

fn container(id: &str, verb: &str) -> Path {
    Path::new("/containers").then(id).then(verb)
}
