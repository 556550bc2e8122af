//! Who may ask at all: a web page that a person happens to open must not reach the API of that person's machine.
//!
//! - A request with an `Origin` is taken when the origin is the API's own (its host and port are those of `Host`) or a
//!   configured one, or when the route is open to every origin.
//! - On a loopback listener the `Host` must be a loopback name or a configured one, so that a foreign name that was
//!   pointed at 127.0.0.1 gets nothing.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::Access;
use crate::error::ApiError;

/// Where a request came in; the accept loop adds it to each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListenerAddress(IpAddr);

impl ListenerAddress {
    /// A listener for both IPv6 and IPv4 sees 127.0.0.1 as `::ffff:127.0.0.1`, which is loopback all the same.
    pub(crate) fn of(address: IpAddr) -> Self {
        Self(address.to_canonical())
    }
}

/// The middleware before all routes.
pub(crate) async fn guard(State(access): State<Access>, request: Request, next: Next) -> Response {
    let loopback = request.extensions().get::<ListenerAddress>().is_none_or(|listener| listener.0.is_loopback());
    let open = is_open_to_all(request.uri().path());
    if let Err(error) = check(&access, loopback, open, request.method(), request.headers()) {
        return error.into_response();
    }
    if !open {
        return next.run(request).await;
    }
    let has_origin = request.headers().contains_key(header::ORIGIN);
    if request.method() == Method::OPTIONS {
        return preflight();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    if has_origin {
        open_to_all(headers);
    }
    response
}

fn open_to_all(headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
}

fn preflight() -> Response {
    let mut response = StatusCode::OK.into_response();
    let headers = response.headers_mut();
    open_to_all(headers);
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("HEAD, GET"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("X-Nomad-Token"));
    headers.insert(header::VARY, HeaderValue::from_static("Access-Control-Request-Headers"));
    response
}

/// The routes that Nomad opens to every origin, for reading. A command that runs in a task is asked for like something to
/// read, and is none.
fn is_open_to_all(path: &str) -> bool {
    let of_allocation = path.strip_prefix("/v1/client/allocation/");
    path == "/v1/client/stats"
        || path.starts_with("/v1/client/fs/")
        || of_allocation.is_some_and(|rest| rest.split('/').nth(1) == Some("stats"))
}

fn check(
    access: &Access,
    loopback: bool,
    open: bool,
    method: &Method,
    headers: &HeaderMap,
) -> std::result::Result<(), ApiError> {
    if headers.get_all(header::HOST).iter().nth(1).is_some() {
        return Err(ApiError::bad_request("there is more than one Host header; a request has one"));
    }
    let host = match headers.get(header::HOST).map(HeaderValue::to_str) {
        None => None,
        Some(Ok(host)) => Some(host),
        Some(Err(_)) => return Err(ApiError::bad_request("the Host header is not a text")),
    };
    if let Some(host) = host.filter(|_| loopback)
        && !is_loopback_name(name_of(host))
        && !access.hosts.iter().any(|known| known.eq_ignore_ascii_case(name_of(host)))
    {
        return Err(ApiError::new(
            StatusCode::FORBIDDEN,
            format!(
                "Host {host:?} is not one that this loopback listener answers to; \
                 ask for 127.0.0.1, [::1] or localhost, or name the host in http_api_allowed_hosts"
            ),
        ));
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().unwrap_or("(not a text)");
    let reads = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    let own =
        origin.split_once("://").is_some_and(|(_, rest)| host.is_some_and(|host| rest.eq_ignore_ascii_case(host)));
    if own || (open && reads) || access.origins.iter().any(|known| known.eq_ignore_ascii_case(origin)) {
        return Ok(());
    }
    Err(ApiError::new(
        StatusCode::FORBIDDEN,
        format!(
            "requests from the web page origin {origin:?} are refused; name it in http_api_allowed_origins to allow it"
        ),
    ))
}

/// The host of `host:port`.
fn name_of(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split_once(']').map_or(rest, |(name, _)| name);
    }
    host.split_once(':').map_or(host, |(name, _)| name)
}

fn is_loopback_name(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn told(loopback: bool, path: &str, method: Method, host: &str, origin: &str) -> String {
        let access = Access { origins: vec!["https://ui.example".to_owned()], hosts: vec!["dev.example".to_owned()] };
        let mut headers = HeaderMap::new();
        for (name, value) in [(header::HOST, host), (header::ORIGIN, origin)] {
            if !value.is_empty() {
                headers.insert(name, value.parse().unwrap());
            }
        }
        match check(&access, loopback, is_open_to_all(path), &method, &headers) {
            Ok(()) => "taken".to_owned(),
            Err(error) => format!("{}: {}", error.status.as_u16(), error.message.split(' ').next().unwrap()),
        }
    }

    #[test]
    fn hosts() {
        let on_loopback = |host: &str| told(true, "/v1/jobs", Method::GET, host, "");
        for host in [
            "",
            "127.0.0.1:4646",
            "127.8.8.8",
            "[::1]:4646",
            "localhost:4646",
            "LOCALHOST.",
            "dev.example:80",
            "[::ffff:127.0.0.1]:4646",
        ] {
            assert_eq!(on_loopback(host), "taken", "{host}");
        }
        for host in ["evil.example:4646", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1:4646"] {
            assert_eq!(on_loopback(host), "403: Host", "{host}");
        }
        assert_eq!(told(false, "/v1/jobs", Method::GET, "nomad.example:4646", ""), "taken");
    }

    #[test]
    fn one_host_is_asked_for() {
        let mut headers = HeaderMap::new();
        headers.append(header::HOST, HeaderValue::from_static("127.0.0.1:4646"));
        headers.append(header::HOST, HeaderValue::from_static("evil.example"));
        let refused = check(&Access::default(), true, false, &Method::GET, &headers).unwrap_err();
        assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    }

    #[test]
    fn loopback_by_way_of_ipv6_is_loopback() {
        for (address, loopback) in [("::ffff:127.0.0.1", true), ("::1", true), ("::ffff:10.0.0.1", false)] {
            assert_eq!(ListenerAddress::of(address.parse().unwrap()).0.is_loopback(), loopback, "{address}");
        }
    }

    #[test]
    fn origins() {
        let write = |origin: &str| told(true, "/v1/jobs", Method::PUT, "127.0.0.1:4646", origin);
        assert_eq!(write(""), "taken");
        assert_eq!(write("http://127.0.0.1:4646"), "taken");
        assert_eq!(write("https://ui.example"), "taken");
        for origin in ["https://evil.example", "null", "http://127.0.0.1:8000", "http://localhost:4646"] {
            assert_eq!(write(origin), "403: requests", "{origin}");
        }
        let log = "/v1/client/fs/logs/x";
        assert_eq!(told(true, log, Method::GET, "127.0.0.1:4646", "https://any.example"), "taken");
        let of_allocation = |verb: &str| {
            let path = format!("/v1/client/allocation/12345678-abcd-efab-cdef-123456789abc/{verb}");
            told(true, &path, Method::GET, "127.0.0.1:4646", "https://any.example")
        };
        assert_eq!(of_allocation("stats"), "taken");
        for verb in ["exec", "exec/", "EXEC", "%65xec", "restart"] {
            assert_eq!(of_allocation(verb), "403: requests", "{verb}");
        }
        assert_eq!(told(true, log, Method::POST, "127.0.0.1:4646", "https://any.example"), "403: requests");
        assert_eq!(told(true, "/v1/jobs", Method::GET, "127.0.0.1:4646", "https://any.example"), "403: requests");
    }
}
