//! From a filled and checked job of the API to the model's, field by field.

use std::sync::Arc;

use longshore_api as api;
use longshore_model::{
    Affinity, Constraint, DelayFunction, Dns, EphemeralDisk, HealthCheck, Job, JobKey, JobStatus, JobType, Lifecycle,
    LifecycleHook, LogConfig, LogIndex, NetworkAsk, Operator, PortAsk, ReschedulePolicy, Resources, RestartMode,
    RestartPolicy, Spread, SpreadTarget, Task, TaskGroup, Timestamp, UpdatePolicy,
};
use sha2::{Digest, Sha256};

use crate::fault::{Fault, Invalid};
use crate::{defaults, refuse, validate, warnings};

/// A job that was accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct Completed {
    /// Version 0, not yet registered: what the server sets is unset.
    pub job: Job,
    /// What people should know about their job; empty when there is nothing.
    pub warnings: Vec<String>,
}

/// Fills in defaults, checks every rule, and makes the model's job; or tells all that is wrong.
pub fn complete(mut job: api::Job) -> Result<Completed, Invalid> {
    defaults::canonicalize(&mut job);
    defaults::to_stored(&mut job);
    let mut faults = validate::job(&job);
    faults.extend(refuse::refusals(&job));
    if !faults.is_empty() {
        return Err(Invalid { faults });
    }
    let warnings = warnings::warnings(&job);
    let built = build(&job).ok_or_else(|| {
        let told = "the job has a number that is out of its range";
        Invalid { faults: vec![Fault::plain(told)] }
    })?;
    Ok(Completed { job: built, warnings })
}

/// The job as it is kept: without what only the server says, and without tokens, which nobody may read back.
fn document(job: &api::Job) -> api::Job {
    api::Job {
        status: Some(String::new()),
        status_description: Some(String::new()),
        stable: Some(false),
        version: Some(0),
        submit_time: None,
        create_index: Some(0),
        modify_index: Some(0),
        job_modify_index: Some(0),
        stop: Some(false),
        consul_token: Some(String::new()),
        vault_token: Some(String::new()),
        nomad_token_id: Some(String::new()),
        ..job.clone()
    }
}

