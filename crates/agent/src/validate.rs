//! `config validate`: whether an agent would start with these files, and what it would do then.

use longshore_cli::ConfigVerdict;
use longshore_settings::{Effective, Inputs, is_taken_by_nomad};
use longshore_values::{Diagnostic, Severity};
use serde_json::json;

use crate::addresses::{self, BadAddress, Interface};
use crate::files::{self, Files};
use crate::settings::Settings;
use crate::{banner, show};

/// What is told: on standard output and on standard error.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) out: String,
    pub(crate) err: String,
    valid: bool,
}

/// The exit code of `config validate`.
pub(crate) fn validate(paths: &[String], form: ConfigVerdict) -> u8 {
    let found = match files::read(paths) {
        Ok(Files { texts, empty }) => {
            let inputs = Inputs { dev: false, files: texts, ..Inputs::default() };
            examine(&inputs, &empty, &addresses::interfaces())
        }
        Err(error) => Found { all: vec![Diagnostic::error(error.to_string())], effective: Vec::new() },
    };
    let told = found.told(form);
    eprint!("{}", told.err);
    print!("{}", told.out);
    u8::from(!told.valid)
}

const INVALID: &str = "Configuration is invalid";

/// What there is to say of files, and what would hold.
pub(crate) struct Found {
    pub(crate) all: Vec<Diagnostic>,
    effective: Vec<Effective>,
}

/// `empty` are folders without agent files.
pub(crate) fn examine(inputs: &Inputs, empty: &[String], interfaces: &[Interface]) -> Found {
    let settings = Settings::examine(inputs);
    let mut all = settings.told.clone();
    if settings.is_good() {
        match addresses::listeners(&settings.config, interfaces) {
            Err(bad) => all.insert(0, of_address(&bad, &settings.effective)),
            Ok(listeners) => all.extend(banner::open_to_others(&listeners).map(Diagnostic::warning)),
        }
        all.extend(settings.config.start_notices().into_iter().map(|it| Diagnostic::warning(without_heading(it))));
    }
    let nothing = empty.iter().map(|path| Diagnostic::warning(format!("No configuration loaded from {path}")));
    all.splice(..0, nothing);
    Found { all, effective: settings.effective }
}

impl Found {
    pub(crate) fn told(&self, form: ConfigVerdict) -> Told {
        let Self { all, effective } = self;
        let valid = !all.iter().any(Diagnostic::is_error);
        match form {
            ConfigVerdict::Json => {
                let out = format!("{:#}\n", json!({ "valid": valid, "diagnostics": all }));
                Told { out, err: String::new(), valid }
            }
            ConfigVerdict::Text { colour, .. } if !valid => {
                let err = format!("{}{}{INVALID}\n", listed(all, colour), taken_by_nomad(all));
                Told { out: String::new(), err, valid }
            }
            ConfigVerdict::Text { effective: lists, colour } => {
                let mut out = String::new();
                if lists {
                    list(&mut out, effective);
                }
                out.push_str("Configuration is valid!\n");
                Told { out, err: listed(all, colour), valid }
            }
        }
    }
}

/// Errors and warnings, one after the other.
pub(crate) fn listed(all: &[Diagnostic], colour: bool) -> String {
    all.iter().map(|it| format!("{}: {it}\n\n", word(it.is_error(), colour))).collect()
}

/// What stands before an error or a warning: red or yellow where there are colours.
fn word(is_error: bool, colour: bool) -> &'static str {
    match (is_error, colour) {
        (true, false) => "error",
        (false, false) => "warning",
        (true, true) => "\u{1b}[91merror\u{1b}[0m",
        (false, true) => "\u{1b}[33mwarning\u{1b}[0m",
    }
}

/// The lines that must change before a switch from Nomad, though nothing was ever said against them.
fn taken_by_nomad(all: &[Diagnostic]) -> String {
    let lines: Vec<String> = all
        .iter()
        .filter(|it| it.is_error() && is_taken_by_nomad(it))
        .map(|it| it.place.as_ref().map_or_else(|| it.summary.clone(), ToString::to_string))
        .collect();
    match lines.len() {
        0 => String::new(),
        count => {
            let places: String = lines.iter().map(|line| format!("  {line}\n")).collect();
            format!("Refused here, but taken by Nomad without a word ({count} of the above):\n{places}\n")
        }
    }
}

