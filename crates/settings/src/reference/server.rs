use super::row::Kind::{Any, Block, Bool, Duration, Number, Secret, Size, Text, Texts, Whole};
use super::row::{COUNT, RETRY_INTERVAL, RETRY_MAX, Row, Table, aside, row};

const AT_LEAST_ONE: super::row::Kind = Whole(1, i64::MAX);

pub(super) const TABLES: &[Table] = &[
    Table { path: "server", meaning: "The server role: takes jobs and decides what runs where.", rows: SERVER },
    Table {
        path: "server.server_join",
        meaning: "How servers find one another.",
        rows: &[
            row(
                "start_join",
                Texts,
                "",
                "Servers to join at start; an entry stops the start, as this build runs one server.",
            )
            .refused(),
            row("retry_join", Texts, "", "Servers to join, trying again; an entry stops the start.").refused(),
            RETRY_MAX,
            RETRY_INTERVAL,
        ],
    },
    Table {
        path: "server.default_scheduler_config",
        meaning: "The scheduler's settings before an operator changes them.",
        rows: &[
            aside("scheduler_algorithm", Text, "binpack", "`binpack` or `spread`."),
            aside("memory_oversubscription_enabled", Bool, "false", "Tasks may have a `memory_max`."),
            aside("reject_job_registration", Bool, "false", "Takes no new jobs."),
            aside("pause_eval_broker", Bool, "false", "Hands out no evaluations."),
            aside("preemption_config", Block, "", "Which jobs may take the place of others."),
        ],
    },
    Table {
        path: "server.default_scheduler_config.preemption_config",
        meaning: "Which jobs may take the place of others.",
        rows: &[
            aside("system_scheduler_enabled", Bool, "true", "System jobs."),
            aside("sysbatch_scheduler_enabled", Bool, "false", "System batch jobs."),
            aside("batch_scheduler_enabled", Bool, "false", "Batch jobs."),
            aside("service_scheduler_enabled", Bool, "false", "Service jobs."),
        ],
    },
    Table {
        path: "server.plan_rejection_tracker",
        meaning: "Nodes whose plans are refused again and again.",
        rows: &[
            aside("enabled", Bool, "false", "Marks such nodes as ineligible."),
            aside("node_threshold", AT_LEAST_ONE, "100", "How many refusals are too many."),
            aside("node_window", Duration, "5m", "Within what time."),
        ],
    },
    Table {
        path: "server.search",
        meaning: "The search over names.",
        rows: &[
            aside("fuzzy_enabled", Bool, "true", "Finds parts of names."),
            aside("limit_query", COUNT, "20", "How many objects are looked at."),
            aside("limit_results", COUNT, "100", "How many matches are told."),
            aside("min_term_length", COUNT, "2", "The shortest term."),
        ],
    },
    Table {
        path: "server.raft_boltdb",
        meaning: "The file of Raft's log.",
        rows: &[aside("no_freelist_sync", Bool, "false", "Writes no list of free pages.")],
    },
    Table {
        path: "server.raft_logstore",
        meaning: "Where Raft's log is kept. Later than Nomad 1.6.",
        rows: &[
            aside("backend", Text, "", "`boltdb` or `wal`."),
            aside("disable_log_cache", Bool, "false", "Keeps no entries in memory."),
            aside("verification", Any, "", "Checks what is written."),
            aside("boltdb", Any, "", "Settings of that backend."),
            aside("wal", Any, "", "Settings of that backend."),
        ],
    },
    Table {
        path: "server.client_introduction",
        meaning: "How new clients show who they are. Later than Nomad 1.6.",
        rows: &[
            aside("enforcement", Text, "", "`none`, `warn` or `strict`."),
            aside("default_identity_ttl", Duration, "", "How long a token for a new client holds."),
            aside("max_identity_ttl", Duration, "", "The longest that may be asked for."),
        ],
    },
];

const ONE_SERVER: &str = "this build runs one server";

