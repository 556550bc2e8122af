//! Lists in pages: sorted, cut at `per_page`, with the token of the next page.

use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use longshore_model::LogIndex;
use serde::Serialize;

use crate::error::{ApiError, Result};
use crate::params::Params;
use crate::reply;

const NEXT_TOKEN: HeaderName = HeaderName::from_static("x-nomad-nexttoken");

/// What of a list a request wants.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Page {
    /// 0 for all.
    per_page: usize,
    /// Empty for the beginning.
    next_token: String,
    pub(crate) reverse: bool,
}

impl Page {
    pub(crate) fn of(params: &Params) -> Result<Self> {
        if !params.text("filter").is_empty() {
            return Err(ApiError::bad_request(
                "failed to create result paginator: failed to read filter expression: \
                 this build does not understand filter expressions",
            ));
        }
        let per_page = params.integer("per_page")?.unwrap_or_default();
        Ok(Self {
            per_page: usize::try_from(per_page).unwrap_or_default(),
            next_token: params.text("next_token").to_owned(),
            reverse: params.flag("reverse")?.unwrap_or(false),
        })
    }

    /// The page of `items`, which come in the order of the list, and the token of the page after it.
    pub(crate) fn cut<T>(
        &self,
        items: impl Iterator<Item = T>,
        token: impl Fn(&T) -> String,
    ) -> (Vec<T>, Option<String>) {
        let mut rest = items.skip_while(|item| !self.next_token.is_empty() && token(item) != self.next_token);
        if self.per_page == 0 {
            return (rest.collect(), None);
        }
        let page = rest.by_ref().take(self.per_page).collect();
        (page, rest.next().map(|item| token(&item)))
    }
}

/// The answer of a list as of `index`.
pub(crate) fn answer<T: Serialize>(
    params: &Params,
    items: &[T],
    next_token: Option<String>,
    index: LogIndex,
) -> Result<Response> {
    let mut response = reply::as_of(reply::json(params, &items)?, index);
    if let Some(token) = next_token.and_then(|token| HeaderValue::from_str(&token).ok()) {
        response.headers_mut().insert(NEXT_TOKEN, token);
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: (&str, Option<&str>)) {
        let page = Page::of(&Params::parse(query)).unwrap();
        let (items, next) = page.cut("abcde".chars(), |item| item.to_string());
        assert_eq!((items.into_iter().collect::<String>().as_str(), next.as_deref()), expected, "{query}");
    }

    #[test]
    fn pages() {
        check("", ("abcde", None));
        check("per_page=2", ("ab", Some("c")));
        check("per_page=2&next_token=c", ("cd", Some("e")));
        check("per_page=2&next_token=e", ("e", None));
        check("per_page=5", ("abcde", None));
        check("next_token=d", ("de", None));
        check("per_page=2&next_token=zz", ("", None));
    }

    #[test]
    fn filters_are_refused_rather_than_left_out() {
        let error = Page::of(&Params::parse("filter=Status+==+running")).unwrap_err();
        assert_eq!(error.status.as_u16(), 400);
        assert!(error.message.starts_with("failed to create result paginator: failed to read filter expression: "));
    }
}
