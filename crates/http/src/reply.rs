use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use longshore_model::LogIndex;
use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};

use crate::error::{ApiError, Result};
use crate::params::Params;

const INDEX: HeaderName = HeaderName::from_static("x-nomad-index");
const KNOWN_LEADER: HeaderName = HeaderName::from_static("x-nomad-knownleader");
const LAST_CONTACT: HeaderName = HeaderName::from_static("x-nomad-lastcontact");

/// A JSON answer, indented when the request asks for it.
pub(crate) fn json<T: Serialize>(params: &Params, value: &T) -> Result<Response> {
    let mut body = Vec::with_capacity(256);
    let written = if params.pretty() {
        let formatter = PrettyFormatter::with_indent(b"    ");
        let written = value.serialize(&mut Serializer::with_formatter(&mut body, formatter));
        body.push(b'\n');
        written
    } else {
        serde_json::to_writer(&mut body, value)
    };
    written.map_err(|why| ApiError::server(format!("the answer could not be written as JSON: {why}")))?;
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// An answer without a body.
pub(crate) fn empty() -> Response {
    StatusCode::OK.into_response()
}

/// Tells the index that a read is as of, and that it is as new as can be.
pub(crate) fn as_of(response: impl IntoResponse, index: LogIndex) -> Response {
    let mut response = written_at(response, LogIndex(index.0.max(1)));
    response.headers_mut().insert(KNOWN_LEADER, HeaderValue::from_static("true"));
    response.headers_mut().insert(LAST_CONTACT, HeaderValue::from_static("0"));
    response
}

/// Tells the index of a write.
pub(crate) fn written_at(response: impl IntoResponse, index: LogIndex) -> Response {
    let mut response = response.into_response();
    response.headers_mut().insert(INDEX, HeaderValue::from(index.0));
    response
}
