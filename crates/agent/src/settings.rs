//! Everything that an agent is told, read at once: agent files and flags, each driver's options, and what only this build
//! has to say about them.

use std::collections::BTreeSet;

use longshore_docker::Options as DockerOptions;
use longshore_exec::{MockOptions, RawExecOptions};
use longshore_settings::{
    AgentConfig, Decoded, DriverTree, ENVIRONMENT, Effective, Inputs, Origin, Tree, Unused, legacy_docker_options,
    legacy_mock_options, legacy_raw_exec_options, nomad_acts_on,
};
use longshore_values::Diagnostic;

use crate::arguments::Arguments;
use crate::client_options;

/// What an agent is told: files, its environment, and its command line.
pub(crate) fn inputs(arguments: &Arguments, files: Vec<(String, String)>) -> Inputs {
    let given = |(name, _): &(&str, &[&str])| Some(((*name).to_owned(), std::env::var(name).ok()?));
    let environment = ENVIRONMENT.iter().filter_map(given).filter(|(_, value)| !value.is_empty()).collect();
    Inputs { dev: arguments.dev, files, environment, flags: arguments.flags.clone() }
}

/// What was found. The settings are good only when nothing in `told` is an error.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) config: AgentConfig,
    pub(crate) docker: DockerOptions,
    pub(crate) raw_exec: RawExecOptions,
    pub(crate) mock: MockOptions,
    /// Every error and every warning.
    pub(crate) told: Vec<Diagnostic>,
    /// Every setting that holds, those of drivers included, sorted by path.
    pub(crate) effective: Vec<Effective>,
}

/// The plugins whose `config` somebody here decodes.
const PLUGINS: [&str; 3] = ["docker", "raw_exec", "mock_driver"];

impl Settings {
    pub(crate) fn examine(inputs: &Inputs) -> Self {
        let Decoded { value: config, diagnostics: mut told, mut effective, mut unused, known: _ } =
            AgentConfig::examine(inputs);
        let mut sink = Sink { told: &mut told, effective: &mut effective, unused: &mut unused };
        let docker = sink.take(legacy_docker_options(&config), DockerOptions::decode);
        let raw_exec = sink.take(legacy_raw_exec_options(&config), RawExecOptions::decode);
        let mock = sink.take(legacy_mock_options(&config), MockOptions::decode);
        unused.extend(without_owner(&config));
        unused.extend(client_options::unused(&config.client.options));
        unused.sort_by(|left, right| left.path.cmp(&right.path));
        told.extend(Unused::warning(&unused));
        let without_effect: BTreeSet<&str> = unused.iter().map(|it| it.path.as_str()).collect();
        for it in &mut effective {
            it.has_effect &= !without_effect.contains(it.path.as_str());
        }
        told.extend(client_alone(&config, &effective));
        told.sort_by_key(|it| {
            (!it.is_error(), it.place.as_ref().map(|place| (place.file.clone(), place.line, place.column)))
        });
        told.dedup();
        effective.sort_by(|left, right| left.path.cmp(&right.path));
        Self { config, docker, raw_exec, mock, told, effective }
    }

    pub(crate) fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.told.iter().filter(|told| told.is_error())
    }

    pub(crate) fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.told.iter().filter(|told| !told.is_error())
    }

    pub(crate) fn is_good(&self) -> bool {
        self.errors().next().is_none()
    }
}

struct Sink<'a> {
    told: &'a mut Vec<Diagnostic>,
    effective: &'a mut Vec<Effective>,
    unused: &'a mut Vec<Unused>,
}

impl Sink<'_> {
    fn take<T>(&mut self, driver: DriverTree, decode: impl FnOnce(&Tree) -> Decoded<T>) -> T {
        self.told.extend(driver.warnings);
        let decoded = decode(&driver.tree);
        self.told.extend(decoded.diagnostics);
        self.effective.extend(decoded.effective);
        self.unused.extend(decoded.unused);
        decoded.value
    }
}

fn without_owner(config: &AgentConfig) -> Vec<Unused> {
    let strange = config.plugins.iter().filter(|(name, _)| !PLUGINS.contains(&name.as_str()));
    strange
        .map(|(name, plugin)| Unused {
            path: format!("plugin.{name}"),
            origin: plugin.origin.clone(),
            why: format!("this build has {}", PLUGINS.join(", ")),
        })
        .collect()
}

