use longshore_driver::{ConfigFault, DriverError};
use serde::Deserialize;
use serde_json::Value;

/// What a task's `config` says.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    pub(super) command: String,
    #[serde(default)]
    pub(super) args: Vec<String>,
}

impl Config {
    pub(super) fn parse(config: &Value) -> Result<Self, DriverError> {
        let parsed: Self = Self::deserialize(config).map_err(|error| {
            DriverError::fatal(format!("failed to parse config: {error}"))
                .hint("raw_exec takes `command` (text, required) and `args` (list of texts)")
                .with_config_faults(faults(config))
        })?;
        if parsed.command.is_empty() {
            let why = "failed to parse config: `command` is empty";
            let fault = ConfigFault { path: vec!["command".to_owned()], message: why.to_owned() };
            return Err(DriverError::fatal(why).with_config_faults(vec![fault]));
        }
        Ok(parsed)
    }
}

/// What is wrong with each key by itself; empty where only a key is missing.
fn faults(config: &Value) -> Vec<ConfigFault> {
    let command = ("command".to_owned(), Value::from("x"));
    let fault = |(key, value): (&String, &Value)| {
        let alone = Value::from_iter([command.clone(), (key.clone(), value.clone())]);
        let why = Config::deserialize(alone).err()?;
        Some(ConfigFault { path: vec![key.clone()], message: format!("failed to parse config: {key}: {why}") })
    };
    config.as_object().into_iter().flatten().filter_map(fault).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(config: &Value, expected: &str) {
        let text = match Config::parse(config) {
            Ok(config) => format!("{} {:?}", config.command, config.args),
            Err(error) => error.message,
        };
        assert_eq!(text, expected);
    }

    #[test]
    fn each_key_is_looked_at() {
        let error = Config::parse(&json!({"args": "b", "colour": "blue"})).unwrap_err();
        let told: Vec<_> = error.config_faults.iter().map(|one| (one.path.join("."), one.message.as_str())).collect();
        let why = "failed to parse config:";
        assert_eq!(
            told,
            [
                ("args".to_owned(), &*format!("{why} args: invalid type: string \"b\", expected a sequence")),
                ("colour".to_owned(), &*format!("{why} colour: unknown field `colour`, expected `command` or `args`")),
            ]
        );
        assert_eq!(Config::parse(&json!({})).unwrap_err().config_faults, []);
        assert_eq!(Config::parse(&json!({"command": ""})).unwrap_err().config_faults[0].path, ["command"]);
    }

    #[test]
    fn configs() {
        check(&json!({"command": "/bin/sleep", "args": ["1"]}), "/bin/sleep [\"1\"]");
        check(&json!({"command": "sleep"}), "sleep []");
        check(&json!({}), "failed to parse config: missing field `command`");
        check(&json!({"command": ""}), "failed to parse config: `command` is empty");
        check(
            &json!({"command": "a", "colour": "blue"}),
            "failed to parse config: unknown field `colour`, expected `command` or `args`",
        );
        check(
            &json!({"command": "a", "args": "b"}),
            "failed to parse config: invalid type: string \"b\", expected a sequence",
        );
    }
}
