//! `config show`: the settings that an agent would hold, and where each comes from.

use longshore_docker::Options as DockerOptions;
use longshore_settings::{Effective, Origin};
use longshore_values::without_login;
use serde_json::{Value, json};

use crate::arguments::{self, ShowArguments};
use crate::docker::{self, USUAL_SOCKET};
use crate::files;
use crate::roles::host_name;
use crate::settings::{self, Settings};
use crate::validate;

/// The exit code of `config show`.
pub(crate) fn show(program: &str, words: &[String], colour: bool) -> u8 {
    let ShowArguments { agent, origin, json } = match arguments::parse_show(words) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("{error}\nFor the flags that there are try '{program} config show -help'");
            return 1;
        }
    };
    if agent.help {
        print!("{}", arguments::help_show(program));
        return 0;
    }
    let files = match files::read(&agent.configs) {
        Ok(files) => files,
        Err(error) => {
            eprintln!("error: {error}");
            return 1;
        }
    };
    let settings = Settings::examine(&settings::inputs(&agent, files.texts));
    eprint!("{}", validate::listed(&settings.told, colour));
    if !settings.is_good() {
        return 1;
    }
    let docker_host = std::env::var("DOCKER_HOST").ok();
    let all = all(&settings, docker_host.as_deref(), &host_name());
    if json {
        print!("{}", as_json(&all))
    } else {
        print!("{}", as_text(&all, origin))
    }
    0
}

/// Every setting that holds, what comes from around the agent included.
fn all(settings: &Settings, docker_host: Option<&str>, host_name: &str) -> Vec<Effective> {
    let mut all = settings.effective.clone();
    let is_given = |path: &str| settings.effective.iter().any(|it| it.path == path);
    // These take their value from around the agent when nobody gives one.
    if !is_given("name") {
        let (path, value) = ("name".to_owned(), host_name.to_owned());
        all.push(Effective { path, value, origin: Origin::Default, has_effect: true });
    }
    if !is_given(ENDPOINT) {
        all.push(endpoint(&settings.docker, docker_host));
    }
    all.sort_by(|left, right| left.path.cmp(&right.path));
    all
}

fn as_text(all: &[Effective], with_origin: bool) -> String {
    all.iter().map(|it| line(it, with_origin)).collect()
}

fn as_json(all: &[Effective]) -> String {
    let rows = all.iter().map(|it| {
        json!({ "path": it.path, "value": it.value, "origin": it.origin.to_string(), "has_effect": it.has_effect })
    });
    format!("{:#}\n", Value::from_iter(rows))
}

/// One setting as people read it.
pub(crate) fn line(it: &Effective, with_origin: bool) -> String {
    let value = if it.value.is_empty() { "\"\"" } else { it.value.as_str() };
    let origin = if with_origin { format!("  ({})", it.origin) } else { String::new() };
    let mark = if it.has_effect { "" } else { "  [without effect in this build]" };
    format!("{} = {value}{origin}{mark}\n", it.path)
}

const ENDPOINT: &str = "plugin.docker.config.endpoint";

fn endpoint(options: &DockerOptions, docker_host: Option<&str>) -> Effective {
    let from_environment = docker_host.filter(|text| !text.is_empty());
    let origin = match from_environment {
        Some(_) => Origin::Environment("DOCKER_HOST".to_owned()),
        None => Origin::Default,
    };
    // What cannot be an address is shown all the same.
    let value = docker::endpoint(options, docker_host)
        .map_or_else(|_| without_login(from_environment.unwrap_or(USUAL_SOCKET)), |endpoint| endpoint.to_string());
    Effective { path: ENDPOINT.to_owned(), value, origin, has_effect: true }
}

#[cfg(test)]
mod tests {
    use longshore_settings::Inputs;

    use super::*;

    fn shown(flags: &[(&str, &str)], docker_host: Option<&str>, with_origin: bool, wanted: &[&str]) -> String {
        let file = "data_dir = \"/d\"\nserver {\n  enabled = true\n  job_max_priority = 90\n}\nclient {\n  enabled = true\n  \
                    host_volume \"v\" {\n    path = \"/v\"\n  }\n  meta {\n    api_token = \"s3cret\"\n  }\n  options {\n    \
                    docker.cleanup.image.delay = \"1h\"\n  }\n}\n";
        let flags = flags.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let files = vec![("a.hcl".to_owned(), file.to_owned())];
        let settings = Settings::examine(&Inputs { files, flags, ..Inputs::default() });
        assert!(settings.is_good(), "{:?}", settings.told);
        let text = as_text(&all(&settings, docker_host, "host-1"), with_origin);
        let lines = text.lines().filter(|line| wanted.iter().any(|path| line.starts_with(path)));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn as_json_it_is_a_list() {
        let files = vec![("a.hcl".to_owned(), "region = \"eu\"\nvault { token = \"s3cret\" }".to_owned())];
        let settings = Settings::examine(&Inputs { dev: true, files, ..Inputs::default() });
        let shown: Value = serde_json::from_str(&as_json(&all(&settings, None, "host-1"))).unwrap();
        let row = |path: &str| shown.as_array().unwrap().iter().find(|row| row["path"] == path).unwrap().clone();
        let region = json!({ "path": "region", "value": "eu", "origin": "a.hcl:1", "has_effect": true });
        let token = json!({ "path": "vault.token", "value": "***", "origin": "a.hcl:2", "has_effect": false });
        assert_eq!([row("region"), row("vault.token")], [region, token]);
    }

    #[test]
    fn each_value_with_where_it_comes_from() {
        let wanted = [
            "bind_addr",
            "name",
            "data_dir",
            "server.enabled",
            "server.job_max",
            "server.job_gc_interval",
            "client.host_volume",
            "client.meta",
            "plugin.docker.config.endpoint",
            "plugin.docker.config.gc.image",
            "plugin.docker.config.auth.config",
        ];
        let flags = [("bind", "10.0.0.7")];
        insta::assert_snapshot!(shown(&flags, Some("unix:///run/d.sock"), true, &wanted), @r#"
        bind_addr = 10.0.0.7  (flag -bind)
        client.host_volume.v.path = /v  (a.hcl:9)  [without effect in this build]
        client.host_volume.v.read_only = false  (default)  [without effect in this build]
        client.meta.api_token = ***  (a.hcl:12)
        data_dir = /d  (a.hcl:1)
        name = host-1  (default)
        plugin.docker.config.endpoint = unix:///run/d.sock  (environment variable DOCKER_HOST)
        plugin.docker.config.gc.image = true  (default)
        plugin.docker.config.gc.image_delay = 1h0m0s  (client option "docker.cleanup.image.delay" at a.hcl:15)
        server.enabled = true  (a.hcl:3)
        server.job_gc_interval = 5m0s  (default)
        server.job_max_priority = 90  (a.hcl:4)  [without effect in this build]
        server.job_max_source_size = 1M  (default)  [without effect in this build]
        "#);
        let told = shown(&[], Some("tcp://ann:s3cr3t@engine:1"), false, &["plugin.docker.config.endpoint"]);
        assert_eq!(told, "plugin.docker.config.endpoint = tcp://***@engine:1");
        insta::assert_snapshot!(shown(&[("node", "n1")], None, false, &["name", "plugin.docker.config.endpoint"]), @"
        name = n1
        plugin.docker.config.endpoint = unix:///var/run/docker.sock
        ");
    }
}
