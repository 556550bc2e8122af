//! What a job has when it says nothing, by job type. The only place where defaults stand.

mod parts;

use std::collections::BTreeSet;

use longshore_api::{
    Affinity, Constraint, Consul, EphemeralDisk, Job, LogConfig, MigrateStrategy, NetworkResource, ReschedulePolicy,
    Resources, RestartPolicy, Service, Spread, Task, TaskGroup, UpdateStrategy,
};
use longshore_values::GoDuration;

const DAY: GoDuration = GoDuration::hours(24);

/// The defaults that depend on the type of the job.
struct OfType {
    restart: RestartPolicy,
    /// `None`: jobs of this type are not rescheduled.
    reschedule: Option<ReschedulePolicy>,
    /// `None`: updates of this type are not rolled out.
    update: Option<UpdateStrategy>,
    migrate: Option<MigrateStrategy>,
}

fn of_type(kind: &str) -> OfType {
    let long_lived = RestartPolicy {
        attempts: Some(2),
        interval: Some(GoDuration::minutes(30)),
        delay: Some(GoDuration::seconds(15)),
        mode: Some("fail".to_owned()),
        render_templates: Some(false),
    };
    let until_done = RestartPolicy { attempts: Some(3), interval: Some(DAY), ..long_lived.clone() };
    match kind {
        "service" => OfType {
            restart: long_lived,
            reschedule: Some(ReschedulePolicy {
                attempts: Some(0),
                interval: Some(GoDuration::ZERO),
                delay: Some(GoDuration::seconds(30)),
                delay_function: Some("exponential".to_owned()),
                max_delay: Some(GoDuration::hours(1)),
                unlimited: Some(true),
            }),
            update: Some(update()),
            migrate: Some(MigrateStrategy {
                max_parallel: Some(1),
                health_check: Some("checks".to_owned()),
                min_healthy_time: Some(GoDuration::seconds(10)),
                healthy_deadline: Some(GoDuration::minutes(5)),
            }),
        },
        "batch" => OfType {
            restart: until_done,
            reschedule: Some(ReschedulePolicy {
                attempts: Some(1),
                interval: Some(DAY),
                delay: Some(GoDuration::seconds(5)),
                delay_function: Some("constant".to_owned()),
                max_delay: Some(GoDuration::ZERO),
                unlimited: Some(false),
            }),
            update: None,
            migrate: None,
        },
        "sysbatch" => OfType { restart: until_done, reschedule: None, update: None, migrate: None },
        _ => OfType { restart: long_lived, reschedule: None, update: None, migrate: None },
    }
}

fn update() -> UpdateStrategy {
    UpdateStrategy {
        stagger: Some(GoDuration::seconds(30)),
        max_parallel: Some(1),
        health_check: Some("checks".to_owned()),
        min_healthy_time: Some(GoDuration::seconds(10)),
        healthy_deadline: Some(GoDuration::minutes(5)),
        progress_deadline: Some(GoDuration::minutes(10)),
        auto_revert: Some(false),
        auto_promote: Some(false),
        canary: Some(0),
    }
}

fn fill<T: Clone>(slot: &mut Option<T>, default: &Option<T>) {
    if slot.is_none() {
        slot.clone_from(default);
    }
}

fn fill_update(given: &mut UpdateStrategy, default: &UpdateStrategy) {
    fill(&mut given.stagger, &default.stagger);
    fill(&mut given.max_parallel, &default.max_parallel);
    fill(&mut given.health_check, &default.health_check);
    fill(&mut given.min_healthy_time, &default.min_healthy_time);
    fill(&mut given.healthy_deadline, &default.healthy_deadline);
    fill(&mut given.progress_deadline, &default.progress_deadline);
    fill(&mut given.auto_revert, &default.auto_revert);
    fill(&mut given.auto_promote, &default.auto_promote);
    fill(&mut given.canary, &default.canary);
}

fn fill_migrate(given: &mut MigrateStrategy, default: &MigrateStrategy) {
    fill(&mut given.max_parallel, &default.max_parallel);
    fill(&mut given.health_check, &default.health_check);
    fill(&mut given.min_healthy_time, &default.min_healthy_time);
    fill(&mut given.healthy_deadline, &default.healthy_deadline);
}

