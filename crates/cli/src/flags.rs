//! Flags as Go's `flag` package reads them: `-x v`, `-x=v`, `--x`; switches alone or with `=true`; the first word that
//! is no flag ends them.

use std::collections::BTreeMap;

use longshore_values::GoDuration;

/// What a flag takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Switch,
    Text,
    Integer,
    Duration,
    /// A text, repeatedly.
    Repeated,
}

/// A flag of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag {
    /// Without its dash.
    pub name: &'static str,
    pub kind: Kind,
    /// One line for the help.
    pub help: &'static str,
}

impl Flag {
    pub const fn switch(name: &'static str, help: &'static str) -> Self {
        Self { name, kind: Kind::Switch, help }
    }
    pub const fn text(name: &'static str, help: &'static str) -> Self {
        Self { name, kind: Kind::Text, help }
    }
    pub const fn integer(name: &'static str, help: &'static str) -> Self {
        Self { name, kind: Kind::Integer, help }
    }
    pub const fn duration(name: &'static str, help: &'static str) -> Self {
        Self { name, kind: Kind::Duration, help }
    }
    pub const fn repeated(name: &'static str, help: &'static str) -> Self {
        Self { name, kind: Kind::Repeated, help }
    }
}

/// Why the words of a command line could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadFlags {
    /// `-h` or `-help` was asked for.
    #[error("help requested")]
    Help,
    #[error("bad flag syntax: {0}")]
    Syntax(String),
    #[error("flag provided but not defined: -{0}")]
    Unknown(String),
    #[error("flag needs an argument: -{0}")]
    NoValue(String),
    #[error("invalid boolean value {value:?} for -{flag}: parse error")]
    Switch { flag: String, value: String },
    #[error("invalid value {value:?} for flag -{flag}: parse error")]
    Value { flag: String, value: String },
}

/// What was given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given {
    values: BTreeMap<&'static str, Vec<String>>,
    /// In the order in which they stood.
    ordered: Vec<(&'static str, String)>,
    /// What is no flag.
    pub arguments: Vec<String>,
}

impl Given {
    /// Words that somebody else reads.
    pub fn of_arguments(words: &[String]) -> Self {
        Self { arguments: words.to_vec(), ..Self::default() }
    }

    /// The last value of a flag.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).and_then(|values| values.last()).map(String::as_str)
    }

    /// A switch that is off unless given.
    pub fn switch(&self, name: &str) -> bool {
        self.switch_or(name, false)
    }

    pub fn switch_or(&self, name: &str, default: bool) -> bool {
        self.text(name).and_then(go_bool).unwrap_or(default)
    }

    pub fn integer(&self, name: &str) -> Option<i64> {
        self.text(name).and_then(go_integer)
    }

    pub fn duration(&self, name: &str) -> Option<GoDuration> {
        self.text(name).and_then(|text| text.parse().ok())
    }

    /// Every value of a flag that may be given repeatedly.
    pub fn all(&self, name: &str) -> &[String] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    /// Every flag with its value, in the order given.
    pub fn in_order(&self) -> &[(&'static str, String)] {
        &self.ordered
    }
}

