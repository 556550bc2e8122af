use longshore_api::{Service, ServiceCheck, TaskGroup};
use longshore_values::GoDuration;

use super::Faults;
use crate::fault::Fault;

const NAME_CHARACTERS_MAX: usize = 63;

/// Services are not acted on yet; what is plainly wrong about one is still told.
pub(super) fn services(group: &TaskGroup) -> Vec<Fault> {
    let mut faults = Faults::default();
    let all = || group.services.iter().chain(group.tasks.iter().flat_map(|task| &task.services));
    let first = all().next().map(|service| service.provider.as_str());
    let one_provider = all().all(|service| Some(service.provider.as_str()) == first);
    faults.when(!one_provider, || {
        "Multiple service providers used: task group services must use the same provider".to_owned()
    });
    let mut names: Vec<(&str, &str)> = Vec::new();
    for service in all() {
        let key = (service.name.as_str(), service.port_label.as_str());
        if names.contains(&key) {
            faults.when(true, || format!("Services are not unique: {:?} is there twice on one port", service.name));
        }
        names.push(key);
    }
    for service in &group.services {
        faults.when(service.address_mode == "driver", || {
            format!(
                "Service {:?} cannot use address_mode=\"driver\", only services defined in a \"task\" block can use \
                 this mode",
                service.name
            )
        });
    }
    for service in all() {
        let prefix = format!("Service[{}] {} validation failed: ", service.provider, service.name);
        faults.push(Fault::nested(prefix, of_service(service)));
    }
    faults.0
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
        faults.when(asked, || format!("{name} may only be set for services with provider consul"));
    };
    refuse(check.expose, "expose");
    refuse(check.address_mode == "driver", "address_mode = \"driver\"");
    refuse(check.success_before_passing > 0, "success_before_passing");
    refuse(check.failures_before_critical > 0, "failures_before_critical");
    refuse(check.tls_skip_verify, "tls_skip_verify");
    refuse(!check.tls_server_name.is_empty(), "tls_server_name");
    let method = check.method.to_uppercase();
    faults.when(!METHODS.contains(&method.as_str()) && method != "TRACE", || {
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
    faults.when(!interpolated && !sound, || {
        format!(
            "Service name must be valid per RFC 1123 and can contain only alphanumeric characters or dashes and must \
             be no longer than {NAME_CHARACTERS_MAX} characters: {name:?}"
        )
    });
    faults.when(!matches!(service.provider.as_str(), "consul" | "nomad"), || {
        format!("Service provider must be \"consul\" or \"nomad\"; got {:?}", service.provider)
    });
    let modes = ["auto", "host", "driver", "alloc"];
    faults.when(!modes.contains(&service.address_mode.as_str()), || {
        format!("Service address_mode must be one of {modes:?}; got {:?}", service.address_mode)
    });
    faults.when(!service.address.is_empty() && service.address_mode != "auto", || {
        format!("Service address_mode must be \"auto\" if address is set; got {:?}", service.address_mode)
    });
    faults.when(!is_on_update(&service.on_update), || {
        format!("on_update must be one of {ON_UPDATE:?}; got {:?}", service.on_update)
    });
    let of_nomad = service.provider == "nomad";
    faults.when(of_nomad && service.connect.is_some(), || {
        "Service with provider nomad cannot include Connect blocks".to_owned()
    });
    for check in &service.checks {
        let kinds: &[&str] =
            if service.provider == "nomad" { &["http", "tcp"] } else { &["http", "tcp", "script", "grpc"] };
        let kind = check.kind.as_str();
        let mut of_check = Faults::default();
        of_check.when(!kinds.contains(&kind), || {
            format!("invalid check type ({kind:?}), must be one of {}", kinds.join(", "))
        });
        of_check.when(kind == "http" && check.path.is_empty(), || "http type must have http path".to_owned());
        of_check
            .when(kind == "http" && check.path.contains("://"), || "http type must have relative http path".to_owned());
        of_check.when(kind == "script" && check.command.is_empty(), || {
            "script type must have a valid script path".to_owned()
        });
        of_check.when(check.interval < GoDuration::seconds(1), || {
            "missing required value interval. Interval cannot be less than 1s".to_owned()
        });
        of_check.when(check.timeout < GoDuration::seconds(1), || {
            format!("timeout ({}) is lower than required minimum timeout 1s", check.timeout)
        });
        let needs_port = matches!(kind, "http" | "tcp" | "grpc") && check.port_label.is_empty();
        of_check.when(needs_port && service.port_label.is_empty(), || {
            format!("check requires a port but neither check nor service {name:?} have a port")
        });
        of_check.when(!matches!(check.initial_status.as_str(), "" | "passing" | "warning" | "critical"), || {
            format!("invalid initial check state ({}), must be passing, warning or critical", check.initial_status)
        });
        of_check.when(!is_on_update(&check.on_update), || {
            format!("on_update must be one of {ON_UPDATE:?}; got {:?}", check.on_update)
        });
        of_check.when(check.check_restart.as_ref().is_some_and(|restart| restart.limit < 0), || {
            "limit must be greater than or equal to 0".to_owned()
        });
        of_check.when(check.success_before_passing < 0 || check.failures_before_critical < 0, || {
            "success_before_passing and failures_before_critical cannot be negative".to_owned()
        });
        if of_nomad {
            of_check.0.extend(limits_of_nomad(check));
        }
        faults.push(Fault::nested(format!("Check {} invalid: ", check.name), of_check.0));
    }
    faults.0
}