fn fill_reschedule(given: &mut ReschedulePolicy, default: &ReschedulePolicy) {
    fill(&mut given.attempts, &default.attempts);
    fill(&mut given.interval, &default.interval);
    fill(&mut given.delay, &default.delay);
    fill(&mut given.delay_function, &default.delay_function);
    fill(&mut given.max_delay, &default.max_delay);
    fill(&mut given.unlimited, &default.unlimited);
}

fn fill_restart(given: &mut RestartPolicy, default: &RestartPolicy) {
    fill(&mut given.attempts, &default.attempts);
    fill(&mut given.interval, &default.interval);
    fill(&mut given.delay, &default.delay);
    fill(&mut given.mode, &default.mode);
    fill(&mut given.render_templates, &default.render_templates);
}

/// Fills in what a request leaves out, keeping the form of a request: what `/v1/jobs/parse` gives with `Canonicalize`.
pub fn canonicalize(job: &mut Job) {
    let id = job.id.clone().unwrap_or_default();
    job.id.get_or_insert_default();
    job.parent_id.get_or_insert_default();
    job.name.get_or_insert(id);
    job.namespace.get_or_insert_with(|| "default".to_owned());
    job.region.get_or_insert_with(|| "global".to_owned());
    job.node_pool.get_or_insert_default();
    let kind = job.kind.get_or_insert_with(|| "service".to_owned()).clone();
    job.priority.get_or_insert(50);
    job.stop.get_or_insert(false);
    job.all_at_once.get_or_insert(false);
    if job.datacenters.is_empty() {
        job.datacenters.push("*".to_owned());
    }
    for text in [
        &mut job.consul_token,
        &mut job.consul_namespace,
        &mut job.vault_token,
        &mut job.vault_namespace,
        &mut job.nomad_token_id,
        &mut job.status,
        &mut job.status_description,
    ] {
        text.get_or_insert_default();
    }
    job.stable.get_or_insert(false);
    job.version.get_or_insert(0);
    for index in [&mut job.create_index, &mut job.modify_index, &mut job.job_modify_index] {
        index.get_or_insert(0);
    }
    let defaults = of_type(&kind);
    let given_update = job.update.clone();
    match &mut job.update {
        Some(given) => fill_update(given, &update()),
        None => job.update.clone_from(&defaults.update),
    }
    if let Some(periodic) = &mut job.periodic {
        periodic.enabled.get_or_insert(true);
        periodic.spec.get_or_insert_default();
        periodic.spec_type.get_or_insert_with(|| "cron".to_owned());
        periodic.prohibit_overlap.get_or_insert(false);
        periodic.time_zone.get_or_insert_with(|| "UTC".to_owned());
    }
    if let Some(parameterized) = job.parameterized_job.as_mut().filter(|parameterized| parameterized.payload.is_empty())
    {
        parameterized.payload = "optional".to_owned();
    }
    if let Some(multiregion) = &mut job.multiregion {
        let strategy = multiregion.strategy.get_or_insert_default();
        strategy.max_parallel.get_or_insert(0);
        strategy.on_failure.get_or_insert_default();
    }
    weights(&mut job.affinities, &mut job.spreads);
    let of_job = OfJob {
        name: job.name.clone().unwrap_or_default(),
        namespace: job.namespace.clone().unwrap_or_default(),
        update: given_update,
        reschedule: job.reschedule.clone(),
        migrate: job.migrate.clone(),
        defaults,
    };
    job.task_groups.iter_mut().for_each(|group| of_job.group(group));
}

/// What groups take over from their job.
struct OfJob {
    name: String,
    namespace: String,
    update: Option<UpdateStrategy>,
    reschedule: Option<ReschedulePolicy>,
    migrate: Option<MigrateStrategy>,
    defaults: OfType,
}

