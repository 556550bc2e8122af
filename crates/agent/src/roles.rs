//! Starts the roles that were asked for, in the order in which they need each other, and ends them the other way round.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;

use longshore_client::{Client, ClientConfig, ClientError, PreparedClient};
use longshore_docker::DockerDriver;
use longshore_http::{Access, AgentInfo, Http, HttpOptions};
use longshore_journal::{EmbeddedJournal, MemoryJournal, Opened};
use longshore_model::{IdSource, NodeId, Resources};
use longshore_server::{CollectConfig, HeartbeatConfig, Server, ServerConfig, SystemIds};
use longshore_settings::{AgentConfig, port_ranges};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

use crate::addresses::Listeners;
use crate::banner::API_LEVEL;
use crate::error::AgentError;
use crate::folders::Folders;
use crate::left_behind::{Temporary, remove_ended};
use crate::{client_options, docker, drivers, shown};

/// Everything of one agent that runs.
pub(crate) struct Roles {
    server: Server,
    client: Option<Client>,
    http: JoinHandle<()>,
    end: CancellationToken,
    docker: Option<Arc<DockerDriver>>,
    raw_exec: bool,
    first_look_until: Instant,
    dev: bool,
    /// The lock of the agent's folder, held until the end.
    _lock: File,
    /// Dropped last.
    _temporary: Temporary,
}

/// How many HTTP connections one address may have, as Nomad has it.
pub(crate) const CONNECTIONS_PER_CLIENT_MAX: usize = 100;

/// How long after its driver's start an engine may take to be spoken of in the banner. The API answers meanwhile; an
/// engine that is there and well takes some tens of milliseconds, a busy one more.
const FIRST_LOOK_MAX: Duration = Duration::from_millis(500);

/// What was decided before anything starts.
pub(crate) struct Setup {
    pub(crate) config: AgentConfig,
    pub(crate) listeners: Listeners,
    pub(crate) folders: Folders,
    pub(crate) docker: longshore_docker::Options,
    pub(crate) docker_endpoint: longshore_engine::Endpoint,
    /// Spoken without asking the engine for its own.
    pub(crate) docker_api_version: Option<longshore_engine::ApiVersion>,
    pub(crate) raw_exec: longshore_exec::RawExecOptions,
    pub(crate) mock: longshore_exec::MockOptions,
    pub(crate) name: String,
    /// Agent files that were read.
    pub(crate) files: Vec<String>,
}

impl Roles {
    pub(crate) async fn start(setup: Setup) -> Result<Self, AgentError> {
        let Setup { config, listeners, folders, .. } = &setup;
        let temporary = Temporary(folders.temporary.clone());
        if let Some(beside) = folders.temporary.as_deref().and_then(Path::parent).map(Path::to_owned) {
            // Nobody waits for it.
            tokio::task::spawn_blocking(move || remove_ended(&beside, &format!("client/{AGENT_LOCK}")));
        }
        make_folder(&folders.node_state)?;
        let lock = lock(folders.locked())?;
        let address = listeners.http.bind;
        let listener = TcpListener::bind(address).await.map_err(|source| AgentError::Listen { address, source })?;
        // Both wait for the disk: together they wait for as long as one.
        let preparing = config.client.enabled.then(|| {
            let config = client_config(&setup);
            tokio::task::spawn_blocking(move || PreparedClient::read(config))
        });
        let server = start_server(config, folders).await;
        let prepared = match preparing {
            Some(preparing) => Some(preparing.await.map_err(|error| AgentError::System {
                doing: "prepare the client",
                source: std::io::Error::other(error),
            })?),
            None => None,
        };
        let server = server?;
        if let Some(Ok(prepared)) = &prepared
            && let Err(error) = check_journal(&server, prepared, folders)
        {
            server.shutdown().await;
            return Err(error);
        }
        let end = CancellationToken::new();
        let first_look_until = Instant::now() + FIRST_LOOK_MAX;
        let Started { client, docker, http } = match start_beside(&setup, &server, prepared, listener, &end).await {
            Ok(started) => started,
            Err(error) => {
                // What runs already is ended in order: its threads must not outlive the runtime.
                server.shutdown().await;
                return Err(error);
            }
        };
        Ok(Self {
            server,
            client,
            http,
            end,
            docker,
            raw_exec: setup.raw_exec.enabled,
            first_look_until,
            dev: setup.config.dev,
            _lock: lock,
            _temporary: temporary,
        })
    }

