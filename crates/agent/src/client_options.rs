//! `client { options { … } }`: what is read from there besides the drivers' own settings.

use std::collections::BTreeMap;

use longshore_client::ENV_DENYLIST;
use longshore_settings::{Given, Origin, Unused};

type Options = BTreeMap<String, Given<String>>;

/// The new name of an option, and the one from before.
type Names = [&'static str; 2];

const DRIVER_ALLOWLIST: Names = ["driver.allowlist", "driver.whitelist"];
const DRIVER_DENYLIST: Names = ["driver.denylist", "driver.blacklist"];
const ENV_DENYLIST_NAMES: Names = ["env.denylist", "env.blacklist"];
/// Read by `settings` into the drivers' blocks.
const OF_DRIVERS: [&str; 3] = ["driver.raw_exec.enable", "driver.raw_exec.no_cgroups", "driver.mock_driver.enable"];

/// Whether the operator lets this node have a driver.
pub(crate) fn allows(options: &Options, driver: &str) -> bool {
    let names = |list: Option<Vec<String>>, name: &str| list.map(|list| list.iter().any(|it| it == name));
    let allowed = names(list(options, DRIVER_ALLOWLIST), driver).unwrap_or(true);
    let denied = names(list(options, DRIVER_DENYLIST), driver).unwrap_or(false);
    allowed && !denied
}

/// The variables of the agent's environment that tasks do not inherit. A given list replaces the built-in one.
pub(crate) fn env_denylist(options: &Options) -> Vec<String> {
    list(options, ENV_DENYLIST_NAMES).unwrap_or_else(|| ENV_DENYLIST.map(str::to_owned).to_vec())
}

/// The items of the option that was given; the new name goes first. An empty text is "not given".
fn list(options: &Options, names: Names) -> Option<Vec<String>> {
    let given = names.iter().find_map(|name| options.get(*name).filter(|given| !given.value.trim().is_empty()))?;
    let items = given.value.split(',').map(str::trim).filter(|item| !item.is_empty());
    Some(items.map(str::to_owned).collect())
}

/// The options that nothing in this build reads.
pub(crate) fn unused(options: &Options) -> Vec<Unused> {
    let lists = [DRIVER_ALLOWLIST, DRIVER_DENYLIST, ENV_DENYLIST_NAMES];
    let is_read = |name: &str| {
        // Those of Docker have a word of their own.
        OF_DRIVERS.contains(&name) || name.starts_with("docker.") || lists.iter().flatten().any(|read| *read == name)
    };
    options
        .iter()
        .filter(|(name, given)| !is_read(name) && given.origin != Origin::Dev)
        .map(|(name, given)| Unused {
            path: format!("client.options.{name}"),
            origin: given.origin.clone(),
            why: String::new(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(given: &[(&str, &str)]) -> Options {
        let given = given.iter().map(|(name, value)| {
            ((*name).to_owned(), Given { value: (*value).to_owned(), origin: Origin::Flag("-x".to_owned()) })
        });
        given.collect()
    }

    #[track_caller]
    fn check(given: &[(&str, &str)], expected: [bool; 2]) {
        let options = options(given);
        assert_eq!(["docker", "raw_exec"].map(|driver| allows(&options, driver)), expected, "{given:?}");
    }

    #[test]
    fn drivers_are_allowed_and_denied() {
        check(&[], [true, true]);
        check(&[("driver.allowlist", "docker")], [true, false]);
        check(&[("driver.whitelist", " raw_exec , java ")], [false, true]);
        check(&[("driver.denylist", "raw_exec")], [true, false]);
        check(&[("driver.allowlist", "docker"), ("driver.blacklist", "docker")], [false, false]);
        check(&[("driver.allowlist", ""), ("driver.denylist", "")], [true, true]);
        check(&[("driver.allowlist", "docker"), ("driver.whitelist", "raw_exec")], [true, false]);
    }

    #[test]
    fn a_list_of_variables_replaces_the_built_in_one() {
        assert!(env_denylist(&options(&[])).contains(&"VAULT_TOKEN".to_owned()));
        assert_eq!(env_denylist(&options(&[("env.denylist", "A,B")])), ["A", "B"]);
    }

    #[test]
    fn what_nobody_reads_is_told() {
        let told = unused(&options(&[("user.denylist", "root"), ("driver.denylist", "x"), ("docker.x", "y")]));
        let told: Vec<_> = told.into_iter().map(|it| it.path).collect();
        assert_eq!(told, ["client.options.user.denylist"]);
    }
}
