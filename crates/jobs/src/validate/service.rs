use longshore_api::{Service, TaskGroup};
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
    for service in all() {
        let prefix = format!("Service[{}] {} validation failed: ", service.provider, service.name);
        faults.push(Fault::nested(prefix, of_service(service)));
    }
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
        faults.push(Fault::nested(format!("Check {} invalid: ", check.name), of_check.0));
    }
    faults.0
}
