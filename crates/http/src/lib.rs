//! Nomad's HTTP API over the state: requests ↔ model.
//!
//! - W1: what is shown is durable: reads are answered from the server's published snapshot, and tell its index.
//! - W2: nothing waits beyond the end of the agent: blocking queries and streams are answered or cut when it comes.
//! - W3: no request is held in memory beyond its limit, and none ends the agent.
//! - W4: a web page of another origin reaches nothing but what Nomad opens to all (see `guard`).

mod body;
mod context;
mod error;
mod gauges;
mod guard;
mod page;
mod params;
mod prefix;
mod reply;
mod routes;
mod serve;
mod show;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any, get, put};
use longshore_client::Client;
use longshore_server::Server;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower_http::compression::CompressionLayer;
use tower_http::set_header::SetResponseHeaderLayer;

pub use show::ShowError;

use context::Context;
use error::ApiError;
use routes::{
    agent, allocations, ask, deployments, evaluations, exec, files, host, images, job, jobs, logs, metrics, nodes,
    search, status, submit, system,
};

/// Who may ask, beyond those who may always (see `guard`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Access {
    /// Origins of web pages that may use the API, such as `https://ui.example`.
    pub origins: Vec<String>,
    /// Names that a loopback listener answers to, without ports.
    pub hosts: Vec<String>,
}

/// What the API tells of the agent itself.
#[derive(Debug, Clone)]
pub struct AgentInfo {
    /// The agent's name, which is its node's and server's too.
    pub name: String,
    pub region: String,
    pub datacenter: String,
    pub server_id: String,
    /// The API level that is kept: what clients compare (`1.6.3`).
    pub api_version: String,
    /// Longshore's own version.
    pub version: String,
    /// Where servers speak to each other, as clients are told (`127.0.0.1:4647`).
    pub rpc_address: String,
    pub serf_port: u16,
    /// The effective configuration under the names that clients read (`Region`, `Client`, …), secrets masked.
    pub config: BTreeMap<String, Value>,
    /// Whether `/v1/metrics?format=prometheus` is answered.
    pub prometheus_metrics: bool,
}

/// How the API is served.
#[derive(Debug, Clone, Default)]
pub struct HttpOptions {
    pub access: Access,
    /// Headers that every answer carries.
    pub response_headers: BTreeMap<String, String>,
    /// How many connections one address may have (`limits.http_max_conns_per_client`); 0 for any number.
    pub connections_per_client_max: usize,
}

/// The API of one agent, ready to be served on any number of listeners.
#[derive(Clone)]
pub struct Http {
    router: Router,
    connections_per_client_max: usize,
    end: CancellationToken,
}

/// Why the API cannot be served as asked.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error("http_api_response_headers: {name:?} with value {value:?} is no HTTP header")]
    ResponseHeader { name: String, value: String },
}

impl Http {
    /// `client` is the node in this process, when there is one. `end` ends blocking queries, streams and listeners.
    pub fn new(
        server: Server,
        client: Option<Client>,
        agent: AgentInfo,
        options: &HttpOptions,
        end: CancellationToken,
    ) -> Result<Self, HttpError> {
        let context = Context { server, client, agent: Arc::new(agent), end: end.clone() };
        let mut router = router(context, options.access.clone());
        for (name, value) in &options.response_headers {
            let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) else {
                return Err(HttpError::ResponseHeader { name: name.clone(), value: value.clone() });
            };
            router = router.layer(SetResponseHeaderLayer::overriding(name, value));
        }
        Ok(Self { router, connections_per_client_max: options.connections_per_client_max, end })
    }

    /// Answers on `listener` until the end; returns when its connections are closed.
    pub async fn serve(self, listener: TcpListener) {
        serve::serve(listener, self.router, self.connections_per_client_max, self.end).await;
    }

    /// The routes themselves, for tests and for other ways of serving.
    pub fn router(&self) -> Router {
        self.router.clone()
    }
}

/// For reading alone.
fn reads<H, T>(handler: H) -> MethodRouter<Context>
where
    H: axum::handler::Handler<T, Context>,
    T: 'static,
{
    get(handler).fallback(invalid_method)
}

/// `PUT` and `POST` are one.
fn writes<H, T>(handler: H) -> MethodRouter<Context>
where
    H: axum::handler::Handler<T, Context>,
    T: 'static,
{
    put(handler.clone()).post(handler).fallback(invalid_method)
}

async fn invalid_method() -> ApiError {
    ApiError::invalid_method()
}