/// What the start says with a heading of its own.
fn without_heading(notice: &str) -> &str {
    notice.strip_prefix("WARNING: ").unwrap_or(notice)
}

/// Which addresses a machine has is its own matter: the files may be meant for another one.
fn of_address(bad: &BadAddress, effective: &[Effective]) -> Diagnostic {
    let told = bad.told(effective);
    match bad {
        BadAddress::Form { .. } | BadAddress::Localhost { .. } => told,
        BadAddress::NoneFound { .. } | BadAddress::NoPrivate(_) => Diagnostic { severity: Severity::Warning, ..told }
            .detail("an agent would not start with this on this machine"),
    }
}

fn list(out: &mut String, effective: &[Effective]) {
    out.extend(effective.iter().map(|it| show::line(it, true)));
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(effective: bool, files: &[(&str, &str)]) -> Told {
        let texts = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let interface = Interface { name: "eth0".to_owned(), ip: "10.0.0.7".parse().unwrap() };
        let inputs = Inputs { dev: false, files: texts, ..Inputs::default() };
        examine(&inputs, &[], &[interface]).told(ConfigVerdict::Text { effective, colour: false })
    }

    const BASE: &str = "data_dir = \"/var/lib/longshore\"\nserver { enabled = true }\nclient { enabled = true }\n";

    #[test]
    fn editors_get_all_of_it_as_json() {
        let files = vec![("a.hcl".to_owned(), format!("{BASE}client {{ enabeld = true }}\n"))];
        let found = examine(&Inputs { files, ..Inputs::default() }, &["empty".to_owned()], &[]);
        let told = found.told(ConfigVerdict::Json);
        let shown: serde_json::Value = serde_json::from_str(&told.out).unwrap();
        assert_eq!((&shown["valid"], told.err.as_str(), told.valid), (&json!(false), "", false));
        let all = shown["diagnostics"].as_array().unwrap();
        assert_eq!(all[0]["severity"], "warning");
        let wrong = all.iter().find(|it| it["severity"] == "error").unwrap();
        assert_eq!(wrong["hint"], "did you mean \"enabled\"?");
        assert_eq!((&wrong["place"]["file"], &wrong["place"]["line"]), (&json!("a.hcl"), &json!(4)));
        let good =
            examine(&Inputs { files: vec![("a.hcl".to_owned(), BASE.to_owned())], ..Inputs::default() }, &[], &[]);
        assert!(good.told(ConfigVerdict::Json).out.contains("\"valid\": true"));
    }

    #[test]
    fn all_errors_of_all_files_are_listed() {
        let drivers = r#"
plugin "docker" {
  gc { image_delay = "1h" }
  config {
    volume { enabled = true }
    pull_activity_timeout = "1s"
  }
}
plugin "raw_exec" {
  config { enable = true }
}
plugin "java" {}
client {
  gc_interval = ""
  options {
    "docker.cleanup.image.delay" = "96h"
    "user.denylist" = "root"
  }
}
"#;
        let broken = "server {\n  enabled = = true\n}\n";
        let many = "server { bootstrap_expect = 3 }\nregoin = \"eu\"\n";
        let got =
            told(true, &[("base.hcl", BASE), ("broken.hcl", broken), ("drivers.hcl", drivers), ("many.hcl", many)]);
        assert_eq!((got.valid, got.out.as_str()), (false, ""));
        insta::assert_snapshot!(got.err, @r#"
        error: broken.hcl:2:13: expected a value, found "="
          |
        2 |   enabled = = true
          |             ^

        error: drivers.hcl:3:3: plugin "docker" unexpected keys gc
          |
        3 |   gc { image_delay = "1h" }
          |   ^^
        Nomad takes this without a word, and it has no effect there
        hint: a plugin's own settings belong in its config block: plugin "docker" { config { gc { … } } }

        error: drivers.hcl:5:5: plugin.docker.config unexpected keys volume
          |
        5 |     volume { enabled = true }
          |     ^^^^^^
        hint: did you mean "volumes"?

        error: drivers.hcl:6:29: plugin.docker.config.pull_activity_timeout must be at least 1m0s, not 1s
          |
        6 |     pull_activity_timeout = "1s"
          |                             ^^^^

        error: drivers.hcl:10:12: plugin.raw_exec.config unexpected keys enable
           |
        10 |   config { enable = true }
           |            ^^^^^^
        hint: did you mean "enabled"?

        error: many.hcl:1:29: server.bootstrap_expect = 3: this build runs one server
          |
        1 | server { bootstrap_expect = 3 }
          |                             ^
        Nomad takes this without a word, and acts on it
        hint: write bootstrap_expect = 1

        error: many.hcl:2:1: unexpected keys regoin
          |
        2 | regoin = "eu"
          | ^^^^^^
        hint: did you mean "region"?

        warning: accepted, without effect in this build (2 settings):
          client.options.user.denylist (drivers.hcl:17)
          plugin.java (drivers.hcl:12): this build has docker, raw_exec, mock_driver

        warning: drivers.hcl:14:17: client.gc_interval is empty: the default 1m0s holds
           |
        14 |   gc_interval = ""
           |                 ^^
        hint: remove the line, or write gc_interval = "0s" for "at once"

        warning: drivers.hcl:16:36: client option "docker.cleanup.image.delay" holds, but it has a new place
           |
        16 |     "docker.cleanup.image.delay" = "96h"
           |                                    ^^^^^
        hint: write plugin "docker" { config { gc { image_delay = "96h" } } }

        Refused here, but taken by Nomad without a word (2 of the above):
          drivers.hcl:3:3
          many.hcl:1:29

        Configuration is invalid
        "#);
    }

    #[test]
    fn what_holds_is_listed_with_where_it_comes_from() {
        let text = "log_level = \"debug\"\nplugin \"docker\" { config { gc { image_delay = \"1h\" } } }\n\
                    client { options { \"docker.cleanup.container\" = \"false\" } meta { token = \"s3cret\" } }\n";
        let got = told(true, &[("base.hcl", BASE), ("more.hcl", text)]);
        let shown: Vec<_> = got
            .out
            .lines()
            .filter(|line| !line.contains("(default)") || line.contains(".gc.") || line.contains("raw_exec"))
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        client.enabled = true  (base.hcl:3)
        client.meta.token = ***  (more.hcl:3)
        client.options.docker.cleanup.container = false  (more.hcl:3)
        data_dir = /var/lib/longshore  (base.hcl:1)
        log_level = debug  (more.hcl:1)
        plugin.docker.config.gc.container = false  (client option "docker.cleanup.container" at more.hcl:3)
        plugin.docker.config.gc.dangling_containers.creation_grace = 5m0s  (default)
        plugin.docker.config.gc.dangling_containers.dry_run = false  (default)
        plugin.docker.config.gc.dangling_containers.enabled = true  (default)
        plugin.docker.config.gc.dangling_containers.period = 5m0s  (default)
        plugin.docker.config.gc.image = true  (default)
        plugin.docker.config.gc.image_delay = 1h0m0s  (more.hcl:2)
        plugin.docker.config.gc.keep = []  (default)
        plugin.docker.config.gc.keep_versions = 0  (default)
        plugin.docker.config.gc.max_age = 0s  (default)
        plugin.docker.config.gc.min_age = 0s  (default)
        plugin.docker.config.gc.reclaim = true  (default)
        plugin.docker.config.gc.retain = delay  (default)
        plugin.raw_exec.config.enabled = false  (default)
        plugin.raw_exec.config.no_cgroups = false  (default)
        server.enabled = true  (base.hcl:2)

        Configuration is valid!
        "#);
        insta::assert_snapshot!(got.err, @r#"
        warning: more.hcl:3:49: client option "docker.cleanup.container" holds, but it has a new place
        hint: write plugin "docker" { config { gc { container = false } } }

        warning: the API on 0.0.0.0:4646 has no TLS and no access control (neither is in this build): whoever reaches it can run tasks on this machine. Let only trusted networks reach it, or keep it to this machine with addresses { http = "127.0.0.1" } and advertise { http = "127.0.0.1" }
        "#);
    }

    /// A switch from Nomad: what it takes and we do not is marked, and listed once more.
    #[test]
    fn what_nomad_takes_is_listed() {
        let text = "plugin \"docker\" { gc { image = false } }\nserver {\n  bootstrap_expect = 3\n  server_join {\n    \
                    retry_join = [\"10.0.0.2\"]\n  }\n}\nacl { enabled = true }\ntls { http = true }\nserver { colour = \
                    1 }\nplugin \"docker\" { config { tls { ca = \"/ca\" } } }\n";
        let got = told(false, &[("a.hcl", BASE), ("b.hcl", text)]);
        insta::assert_snapshot!(got.err, @r#"
        error: b.hcl:1:19: plugin "docker" unexpected keys gc
          |
        1 | plugin "docker" { gc { image = false } }
          |                   ^^
        Nomad takes this without a word, and it has no effect there
        hint: a plugin's own settings belong in its config block: plugin "docker" { config { gc { … } } }

        error: b.hcl:3:22: server.bootstrap_expect = 3: this build runs one server
          |
        3 |   bootstrap_expect = 3
          |                      ^
        Nomad takes this without a word, and acts on it
        hint: write bootstrap_expect = 1

        error: b.hcl:5:18: server.server_join.retry_join names other servers: this build runs one server
          |
        5 |     retry_join = ["10.0.0.2"]
          |                  ^
        Nomad takes this without a word, and acts on it
        hint: remove the list, or run this agent as a cluster of its own

        error: b.hcl:8:17: acl.enabled = true: access control lists are not in this build, and the agent must not answer everybody when they are asked for
          |
        8 | acl { enabled = true }
          |                 ^^^^
        Nomad takes this without a word, and acts on it
        hint: set enabled = false and protect the agent's ports by other means

        error: b.hcl:9:14: tls.http = true: TLS is not in this build, and the agent must not speak in the clear when TLS is asked for
          |
        9 | tls { http = true }
          |              ^^^^
        Nomad takes this without a word, and acts on it
        hint: set http = false and protect the agent's ports by other means

        error: b.hcl:10:10: server unexpected keys colour
           |
        10 | server { colour = 1 }
           |          ^^^^^^

        error: b.hcl:11:39: tls is given, but this build cannot speak TLS to a Docker engine
           |
        11 | plugin "docker" { config { tls { ca = "/ca" } } }
           |                                       ^^^^^
        Nomad takes this without a word, and acts on it
        hint: use the engine's Unix socket, or plain tcp:// inside of a trusted network

        Refused here, but taken by Nomad without a word (6 of the above):
          b.hcl:1:19
          b.hcl:3:22
          b.hcl:5:18
          b.hcl:8:17
          b.hcl:9:14
          b.hcl:11:39

        Configuration is invalid
        "#);
    }

    #[test]
    fn colours_mark_words_alone() {
        let files = vec![("a.hcl".to_owned(), "colour = 1".to_owned())];
        let found = examine(&Inputs { files, ..Inputs::default() }, &["empty".to_owned()], &[]);
        let got = found.told(ConfigVerdict::Text { effective: false, colour: true });
        let words: Vec<&str> = got.err.lines().filter(|line| line.contains('\u{1b}')).collect();
        let [warning, errors @ ..] = words.as_slice() else { panic!("{}", got.err) };
        assert_eq!(*warning, "\u{1b}[33mwarning\u{1b}[0m: No configuration loaded from empty");
        assert!(errors.iter().all(|line| line.starts_with("\u{1b}[91merror\u{1b}[0m: ")), "{errors:?}");
        assert!(!errors.is_empty());
    }

    #[test]
    fn addresses_that_are_safe_nowhere_are_errors() {
        let got = told(false, &[("a.hcl", BASE), ("b.hcl", "bind_addr = \"127.0.0.1\"")]);
        insta::assert_snapshot!(got.err, @r#"
        error: b.hcl:1:13: Defaulting advertise to localhost is unsafe, please set advertise manually
          |
        1 | bind_addr = "127.0.0.1"
          |             ^^^^^^^^^^^
        no other machine reaches this agent at 127.0.0.1, so that is not told to others unasked
        hint: if only this machine is to use the agent, write advertise { http = "127.0.0.1" }

        Configuration is invalid
        "#);
        let elsewhere = "bind_addr = \"{{ GetInterfaceIP \\\"ens3\\\" }}\"";
        let got = told(false, &[("a.hcl", BASE), ("b.hcl", elsewhere)]);
        assert_eq!((got.valid, got.out.as_str()), (true, "Configuration is valid!\n"));
        insta::assert_snapshot!(got.err, @r#"
        warning: b.hcl:1:13: bind_addr "{{ GetInterfaceIP \"ens3\" }}": no such address on this machine
          |
        1 | bind_addr = "{{ GetInterfaceIP \"ens3\" }}"
          |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        an agent would not start with this on this machine
        "#);
    }
}
