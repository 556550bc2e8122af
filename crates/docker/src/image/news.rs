//! The engine's event stream, in the keeper's words.

use longshore_engine::EngineEvent;
use longshore_images::EngineNews;

/// What an event means for images; `None` for what means nothing.
pub(crate) fn news(event: &EngineEvent) -> Option<EngineNews> {
    let action = event.action.split(':').next().unwrap_or_default();
    match (event.kind.as_str(), action) {
        ("image", "pull") => Some(match event.actor.id.parse() {
            Ok(name) => EngineNews::Pulled { name },
            Err(_) => EngineNews::ImagesChanged,
        }),
        ("image", "tag") => {
            let name = event.actor.attributes.get("name").and_then(|name| name.parse().ok());
            Some(match (name, event.actor.id.parse()) {
                (Some(name), Ok(content)) => EngineNews::Tagged { name, content },
                _ => EngineNews::ImagesChanged,
            })
        }
        ("image", "load") => Some(match event.actor.id.parse() {
            Ok(content) => EngineNews::Loaded { content },
            Err(_) => EngineNews::ImagesChanged,
        }),
        ("image", _) | ("container", "commit") => Some(EngineNews::ImagesChanged),
        ("container", "create" | "destroy" | "rename") => Some(EngineNews::ContainersChanged),
        ("container", _) => None,
        // A line that could not be read: something happened.
        ("", _) => Some(EngineNews::ImagesChanged),
        _ => None,
    }
}

/// Whether the look for it may wait: a container that is made is about to be started, and removals look for themselves.
pub(crate) fn may_wait(event: &EngineEvent) -> bool {
    event.kind == "container" && event.action == "create"
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "sha256:ce60000000000000000000000000000000000000000000000000000000000001";

    #[track_caller]
    fn check(json: &str, expected: Option<EngineNews>) {
        let event: EngineEvent = serde_json::from_str(json).unwrap();
        assert_eq!(news(&event), expected, "{json}");
    }

    #[test]
    fn events_become_news() {
        check(
            r#"{"Type":"image","Action":"pull","Actor":{"ID":"127.0.0.1:5000/a:1","Attributes":{"name":"127.0.0.1:5000/a"}}}"#,
            Some(EngineNews::Pulled { name: "127.0.0.1:5000/a:1".parse().unwrap() }),
        );
        check(
            &format!(r#"{{"Type":"image","Action":"tag","Actor":{{"ID":"{ID}","Attributes":{{"name":"z:1"}}}}}}"#),
            Some(EngineNews::Tagged { name: "z:1".parse().unwrap(), content: ID.parse().unwrap() }),
        );
        check(
            &format!(r#"{{"Type":"image","Action":"load","Actor":{{"ID":"{ID}"}}}}"#),
            Some(EngineNews::Loaded { content: ID.parse().unwrap() }),
        );
        check(r#"{"Type":"image","Action":"untag","Actor":{"ID":"x"}}"#, Some(EngineNews::ImagesChanged));
        check(r#"{"Type":"container","Action":"create"}"#, Some(EngineNews::ContainersChanged));
        check(r#"{"Type":"container","Action":"exec_create: /bin/sh -c x"}"#, None);
        check(r#"{"Type":"container","Action":"die"}"#, None);
        check("{}", Some(EngineNews::ImagesChanged));
    }
}
