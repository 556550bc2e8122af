use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use longshore_api::JobRefusal;
use longshore_server::ServerError;
pub(crate) use longshore_values::with_causes;

use crate::ShowError;

/// An answer that is not what was asked for: a status and a text for people; JSON only where a client asked for that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    /// Whether the message is JSON.
    pub(crate) is_json: bool,
}

pub(crate) type Result<T, E = ApiError> = std::result::Result<T, E>;

impl ApiError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), is_json: false }
    }
    /// A job that is not accepted, with what stands against each of its parts.
    pub(crate) fn refused_job(refusal: &JobRefusal) -> Self {
        match serde_json::to_string(refusal) {
            Ok(message) => Self { is_json: true, ..Self::bad_request(message) },
            Err(_) => Self::bad_request(refusal.error.as_str()),
        }
    }
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }
    /// What Nomad answers to everything without a code of its own, mistakes of the client included.
    pub(crate) fn server(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }
    pub(crate) fn invalid_method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "Invalid method")
    }
}

impl From<ShowError> for ApiError {
    fn from(error: ShowError) -> Self {
        Self::server(with_causes(&error))
    }
}

/// Nomad gives writes that do not fit what is there no code of their own.
impl From<ServerError> for ApiError {
    fn from(error: ServerError) -> Self {
        Self::server(with_causes(&error))
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let kind = if self.is_json { "application/json" } else { "text/plain; charset=utf-8" };
        let mut response = Response::new(Body::from(self.message));
        *response.status_mut() = self.status;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        response
    }
}