fn digest(document: &str) -> String {
    Sha256::digest(document.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `None` only for what the rules let through by mistake.
fn build(job: &api::Job) -> Option<Job> {
    let document = serde_json::to_string(&document(job)).ok()?;
    Some(Job {
        key: JobKey::new(job.namespace.clone()?, job.id.clone()?),
        name: job.name.clone()?,
        kind: match job.kind.as_deref()? {
            "service" => JobType::Service,
            "batch" => JobType::Batch,
            "system" => JobType::System,
            "sysbatch" => JobType::Sysbatch,
            _ => return None,
        },
        region: job.region.clone()?,
        priority: u8::try_from(job.priority?).ok()?,
        all_at_once: job.all_at_once?,
        datacenters: job.datacenters.clone(),
        node_pool: job.node_pool.clone()?,
        constraints: constraints(&job.constraints)?,
        affinities: affinities(&job.affinities)?,
        spreads: spreads(&job.spreads)?,
        groups: job.task_groups.iter().map(group).collect::<Option<_>>()?,
        meta: job.meta.clone(),
        document_digest: digest(&document),
        document: Arc::from(document),
        stop: job.stop?,
        version: 0,
        stable: false,
        status: JobStatus::Pending,
        submit_time: Timestamp::NEVER,
        create_index: LogIndex::default(),
        modify_index: LogIndex::default(),
        job_modify_index: LogIndex::default(),
    })
}

fn constraints(all: &[api::Constraint]) -> Option<Vec<Constraint>> {
    // `distinct_hosts = false` asks for nothing.
    let asks = |constraint: &&api::Constraint| constraint.operand != "distinct_hosts" || constraint.rtarget != "false";
    all.iter()
        .filter(asks)
        .map(|constraint| constraint_of(&constraint.ltarget, &constraint.operand, &constraint.rtarget))
        .collect()
}

fn constraint_of(left: &str, word: &str, right: &str) -> Option<Constraint> {
    let operator = validate::operator(word)?;
    let right = if operator == Operator::DistinctProperty && right.is_empty() { "1" } else { right };
    Some(Constraint { left: left.to_owned(), operator, operator_text: word.to_owned(), right: right.to_owned() })
}

fn affinities(all: &[api::Affinity]) -> Option<Vec<Affinity>> {
    let one = |affinity: &api::Affinity| {
        Some(Affinity {
            constraint: constraint_of(&affinity.ltarget, &affinity.operand, &affinity.rtarget)?,
            weight: i8::try_from(affinity.weight?).ok()?,
        })
    };
    all.iter().map(one).collect()
}

fn spreads(all: &[api::Spread]) -> Option<Vec<Spread>> {
    let target = |target: &api::SpreadTarget| {
        Some(SpreadTarget { value: target.value.clone(), percent: u8::try_from(target.percent).ok()? })
    };
    let one = |spread: &api::Spread| {
        Some(Spread {
            attribute: spread.attribute.clone(),
            weight: u8::try_from(spread.weight?).ok()?,
            targets: spread.spread_target.iter().map(target).collect::<Option<_>>()?,
        })
    };
    all.iter().map(one).collect()
}

fn group(group: &api::TaskGroup) -> Option<TaskGroup> {
    let disk = group.ephemeral_disk.as_ref()?;
    Some(TaskGroup {
        name: group.name.clone()?,
        count: u32::try_from(group.count?).ok()?,
        constraints: constraints(&group.constraints)?,
        affinities: affinities(&group.affinities)?,
        spreads: spreads(&group.spreads)?,
        tasks: group.tasks.iter().map(task).collect::<Option<_>>()?,
        restart: restart(group.restart_policy.as_ref()?)?,
        reschedule: match &group.reschedule_policy {
            Some(policy) => Some(reschedule(policy)?),
            None => None,
        },
        update: match &group.update {
            Some(policy) => Some(update(policy)?),
            None => None,
        },
        ephemeral_disk: EphemeralDisk { size_mb: disk.size_mb?, sticky: disk.sticky?, migrate: disk.migrate? },
        networks: group.networks.iter().map(network).collect::<Option<_>>()?,
        meta: group.meta.clone(),
        shutdown_delay: group.shutdown_delay,
    })
}

fn restart(policy: &api::RestartPolicy) -> Option<RestartPolicy> {
    Some(RestartPolicy {
        attempts: u32::try_from(policy.attempts?).ok()?,
        interval: policy.interval?,
        delay: policy.delay?,
        mode: if policy.mode.as_deref()? == "delay" { RestartMode::Delay } else { RestartMode::Fail },
    })
}

fn reschedule(policy: &api::ReschedulePolicy) -> Option<ReschedulePolicy> {
    Some(ReschedulePolicy {
        attempts: u32::try_from(policy.attempts?).ok()?,
        interval: policy.interval?,
        delay: policy.delay?,
        delay_function: match policy.delay_function.as_deref()? {
            "exponential" => DelayFunction::Exponential,
            "fibonacci" => DelayFunction::Fibonacci,
            _ => DelayFunction::Constant,
        },
        max_delay: policy.max_delay?,
        unlimited: policy.unlimited?,
    })
}

fn update(policy: &api::UpdateStrategy) -> Option<UpdatePolicy> {
    Some(UpdatePolicy {
        stagger: policy.stagger?,
        max_parallel: u32::try_from(policy.max_parallel?).ok()?,
        health_check: match policy.health_check.as_deref()? {
            "task_states" => HealthCheck::TaskStates,
            "manual" => HealthCheck::Manual,
            _ => HealthCheck::Checks,
        },
        min_healthy_time: policy.min_healthy_time?,
        healthy_deadline: policy.healthy_deadline?,
        progress_deadline: policy.progress_deadline?,
        auto_revert: policy.auto_revert?,
        auto_promote: policy.auto_promote?,
        canary: u32::try_from(policy.canary?).ok()?,
    })
}

fn network(network: &api::NetworkResource) -> Option<NetworkAsk> {
    let port = |port: &api::Port, fixed: Option<u16>| {
        Some(PortAsk {
            label: port.label.clone(),
            fixed,
            to: i32::try_from(port.to).ok()?,
            host_network: port.host_network.clone(),
        })
    };
    let fixed = network.reserved_ports.iter().map(|asked| port(asked, Some(u16::try_from(asked.value).ok()?)));
    let dynamic = network.dynamic_ports.iter().map(|asked| port(asked, None));
    Some(NetworkAsk {
        mode: if network.mode.is_empty() { "host".to_owned() } else { network.mode.clone() },
        hostname: network.hostname.clone(),
        dns: network.dns.as_ref().map(dns).unwrap_or_default(),
        ports: fixed.chain(dynamic).collect::<Option<_>>()?,
    })
}

fn dns(dns: &api::DnsConfig) -> Dns {
    Dns { servers: dns.servers.clone(), searches: dns.searches.clone(), options: dns.options.clone() }
}

fn task(task: &api::Task) -> Option<Task> {
    let asked = task.resources.as_ref()?;
    let logs = task.log_config.as_ref()?;
    Some(Task {
        name: task.name.clone(),
        driver: task.driver.clone(),
        user: task.user.clone(),
        config: serde_json::Value::Object(task.config.clone().into_iter().collect()),
        env: task.env.clone(),
        meta: task.meta.clone(),
        constraints: constraints(&task.constraints)?,
        affinities: affinities(&task.affinities)?,
        resources: Resources {
            cpu_mhz: asked.cpu?,
            memory_mb: asked.memory_mb?,
            memory_max_mb: asked.memory_max_mb?,
            disk_mb: 0,
        },
        restart: restart(task.restart_policy.as_ref()?)?,
        kill_timeout: task.kill_timeout?,
        kill_signal: task.kill_signal.clone(),
        shutdown_delay: task.shutdown_delay,
        leader: task.leader,
        lifecycle: match &task.lifecycle {
            Some(lifecycle) => Some(Lifecycle {
                hook: match lifecycle.hook.as_str() {
                    "prestart" => LifecycleHook::Prestart,
                    "poststart" => LifecycleHook::Poststart,
                    "poststop" => LifecycleHook::Poststop,
                    _ => return None,
                },
                sidecar: lifecycle.sidecar,
            }),
            None => None,
        },
        logs: LogConfig {
            max_files: u32::try_from(logs.max_files?).ok()?,
            max_file_size_mb: u32::try_from(logs.max_file_size_mb?).ok()?,
            disabled: logs.disabled?,
        },
    })
}
