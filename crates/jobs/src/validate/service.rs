use longshore_api::{Service, ServiceCheck, TaskGroup};
use longshore_values::GoDuration;

use super::Faults;
use crate::fault::Fault;

const NAME_CHARACTERS_MAX: usize = 63;

/// Services are not acted on yet; what is plainly wrong about one is still told.
pub(super) fn services(group: &TaskGroup) -> Vec<Fault> {
    let mut faults = Faults::default();
    let mut all = numbered(&group.services, "");
    for task in &group.tasks {
        all.extend(numbered(&task.services, &format!("task {:?} → ", task.name)));
    }
    let first = all.first().map(|(_, service)| service.provider.as_str());
    let one_provider = all.iter().all(|(_, service)| Some(service.provider.as_str()) == first);
    faults.at(&all.first().map_or_else(String::new, |(path, _)| path.clone()), !one_provider, || {
        "Multiple service providers used: task group services must use the same provider".to_owned()
    });
    let mut names: Vec<(&str, &str)> = Vec::new();
    for (path, service) in &all {
        let key = (service.name.as_str(), service.port_label.as_str());
        if names.contains(&key) {
            faults.at(&format!("{path} → name"), true, || {
                format!("Services are not unique: {:?} is there twice on one port", service.name)
            });
        }
        names.push(key);
    }
    for (at, service) in group.services.iter().enumerate() {
        faults.at(&format!("service[{at}] → address_mode"), service.address_mode == "driver", || {
            format!(
                "Service {:?} cannot use address_mode=\"driver\", only services defined in a \"task\" block can use \
                 this mode",
                service.name
            )
        });
    }
    for (path, service) in &all {
        let prefix = format!("Service[{}] {} validation failed: ", service.provider, service.name);
        faults.nested(path, &prefix, of_service(service));
    }
    faults.0
}

/// Services with their paths, which begin with `around`.
fn numbered<'a>(services: &'a [Service], around: &str) -> Vec<(String, &'a Service)> {
    services.iter().enumerate().map(|(at, service)| (format!("{around}service[{at}]"), service)).collect()
}

const ON_UPDATE: [&str; 3] = ["require_healthy", "ignore_warnings", "ignore"];
const METHODS: [&str; 9] = ["", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS"];

fn is_on_update(word: &str) -> bool {
    word.is_empty() || ON_UPDATE.contains(&word)
}

/// What only Consul can check.
fn limits_of_nomad(check: &ServiceCheck) -> Vec<Fault> {
    let mut faults = Faults::default();
    let mut refuse = |asked: bool, name: &str| {
        let path = name.split(' ').next().unwrap_or(name);
        faults.at(path, asked, || format!("{name} may only be set for services with provider consul"));
    };
    refuse(check.expose, "expose");
    refuse(check.address_mode == "driver", "address_mode = \"driver\"");
    refuse(check.success_before_passing > 0, "success_before_passing");
    refuse(check.failures_before_critical > 0, "failures_before_critical");
    refuse(check.tls_skip_verify, "tls_skip_verify");
    refuse(!check.tls_server_name.is_empty(), "tls_server_name");
    let method = check.method.to_uppercase();
    faults.at("method", !METHODS.contains(&method.as_str()) && method != "TRACE", || {
        format!("method {:?} is not one of HTTP's", check.method)
    });
    faults.0
}

fn of_service(service: &Service) -> Vec<Fault> {
    let mut faults = Faults::default();
    let name = service.name.as_str();
    let interpolated = name.contains("${");
    let bytes = name.as_bytes();
    let ends_well = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let sound = ends_well(bytes.first())
        && ends_well(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
        && name.len() <= NAME_CHARACTERS_MAX;
    faults.at("name", !interpolated && !sound, || {
        format!(
            "Service name must be valid per RFC 1123 and can contain only alphanumeric characters or dashes and must \
             be no longer than {NAME_CHARACTERS_MAX} characters: {name:?}"
        )
    });
    faults.at("provider", !matches!(service.provider.as_str(), "consul" | "nomad"), || {
        format!("Service provider must be \"consul\" or \"nomad\"; got {:?}", service.provider)
    });
    let modes = ["auto", "host", "driver", "alloc"];
    faults.at("address_mode", !modes.contains(&service.address_mode.as_str()), || {
        format!("Service address_mode must be one of {modes:?}; got {:?}", service.address_mode)
    });
    faults.at("address_mode", !service.address.is_empty() && service.address_mode != "auto", || {
        format!("Service address_mode must be \"auto\" if address is set; got {:?}", service.address_mode)
    });
    faults.at("on_update", !is_on_update(&service.on_update), || {
        format!("on_update must be one of {ON_UPDATE:?}; got {:?}", service.on_update)
    });
    let of_nomad = service.provider == "nomad";
    faults.at("connect", of_nomad && service.connect.is_some(), || {
        "Service with provider nomad cannot include Connect blocks".to_owned()
    });
    for (at, check) in service.checks.iter().enumerate() {
        let kinds: &[&str] =
            if service.provider == "nomad" { &["http", "tcp"] } else { &["http", "tcp", "script", "grpc"] };
        let kind = check.kind.as_str();
        let mut of_check = Faults::default();
        of_check.at("type", !kinds.contains(&kind), || {
            format!("invalid check type ({kind:?}), must be one of {}", kinds.join(", "))
        });
        of_check.at("path", kind == "http" && check.path.is_empty(), || "http type must have http path".to_owned());
        of_check.at("path", kind == "http" && check.path.contains("://"), || {
            "http type must have relative http path".to_owned()
        });
        of_check.at("command", kind == "script" && check.command.is_empty(), || {
            "script type must have a valid script path".to_owned()
        });
        of_check.at("interval", check.interval < GoDuration::seconds(1), || {
            "missing required value interval. Interval cannot be less than 1s".to_owned()
        });
        of_check.at("timeout", check.timeout < GoDuration::seconds(1), || {
            format!("timeout ({}) is lower than required minimum timeout 1s", check.timeout)
        });
        let needs_port = matches!(kind, "http" | "tcp" | "grpc") && check.port_label.is_empty();
        of_check.at("port", needs_port && service.port_label.is_empty(), || {
            format!("check requires a port but neither check nor service {name:?} have a port")
        });
        of_check.at(
            "initial_status",
            !matches!(check.initial_status.as_str(), "" | "passing" | "warning" | "critical"),
            || format!("invalid initial check state ({}), must be passing, warning or critical", check.initial_status),
        );
        of_check.at("on_update", !is_on_update(&check.on_update), || {
            format!("on_update must be one of {ON_UPDATE:?}; got {:?}", check.on_update)
        });
        of_check.at(
            "check_restart → limit",
            check.check_restart.as_ref().is_some_and(|restart| restart.limit < 0),
            || "limit must be greater than or equal to 0".to_owned(),
        );
        of_check.when(check.success_before_passing < 0 || check.failures_before_critical < 0, || {
            "success_before_passing and failures_before_critical cannot be negative".to_owned()
        });
        if of_nomad {
            of_check.0.extend(limits_of_nomad(check));
        }
        let prefix = format!("Check {} invalid: ", check.name);
        faults.nested(&format!("check[{at}]"), &prefix, of_check.0);
    }
    faults.0
}
