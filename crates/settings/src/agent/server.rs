use base64::Engine as _;
use longshore_values::GoDuration;

use crate::decode::{Block, size_bytes};
use crate::reference::take_rest;

/// The `server` block.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    pub enabled: bool,
    pub bootstrap_expect: i64,
    pub data_dir: Option<std::path::PathBuf>,
    pub authoritative_region: Option<String>,
    /// `None` means one a processor.
    pub num_schedulers: Option<i64>,
    /// `None` means all.
    pub enabled_schedulers: Option<Vec<String>>,
    pub node_gc_threshold: GoDuration,
    pub job_gc_interval: GoDuration,
    pub job_gc_threshold: GoDuration,
    pub eval_gc_threshold: GoDuration,
    pub batch_eval_gc_threshold: GoDuration,
    pub deployment_gc_threshold: GoDuration,
    pub heartbeat_grace: GoDuration,
    pub min_heartbeat_ttl: GoDuration,
    pub failover_heartbeat_ttl: GoDuration,
    pub max_heartbeats_per_second: f64,
    pub job_default_priority: i64,
    pub job_max_priority: i64,
    /// Bytes.
    pub job_max_source_size: i64,
    pub job_tracked_versions: i64,
    pub default_scheduler_config: SchedulerDefaults,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchedulerDefaults {
    /// `binpack` or `spread`.
    pub scheduler_algorithm: String,
    pub memory_oversubscription_enabled: bool,
    pub reject_job_registration: bool,
    pub pause_eval_broker: bool,
    pub preemption_system: bool,
    pub preemption_sysbatch: bool,
    pub preemption_batch: bool,
    pub preemption_service: bool,
}

/// Read and checked, but nothing in this build acts on them.
const WITHOUT_EFFECT: &[&str] = &[
    "authoritative_region",
    "default_scheduler_config",
    "enabled_schedulers",
    "job_default_priority",
    "job_max_priority",
    "job_max_source_size",
    "job_tracked_versions",
];

pub(super) fn decode(block: &mut Block<'_>) -> Server {
    for key in WITHOUT_EFFECT {
        block.note_unused(key, "");
    }
    block.note_unused("encrypt", "this build runs one server, so there is no gossip to encrypt");
    let server = Server {
        enabled: block.take_bool_or("enabled", false),
        bootstrap_expect: bootstrap_expect(block),
        data_dir: block.take_string("data_dir").map(Into::into),
        authoritative_region: block.take_string("authoritative_region"),
        num_schedulers: block.take_integer("num_schedulers", 0..=1_024),
        enabled_schedulers: block.take_strings("enabled_schedulers"),
        node_gc_threshold: block.take_duration_or("node_gc_threshold", GoDuration::hours(24)),
        job_gc_interval: block.take_duration_or("job_gc_interval", GoDuration::minutes(5)),
        job_gc_threshold: block.take_duration_or("job_gc_threshold", GoDuration::hours(4)),
        eval_gc_threshold: block.take_duration_or("eval_gc_threshold", GoDuration::hours(1)),
        batch_eval_gc_threshold: block.take_duration_or("batch_eval_gc_threshold", GoDuration::hours(24)),
        deployment_gc_threshold: block.take_duration_or("deployment_gc_threshold", GoDuration::hours(1)),
        heartbeat_grace: block.take_duration_or("heartbeat_grace", GoDuration::seconds(10)),
        min_heartbeat_ttl: block.take_duration_or("min_heartbeat_ttl", GoDuration::seconds(10)),
        failover_heartbeat_ttl: block.take_duration_or("failover_heartbeat_ttl", GoDuration::seconds(300)),
        max_heartbeats_per_second: block.take_float_or("max_heartbeats_per_second", 50.0),
        job_default_priority: block.take_integer_or("job_default_priority", 50, 1..=32_766),
        job_max_priority: block.take_integer_or("job_max_priority", 100, 1..=32_766),
        job_max_source_size: job_max_source_size(block),
        job_tracked_versions: block.take_integer_or("job_tracked_versions", 6, 1..=i64::MAX),
        default_scheduler_config: block.take_block("default_scheduler_config", scheduler_defaults),
    };
    refuse_joining(block);
    check_encrypt(block);
    block.note_unused("raft_protocol", "there is no Raft here");
    let origin = block.origin_of("raft_protocol");
    if let (Some(raft), Some(origin)) = (block.take_integer("raft_protocol", i64::MIN..=i64::MAX), origin)
        && raft != 3
    {
        block.refuse(
            &origin,
            format!("raft_protocol must be 3 in Nomad v1.4 and later, got {raft}"),
            "remove the line",
        );
    }
    take_rest(block, "server");
    server
}