    pub(crate) fn node_id(&self) -> Option<NodeId> {
        self.client.as_ref().map(Client::node_id)
    }

    /// What is worth a word in the banner. Waits a moment for an engine that is just answering.
    pub(crate) async fn notes(&self) -> Vec<String> {
        let Some(docker) = &self.docker else { return Vec::new() };
        let look = tokio::time::timeout_at(self.first_look_until, docker.first_look()).await;
        docker::note(look.ok().as_ref(), self.dev, self.raw_exec).into_iter().collect()
    }

    /// Ends everything in order. Tasks go on, unless this is a `-dev` agent.
    pub(crate) async fn shutdown(self) {
        if let Some(client) = &self.client {
            client.shutdown(self.dev).await;
        }
        self.end.cancel();
        if let Err(error) = self.http.await {
            tracing::error!(%error, "the API ended unexpectedly");
        }
        self.server.shutdown().await;
    }
}

/// What runs beside the server.
struct Started {
    client: Option<Client>,
    docker: Option<Arc<DockerDriver>>,
    http: JoinHandle<()>,
}

async fn start_beside(
    setup: &Setup,
    server: &Server,
    prepared: Option<Result<PreparedClient, ClientError>>,
    listener: TcpListener,
    end: &CancellationToken,
) -> Result<Started, AgentError> {
    let config = &setup.config;
    let (mut client, mut docker) = (None, None);
    if let Some(prepared) = prepared.transpose()? {
        let drivers = drivers::all(setup, prepared.node_id())?;
        docker = drivers.docker;
        client = Some(Client::run(prepared, Arc::new(server.clone()), drivers.all));
    }
    let options = HttpOptions {
        access: Access {
            origins: config.http_api_allowed_origins.clone(),
            hosts: hosts(config, &setup.listeners.http.advertise),
        },
        response_headers: config.http_api_response_headers.clone(),
        connections_per_client_max: CONNECTIONS_PER_CLIENT_MAX,
    };
    match Http::new(server.clone(), client.clone(), agent_info(setup), &options, end.clone()) {
        Ok(http) => Ok(Started { client, docker, http: tokio::spawn(http.serve(listener)) }),
        Err(error) => {
            if let Some(client) = client {
                client.shutdown(false).await;
            }
            Err(error.into())
        }
    }
}

fn hosts(config: &AgentConfig, advertised: &str) -> Vec<String> {
    let mut hosts = config.http_api_allowed_hosts.clone();
    hosts.push(host_of(advertised));
    hosts
}

fn host_of(address: &str) -> String {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    host.trim_start_matches('[').trim_end_matches(']').to_owned()
}

fn make_folder(path: &Path) -> Result<(), AgentError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|source| AgentError::Folder { path: path.to_owned(), source })
}

/// Two agents on one folder would ruin it for each other.
/// In the folder that one agent at a time may use.
const AGENT_LOCK: &str = "agent.lock";

