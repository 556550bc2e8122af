use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use longshore_api as api;
use longshore_model::NodeStatus;

use crate::context::{Ask, Context};
use crate::error::Result;
use crate::reply;
use crate::show::agent::stats;

/// `GET /v1/agent/self`.
pub(crate) async fn own(ask: Ask) -> Result<Response> {
    let context = &ask.context;
    let shown = api::AgentSelf { config: context.agent.config.clone(), member: member(context), stats: stats(context) };
    reply::json(&ask.params, &shown)
}

/// `GET /v1/agent/members`.
pub(crate) async fn members(ask: Ask) -> Result<Response> {
    let agent = &ask.context.agent;
    let shown = api::ServerMembers {
        server_name: agent.name.clone(),
        server_region: agent.region.clone(),
        server_dc: agent.datacenter.clone(),
        members: vec![member(&ask.context)],
    };
    reply::json(&ask.params, &shown)
}

fn member(context: &Context) -> api::AgentMember {
    let agent = &context.agent;
    let (rpc_host, rpc_port) = agent.rpc_address.rsplit_once(':').unwrap_or((&agent.rpc_address, "4647"));
    let tags = [
        ("role", "nomad"),
        ("region", &agent.region),
        ("dc", &agent.datacenter),
        ("build", &agent.api_version),
        ("mvn", "1"),
        ("longshore.version", &agent.version),
        ("id", &agent.server_id),
        ("rpc_addr", rpc_host),
        ("port", rpc_port),
        ("bootstrap", "1"),
        ("expect", "1"),
        ("vsn", "1"),
        ("raft_vsn", "3"),
    ];
    api::AgentMember {
        name: format!("{}.{}", agent.name, agent.region),
        addr: Some(rpc_host.to_owned()),
        port: agent.serf_port.into(),
        tags: tags.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
        status: "alive".to_owned(),
        protocol_min: 1,
        protocol_max: 5,
        protocol_cur: 2,
        delegate_min: 2,
        delegate_max: 5,
        delegate_cur: 4,
    }
}

/// `GET /v1/agent/health`.
pub(crate) async fn health(ask: Ask) -> Result<Response> {
    let asked = ask.params.text("type");
    let shown = api::AgentHealthResponse {
        client: client_health(&ask.context, asked == "client").filter(|_| matches!(asked, "" | "client")),
        server: matches!(asked, "" | "server").then(|| api::AgentHealth { ok: true, message: "ok".to_owned() }),
    };
    let well = [&shown.client, &shown.server].into_iter().flatten().all(|health| health.ok);
    let mut response = reply::json(&ask.params, &shown)?;
    if !well {
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        let content_type = axum::http::HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    }
    Ok(response.into_response())
}

/// `None` when this agent is no node and nobody asked for one.
fn client_health(context: &Context, asked: bool) -> Option<api::AgentHealth> {
    let Some(client) = &context.client else {
        return asked.then(|| api::AgentHealth { ok: false, message: "client not enabled".to_owned() });
    };
    let status = context.server.snapshot().node(client.node_id()).map(|known| known.status);
    let message = match status {
        Some(NodeStatus::Ready) => "ok".to_owned(),
        Some(other) => format!("the server holds this node to be {}", other.word()),
        None => "the server does not know this node yet".to_owned(),
    };
    Some(api::AgentHealth { ok: status == Some(NodeStatus::Ready), message })
}