impl OfJob {
    fn group(&self, group: &mut TaskGroup) {
        let name = group.name.get_or_insert_default().clone();
        let least = group.scaling.as_ref().and_then(|scaling| scaling.min);
        let count = *group.count.get_or_insert(least.unwrap_or(1));
        if let Some(scaling) = &mut group.scaling {
            scaling.min.get_or_insert(count);
            scaling.enabled.get_or_insert(true);
        }
        group.consul.get_or_insert_with(Consul::default);
        let disk = group.ephemeral_disk.get_or_insert_with(EphemeralDisk::default);
        disk.size_mb.get_or_insert(300);
        disk.sticky.get_or_insert(false);
        disk.migrate.get_or_insert(false);
        self.policies(group);
        weights(&mut group.affinities, &mut group.spreads);
        if let Some(disconnect) = &mut group.disconnect {
            disconnect.replace.get_or_insert(true);
            disconnect.reconcile.get_or_insert_with(|| "best_score".to_owned());
        }
        let restart = group.restart_policy.clone().unwrap_or_default();
        for service in &mut group.services {
            self.service(service, &name, None);
        }
        for task in &mut group.tasks {
            self.task(task, &name, &restart);
        }
    }

    fn policies(&self, group: &mut TaskGroup) {
        let defaults = &self.defaults;
        fill_restart(group.restart_policy.get_or_insert_default(), &defaults.restart);

        if self.reschedule.is_some() || defaults.reschedule.is_some() || group.reschedule_policy.is_some() {
            let given = group.reschedule_policy.get_or_insert_default();
            for below in [&self.reschedule, &defaults.reschedule].into_iter().flatten() {
                fill_reschedule(given, below);
            }
        }
        if self.update.is_some() || defaults.update.is_some() || group.update.is_some() {
            let given = group.update.get_or_insert_default();
            for below in self.update.iter().chain([&update()]) {
                fill_update(given, below);
            }
        }
        if self.migrate.is_some() || defaults.migrate.is_some() || group.migrate.is_some() {
            let given = group.migrate.get_or_insert_default();
            for below in [&self.migrate, &defaults.migrate].into_iter().flatten() {
                fill_migrate(given, below);
            }
        }
    }

    fn task(&self, task: &mut Task, group: &str, restart: &RestartPolicy) {
        fill_restart(task.restart_policy.get_or_insert_default(), restart);
        task.kill_timeout.get_or_insert(GoDuration::seconds(5));
        resources(task.resources.get_or_insert_with(Resources::default));
        log_config(task.log_config.get_or_insert_with(LogConfig::default));
        weights(&mut task.affinities, &mut []);
        parts::of_task(task);
        let name = task.name.clone();
        for service in &mut task.services {
            self.service(service, group, Some(&name));
        }
    }

    fn service(&self, service: &mut Service, group: &str, task: Option<&str>) {
        if service.name.is_empty() {
            let task = task.map(|task| format!("-{task}")).unwrap_or_default();
            service.name = format!("{}-{group}{task}", self.name);
        }
        let base = format!("{}-{group}{}", self.name, task.map(|task| format!("-{task}")).unwrap_or_default());
        for (name, value) in
            [("JOB", self.name.as_str()), ("TASKGROUP", group), ("TASK", task.unwrap_or("")), ("BASE", base.as_str())]
        {
            service.name = service.name.replace(&format!("${{{name}}}"), value);
        }
        for (text, default) in [
            (&mut service.address_mode, "auto"),
            (&mut service.on_update, "require_healthy"),
            (&mut service.provider, "consul"),
            (&mut service.namespace, self.namespace.as_str()),
        ] {
            if text.is_empty() {
                *text = default.to_owned();
            }
        }
        parts::of_service(service);
        for check in &mut service.checks {
            if check.name.is_empty() {
                check.name = format!("service: {:?} check", service.name);
            }
            if check.on_update.is_empty() {
                check.on_update.clone_from(&service.on_update);
            }
            fill(&mut check.check_restart, &service.check_restart);
            if let Some(restart) = &mut check.check_restart {
                restart.grace.get_or_insert(GoDuration::seconds(1));
            }
        }
    }
}

fn weights(affinities: &mut [Affinity], spreads: &mut [Spread]) {
    for affinity in affinities {
        affinity.weight.get_or_insert(50);
    }
    for spread in spreads {
        spread.weight.get_or_insert(50);
    }
}

fn resources(given: &mut Resources) {
    let cores = *given.cores.get_or_insert(0);
    given.cpu.get_or_insert(if cores > 0 { 0 } else { 100 });
    given.memory_mb.get_or_insert(300);
    for device in &mut given.devices {
        device.count.get_or_insert(1);
        weights(&mut device.affinities, &mut []);
    }
    if let Some(numa) = given.numa.as_mut().filter(|numa| numa.affinity.is_empty()) {
        numa.affinity = "none".to_owned();
    }
}