const SERVER: &[Row] = &[
    row("enabled", Bool, "false", "Takes the server role."),
    row("bootstrap_expect", COUNT, "0", "How many servers form the cluster; more than 1 stops the start."),
    row("data_dir", Text, "", "The folder of the server's own state; `server` in `data_dir` if not given."),
    aside("authoritative_region", Text, "", "The region that policies are copied from."),
    aside("encrypt", Secret, "", "The key for the gossip of servers: 16, 24 or 32 bytes in base64.")
        .because("this build runs one server, so there is no gossip to encrypt"),
    aside("protocol_version", COUNT, "", "The version of the servers' protocol."),
    aside("raft_protocol", Whole(3, 3), "", "The version of Raft's protocol; only 3 is accepted.")
        .because("there is no Raft here"),
    aside("raft_multiplier", Whole(1, 10), "1", "Stretches the times of Raft."),
    aside("raft_boltdb", Block, "", "The file of Raft's log."),
    aside("raft_logstore", Block, "", "Where Raft's log is kept.").later(),
    aside("raft_snapshot_threshold", COUNT, "8192", "Entries between snapshots."),
    aside("raft_snapshot_interval", Duration, "120s", "Time between looks whether a snapshot is due."),
    aside("raft_trailing_logs", COUNT, "10240", "Entries that stay after a snapshot."),
    row(
        "num_schedulers",
        Whole(0, 1_024),
        "",
        "How many evaluations are worked on at once; one for each processor if not given.",
    ),
    aside(
        "enabled_schedulers",
        Texts,
        "",
        "Which schedulers work: `service`, `batch`, `system`, `sysbatch`; all if not given.",
    ),
    row("node_gc_threshold", Duration, "24h", "How long a node that is down is known."),
    row("job_gc_interval", Duration, "5m", "How often ended jobs are looked for."),
    row("job_gc_threshold", Duration, "4h", "How long an ended job is known."),
    row("eval_gc_threshold", Duration, "1h", "How long an ended evaluation is known."),
    row("batch_eval_gc_threshold", Duration, "24h", "The same for those of batch jobs."),
    row("deployment_gc_threshold", Duration, "1h", "How long an ended deployment is known."),
    aside("csi_volume_claim_gc_interval", Duration, "5m", "How often claims of volumes are looked at."),
    aside("csi_volume_claim_gc_threshold", Duration, "5m", "How long a claim that nobody needs stays."),
    aside("csi_plugin_gc_threshold", Duration, "1h", "How long a volume plugin that is gone is known."),
    aside("acl_token_gc_threshold", Duration, "1h", "How long a token that has expired is known."),
    aside("root_key_gc_interval", Duration, "10m", "How often old root keys are looked for."),
    aside("root_key_gc_threshold", Duration, "1h", "How long an old root key stays."),
    aside("root_key_rotation_threshold", Duration, "720h", "When a new root key is made."),
    row("heartbeat_grace", Duration, "10s", "How late a node's sign of life may be."),
    row("min_heartbeat_ttl", Duration, "10s", "The shortest time between a node's signs of life."),
    row("failover_heartbeat_ttl", Duration, "300s", "How long nodes have after the server's start."),
    row(
        "max_heartbeats_per_second",
        Number,
        "50",
        "How many signs of life may come in a second: more nodes have more time.",
    ),
    row("server_join", Block, "", "How servers find one another."),
    row("start_join", Texts, "", "The same as in `server_join`, of old.").refused(),
    row("retry_join", Texts, "", "The same as in `server_join`, of old.").refused(),
    aside("retry_max", COUNT, "", "The same as in `server_join`, of old."),
    aside("retry_interval", Duration, "", "The same as in `server_join`, of old."),
    aside("rejoin_after_leave", Bool, "false", "Joins again after leaving.").because(ONE_SERVER),
    aside("default_scheduler_config", Block, "", "The scheduler's settings before an operator changes them."),
    aside("plan_rejection_tracker", Block, "", "Nodes whose plans are refused again and again."),
    aside("enable_event_broker", Bool, "true", "Serves the stream of events."),
    aside("event_buffer_size", COUNT, "100", "How many events are kept for those who come late."),
    aside("search", Block, "", "The search over names."),
    aside("deploy_query_rate_limit", Number, "100", "How often deployments are looked at in a second."),
    aside("job_default_priority", Whole(1, 32_766), "50", "The priority of jobs that say none."),
    aside("job_max_priority", Whole(1, 32_766), "100", "The highest priority."),
    aside("job_max_source_size", Size, "1M", "The largest source text that is kept with a job."),
    aside("job_tracked_versions", AT_LEAST_ONE, "6", "How many versions of a job are kept."),
    aside("license_path", Text, "", "The enterprise edition's licence."),
    aside("non_voting_server", Bool, "false", "Of the enterprise edition."),
    aside("redundancy_zone", Text, "", "Of the enterprise edition."),
    aside("upgrade_version", Text, "", "Of the enterprise edition."),
    aside("job_max_count", COUNT, "", "The highest count of a group.").later(),
    aside("oidc_issuer", Text, "", "Who identities say they are from.").later(),
    aside("start_timeout", Duration, "", "How long the keys may take to be there at start.").later(),
    aside("plan_apply_pipeline", Any, "", "How plans are applied one after the other.").later(),
    aside("client_introduction", Block, "", "How new clients show who they are.").later(),
    aside("log_file", Text, "", "A file for the server's log.").later(),
    aside("non_production", Bool, "false", "Of the enterprise edition.").later(),
];
