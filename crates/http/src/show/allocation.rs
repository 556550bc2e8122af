use std::collections::BTreeMap;

use longshore_api as api;
use longshore_model::{
    AllocDeploymentStatus, AllocatedGroup, AllocatedPort, AllocatedTask, Allocation, DesiredTransition,
    RescheduleTracker,
};

use super::{ShowError, id, job, metric, task, time};

/// What of an allocation a list shows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StubFields {
    pub(crate) resources: bool,
    pub(crate) task_states: bool,
}

impl Default for StubFields {
    fn default() -> Self {
        Self { resources: false, task_states: true }
    }
}

/// The whole allocation, with its job.
pub(crate) fn allocation(alloc: &Allocation) -> Result<api::Allocation, ShowError> {
    Ok(with_job(alloc, job::job(&alloc.job_spec)?))
}

/// The same with the job that the caller has already made of `alloc.job_spec`.
pub(crate) fn with_job(alloc: &Allocation, job: api::Job) -> api::Allocation {
    api::Allocation {
        id: alloc.id.to_string(),
        namespace: alloc.job.namespace.clone(),
        eval_id: alloc.eval.to_string(),
        name: alloc.name.clone(),
        node_id: alloc.node.to_string(),
        node_name: alloc.node_name.clone(),
        job_id: alloc.job.id.clone(),
        job: Some(job),
        task_group: alloc.group.clone(),
        resources: Some(total(&alloc.resources)),
        shared_resources: Some(api::Resources {
            disk_mb: Some(alloc.resources.disk_mb),
            networks: networks(&alloc.resources),
            ..no_resources()
        }),
        task_resources: alloc.resources.tasks.iter().map(|(name, given)| (name.clone(), of_task(given))).collect(),
        allocated_resources: Some(allocated(alloc)),
        metrics: Some(metric::metric(&alloc.metrics)),
        desired_status: alloc.desired_status.word().to_owned(),
        desired_description: alloc.desired_description.clone(),
        desired_transition: transition(alloc.desired_transition),
        client_status: alloc.client_status.word().to_owned(),
        client_description: alloc.client_description.clone(),
        task_states: task_states(alloc),
        previous_allocation: id(alloc.previous_alloc),
        next_allocation: id(alloc.next_alloc),
        deployment_id: id(alloc.deployment),
        deployment_status: alloc.deployment_status.map(deployment_status),
        reschedule_tracker: tracker(&alloc.reschedule_tracker),
        network_status: network_status(alloc),
        followup_eval_id: id(alloc.followup_eval),
        create_index: alloc.create_index.0,
        modify_index: alloc.modify_index.0,
        alloc_modify_index: alloc.alloc_modify_index.0,
        create_time: alloc.create_time.as_nanoseconds(),
        modify_time: alloc.modify_time.as_nanoseconds(),
        ..api::Allocation::default()
    }
}

/// An allocation in a list.
pub(crate) fn stub(alloc: &Allocation, fields: StubFields) -> api::AllocListStub {
    api::AllocListStub {
        id: alloc.id.to_string(),
        eval_id: alloc.eval.to_string(),
        name: alloc.name.clone(),
        namespace: alloc.job.namespace.clone(),
        node_id: alloc.node.to_string(),
        node_name: alloc.node_name.clone(),
        job_id: alloc.job.id.clone(),
        job_type: alloc.job_spec.kind.word().to_owned(),
        job_version: alloc.job_version,
        task_group: alloc.group.clone(),
        allocated_resources: fields.resources.then(|| allocated(alloc)),
        desired_status: alloc.desired_status.word().to_owned(),
        desired_description: alloc.desired_description.clone(),
        client_status: alloc.client_status.word().to_owned(),
        client_description: alloc.client_description.clone(),
        desired_transition: transition(alloc.desired_transition),
        task_states: if fields.task_states { task_states(alloc) } else { BTreeMap::new() },
        deployment_status: alloc.deployment_status.map(deployment_status),
        followup_eval_id: id(alloc.followup_eval),
        next_allocation: id(alloc.next_alloc),
        reschedule_tracker: tracker(&alloc.reschedule_tracker),
        preempted_allocations: Vec::new(),
        preempted_by_allocation: String::new(),
        create_index: alloc.create_index.0,
        modify_index: alloc.modify_index.0,
        create_time: alloc.create_time.as_nanoseconds(),
        modify_time: alloc.modify_time.as_nanoseconds(),
    }
}

/// Empty for tasks on the host's network; absent until the node has said something.
fn network_status(alloc: &Allocation) -> Option<api::AllocNetworkStatus> {
    let known = alloc.network_status.clone().or_else(|| (!alloc.task_states.is_empty()).then(Default::default))?;
    Some(api::AllocNetworkStatus { interface_name: known.interface_name, address: known.address, dns: None })
}

