//! What an agent tells of itself in `stats`: by area, all values as text. Of Raft and Serf, which are not here, what
//! holds for a journal that one server keeps alone.

use std::collections::BTreeMap;

use longshore_client::{Client, Heartbeat};
use longshore_values::GoDuration;

use crate::context::Context;

type Rows = BTreeMap<String, String>;

pub(crate) fn stats(context: &Context) -> BTreeMap<String, Rows> {
    let areas = [
        ("nomad", nomad(context)),
        ("raft", raft(context)),
        ("runtime", runtime(context)),
        ("serf", serf()),
        ("vault", vault()),
    ];
    let of_client = context.client.as_ref().map(|client| ("client", of_client(context, client)));
    areas.into_iter().chain(of_client).map(|(area, rows)| (area.to_owned(), rows)).collect()
}

fn rows<const N: usize>(rows: [(&str, String); N]) -> Rows {
    rows.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn same(keys: &[&str], value: &str) -> Rows {
    keys.iter().map(|key| ((*key).to_owned(), value.to_owned())).collect()
}

fn nomad(context: &Context) -> Rows {
    let mut shown = same(&["server", "leader", "bootstrap"], "true");
    shown.extend(rows([("leader_addr", context.agent.rpc_address.clone()), ("known_regions", "1".to_owned())]));
    shown
}

fn raft(context: &Context) -> Rows {
    let agent = &context.agent;
    let index = context.server.snapshot().index().to_string();
    let mut shown = same(&["applied_index", "commit_index", "last_log_index"], &index);
    // It is read when it is applied, nobody else has it, and nobody else ever led.
    shown.extend(same(&["fsm_pending", "num_peers", "last_contact", "latest_configuration_index"], "0"));
    shown.extend(same(&["term", "last_log_term", "last_snapshot_term"], "1"));
    shown.extend(same(&["protocol_version_min", "snapshot_version_min"], "0"));
    shown.extend(same(&["protocol_version", "protocol_version_max"], "3"));
    shown.extend(rows([
        ("state", "Leader".to_owned()),
        ("last_snapshot_index", context.server.snapshot_index().to_string()),
        ("snapshot_version_max", "1".to_owned()),
        ("latest_configuration", format!("[{{Suffrage:Voter ID:{} Address:{}}}]", agent.server_id, agent.rpc_address)),
    ]));
    shown
}

fn runtime(context: &Context) -> Rows {
    let cores = std::thread::available_parallelism().map_or(1, usize::from).to_string();
    let tasks = tokio::runtime::Handle::try_current().map_or(0, |runtime| runtime.metrics().num_alive_tasks());
    rows([
        ("arch", go_architecture().to_owned()),
        ("cpu_count", cores.clone()),
        // What comes nearest to them.
        ("goroutines", tasks.to_string()),
        ("kernel.name", std::env::consts::OS.to_owned()),
        ("max_procs", cores),
        ("version", context.agent.version.clone()),
    ])
}

/// One member, which is this server.
fn serf() -> Rows {
    let mut shown = same(&["event_queue", "query_queue", "intent_queue", "coordinate_resets"], "0");
    shown.extend(same(&["failed", "left", "health_score"], "0"));
    shown.extend(same(&["members", "member_time", "event_time", "query_time"], "1"));
    shown.extend(rows([("encrypted", "false".to_owned())]));
    shown
}

/// No tokens are made for tasks.
fn vault() -> Rows {
    rows([
        ("token_expire_time", String::new()),
        ("token_ttl", "0s".to_owned()),
        ("tracked_for_revoked", "0".to_owned()),
    ])
}

fn of_client(context: &Context, client: &Client) -> Rows {
    let allocations: usize = client.allocation_counts().values().sum();
    let mut shown = rows([
        ("node_id", client.node_id().to_string()),
        ("known_servers", context.agent.rpc_address.clone()),
        ("num_allocations", allocations.to_string()),
    ]);
    shown.extend(heartbeat(client.heartbeat()));
    shown
}

/// How long ago the server last answered, and how long that holds.
fn heartbeat(last: Option<Heartbeat>) -> Rows {
    let (ago, ttl) = match last {
        Some(last) => {
            (GoDuration::nanoseconds(i64::try_from(last.at.elapsed().as_nanos()).unwrap_or(i64::MAX)), last.ttl)
        }
        None => (GoDuration::ZERO, GoDuration::ZERO),
    };
    rows([("last_heartbeat", ago.to_string()), ("heartbeat_ttl", ttl.to_string())])
}

/// The architecture in Go's words, which attributes and clients use.
fn go_architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    }
}
