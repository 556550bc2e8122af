//! Replaces `${…}` in texts by what is known of node and task. What is not known stays as it is written.

use serde_json::Value;

/// Gives the value of a variable (`node.unique.id`, `attr.kernel.name`, `meta.rack`, `env["HOME"]`, `NOMAD_DC`).
pub(crate) trait Lookup {
    fn get(&self, name: &str) -> Option<&str>;
}

/// Replaces every known variable of `text`, once: what comes in is not looked at again.
pub(crate) fn expand(text: &str, variables: &dyn Lookup) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else { break };
        out.push_str(before);
        match variables.get(name.trim()) {
            Some(value) => out.push_str(value),
            None => {
                out.push_str("${");
                out.push_str(name);
                out.push('}');
            }
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Replaces variables in every text of a JSON value; names of members stay.
pub(crate) fn expand_json(value: &Value, variables: &dyn Lookup) -> Value {
    match value {
        Value::String(text) => Value::String(expand(text, variables)),
        Value::Array(items) => Value::Array(items.iter().map(|item| expand_json(item, variables)).collect()),
        Value::Object(members) => {
            let expanded = members.iter().map(|(name, member)| (name.clone(), expand_json(member, variables)));
            Value::Object(expanded.collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Few;

    impl Lookup for Few {
        fn get(&self, name: &str) -> Option<&str> {
            match name {
                "meta.rack" => Some("r1"),
                "env[\"HOME\"]" => Some("/root"),
                "loop" => Some("${meta.rack}"),
                "empty" => Some(""),
                _ => None,
            }
        }
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(expand(text, &Few), expected);
    }

    #[test]
    fn variables_in_texts() {
        check("", "");
        check("plain $ { }", "plain $ { }");
        check("${meta.rack}", "r1");
        check("a-${ meta.rack }-${meta.rack}b", "a-r1-r1b");
        check("${env[\"HOME\"]}/x", "/root/x");
        check("${unknown} ${meta.rack}", "${unknown} r1");
        check("${meta.rack", "${meta.rack");
        check("x${empty}y", "xy");
        check("${loop}", "${meta.rack}");
        check("größe ${meta.rack} ü", "größe r1 ü");
    }

    #[test]
    fn variables_in_json() {
        let value = serde_json::json!({"image": "web:${meta.rack}", "n": 1, "args": ["${meta.rack}", {"${meta.rack}": "${x}"}]});
        let expected = serde_json::json!({"image": "web:r1", "n": 1, "args": ["r1", {"${meta.rack}": "${x}"}]});
        assert_eq!(expand_json(&value, &Few), expected);
    }
}