/// A client whose servers are elsewhere is not in this build.
fn client_alone(config: &AgentConfig, effective: &[Effective]) -> Option<Diagnostic> {
    if !config.client.enabled || config.server.enabled {
        return None;
    }
    let given = effective.iter().find(|it| it.path == "client.enabled").map(|it| &it.origin);
    let told = nomad_acts_on(Diagnostic::error("a client without a server in the same process is not in this build"));
    Some(placed(told.hint("add server { enabled = true }"), given))
}

fn placed(told: Diagnostic, origin: Option<&Origin>) -> Diagnostic {
    match origin.and_then(Origin::place) {
        Some(place) => told.at(place),
        None => told,
    }
}

/// The paths of what holds otherwise in `after` than in `before`, each once.
pub(crate) fn changed(before: &[Effective], after: &[Effective]) -> Vec<String> {
    let values = |list: &[Effective]| -> std::collections::BTreeMap<String, Vec<String>> {
        let mut values = std::collections::BTreeMap::<String, Vec<String>>::new();
        for it in list {
            values.entry(it.path.clone()).or_default().push(it.value.clone());
        }
        values
    };
    let (before, after) = (values(before), values(after));
    let mut paths: Vec<String> = before.keys().chain(after.keys()).cloned().collect();
    paths.sort();
    paths.dedup();
    paths.retain(|path| before.get(path) != after.get(path));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examine(text: &str) -> Settings {
        let files = vec![("a.hcl".to_owned(), text.to_owned())];
        Settings::examine(&Inputs { dev: true, files, ..Inputs::default() })
    }

    #[track_caller]
    fn check(text: &str, expected: (bool, bool)) {
        let settings = examine(text);
        assert_eq!(settings.errors().map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new(), "{text}");
        assert_eq!((settings.raw_exec.enabled, settings.mock.enabled), expected, "{text}");
    }

    #[test]
    fn who_runs_processes_of_the_host() {
        check("", (true, false));
        check("client { options { \"driver.raw_exec.enable\" = \"false\" } }", (false, false));
        check("plugin \"raw_exec\" { config { enabled = false } }", (false, false));
        // As in Nomad: a config block replaces all options, those of -dev too.
        check("plugin \"raw_exec\" { config { no_cgroups = true } }", (false, false));
        check("plugin \"mock_driver\" { config { enabled = true } }", (true, true));
        check("plugin \"mock_driver\" { config { } }", (true, false));
        check("client { options { \"driver.mock_driver.enable\" = \"true\" } }", (true, true));
    }

    #[test]
    fn a_client_needs_its_server_beside_it() {
        let text = "client { enabled = true }\ndata_dir = \"/d\"";
        let files = vec![("a.hcl".to_owned(), text.to_owned())];
        let settings = Settings::examine(&Inputs { files, ..Inputs::default() });
        let told: Vec<_> = settings.errors().map(ToString::to_string).collect();
        insta::assert_snapshot!(told.join("\n"), @r"
        a.hcl:1:20: a client without a server in the same process is not in this build
          |
        1 | client { enabled = true }
          |                    ^^^^
        Nomad takes this without a word, and acts on it
        hint: add server { enabled = true }
        ");
    }

    /// Every setting that is shown stands in a reference page.
    #[test]
    fn nothing_holds_that_is_not_written_down() {
        use longshore_settings::reference;
        for it in examine("").effective.iter().filter(|it| !it.path.starts_with("client.options.")) {
            let of_docker = it.path.strip_prefix("plugin.docker.config.");
            let is_written = match of_docker {
                Some(key) => longshore_docker::AGENT_OPTIONS.iter().any(|row| {
                    row.key == key || row.kind.starts_with("map") && key.starts_with(&format!("{}.", row.key))
                }),
                None => {
                    let (block, key) = it.path.rsplit_once('.').unwrap_or(("", &it.path));
                    reference::table(block).is_some_and(|table| table.rows.iter().any(|row| row.key == key))
                }
            };
            assert!(is_written, "{} = {}", it.path, it.value);
        }
    }

    #[test]
    fn only_what_holds_otherwise_has_changed() {
        let (before, after) = (examine("region = \"a\""), examine("region = \"b\"\nclient { meta { rack = \"r1\" } }"));
        assert_eq!(changed(&before.effective, &after.effective), ["client.meta.rack", "region"]);
        assert_eq!(changed(&after.effective, &after.effective), Vec::<String>::new());
    }
}
