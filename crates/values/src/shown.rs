//! Texts of others, made fit to be shown: no logins, nothing that looks like a secret, nothing that a terminal acts on.

use std::borrow::Cow;

/// So many characters in a row, letters and digits mixed, are taken for a token.
const TOKEN_CHARACTERS_MIN: usize = 20;

/// An address without who asks and with which password: `tcp://***@engine:2375`.
///
/// ```
/// use longshore_values::without_login;
/// assert_eq!(without_login("tcp://ann:s3cret@engine:1"), "tcp://***@engine:1");
/// assert_eq!(without_login("unix:///run/docker.sock"), "unix:///run/docker.sock");
/// ```
pub fn without_login(text: &str) -> String {
    match (text.split_once("://"), text.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://***@{rest}"),
        (None, Some((_, rest))) => format!("***@{rest}"),
        _ => text.to_owned(),
    }
}

/// Whether a line holds an address with a login: `://` and a `@` behind it before the address ends.
pub fn holds_a_login(line: &str) -> bool {
    line.split("://").skip(1).any(|rest| {
        let address = rest.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'')).next().unwrap_or(rest);
        address.contains('@')
    })
}

/// A text with what a terminal would act on written out: `\u{1b}` for an escape. Line ends and tabs stay.
///
/// ```
/// use longshore_values::printable;
/// assert_eq!(printable("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\n");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    let acts = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || turns_the_direction(c);
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if acts(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// What shows text in another order than it is in.
fn turns_the_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What another program said, with each word that may be a secret as `***` and nothing that a terminal acts on: long
/// words of letters and digits, what follows `password=`, `token:` and their like, and logins in addresses.
///
/// This is a guess. It is for texts that may hold a secret by somebody's mistake, never for what is known to be one.
pub fn masked(text: &str) -> String {
    let text = printable(text);
    let mut shown = String::with_capacity(text.len());
    let mut follows = Follows::Anything;
    for word in text.split_inclusive(is_between) {
        let end = word.char_indices().next_back().filter(|(_, c)| is_between(*c)).map_or(word.len(), |(at, _)| at);
        let (bare, after) = word.split_at(end);
        if is_secret(bare, follows) {
            shown.push_str("***");
        } else {
            shown.push_str(bare);
        }
        shown.push_str(after);
        follows = match (names_a_secret(bare), after) {
            (true, "=" | ":") => Follows::Secret,
            // `Authorization: Basic …`
            (true, " ") if follows == Follows::Secret || bare.eq_ignore_ascii_case("bearer") => Follows::Secret,
            (true, " ") => Follows::Maybe,
            // Blanks between a name and its value.
            _ if bare.is_empty() => match (follows, after) {
                (Follows::Maybe, "=" | ":") => Follows::Secret,
                (follows, _) => follows,
            },
            _ => Follows::Anything,
        };
    }
    if holds_a_login(&shown) { without_login(&shown) } else { shown }
}

/// What the words before say of the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Follows {
    Anything,
    /// A secret, or more words about it.
    Maybe,
    Secret,
}

fn is_between(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';' | '=' | ':' | '(' | ')' | '{' | '}' | '[' | ']')
}

fn names_a_secret(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let names = ["token", "password", "passwd", "secret", "bearer", "basic", "authorization", "apikey", "api_key"];
    names.iter().any(|name| word.ends_with(name))
}

fn is_secret(word: &str, follows: Follows) -> bool {
    let any = |is: fn(&char) -> bool| word.chars().any(|c| is(&c));
    let digits = any(char::is_ascii_digit);
    match follows {
        Follows::Secret => !word.is_empty() && !names_a_secret(word),
        Follows::Maybe if digits => true,
        Follows::Maybe | Follows::Anything => {
            let long = word.chars().count() >= TOKEN_CHARACTERS_MIN;
            // Names of hosts and files have dots and slashes, but hardly ever capitals and digits as well.
            let name = word.starts_with(['/', '.']) || (word.contains('.') && !any(char::is_ascii_uppercase));
            let letters = any(char::is_ascii_alphabetic);
            let odd = word.chars().any(|c| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '/' | '_' | '-' | '.'));
            long && digits && letters && !name && !odd
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_are_found_in_lines() {
        for line in ["endpoint = \"tcp://a:b@c:1\"", "http://a@b/c and more"] {
            assert!(holds_a_login(line), "{line}");
        }
        for line in ["unix:///run/x", "tcp://a:1 # ask ann@example.org", "ann@example.org"] {
            assert!(!holds_a_login(line), "{line}");
        }
    }

    #[test]
    fn nothing_acts_on_a_terminal() {
        assert_eq!(printable("a\tb\né"), "a\tb\né");
        assert_eq!(printable("\u{1b}]0;x\u{7}\u{9b}2J\r\u{202e}"), "\\u{1b}]0;x\\u{7}\\u{9b}2J\\u{d}\\u{202e}");
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(masked(text), expected, "{text:?}");
    }

    #[test]
    fn what_may_be_a_secret_is_masked() {
        check("token abc123 is expired", "token *** is expired");
        check("the token is expired", "the token is expired");
        check("password=hunter2, try again", "password=***, try again");
        check("password: hunter", "password: ***");
        check("password incorrect", "password incorrect");
        check("Authorization: Bearer abc.def", "Authorization: Bearer ***");
        check("got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x back", "got *** back");
        check("0123456789abcdef0123456789abcdef", "***");
        check("dial https://ann:pw@reg.example/v2/: refused", "dial https://***@reg.example/v2/: refused");
    }

    #[test]
    fn names_of_hosts_and_files_are_kept() {
        for text in [
            "no basic auth for 123456789012.dkr.ecr.eu-central-1.amazonaws.com",
            "open /root/.docker/config2024/credentials.json: permission denied",
            "error getting credentials - err: exit status 1",
            "connection to registry.example.org:5000 timed out after 30 seconds",
        ] {
            check(text, text);
        }
    }
}
