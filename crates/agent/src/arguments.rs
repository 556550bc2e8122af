//! The flags of `agent`, in the form of Go's flag package: `-x v`, `-x=v`, `--x`, switches alone or with a value.

use longshore_settings::{FLAGS, FlagKind};

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

pub(crate) fn parse(words: &[String]) -> Result<Arguments, BadArguments> {
    let mut arguments = Arguments::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).filter(|flag| !flag.is_empty())
        else {
            return Err(BadArguments::Positional(word.clone()));
        };
        let (name, given) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (flag, None),
        };
        match name {
            "h" | "help" => arguments.help = true,
            "dev" => arguments.dev = switch(name, given)?,
            "config" => arguments.configs.push(value(name, given, &mut words)?),
            _ => {
                let known = FLAGS.iter().find(|known| known.name == name);
                let known = known.ok_or_else(|| BadArguments::Unknown(name.to_owned()))?;
                let value = match known.kind {
                    FlagKind::Switch => switch(name, given)?.to_string(),
                    FlagKind::Text | FlagKind::Repeated | FlagKind::CommaList | FlagKind::Pairs => {
                        value(name, given, &mut words)?
                    }
                };
                arguments.flags.push((name.to_owned(), value));
            }
        }
    }
    Ok(arguments)
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

/// The text of `agent -help`.
pub(crate) fn help(program: &str) -> String {
    let mut text = format!(
        "Usage: {program} agent [options]\n\n  Starts an agent: a server, a client, or both in one process, until it is told to end.\n  \
         Settings come from the files of -config, then from the other flags, which win.\n\nOptions:\n\n"
    );
    let own = [
        ("config=<path>", "File, or folder of *.hcl and *.json files, with settings; may be given repeatedly."),
        ("dev", "Server and client on loopback, for trying things out; tasks end with the agent."),
    ];
    for (name, line) in own {
        text.push_str(&format!("  -{name}\n    {line}\n\n"));
    }
    for flag in FLAGS {
        let value = if flag.kind == FlagKind::Switch { "" } else { "=<value>" };
        text.push_str(&format!("  -{}{value}\n    {}\n\n", flag.name, flag.help));
    }
    text
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
        check("web.hcl", "agent takes no arguments, only flags: \"web.hcl\" is none");
    }
}
