//! Lists in pages: sorted, cut at `per_page`, with the token of the next page.

use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use longshore_model::{EvalId, JobKey, LogIndex};
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
    reverse: bool,
}

/// Where an item stands in its list. Places are in the order of the list, and a token is the place of the item that
/// the next page begins with: when that has gone meanwhile, the page begins with what comes after it.
pub(crate) trait Place: Ord + Sized {
    fn token(&self) -> String;
    fn read(token: &str) -> Option<Self>;
}

/// In lists of what comes and goes: by age.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ByAge {
    pub(crate) create_index: LogIndex,
    pub(crate) id: u128,
}

impl Place for ByAge {
    fn token(&self) -> String {
        format!("{}.{}", self.create_index, ById(self.id).token())
    }
    fn read(token: &str) -> Option<Self> {
        let (create_index, id) = token.split_once('.')?;
        Some(Self { create_index: LogIndex(create_index.parse().ok()?), id: ById::read(id)?.0 })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ById(pub(crate) u128);

impl Place for ById {
    fn token(&self) -> String {
        EvalId::from_u128(self.0).to_string()
    }
    fn read(token: &str) -> Option<Self> {
        Some(Self(token.parse::<EvalId>().ok()?.as_u128()))
    }
}

impl Place for JobKey {
    fn token(&self) -> String {
        format!("{}.{}", self.namespace, self.id)
    }
    /// Names of namespaces hold no dots.
    fn read(token: &str) -> Option<Self> {
        token.split_once('.').map(|(namespace, id)| Self::new(namespace, id))
    }
}

/// The items of a page, and the token of the page after it.
pub(crate) type Cut<T> = (Vec<T>, Option<String>);

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

    /// The page of `items`, which come in the order of their places.
    pub(crate) fn cut<T, P: Place>(&self, items: impl Iterator<Item = T>, place: impl Fn(&T) -> P) -> Result<Cut<T>> {
        self.cut_from(items, place, |item, first| item >= first)
    }

    /// The page of a list by age, newest first when the request asks for that.
    pub(crate) fn cut_by_age<T>(&self, mut items: Vec<T>, place: impl Fn(&T) -> ByAge) -> Result<Cut<T>> {
        items.sort_by_cached_key(&place);
        if self.reverse {
            self.cut_from(items.into_iter().rev(), place, |item, first| item <= first)
        } else {
            self.cut(items.into_iter(), place)
        }
    }

    fn cut_from<T, P: Place>(
        &self,
        items: impl Iterator<Item = T>,
        place: impl Fn(&T) -> P,
        is_there: impl Fn(&P, &P) -> bool,
    ) -> Result<Cut<T>> {
        let first = match self.next_token.as_str() {
            "" => None,
            token => Some(P::read(token).ok_or_else(|| {
                ApiError::bad_request(format!(
                    "failed to create result paginator: {token:?} is no token of this list; \
                     use the X-Nomad-NextToken of the page before"
                ))
            })?),
        };
        let begins = |item: &T| first.as_ref().is_none_or(|first| is_there(&place(item), first));
        let mut rest = items.skip_while(|item| !begins(item));
        if self.per_page == 0 {
            return Ok((rest.collect(), None));
        }
        let page = rest.by_ref().take(self.per_page).collect();
        Ok((page, rest.next().map(|item| place(&item).token())))
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
    // Names may have letters beyond ASCII, which a header carries as they are.
    if let Some(token) = next_token.and_then(|token| HeaderValue::from_bytes(token.as_bytes()).ok()) {
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
        let key = |c: &char| JobKey::new("default", c.to_string());
        let (items, next) = page.cut("acegi".chars(), key).unwrap();
        assert_eq!((items.into_iter().collect::<String>().as_str(), next.as_deref()), expected, "{query}");
    }

    #[test]
    fn pages() {
        check("", ("acegi", None));
        check("per_page=2", ("ac", Some("default.e")));
        check("per_page=2&next_token=default.e", ("eg", Some("default.i")));
        check("per_page=2&next_token=default.i", ("i", None));
        check("per_page=5", ("acegi", None));
        check("next_token=default.g", ("gi", None));
        check("per_page=2&next_token=default.z", ("", None));
        // What the token names has gone meanwhile, or the whole namespace before it.
        check("per_page=2&next_token=default.d", ("eg", Some("default.i")));
        check("per_page=2&next_token=another.x", ("ac", Some("default.e")));
    }

    #[track_caller]
    fn check_by_age(query: &str, expected: (&[u64], Option<u64>)) {
        let page = Page::of(&Params::parse(query)).unwrap();
        let place = |number: &u64| ByAge { create_index: LogIndex(*number), id: u128::from(*number) };
        let (items, next) = page.cut_by_age(vec![10, 30, 9, 20], place).unwrap();
        let next = next.map(|token| ByAge::read(&token).unwrap().create_index.0);
        assert_eq!((items.as_slice(), next), expected, "{query}");
    }

    #[test]
    fn pages_by_age() {
        let token = |index: u64| format!("{index}.00000000-0000-0000-0000-{index:012x}");
        check_by_age("", (&[9, 10, 20, 30], None));
        check_by_age("reverse=true&per_page=3", (&[30, 20, 10], Some(9)));
        check_by_age(&format!("per_page=2&next_token={}", token(10)), (&[10, 20], Some(30)));
        check_by_age(&format!("per_page=2&reverse=true&next_token={}", token(20)), (&[20, 10], Some(9)));
        // What the token names has gone meanwhile.
        check_by_age(&format!("per_page=1&next_token={}", token(15)), (&[20], Some(30)));
        check_by_age(&format!("per_page=1&reverse=true&next_token={}", token(15)), (&[10], Some(9)));
        check_by_age(&format!("next_token={}", token(31)), (&[], None));
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let page = Page::of(&Params::parse("next_token=zz")).unwrap();
        let error = page.cut("abc".chars(), |c| ById(u128::from(u32::from(*c)))).unwrap_err();
        assert_eq!(error.status.as_u16(), 400);
        assert_eq!(
            error.message,
            "failed to create result paginator: \"zz\" is no token of this list; \
             use the X-Nomad-NextToken of the page before"
        );
    }

    #[test]
    fn filters_are_refused_rather_than_left_out() {
        let error = Page::of(&Params::parse("filter=Status+==+running")).unwrap_err();
        assert_eq!(error.status.as_u16(), 400);
        assert!(error.message.starts_with("failed to create result paginator: failed to read filter expression: "));
    }
}
