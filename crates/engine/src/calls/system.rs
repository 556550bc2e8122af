use std::time::Duration;

use crate::client::{Call, Engine};
use crate::error::Error;
use crate::model::system::{Info, Network, ServerVersion};
use crate::path::Path;
use crate::streams::EventStream;
use crate::time::unix_seconds_text;

const PING_DEADLINE: Duration = Duration::from_secs(5);

impl Engine {
    /// Whether the engine answers.
    pub async fn ping(&self) -> Result<(), Error> {
        let mut call = Call::get(Path::new("/_ping"), "asking the Docker engine whether it is there");
        call.versioned = false;
        call.deadline = Some(PING_DEADLINE);
        self.done(call).await
    }

    pub async fn version(&self) -> Result<ServerVersion, Error> {
        let mut call = Call::get(Path::new("/version"), "asking the Docker engine for its version");
        call.versioned = false;
        self.json(call).await
    }

    pub async fn info(&self) -> Result<Info, Error> {
        self.json(Call::get(Path::new("/info"), "asking the Docker engine about itself")).await
    }

    pub async fn network(&self, name: &str) -> Result<Network, Error> {
        self.json(Call::get(Path::new("/networks").then(name), format!("inspecting network {name}"))).await
    }

    /// Events of images and containers, from `since` (nanoseconds since 1970, inclusive) as far as the engine still has
    /// them (the last 256, none from before its start), then as they happen.
    pub async fn events(&self, since: Option<i64>) -> Result<EventStream, Error> {
        let mut path = Path::new("/events").query("filters", r#"{"type":["image","container"]}"#);
        if let Some(since) = since {
            path = path.query("since", &unix_seconds_text(since));
        }
        Ok(EventStream::new(self.send(Call::get(path, "following the Docker engine's events")).await?))
    }
}
