//! The flags of `agent`, in the form of Go's flag package: `-x v`, `-x=v`, `--x`, switches alone or with a value.

use longshore_settings::{FLAGS, FlagEffect, FlagKind};

/// What the command line of `agent` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) dev: bool,
    /// Files and folders of `-config`, in their order.
    pub(crate) configs: Vec<String>,
    /// The other flags, as `longshore_settings::Inputs` takes them.
    pub(crate) flags: Vec<(String, String)>,
    pub(crate) help: bool,
}

/// What the command line of `config show` says: that of `agent`, and some more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ShowArguments {
    /// Of an agent; files and folders that stand by themselves count as `-config`.
    pub(crate) agent: Arguments,
    /// Tell where each value comes from.
    pub(crate) origin: bool,
    /// As JSON, for programs.
    pub(crate) json: bool,
}

/// A command line that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadArguments {
    #[error("flag provided but not defined: -{0}")]
    Unknown(String),
    #[error("flag needs an argument: -{0}")]
    NoValue(String),
    #[error("invalid boolean value {value:?} for -{flag}: parse error")]
    NotBoolean { flag: String, value: String },
    #[error("agent takes no arguments, only flags: {0:?} is none")]
    Positional(String),
}

pub(crate) fn parse_show(words: &[String]) -> Result<ShowArguments, BadArguments> {
    let mut arguments = ShowArguments::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.trim_start_matches('-') {
            path if path == word => arguments.agent.configs.push(path.to_owned()),
            "origin" => arguments.origin = true,
            "json" => arguments.json = true,
            _ => take_flag(&mut arguments.agent, word, &mut words)?,
        }
    }
    Ok(arguments)
}

pub(crate) fn parse(words: &[String]) -> Result<Arguments, BadArguments> {
    let mut arguments = Arguments::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        take_flag(&mut arguments, word, &mut words)?;
    }
    Ok(arguments)
}

fn take_flag<'a>(
    arguments: &mut Arguments,
    word: &str,
    words: &mut impl Iterator<Item = &'a String>,
) -> Result<(), BadArguments> {
    let Some(flag) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).filter(|flag| !flag.is_empty()) else {
        return Err(BadArguments::Positional(word.to_owned()));
    };
    let (name, given) = match flag.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (flag, None),
    };
    match name {
        "h" | "help" => arguments.help = true,
        "dev" => arguments.dev = switch(name, given)?,
        "config" => arguments.configs.push(value(name, given, words)?),
        _ => {
            let known = FLAGS.iter().find(|known| known.name == name);
            let known = known.ok_or_else(|| BadArguments::Unknown(name.to_owned()))?;
            let value = match known.kind {
                FlagKind::Switch => switch(name, given)?.to_string(),
                FlagKind::Text | FlagKind::Repeated | FlagKind::CommaList | FlagKind::Pairs => {
                    value(name, given, words)?
                }
            };
            arguments.flags.push((name.to_owned(), value));
        }
    }
    Ok(())
}

fn value<'a>(
    name: &str,
    given: Option<String>,
    words: &mut impl Iterator<Item = &'a String>,
) -> Result<String, BadArguments> {
    given.or_else(|| words.next().cloned()).ok_or_else(|| BadArguments::NoValue(name.to_owned()))
}

fn switch(name: &str, given: Option<String>) -> Result<bool, BadArguments> {
    match given.as_deref() {
        None | Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(true),
        Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(false),
        Some(value) => Err(BadArguments::NotBoolean { flag: name.to_owned(), value: value.to_owned() }),
    }
}

const OWN_FLAGS: [(&str, &str); 2] = [
    ("config=<path>", "File, or folder of *.hcl and *.json files, with settings; may be given repeatedly."),
    ("dev", "Server and client on loopback, for trying things out; tasks end with the agent."),
];

/// The text of `agent -help`.
pub(crate) fn help(program: &str) -> String {
    let mut text = format!(
        "Usage: {program} agent [options]\n\n  Starts an agent: a server, a client, or both in one process, until it is told to end.\n  \
         Settings come from the files of -config, then from the other flags, which win.\n\n"
    );
    push_options(&mut text);
    text
}

/// The text of `config show -help`.
pub(crate) fn help_show(program: &str) -> String {
    let mut text = format!(
        "Usage: {program} config show [-origin] [-json] [agent options] [<path>...]\n\n  \
         Shows every setting that an agent would hold which is started with these options; paths count as -config.\n  \
         What is kept secret reads ***.\n\nShow Options:\n\n  -origin\n    \
         Tell where each value comes from: file and line, flag, environment or default.\n\n  -json\n    \
         As JSON: a list of path, value, origin and whether it has an effect in this build.\n\n"
    );
    push_options(&mut text);
    text
}