/// The key of the gossip is read by nobody, but one that Nomad would refuse is refused.
fn check_encrypt(block: &mut Block<'_>) {
    let origin = block.origin_of("encrypt");
    if let (Some(key), Some(origin)) = (block.take_secret("encrypt"), origin) {
        let length = base64::engine::general_purpose::STANDARD.decode(key.reveal()).map(|bytes| bytes.len());
        let why = match length {
            Ok(16 | 24 | 32) => return,
            Ok(length) => format!("it has {length} bytes"),
            Err(_) => "it is not in base64".to_owned(),
        };
        block.refuse(&origin, format!("Invalid encryption key: {why}"), "a key is 16, 24 or 32 bytes in base64");
    }
}

fn bootstrap_expect(block: &mut Block<'_>) -> i64 {
    let origin = block.origin_of("bootstrap_expect");
    let value = block.take_integer_or("bootstrap_expect", 0, 0..=1_000);
    if value > 1
        && let Some(origin) = origin
    {
        block.refuse_what_nomad_does(
            &origin,
            format!("server.bootstrap_expect = {value}: this build runs one server"),
            "write bootstrap_expect = 1",
        );
    }
    value
}

/// A server that is to join others but runs alone would be a second cluster.
fn refuse_joining(block: &mut Block<'_>) {
    let refuse = |block: &mut Block<'_>, key: &str| {
        let origin = block.origin_of(key);
        let addresses = block.take_strings(key).unwrap_or_default();
        if let (false, Some(origin)) = (addresses.is_empty(), origin) {
            let summary = format!("{} names other servers: this build runs one server", block.path_of(key));
            block.refuse_what_nomad_does(
                &origin,
                summary,
                "remove the list, or run this agent as a cluster of its own",
            );
        }
    };
    for key in ["start_join", "retry_join"] {
        refuse(block, key);
    }
    block.take_block("server_join", |join| {
        for key in ["start_join", "retry_join"] {
            refuse(join, key);
        }
        take_rest(join, "server.server_join");
    });
}

fn job_max_source_size(block: &mut Block<'_>) -> i64 {
    block.take_parsed("job_max_source_size", size_bytes).unwrap_or_else(|| {
        block.default_text("job_max_source_size", "1M");
        1 << 20
    })
}

fn scheduler_defaults(block: &mut Block<'_>) -> SchedulerDefaults {
    let algorithm = block.take_parsed("scheduler_algorithm", |text| match text {
        "binpack" | "spread" => Ok(text.to_owned()),
        _ => Err("the algorithm is \"binpack\" or \"spread\"".to_owned()),
    });
    let scheduler_algorithm = algorithm.unwrap_or_else(|| block.default_text("scheduler_algorithm", "binpack"));
    let memory_oversubscription_enabled = block.take_bool_or("memory_oversubscription_enabled", false);
    let reject_job_registration = block.take_bool_or("reject_job_registration", false);
    let pause_eval_broker = block.take_bool_or("pause_eval_broker", false);
    block.take_block("preemption_config", |preemption| SchedulerDefaults {
        scheduler_algorithm,
        memory_oversubscription_enabled,
        reject_job_registration,
        pause_eval_broker,
        preemption_system: preemption.take_bool_or("system_scheduler_enabled", true),
        preemption_sysbatch: preemption.take_bool_or("sysbatch_scheduler_enabled", false),
        preemption_batch: preemption.take_bool_or("batch_scheduler_enabled", false),
        preemption_service: preemption.take_bool_or("service_scheduler_enabled", false),
    })
}