fn router(context: Context, access: Access) -> Router {
    let plain = Router::new()
        .route("/", any(to_pages))
        .route("/v1/jobs", get(jobs::list).put(submit::register).post(submit::register).fallback(invalid_method))
        .route("/v1/jobs/parse", writes(submit::parse))
        .route("/v1/validate/job", writes(submit::validate))
        .route("/v1/job/", any(job::dispatch))
        .route("/v1/job/{*path}", any(job::dispatch))
        .route("/v1/evaluations", reads(evaluations::list))
        .route("/v1/evaluation/{id}", reads(evaluations::get))
        .route("/v1/evaluation/{id}/allocations", reads(evaluations::allocations))
        .route("/v1/allocations", reads(allocations::list))
        .route("/v1/allocation/{id}", reads(allocations::get))
        .route("/v1/allocation/{id}/stop", writes(allocations::stop))
        .route("/v1/deployments", reads(deployments::list))
        .route("/v1/deployment/{id}", reads(deployments::get))
        .route("/v1/deployment/allocations/{id}", reads(deployments::allocations))
        .route("/v1/deployment/fail/{id}", writes(deployments::fail))
        .route("/v1/deployment/pause/{id}", writes(deployments::pause))
        .route("/v1/deployment/promote/{id}", writes(deployments::promote))
        .route("/v1/deployment/allocation-health/{id}", writes(deployments::allocation_health))
        .route("/v1/nodes", reads(nodes::list))
        .route("/v1/node/{id}", reads(nodes::get))
        .route("/v1/node/{id}/allocations", reads(nodes::allocations))
        .route("/v1/node/{id}/eligibility", writes(nodes::eligibility))
        .route("/v1/node/{id}/evaluate", writes(nodes::evaluate))
        .route("/v1/node/{id}/purge", writes(nodes::purge))
        .route("/v1/client/stats", any(host::stats))
        .route("/v1/client/allocation/{id}/signal", writes(ask::signal))
        .route("/v1/client/allocation/{id}/restart", writes(ask::restart))
        .route("/v1/client/allocation/{id}/stats", any(ask::stats))
        .route("/v1/client/fs/ls/", any(files::without_allocation))
        .route("/v1/client/fs/ls/{id}", any(files::list))
        .route("/v1/client/fs/stat/", any(files::without_allocation))
        .route("/v1/client/fs/stat/{id}", any(files::stat))
        .route("/v1/client/images", reads(images::list))
        .route("/v1/client/images/pins", reads(images::pins))
        .route("/v1/client/images/pin", writes(images::pin))
        .route("/v1/client/images/unpin", writes(images::unpin))
        .route("/v1/client/images/adopt", writes(images::adopt))
        .route("/v1/client/images/pause", writes(images::pause))
        .route("/v1/client/images/gc", writes(images::collect))
        .route("/v1/client/images/pull", writes(images::pull))
        .route("/v1/client/image/{*name}", reads(images::explain))
        .route("/v1/agent/self", reads(agent::own))
        .route("/v1/agent/health", reads(agent::health))
        .route("/v1/agent/members", reads(agent::members))
        .route("/v1/status/leader", reads(status::leader))
        .route("/v1/status/peers", reads(status::peers))
        .route("/v1/regions", reads(status::regions))
        .route("/v1/namespaces", reads(status::namespaces))
        .route("/v1/namespace/{name}", get(status::namespace).fallback(invalid_method))
        .route("/v1/metrics", reads(metrics::metrics))
        .route("/v1/system/gc", writes(system::collect))
        .route("/v1/search", writes(search::search))
        .layer(CompressionLayer::new().gzip(true));
    // A compressor would hold back the lines of a stream that is followed.
    let streams = Router::new()
        .route("/v1/client/allocation/{id}/exec", any(exec::exec))
        .route("/v1/client/fs/cat/", any(files::without_allocation))
        .route("/v1/client/fs/cat/{id}", any(files::cat))
        .route("/v1/client/fs/readat/", any(files::without_allocation))
        .route("/v1/client/fs/readat/{id}", any(files::read_at))
        .route("/v1/client/fs/stream/", any(files::without_allocation))
        .route("/v1/client/fs/stream/{id}", any(files::stream))
        .route("/v1/client/fs/{*call}", any(files::unknown_call))
        .route("/v1/client/fs/logs/", any(logs::without_allocation))
        .route("/v1/client/fs/logs/{id}", any(logs::logs));
    plain
        .merge(streams)
        .fallback(unknown_path)
        .with_state(context)
        .layer(middleware::from_fn_with_state(access, guard::guard))
}

async fn unknown_path() -> StatusCode {
    StatusCode::NOT_FOUND
}

/// `GET /`: to the web pages, with the query.
async fn to_pages(request: Request) -> Response {
    let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
    match HeaderValue::from_str(&format!("/ui/{query}")) {
        Ok(place) => (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, place)]).into_response(),
        Err(_) => StatusCode::BAD_REQUEST.into_response(),
    }
}