fn log_config(given: &mut LogConfig) {
    given.max_files.get_or_insert(10);
    given.max_file_size_mb.get_or_insert(10);
    let enabled = given.enabled.take().unwrap_or(true);
    given.disabled.get_or_insert(!enabled);
}

/// Turns a filled request into the form that is kept and read back.
pub(crate) fn to_stored(job: &mut Job) {
    if job.node_pool.as_deref() == Some("") {
        job.node_pool = Some("default".to_owned());
    }
    if job.priority == Some(0) {
        job.priority = Some(50);
    }
    job.reschedule = None;
    job.migrate = None;
    let given = job.update.take().filter(|_| matches!(job.kind.as_deref(), Some("service" | "system")));
    job.update = Some(UpdateStrategy {
        stagger: Some(given.as_ref().and_then(|given| given.stagger).unwrap_or_default()),
        max_parallel: Some(given.as_ref().and_then(|given| given.max_parallel).unwrap_or_default()),
        health_check: Some(String::new()),
        min_healthy_time: Some(GoDuration::ZERO),
        healthy_deadline: Some(GoDuration::ZERO),
        progress_deadline: Some(GoDuration::ZERO),
        auto_revert: Some(false),
        auto_promote: Some(false),
        canary: Some(0),
    });
    job.payload = job.payload.take().filter(|payload| !payload.is_empty());
    job.dispatch_idempotency_token.get_or_insert_default();
    for group in &mut job.task_groups {
        group.networks.iter_mut().for_each(network);
        for service in &mut group.services {
            service.check_restart = None;
        }
        for task in &mut group.tasks {
            if let Some(resources) = &mut task.resources {
                for amount in [&mut resources.memory_max_mb, &mut resources.disk_mb, &mut resources.iops] {
                    amount.get_or_insert(0);
                }
                resources.networks.iter_mut().for_each(network);
            }
            for service in &mut task.services {
                service.check_restart = None;
            }
            task.config.values_mut().for_each(whole_numbers);
        }
    }
    job.task_groups.iter_mut().for_each(ask_for_signals);
}

/// The signals that a task asks for: at its end, and when its templates or its token change.
fn signals_of(task: &Task) -> impl Iterator<Item = &str> {
    let asks = |mode: &Option<String>| mode.as_deref() == Some("signal");
    let of_templates = task.templates.iter().filter(move |it| asks(&it.change_mode));
    let of_vault = task.vault.iter().filter(move |it| asks(&it.change_mode));
    let named = of_templates.map(|it| &it.change_signal).chain(of_vault.map(|it| &it.change_signal));
    named.filter_map(Option::as_deref).chain([task.kill_signal.as_str()])
}

/// A group whose tasks are sent a signal of their choice needs a node that can send it.
fn ask_for_signals(group: &mut TaskGroup) {
    let signals: BTreeSet<&str> = group.tasks.iter().flat_map(signals_of).filter(|signal| !signal.is_empty()).collect();
    if signals.is_empty() {
        return;
    }
    let asked = Constraint {
        ltarget: "${attr.os.signals}".to_owned(),
        operand: "set_contains".to_owned(),
        rtarget: signals.into_iter().collect::<Vec<_>>().join(","),
    };
    let known = group.constraints.iter_mut();
    match known.into_iter().find(|known| known.ltarget == asked.ltarget && known.operand == asked.operand) {
        Some(known) => *known = asked,
        None => group.constraints.push(asked),
    }
}

fn network(network: &mut NetworkResource) {
    network.mbits.get_or_insert(0);
    for port in network.reserved_ports.iter_mut().chain(&mut network.dynamic_ports) {
        if port.host_network.is_empty() {
            port.host_network = "default".to_owned();
        }
    }
}

/// `3.0` and `3` are one number, whoever wrote the JSON.
fn whole_numbers(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Number(number) => {
            if let Some(float) =
                number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15)
            {
                *value = (float as i64).into();
            }
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        serde_json::Value::Object(items) => items.values_mut().for_each(whole_numbers),
        _ => {}
    }
}
