//! Where the agent listens, and what it tells others (agent-file facts, section 8).

use std::net::{IpAddr, SocketAddr};

use longshore_settings::{AgentConfig, Effective};
use longshore_values::Diagnostic;

/// One listener: where it is bound, and what is advertised for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listener {
    pub(crate) bind: SocketAddr,
    pub(crate) advertise: String,
}

/// All three of Nomad's; only HTTP is served in this build, so only that must make sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listeners {
    pub(crate) http: Listener,
    pub(crate) rpc: Listener,
    pub(crate) serf: Listener,
}

/// One interface of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interface {
    pub(crate) name: String,
    pub(crate) ip: IpAddr,
}

/// An address that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadAddress {
    #[error(
        "{key} {text:?} is neither an IP address nor a template that this build knows (GetInterfaceIP, GetPrivateIP)"
    )]
    Form { key: String, text: String },
    #[error("{key} {text:?}: no such address on this machine")]
    NoneFound { key: String, text: String },
    #[error("Defaulting advertise to localhost is unsafe, please set advertise manually")]
    Localhost { ip: IpAddr },
    #[error("no private IP address was found to advertise for {0}, please set advertise manually")]
    NoPrivate(&'static str),
}

impl BadAddress {
    /// The error with the place of the setting that it comes from, and what to write.
    pub(crate) fn told(&self, effective: &[Effective]) -> Diagnostic {
        let error = Diagnostic::error(self.to_string());
        let (path, error) = match self {
            Self::Form { key, .. } | Self::NoneFound { key, .. } => (key.as_str(), error),
            Self::NoPrivate(_) => ("bind_addr", error.hint(ADVERTISE_EXAMPLE)),
            Self::Localhost { ip } => {
                let why = format!("no other machine reaches this agent at {ip}, so that is not told to others unasked");
                let hint = format!("if only this machine is to use the agent, write advertise {{ http = \"{ip}\" }}");
                ("addresses.http", error.detail(why).hint(hint))
            }
        };
        let given = |path: &str| effective.iter().find(|it| it.path == path).map(|it| &it.origin);
        let Some(origin) = given(path).or_else(|| given("bind_addr")) else { return error };
        match origin.place() {
            Some(place) => error.at(place),
            None => {
                let summary = format!("{} (from {origin})", error.summary);
                Diagnostic { summary, ..error }
            }
        }
    }
}

const ADVERTISE_EXAMPLE: &str =
    "write the address under which others reach this agent, as in advertise { http = \"198.51.100.4\" }";

pub(crate) fn listeners(config: &AgentConfig, interfaces: &[Interface]) -> Result<Listeners, BadAddress> {
    let listener = |key: &'static str, bind: &Option<String>, advertise: &Option<String>, port: u16| {
        let (path, text) = match bind {
            Some(text) => (format!("addresses.{key}"), text),
            None => ("bind_addr".to_owned(), &config.bind_addr),
        };
        let bind = SocketAddr::new(resolve(&path, text, interfaces)?, port);
        let advertise = match advertise {
            Some(text) => advertised(key, text, port, interfaces)?,
            None => {
                let ip = match default_advertise(key, bind.ip(), config.dev, interfaces) {
                    Err(BadAddress::Localhost { .. } | BadAddress::NoPrivate(_)) if key != "http" => bind.ip(),
                    ip => ip?,
                };
                SocketAddr::new(ip, port).to_string()
            }
        };
        Ok(Listener { bind, advertise })
    };
    let (addresses, advertise, ports) = (&config.addresses, &config.advertise, &config.ports);
    Ok(Listeners {
        http: listener("http", &addresses.http, &advertise.http, ports.http)?,
        rpc: listener("rpc", &addresses.rpc, &advertise.rpc, ports.rpc)?,
        serf: listener("serf", &addresses.serf, &advertise.serf, ports.serf)?,
    })
}

fn resolve(key: &str, text: &str, interfaces: &[Interface]) -> Result<IpAddr, BadAddress> {
    let text = text.trim();
    if let Ok(ip) = text.trim_start_matches('[').trim_end_matches(']').parse() {
        return Ok(ip);
    }
    if text == "localhost" {
        return Ok(IpAddr::from([127, 0, 0, 1]));
    }
    let form = || BadAddress::Form { key: key.to_owned(), text: text.to_owned() };
    let none = || BadAddress::NoneFound { key: key.to_owned(), text: text.to_owned() };
    let inner = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")).ok_or_else(form)?.trim();
    let words: Vec<&str> = inner.split_whitespace().collect();
    match words.as_slice() {
        ["GetPrivateIP"] => private_ip(interfaces).ok_or_else(none),
        ["GetInterfaceIP", name] => {
            let name = name.trim_matches('"');
            let mut of_name = interfaces.iter().filter(|interface| interface.name == name);
            of_name.find(|interface| interface.ip.is_ipv4()).map(|interface| interface.ip).ok_or_else(none)
        }
        _ => Err(form()),
    }
}

