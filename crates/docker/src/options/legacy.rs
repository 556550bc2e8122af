//! The old home of these options: `client { options { "docker.…" = "…" } }`.

use std::collections::BTreeMap;

use longshore_settings::{Given, Node, Origin, Tree, Value};
use longshore_values::Diagnostic;

/// A plugin's config with what the client options add to it, and what is to be told about that.
#[derive(Debug, Clone)]
pub struct Overlay {
    pub config: Tree,
    pub diagnostics: Vec<Diagnostic>,
}

enum Kind {
    Text,
    List,
}

struct Legacy {
    key: &'static str,
    path: &'static [&'static str],
    kind: Kind,
    /// Holds beside a plugin config, wherever that does not set the same thing; the others are dropped then.
    beside: bool,
}

const fn text(key: &'static str, path: &'static [&'static str]) -> Legacy {
    Legacy { key, path, kind: Kind::Text, beside: false }
}

const fn cleanup(key: &'static str, path: &'static [&'static str]) -> Legacy {
    Legacy { key, path, kind: Kind::Text, beside: true }
}

/// In order: a later key wins over an earlier one of the same path.
const LEGACY: [Legacy; 15] = [
    text("docker.endpoint", &["endpoint"]),
    cleanup("docker.cleanup.container", &["gc", "container"]),
    cleanup("docker.cleanup.image", &["gc", "image"]),
    cleanup("docker.cleanup.image.delay", &["gc", "image_delay"]),
    text("docker.privileged.enabled", &["allow_privileged"]),
    text("docker.tls.cert", &["tls", "cert"]),
    text("docker.tls.key", &["tls", "key"]),
    text("docker.tls.ca", &["tls", "ca"]),
    text("docker.auth.config", &["auth", "config"]),
    text("docker.auth.helper", &["auth", "helper"]),
    text("docker.volumes.selinuxlabel", &["volumes", "selinuxlabel"]),
    text("docker.volumes.enabled", &["volumes", "enabled"]),
    Legacy { key: "docker.caps.whitelist", path: &["allow_caps"], kind: Kind::List, beside: false },
    Legacy { key: "docker.caps.allowlist", path: &["allow_caps"], kind: Kind::List, beside: false },
    text("docker.nvidia_runtime", &["nvidia_runtime"]),
];

/// Lays the `docker.*` client options under `config`, the block of `plugin "docker"` if there is one. Other options are
/// passed over.
pub fn overlay_client_options(config: Option<Tree>, options: &BTreeMap<String, Given<String>>) -> Overlay {
    let has_config = config.is_some();
    let mut overlay = Overlay {
        config: config
            .unwrap_or_else(|| Tree { path: CONFIG_PATH.to_owned(), object: longshore_settings::Object::default() }),
        diagnostics: Vec::new(),
    };
    let given_by_plugin: Vec<&[&str]> =
        LEGACY.iter().map(|row| row.path).filter(|path| overlay.config.object.at(path).is_some()).collect();
    for row in &LEGACY {
        let Some(given) = options.get(row.key) else { continue };
        let new_place = format!("plugin \"docker\" {{ config {{ {} }} }}", nested(row.path, &given.value));
        if has_config && !row.beside {
            overlay.tell(
                given,
                format!("client option {:?} has no effect: plugin \"docker\" has a config", row.key),
                format!("move it: {new_place}"),
            );
        } else if given_by_plugin.contains(&row.path) {
            overlay.tell(
                given,
                format!("client option {:?} has no effect: {CONFIG_PATH}.{} is given", row.key, row.path.join(".")),
                "remove the client option",
            );
        } else {
            let origin = Origin::ClientOption { key: row.key.to_owned(), span: span_of(&given.origin) };
            overlay.config.object.set(row.path, row.value(&given.value, &origin), &origin);
            overlay.tell(
                given,
                format!("client option {:?} is the old place of this setting", row.key),
                format!("move it: {new_place}"),
            );
        }
    }
    for (key, given) in options {
        if key.starts_with("docker.") && !LEGACY.iter().any(|row| row.key == key) {
            overlay.tell(given, format!("client option {key:?} is not known and has no effect"), "");
        }
    }
    overlay
}

/// Where the config of this plugin stands, in messages and listings.
pub(crate) const CONFIG_PATH: &str = "plugin.docker.config";

impl Overlay {
    fn tell(&mut self, given: &Given<String>, summary: String, hint: impl Into<String>) {
        let told = Diagnostic::warning(summary).hint(hint);
        self.diagnostics.push(match given.origin.place() {
            Some(place) => told.at(place),
            None => told,
        });
    }
}

impl Legacy {
    fn value(&self, text: &str, origin: &Origin) -> Value {
        match self.kind {
            Kind::Text => Value::Text(text.to_owned()),
            Kind::List => Value::List(
                text.split(',')
                    .map(str::trim)
                    .filter(|item| !item.is_empty())
                    .map(|item| Node { value: Value::Text(item.to_owned()), origin: origin.clone() })
                    .collect(),
            ),
        }
    }
}

fn span_of(origin: &Origin) -> Option<longshore_settings::Span> {
    match origin {
        Origin::File(span) => Some(span.clone()),
        Origin::ClientOption { span, .. } => span.clone(),
        Origin::Default | Origin::Dev | Origin::Flag(_) => None,
    }
}

/// `gc { image_delay = "96h" }`.
fn nested(path: &[&str], value: &str) -> String {
    match path {
        [] => String::new(),
        [key] if matches!(value, "true" | "false") => format!("{key} = {value}"),
        [key] => format!("{key} = {value:?}"),
        [block, rest @ ..] => format!("{block} {{ {} }}", nested(rest, value)),
    }
}
