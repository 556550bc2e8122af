use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use longshore_values::without_login;

/// Where an engine listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    Unix(PathBuf),
    /// Plain HTTP.
    Tcp {
        host: String,
        port: u16,
    },
}

/// Why a text names no engine that can be spoken to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEndpoint {
    #[error("the engine's address is empty: write unix:///var/run/docker.sock or tcp://HOST:PORT")]
    Empty,
    #[error("{0:?} is no address of an engine: write unix:///PATH or tcp://HOST:PORT")]
    Form(String),
    #[error(
        "{0:?} asks for TLS, which this build cannot speak to an engine: use its Unix socket, or plain tcp:// inside of a trusted network"
    )]
    Tls(String),
    #[error("{0:?} is a named pipe, which exists on Windows only: use unix:///PATH or tcp://HOST:PORT")]
    NamedPipe(String),
}

const PLAIN_PORT: u16 = 2375;

impl Endpoint {
    /// What the environment says when no address is configured: `DOCKER_HOST`, or the usual socket.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Self, BadEndpoint> {
        let host = variable("DOCKER_HOST").filter(|host| !host.is_empty());
        let tls = variable("DOCKER_TLS_VERIFY").is_some_and(|verify| !verify.is_empty());
        match host {
            None => Ok(Self::default()),
            Some(host) => match host.parse()? {
                Self::Tcp { .. } if tls => Err(BadEndpoint::Tls(without_login(&host))),
                endpoint => Ok(endpoint),
            },
        }
    }
}

impl Default for Endpoint {
    fn default() -> Self {
        Self::Unix(PathBuf::from("/var/run/docker.sock"))
    }
}

impl FromStr for Endpoint {
    type Err = BadEndpoint;

    fn from_str(text: &str) -> Result<Self, BadEndpoint> {
        let bad = || BadEndpoint::Form(without_login(text));
        if text.is_empty() {
            return Err(BadEndpoint::Empty);
        }
        let (scheme, rest) = text.split_once("://").ok_or_else(bad)?;
        match scheme {
            "unix" if rest.starts_with('/') => Ok(Self::Unix(PathBuf::from(rest))),
            "tcp" | "http" => {
                let authority = rest.trim_end_matches('/');
                let (host, port) = match authority.rsplit_once(':') {
                    Some((host, port)) if !port.contains(']') => (host, port.parse().map_err(|_| bad())?),
                    _ => (authority, PLAIN_PORT),
                };
                let bracketed = host.starts_with('[') && host.ends_with(']');
                let odd = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '@');
                if host.is_empty() || host.contains(odd) || (host.contains(':') && !bracketed) {
                    return Err(bad());
                }
                Ok(Self::Tcp { host: host.to_owned(), port })
            }
            "https" => Err(BadEndpoint::Tls(without_login(text))),
            "npipe" => Err(BadEndpoint::NamedPipe(without_login(text))),
            _ => Err(bad()),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix://{}", path.display()),
            Self::Tcp { host, port } => write!(f, "tcp://{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let got = match text.parse::<Endpoint>() {
            Ok(endpoint) => endpoint.to_string(),
            Err(why) => format!("error: {why}"),
        };
        assert!(got.starts_with(expected), "{text:?} gave {got:?}, not {expected:?}");
    }

    #[test]
    fn addresses() {
        check("unix:///run/docker.sock", "unix:///run/docker.sock");
        check("tcp://10.0.0.1:2375", "tcp://10.0.0.1:2375");
        check("tcp://engine", "tcp://engine:2375");
        check("http://engine:80/", "tcp://engine:80");
        check("tcp://[::1]:2375", "tcp://[::1]:2375");
        check("tcp://[::1]", "tcp://[::1]:2375");
        check("", "error: the engine's address is empty");
        check("/run/docker.sock", "error: \"/run/docker.sock\" is no address");
        check("unix://run/docker.sock", "error: \"unix://run/docker.sock\" is no address");
        check("tcp://::1:2375", "error: \"tcp://::1:2375\" is no address");
        check("tcp://", "error: \"tcp://\" is no address");
        check("tcp://a:b", "error: \"tcp://a:b\" is no address");
        check("https://engine:2376", "error: \"https://engine:2376\" asks for TLS");
        check("tcp://me:secret@engine:1", "error: \"tcp://***@engine:1\" is no address");
        check("https://me:se@cret@engine", "error: \"https://***@engine\" asks for TLS");
        check("npipe:////./pipe/docker_engine", "error: \"npipe:////./pipe/docker_engine\" is a named pipe");
    }

    #[test]
    fn the_environment_is_followed() {
        let with = |host: &'static str, verify: &'static str| {
            Endpoint::from_environment(move |name| match name {
                "DOCKER_HOST" => Some(host.to_owned()),
                "DOCKER_TLS_VERIFY" => Some(verify.to_owned()),
                _ => None,
            })
        };
        assert_eq!(with("", ""), Ok(Endpoint::default()));
        assert_eq!(with("", "1"), Ok(Endpoint::default()));
        assert_eq!(with("unix:///a", "1"), Ok(Endpoint::Unix("/a".into())));
        assert_eq!(with("tcp://a:1", ""), Ok(Endpoint::Tcp { host: "a".into(), port: 1 }));
        assert_eq!(with("tcp://a:1", "1"), Err(BadEndpoint::Tls("tcp://a:1".into())));
    }
}