/// Reads the words after a command's name.
///
/// # Errors
/// The first word that cannot be read, in Go's words.
pub fn read(words: &[String], flags: &[&Flag]) -> Result<Given, BadFlags> {
    let mut given = Given::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let name = match word.strip_prefix("--").or_else(|| word.strip_prefix('-')) {
            Some("") if word == "--" => break,
            Some(name) if !name.is_empty() => name,
            _ => {
                given.arguments.push(word.clone());
                break;
            }
        };
        if name.starts_with(['-', '=']) {
            return Err(BadFlags::Syntax(word.clone()));
        }
        let (name, value) = match name.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (name, None),
        };
        let Some(flag) = flags.iter().find(|flag| flag.name == name) else {
            return Err(if matches!(name, "h" | "help") { BadFlags::Help } else { BadFlags::Unknown(name.to_owned()) });
        };
        let value = match (flag.kind, value) {
            (Kind::Switch, None) => "true".to_owned(),
            (_, Some(value)) => value,
            (_, None) => words.next().cloned().ok_or_else(|| BadFlags::NoValue(name.to_owned()))?,
        };
        let bad = || BadFlags::Value { flag: name.to_owned(), value: value.clone() };
        match flag.kind {
            Kind::Switch if go_bool(&value).is_none() => {
                return Err(BadFlags::Switch { flag: name.to_owned(), value });
            }
            Kind::Integer if go_integer(&value).is_none() => return Err(bad()),
            Kind::Duration if value.parse::<GoDuration>().is_err() => return Err(bad()),
            Kind::Switch | Kind::Integer | Kind::Duration | Kind::Text | Kind::Repeated => {}
        }
        given.ordered.push((flag.name, value.clone()));
        given.values.entry(flag.name).or_default().push(value);
    }
    given.arguments.extend(words.cloned());
    Ok(given)
}

fn go_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

fn go_integer(text: &str) -> Option<i64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    match unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        Some(hex) => {
            let value = i64::from_str_radix(hex, 16).ok()?;
            Some(if text.starts_with('-') { -value } else { value })
        }
        None => text.strip_prefix('+').unwrap_or(text).parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FLAGS: &[Flag] = &[
        Flag::switch("detach", ""),
        Flag::text("token", ""),
        Flag::integer("n", ""),
        Flag::duration("wait", ""),
        Flag::repeated("var", ""),
    ];

    fn read_words(line: &str) -> Result<Given, BadFlags> {
        let words: Vec<String> = line.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        read(&words, &FLAGS.iter().collect::<Vec<_>>())
    }

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let got = match read_words(line) {
            Ok(given) => {
                let flags: Vec<String> =
                    given.in_order().iter().map(|(name, value)| format!("{name}={value}")).collect();
                format!("{} | {}", flags.join(" "), given.arguments.join(" "))
            }
            Err(why) => why.to_string(),
        };
        assert_eq!(got, expected, "{line}");
    }

    #[test]
    fn reads_as_go_does() {
        check("", " | ");
        check("-detach web.hcl", "detach=true | web.hcl");
        check("--detach=false web.hcl -token x", "detach=false | web.hcl -token x");
        check("-detach false", "detach=true | false");
        check("-token abc -n=3 -", "token=abc n=3 | -");
        check("-var a=1 -var=b=2 x", "var=a=1 var=b=2 | x");
        check("-token -detach x", "token=-detach | x");
        check("-- -detach", " | -detach");
        check("-n 0x10 -wait 2s", "n=0x10 wait=2s | ");
        check("-token= x", "token= | x");
    }

    #[test]
    fn errors_are_gos() {
        check("-bogus", "flag provided but not defined: -bogus");
        check("-bogus=1", "flag provided but not defined: -bogus");
        check("-token", "flag needs an argument: -token");
        check("-detach=perhaps", "invalid boolean value \"perhaps\" for -detach: parse error");
        check("-n x", "invalid value \"x\" for flag -n: parse error");
        check("-wait 3", "invalid value \"3\" for flag -wait: parse error");
        check("---x", "bad flag syntax: ---x");
        check("-=x", "bad flag syntax: -=x");
        assert_eq!(read_words("-h"), Err(BadFlags::Help));
        assert_eq!(read_words("--help x"), Err(BadFlags::Help));
    }

    #[test]
    fn later_values_win_and_integers_are_read() {
        let given = read_words("-n -5 -n 0x1f -detach -detach=0 -var a -var b").unwrap();
        assert_eq!(
            (given.integer("n"), given.switch("detach"), given.switch_or("other", true)),
            (Some(31), false, true)
        );
        assert_eq!(given.all("var"), ["a", "b"]);
    }

    proptest! {
        #[test]
        fn no_words_panic(words in prop::collection::vec("[-=a-z0-9é]{0,8}", 0..6)) {
            let _ = read(&words, &FLAGS.iter().collect::<Vec<_>>());
        }
    }
}