fn task_states(alloc: &Allocation) -> BTreeMap<String, api::TaskState> {
    alloc.task_states.iter().map(|(name, state)| (name.clone(), task::state(state))).collect()
}

fn transition(wanted: DesiredTransition) -> api::DesiredTransition {
    let said = |wanted: bool| wanted.then_some(true);
    api::DesiredTransition {
        migrate: said(wanted.migrate),
        reschedule: said(wanted.reschedule),
        force_reschedule: said(wanted.force_reschedule),
        no_shutdown_delay: said(wanted.no_shutdown_delay),
    }
}

fn deployment_status(status: AllocDeploymentStatus) -> api::AllocDeploymentStatus {
    api::AllocDeploymentStatus {
        healthy: status.healthy,
        timestamp: time(status.timestamp),
        canary: status.canary,
        modify_index: status.modify_index.0,
    }
}

fn tracker(tracker: &RescheduleTracker) -> Option<api::RescheduleTracker> {
    let events = tracker.events.iter().map(|event| api::RescheduleEvent {
        reschedule_time: event.at.as_nanoseconds(),
        prev_alloc_id: event.previous_alloc.to_string(),
        prev_node_id: event.previous_node.to_string(),
        delay: event.delay,
    });
    (!tracker.events.is_empty()).then(|| api::RescheduleTracker { events: events.collect() })
}

fn allocated(alloc: &Allocation) -> api::AllocatedResources {
    let given = &alloc.resources;
    let lifecycle = |name: &str| {
        let asked = alloc.job_spec.group(&alloc.group)?.task(name)?.lifecycle?;
        Some(api::TaskLifecycle { hook: asked.hook.word().to_owned(), sidecar: asked.sidecar })
    };
    api::AllocatedResources {
        tasks: given.tasks.iter().map(|(name, task)| (name.clone(), allocated_task(task))).collect(),
        task_lifecycles: given.tasks.keys().map(|name| (name.clone(), lifecycle(name))).collect(),
        shared: api::AllocatedSharedResources {
            networks: networks(given),
            disk_mb: given.disk_mb,
            ports: given
                .ports
                .iter()
                .map(|port| api::AllocatedPortMapping {
                    label: port.label.clone(),
                    value: port.value.into(),
                    to: port.to.into(),
                    host_ip: port.host_ip.clone(),
                })
                .collect(),
        },
    }
}

fn allocated_task(given: &AllocatedTask) -> api::AllocatedTaskResources {
    api::AllocatedTaskResources {
        cpu: api::AllocatedCpuResources { cpu_shares: given.cpu_mhz, reserved_cores: Vec::new() },
        memory: api::AllocatedMemoryResources { memory_mb: given.memory_mb, memory_max_mb: given.memory_max_mb },
        ..api::AllocatedTaskResources::default()
    }
}

/// The group's network with the ports that were given, in the form that jobs have.
fn networks(given: &AllocatedGroup) -> Vec<api::NetworkResource> {
    let Some(mode) = &given.network_mode else { return Vec::new() };
    let ports = |is_static: bool| {
        let those = given.ports.iter().filter(move |port| port.is_static == is_static);
        those.map(network_port).collect()
    };
    vec![api::NetworkResource {
        mode: mode.clone(),
        device: given.network_device.clone(),
        ip: given.network_ip.clone(),
        mbits: Some(0),
        reserved_ports: ports(true),
        dynamic_ports: ports(false),
        ..api::NetworkResource::default()
    }]
}

fn network_port(port: &AllocatedPort) -> api::Port {
    api::Port {
        label: port.label.clone(),
        value: port.value.into(),
        to: port.to.into(),
        host_network: "default".to_owned(),
        ..api::Port::default()
    }
}

fn total(given: &AllocatedGroup) -> api::Resources {
    let sum = given.total();
    api::Resources {
        cpu: Some(sum.cpu_mhz),
        memory_mb: Some(sum.memory_mb),
        memory_max_mb: Some(sum.memory_max_mb),
        disk_mb: Some(sum.disk_mb),
        networks: networks(given),
        ..no_resources()
    }
}

fn of_task(given: &AllocatedTask) -> api::Resources {
    api::Resources {
        cpu: Some(given.cpu_mhz),
        memory_mb: Some(given.memory_mb),
        memory_max_mb: Some(given.memory_max_mb),
        ..no_resources()
    }
}

/// All figures zero, none absent.
pub(super) fn no_resources() -> api::Resources {
    api::Resources {
        cpu: Some(0),
        cores: Some(0),
        memory_mb: Some(0),
        memory_max_mb: Some(0),
        disk_mb: Some(0),
        iops: Some(0),
        ..api::Resources::default()
    }
}
