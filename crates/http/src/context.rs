use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use futures_util::future::{BoxFuture, FutureExt, select_all};
use longshore_client::Client;
use longshore_model::LogIndex;
use longshore_server::Server;
use longshore_state::{State, Table};
use tokio_util::sync::CancellationToken;

use crate::AgentInfo;
use crate::error::{ApiError, Result};
use crate::params::{Params, ReadOptions};

/// What routes reach.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) server: Server,
    /// `None` on an agent that is no node.
    pub(crate) client: Option<Client>,
    pub(crate) agent: Arc<AgentInfo>,
    /// Cancelled when the agent ends: nothing waits beyond it.
    pub(crate) end: CancellationToken,
}

impl Context {
    /// The first state in which `index_of` is beyond what the client has seen, or the newest when its wait is over.
    /// Looks again only when one of `tables` has changed.
    pub(crate) async fn state(
        &self,
        options: &ReadOptions,
        tables: &[Table],
        index_of: impl Fn(&State) -> LogIndex + Sync,
    ) -> Arc<State> {
        if options.index == LogIndex(0) {
            return self.server.snapshot();
        }
        let wait = options.wait + jitter(options.wait);
        let waits: Vec<BoxFuture<'_, Arc<State>>> = tables
            .iter()
            .map(|table| self.server.wait_for_change(*table, options.index, wait, &index_of).boxed())
            .collect();
        let first = async {
            match waits.is_empty() {
                true => self.server.snapshot(),
                false => select_all(waits).await.0,
            }
        };
        self.unless_ended(first).await.unwrap_or_else(|| self.server.snapshot())
    }

    /// What `work` gives; `None` when the agent ends before.
    pub(crate) async fn unless_ended<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.end.run_until_cancelled(work).await
    }
}

/// Up to a sixteenth of the wait, so that clients that asked together do not all ask again together.
fn jitter(wait: Duration) -> Duration {
    let share = getrandom::u32().unwrap_or_default();
    (wait / 16).mul_f64(f64::from(share) / f64::from(u32::MAX))
}

/// What every request brings: its parameters, with those that all routes know read.
pub(crate) struct Ask {
    pub(crate) context: Context,
    pub(crate) params: Params,
    pub(crate) options: ReadOptions,
}

impl FromRequestParts<Context> for Ask {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, context: &Context) -> Result<Self> {
        let params = Params::parse(parts.uri.query().unwrap_or_default());
        let options = params.read_options()?;
        let region = params.text("region");
        if !region.is_empty() && region != context.agent.region {
            return Err(ApiError::server("No path to region"));
        }
        Ok(Self { context: context.clone(), params, options })
    }
}