fn push_options(text: &mut String) {
    text.push_str("Options:\n\n");
    for (name, line) in OWN_FLAGS {
        text.push_str(&format!("  -{name}\n    {line}\n\n"));
    }
    let sections = [
        (FlagEffect::Holds, ""),
        (FlagEffect::Refused, "Refused in this build:\n\n"),
        (FlagEffect::Nothing, "Accepted, without effect in this build:\n\n"),
    ];
    for (effect, heading) in sections {
        text.push_str(heading);
        for flag in FLAGS.iter().filter(|flag| flag.effect == effect) {
            let value = if flag.kind == FlagKind::Switch { "" } else { "=<value>" };
            text.push_str(&format!("  -{}{value}\n    {}\n\n", flag.name, flag.help));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let got = match parse(&words) {
            Ok(arguments) => {
                let flags: Vec<String> =
                    arguments.flags.iter().map(|(name, value)| format!("{name}={value}")).collect();
                format!("dev={} configs={:?} {}", arguments.dev, arguments.configs, flags.join(" "))
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(got.trim_end(), expected, "{line:?}");
    }

    #[test]
    fn flags_are_read_as_go_reads_them() {
        check("", "dev=false configs=[]");
        check("-dev -config a.hcl -config=b", "dev=true configs=[\"a.hcl\", \"b\"]");
        check("--dev=false -bind 0.0.0.0", "dev=false configs=[] bind=0.0.0.0");
        check("-server -log-level=DEBUG -node n1", "dev=false configs=[] server=true log-level=DEBUG node=n1");
        check("-meta a=b -meta c=d", "dev=false configs=[] meta=a=b meta=c=d");
        check("-oops", "flag provided but not defined: -oops");
        check("-bind", "flag needs an argument: -bind");
        check("-dev=maybe", "invalid boolean value \"maybe\" for -dev: parse error");
        check("-dev -config a.hcl -", "agent takes no arguments, only flags: \"-\" is none");
        check("web.hcl", "agent takes no arguments, only flags: \"web.hcl\" is none");
    }

    #[test]
    fn show_takes_the_agents_flags_and_paths() {
        let words = ["-origin", "a.hcl", "-node", "n1", "-config=b", "-dev", "c"].map(str::to_owned);
        let got = parse_show(&words).unwrap();
        assert_eq!((got.origin, got.agent.dev), (true, true));
        assert_eq!(got.agent.configs, ["a.hcl", "b", "c"]);
        assert_eq!(got.agent.flags, [("node".to_owned(), "n1".to_owned())]);
        assert_eq!(parse_show(&["-oops".to_owned()]), Err(BadArguments::Unknown("oops".to_owned())));
    }

    /// A flag's place in the help is what happens when it is given.
    #[test]
    fn the_help_says_what_flags_do() {
        for flag in FLAGS {
            let value = match flag.name {
                "raft-protocol" => "3",
                "bootstrap-expect" | "retry-max" | "network-speed" => "1",
                "retry-interval" => "1s",
                "log-level" => "INFO",
                "meta" => "a=b",
                "encrypt" => "MDEyMzQ1Njc4OWFiY2RlZg==",
                "data-dir" | "plugin-dir" | "state-dir" | "alloc-dir" => "/x",
                _ if flag.kind == FlagKind::Switch => "true",
                _ => "x",
            };
            let flags = vec![(flag.name.to_owned(), value.to_owned())];
            let inputs = longshore_settings::Inputs { dev: true, flags, ..Default::default() };
            let settings = crate::settings::Settings::examine(&inputs);
            let named = format!("(flag -{})", flag.name);
            let effect = if !settings.is_good() {
                FlagEffect::Refused
            } else if settings.warnings().any(|told| told.detail.contains(&named)) {
                FlagEffect::Nothing
            } else {
                FlagEffect::Holds
            };
            assert_eq!(effect, flag.effect, "-{}: {:?}", flag.name, settings.told);
        }
    }

    #[test]
    fn help_names_what_has_no_effect() {
        let text = help("longshore");
        let (holds, rest) = text.split_once("Refused in this build:").unwrap();
        let (refused, nothing) = rest.split_once("Accepted, without effect in this build:").unwrap();
        assert!(holds.contains("  -bind=<value>\n") && refused.contains("  -acl-enabled\n"), "{text}");
        assert!(
            ["consul-address", "vault-token", "servers", "encrypt"]
                .iter()
                .all(|name| nothing.contains(&format!("  -{name}=<value>\n"))),
            "{text}"
        );
    }
}