fn advertised(key: &str, text: &str, port: u16, interfaces: &[Interface]) -> Result<String, BadAddress> {
    let text = text.trim();
    if text.starts_with("{{") {
        return Ok(SocketAddr::new(resolve(&format!("advertise.{key}"), text, interfaces)?, port).to_string());
    }
    if text.parse::<SocketAddr>().is_ok() {
        return Ok(text.to_owned());
    }
    if let Ok(ip) = text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        return Ok(SocketAddr::new(ip, port).to_string());
    }
    // A host name, with a port or without one.
    match text.rsplit_once(':') {
        Some((_, digits)) if digits.parse::<u16>().is_ok() => Ok(text.to_owned()),
        _ => Ok(format!("{text}:{port}")),
    }
}

fn default_advertise(
    key: &'static str,
    bind: IpAddr,
    dev: bool,
    interfaces: &[Interface],
) -> Result<IpAddr, BadAddress> {
    if bind.is_loopback() {
        return if dev { Ok(bind) } else { Err(BadAddress::Localhost { ip: bind }) };
    }
    if !bind.is_unspecified() {
        return Ok(bind);
    }
    match private_ip(interfaces) {
        Some(ip) => Ok(ip),
        None if dev => Ok(IpAddr::from([127, 0, 0, 1])),
        None => Err(BadAddress::NoPrivate(key)),
    }
}

/// The first private IPv4 address that is not loopback, as RFC 6890 has them.
fn private_ip(interfaces: &[Interface]) -> Option<IpAddr> {
    interfaces.iter().map(|interface| interface.ip).find(|ip| match ip {
        IpAddr::V4(ip) => ip.is_private() || ip.octets()[0] == 100 && (64..128).contains(&ip.octets()[1]),
        IpAddr::V6(_) => false,
    })
}

/// The addresses of this machine's interfaces, in the kernel's order.
pub(crate) fn interfaces() -> Vec<Interface> {
    let Ok(addresses) = nix::ifaddrs::getifaddrs() else { return Vec::new() };
    addresses
        .filter_map(|entry| {
            let address = entry.address?;
            let ip = match (address.as_sockaddr_in(), address.as_sockaddr_in6()) {
                (Some(v4), _) => IpAddr::V4(v4.ip()),
                (None, Some(v6)) => IpAddr::V6(v6.ip()),
                (None, None) => return None,
            };
            Some(Interface { name: entry.interface_name, ip })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use longshore_settings::Inputs;

    use super::*;

    fn machine() -> Vec<Interface> {
        let interface = |name: &str, ip: &str| Interface { name: name.to_owned(), ip: ip.parse().unwrap() };
        vec![interface("lo", "127.0.0.1"), interface("eth0", "203.0.113.9"), interface("eth1", "10.0.0.7")]
    }

    #[track_caller]
    fn check(dev: bool, text: &str, expected: &str) {
        let base = "data_dir = \"/var/lib/longshore\"\nserver { enabled = true }\n";
        let inputs = Inputs { dev, files: vec![("a.hcl".to_owned(), format!("{base}{text}"))], ..Inputs::default() };
        let config = AgentConfig::read(&inputs).unwrap();
        let got = match listeners(&config, &machine()) {
            Ok(all) => format!("{} as {}", all.http.bind, all.http.advertise),
            Err(error) => error.to_string(),
        };
        assert_eq!(got, expected, "{text}");
    }

    #[test]
    fn bound_and_advertised() {
        check(true, "", "127.0.0.1:4646 as 127.0.0.1:4646");
        check(false, "", "0.0.0.0:4646 as 10.0.0.7:4646");
        check(false, "bind_addr = \"203.0.113.9\"", "203.0.113.9:4646 as 203.0.113.9:4646");
        check(false, "bind_addr = \"{{ GetInterfaceIP \\\"eth1\\\" }}\"", "10.0.0.7:4646 as 10.0.0.7:4646");
        check(false, "ports { http = 5000 }", "0.0.0.0:5000 as 10.0.0.7:5000");
        check(false, "advertise { http = \"198.51.100.4\" }", "0.0.0.0:4646 as 198.51.100.4:4646");
        check(false, "advertise { http = \"a.example:80\" }", "0.0.0.0:4646 as a.example:80");
        check(
            false,
            "addresses { http = \"127.0.0.1\" }\nadvertise { http = \"127.0.0.1\" }",
            "127.0.0.1:4646 as 127.0.0.1:4646",
        );
        check(
            false,
            "bind_addr = \"127.0.0.1\"",
            "Defaulting advertise to localhost is unsafe, please set advertise manually",
        );
        check(
            false,
            "bind_addr = \"{{ GetInterfaceIP \\\"eth9\\\" }}\"",
            "bind_addr \"{{ GetInterfaceIP \\\"eth9\\\" }}\": no such address on this machine",
        );
    }
}
