//! The query of a request, read as Go reads it, with Nomad's words for what cannot be read.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use longshore_model::LogIndex;
use longshore_values::GoDuration;

use crate::error::{ApiError, Result};

const WAIT_MAX: GoDuration = GoDuration::minutes(5);

/// The parameters of a request, decoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Params(Vec<(String, String)>);

impl<S: Sync> FromRequestParts<S> for Params {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self::parse(parts.uri.query().unwrap_or_default()))
    }
}

/// Whose objects are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Namespace {
    One(String),
    All,
}

impl Namespace {
    pub(crate) fn takes(&self, namespace: &str) -> bool {
        match self {
            Self::One(one) => one == namespace,
            Self::All => true,
        }
    }

    /// The namespace of a single object: `*` names none, and is looked up as it stands.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::One(one) => one,
            Self::All => "*",
        }
    }
}

/// What every read may ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadOptions {
    /// Answer when the data's index is beyond this one; 0 for at once.
    pub(crate) index: LogIndex,
    pub(crate) wait: Duration,
    pub(crate) namespace: Namespace,
}

impl Params {
    pub(crate) fn parse(query: &str) -> Self {
        Self(form_urlencoded::parse(query.as_bytes()).into_owned().collect())
    }

    /// The first value of `name`; empty when there is none.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.given(name).unwrap_or_default()
    }

    fn given(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>> {
        let value = self.text(name);
        if value.is_empty() {
            return Ok(None);
        }
        go_bool(value).map(Some).ok_or_else(|| {
            ApiError::server(format!(
                "Failed to parse value of \"{name}\" ({value}) as a bool: \
                 strconv.ParseBool: parsing \"{value}\": invalid syntax"
            ))
        })
    }

    pub(crate) fn integer(&self, name: &str) -> Result<Option<i64>> {
        let value = self.text(name);
        if value.is_empty() {
            return Ok(None);
        }
        value.parse().map(Some).map_err(|_| {
            ApiError::server(format!(
                "Failed to parse value of \"{name}\" ({value}) as a int: \
                 strconv.Atoi: parsing \"{value}\": invalid syntax"
            ))
        })
    }

    /// Whether the answer is to be indented.
    pub(crate) fn pretty(&self) -> bool {
        self.given("pretty").is_some_and(|value| value != "0")
    }

    pub(crate) fn namespace(&self) -> Namespace {
        match self.text("namespace") {
            "" => Namespace::One("default".to_owned()),
            "*" => Namespace::All,
            name => Namespace::One(name.to_owned()),
        }
    }

    pub(crate) fn read_options(&self) -> Result<ReadOptions> {
        let index = match self.text("index") {
            "" => 0,
            text => text.parse().map_err(|_| ApiError::bad_request("Invalid index"))?,
        };
        let wait = match self.text("wait") {
            "" => WAIT_MAX,
            text => text.parse::<GoDuration>().map_err(|_| ApiError::bad_request("Invalid wait time"))?,
        };
        let stale = self.text("stale");
        if !stale.is_empty() && go_bool(stale).is_none() {
            return Err(ApiError::bad_request(format!(
                "Expect `true` or `false` for `stale` query string parameter, got {stale}"
            )));
        }
        let wait = if wait.is_zero() || wait.is_negative() { WAIT_MAX } else { wait.min(WAIT_MAX) };
        Ok(ReadOptions { index: LogIndex(index), wait: wait.to_std(), namespace: self.namespace() })
    }
}

/// What Go takes for a boolean.
pub(crate) fn go_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: Result<(u64, u64, Namespace), (u16, &str)>) {
        let got = Params::parse(query)
            .read_options()
            .map(|options| (options.index.0, options.wait.as_secs(), options.namespace))
            .map_err(|error| (error.status.as_u16(), error.message));
        assert_eq!(got, expected.map_err(|(status, message)| (status, message.to_owned())), "{query}");
    }

    #[test]
    fn read_options() {
        let default = || Namespace::One("default".to_owned());
        check("", Ok((0, 300, default())));
        check("index=7&wait=30s&namespace=*", Ok((7, 30, Namespace::All)));
        check("wait=1h&stale&namespace=a+b", Ok((0, 300, Namespace::One("a b".to_owned()))));
        check("wait=-3s", Ok((0, 300, default())));
        check("index=abc", Err((400, "Invalid index")));
        check("index=-1", Err((400, "Invalid index")));
        check("index=5&wait=abc", Err((400, "Invalid wait time")));
        check("stale=perhaps", Err((400, "Expect `true` or `false` for `stale` query string parameter, got perhaps")));
    }

    #[test]
    fn booleans_are_those_of_go() {
        let flag = |query: &str| Params::parse(query).flag("purge");
        assert_eq!(flag("purge=T"), Ok(Some(true)));
        assert_eq!(flag("purge=0"), Ok(Some(false)));
        assert_eq!(flag(""), Ok(None));
        let error = flag("purge=perhaps").unwrap_err();
        assert_eq!(error.status.as_u16(), 500);
        assert_eq!(
            error.message,
            "Failed to parse value of \"purge\" (perhaps) as a bool: \
             strconv.ParseBool: parsing \"perhaps\": invalid syntax"
        );
    }
}
