use longshore_driver::DriverError;
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
        })?;
        if parsed.command.is_empty() {
            return Err(DriverError::fatal("failed to parse config: `command` is empty"));
        }
        Ok(parsed)
    }
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