fn lock(folder: &Path) -> Result<File, AgentError> {
    let path = folder.join(AGENT_LOCK);
    let failed = |source| AgentError::Lock { path: path.clone(), source };
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(AgentError::InUse { path: folder.to_owned() }),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

async fn start_server(config: &AgentConfig, folders: &Folders) -> Result<Server, AgentError> {
    Ok(Server::start(server_config(config), open_journal(folders)?).await?)
}

/// The server gives an allocation to a node only once its journal has it: one that the node has from later than the journal
/// ends was lost from there. Going on would leave its tasks to nobody.
fn check_journal(server: &Server, prepared: &PreparedClient, folders: &Folders) -> Result<(), AgentError> {
    let journal_index = server.snapshot().index();
    match (prepared.newest_live_allocation(), &folders.journal) {
        (Some((alloc, alloc_index)), Some(journal)) if alloc_index > journal_index => Err(AgentError::JournalLost {
            journal: journal.clone(),
            node_record: folders.node_state.join("node.db"),
            journal_index,
            alloc,
            alloc_index,
        }),
        _ => Ok(()),
    }
}

fn open_journal(folders: &Folders) -> Result<Opened, AgentError> {
    match &folders.journal {
        Some(folder) => {
            make_folder(folder)?;
            Ok(EmbeddedJournal::open(folder)?)
        }
        None => Ok(MemoryJournal::default().open()),
    }
}

fn server_config(config: &AgentConfig) -> ServerConfig {
    let server = &config.server;
    let defaults = ServerConfig::default();
    let workers = server.num_schedulers.and_then(|number| usize::try_from(number).ok());
    ServerConfig {
        workers: workers.unwrap_or(defaults.workers),
        heartbeat: HeartbeatConfig {
            ttl_min: server.min_heartbeat_ttl,
            grace: server.heartbeat_grace,
            rate_max: server.max_heartbeats_per_second,
            failover_ttl: server.failover_heartbeat_ttl,
        },
        collect: CollectConfig {
            interval: server.job_gc_interval,
            evaluation_age: server.eval_gc_threshold,
            batch_evaluation_age: server.batch_eval_gc_threshold,
            job_age: server.job_gc_threshold,
            deployment_age: server.deployment_gc_threshold,
            node_age: server.node_gc_threshold,
        },
        ..defaults
    }
}

fn client_config(setup: &Setup) -> ClientConfig {
    let config = &setup.config;
    let client = &config.client;
    let port = |value: i64, default: u16| u16::try_from(value).unwrap_or(default);
    let mut made = ClientConfig::new(&setup.folders.node_state, &setup.folders.allocations, &setup.name);
    made.region.clone_from(&config.region);
    made.datacenter.clone_from(&config.datacenter);
    made.node_class.clone_from(&client.node_class);
    made.node_pool.clone_from(&client.node_pool);
    made.meta.clone_from(&client.meta);
    made.http_address.clone_from(&setup.listeners.http.advertise);
    made.network_interface = client.network_interface.clone().unwrap_or_default();
    made.network_speed_mbits = client.network_speed.and_then(|speed| u32::try_from(speed).ok()).unwrap_or(0);
    made.cpu_total_mhz = client.cpu_total_compute.unwrap_or(0);
    made.memory_total_mb = client.memory_total_mb.unwrap_or(0);
    made.disk_total_mb = client.disk_total_mb.unwrap_or(0);
    made.disk_free_mb = client.disk_free_mb.unwrap_or(0);
    made.reserved = Resources {
        cpu_mhz: client.reserved.cpu,
        memory_mb: client.reserved.memory,
        memory_max_mb: 0,
        disk_mb: client.reserved.disk,
    };
    made.reserved_ports = port_ranges(&client.reserved.reserved_ports).unwrap_or_default();
    made.min_dynamic_port = port(client.min_dynamic_port, made.min_dynamic_port);
    made.max_dynamic_port = port(client.max_dynamic_port, made.max_dynamic_port);
    made.max_kill_timeout = client.max_kill_timeout;
    made.gc_max_allocs = usize::try_from(client.gc_max_allocs).unwrap_or(made.gc_max_allocs);
    made.cgroup_parent = client.cgroup_parent.clone().unwrap_or_default();
    made.exec_disabled = client.disable_remote_exec;
    let denylist = client_options::env_denylist(&client.options);
    let denylist: Vec<&str> = denylist.iter().map(String::as_str).collect();
    made.inherited_env = ClientConfig::filtered_env(std::env::vars_os().filter_map(readable), &denylist);
    made.version = env!("CARGO_PKG_VERSION").to_owned();
    if setup.folders.temporary.is_some() {
        // What goes with the process needs no room for the next start.
        made.reserve_bytes = 0;
    }
    made
}

fn readable((name, value): (std::ffi::OsString, std::ffi::OsString)) -> Option<(String, String)> {
    Some((name.into_string().ok()?, value.into_string().ok()?))
}

fn agent_info(setup: &Setup) -> AgentInfo {
    let of_drivers = || drivers::shown(&setup.docker, setup.raw_exec, setup.mock);
    let config = &setup.config;
    AgentInfo {
        name: setup.name.clone(),
        region: config.region.clone(),
        datacenter: config.datacenter.clone(),
        server_id: longshore_model::EvalId::from_u128(SystemIds.next_id()).to_string(),
        api_version: API_LEVEL.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        rpc_address: setup.listeners.rpc.advertise.clone(),
        serf_port: config.ports.serf,
        config: shown::Shown {
            config,
            listeners: &setup.listeners,
            name: &setup.name,
            files: &setup.files,
            drivers: if config.client.enabled { of_drivers() } else { BTreeMap::new() },
        }
        .rows(),
        prometheus_metrics: config.telemetry.prometheus_metrics,
    }
}

/// The machine's name.
pub(crate) fn host_name() -> String {
    let name = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "localhost".to_owned())
}
