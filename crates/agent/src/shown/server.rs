use longshore_settings::{Server, Telemetry};
use serde_json::{Value, json};

use super::absent;

pub(super) fn server(server: &Server) -> Value {
    let scheduler = &server.default_scheduler_config;
    let mut shown = json!({
        "AuthoritativeRegion": server.authoritative_region.as_deref().unwrap_or(""),
        "BatchEvalGCThreshold": server.batch_eval_gc_threshold.to_string(),
        "BootstrapExpect": server.bootstrap_expect,
        "DataDir": server.data_dir.as_deref().unwrap_or("".as_ref()),
        "DeploymentGCThreshold": server.deployment_gc_threshold.to_string(),
        "Enabled": server.enabled,
        "EnabledSchedulers": server.enabled_schedulers,
        "EvalGCThreshold": server.eval_gc_threshold.to_string(),
        "FailoverHeartbeatTTL": server.failover_heartbeat_ttl,
        "HeartbeatGrace": server.heartbeat_grace,
        "JobDefaultPriority": server.job_default_priority,
        "JobGCInterval": server.job_gc_interval.to_string(),
        "JobGCThreshold": server.job_gc_threshold.to_string(),
        "JobMaxPriority": server.job_max_priority,
        "JobMaxSourceSize": server.job_max_source_size.to_string(),
        "JobTrackedVersions": server.job_tracked_versions,
        "MaxHeartbeatsPerSecond": server.max_heartbeats_per_second,
        "MinHeartbeatTTL": server.min_heartbeat_ttl,
        "NodeGCThreshold": server.node_gc_threshold.to_string(),
        "NumSchedulers": server.num_schedulers,
        "DefaultSchedulerConfig": {
            "MemoryOversubscriptionEnabled": scheduler.memory_oversubscription_enabled,
            "PauseEvalBroker": scheduler.pause_eval_broker,
            "PreemptionConfig": {
                "BatchSchedulerEnabled": scheduler.preemption_batch,
                "ServiceSchedulerEnabled": scheduler.preemption_service,
                "SysBatchSchedulerEnabled": scheduler.preemption_sysbatch,
                "SystemSchedulerEnabled": scheduler.preemption_system,
            },
            "RejectJobRegistration": scheduler.reject_job_registration,
            "SchedulerAlgorithm": scheduler.scheduler_algorithm,
        },
    });
    // Without effect here: there are neither volumes nor tokens to collect, no Raft, no events and no other servers.
    for (key, value) in [
        ("ACLTokenGCThreshold", json!("")),
        ("CSIPluginGCThreshold", json!("")),
        ("CSIVolumeClaimGCInterval", json!("")),
        ("CSIVolumeClaimGCThreshold", json!("")),
        ("DeploymentQueryRateLimit", json!(0.0)),
        ("EnableEventBroker", json!(false)),
        ("EventBufferSize", json!(100)),
        ("LicenseEnv", json!("")),
        ("LicensePath", json!("")),
        ("NonVotingServer", json!(false)),
        ("PlanRejectionTracker", json!(null)),
        ("ProtocolVersion", json!(0)),
        ("RaftBoltConfig", json!(null)),
        ("RaftMultiplier", json!(null)),
        ("RaftProtocol", json!(3)),
        ("RaftSnapshotInterval", json!(null)),
        ("RaftSnapshotThreshold", json!(null)),
        ("RaftTrailingLogs", json!(null)),
        ("RedundancyZone", json!("")),
        ("RejoinAfterLeave", json!(false)),
        ("RetryInterval", json!(0)),
        ("RetryJoin", json!([])),
        ("RetryMaxAttempts", json!(0)),
        ("RootKeyGCInterval", json!("")),
        ("RootKeyGCThreshold", json!("")),
        ("RootKeyRotationThreshold", json!("")),
        ("Search", json!({ "FuzzyEnabled": false, "LimitQuery": 20, "LimitResults": 100, "MinTermLength": 2 })),
        ("ServerJoin", absent::server_join()),
        ("StartJoin", json!([])),
        ("UpgradeVersion", json!("")),
    ] {
        shown[key] = value;
    }
    shown
}

pub(super) fn telemetry(telemetry: &Telemetry) -> Value {
    let mut shown = json!({
        "CollectionInterval": telemetry.collection_interval.to_string(),
        "DataDogAddr": "",
        "DataDogTags": null,
        "DisableDispatchedJobSummaryMetrics": false,
        "DisableHostname": false,
        "DisableRPCRateMetricsLabels": false,
        "FilterDefault": null,
        "PrefixFilter": null,
        "PrometheusMetrics": telemetry.prometheus_metrics,
        "PublishAllocationMetrics": telemetry.publish_allocation_metrics,
        "PublishNodeMetrics": telemetry.publish_node_metrics,
        "StatsdAddr": "",
        "StatsiteAddr": "",
        "UseNodeName": false,
    });
    for key in [
        "APIApp",
        "APIToken",
        "APIURL",
        "BrokerID",
        "BrokerSelectTag",
        "CheckDisplayName",
        "CheckForceMetricActivation",
        "CheckID",
        "CheckInstanceID",
        "CheckSearchTag",
        "CheckSubmissionURL",
        "CheckTags",
        "SubmissionInterval",
    ] {
        shown[format!("Circonus{key}")] = json!("");
    }
    shown
}
