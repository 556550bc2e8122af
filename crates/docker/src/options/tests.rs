use longshore_settings::{Tree, parse_text};

use longshore_images::{Retain, SpacePolicy};

use super::*;

fn tree(text: &str) -> Tree {
    Tree { path: "plugin.docker.config".to_owned(), object: parse_text("agent.hcl", text).unwrap() }
}

fn told(diagnostics: &[longshore_values::Diagnostic]) -> String {
    diagnostics.iter().map(|told| format!("{told}\n")).collect()
}

#[track_caller]
fn check_gc(text: &str, expected: GcOptions) {
    let decoded = Options::decode(&tree(text));
    assert_eq!(told(&decoded.diagnostics), "", "{text}");
    assert_eq!(decoded.value.gc, expected, "{text}");
}

#[test]
fn defaults_hold_key_by_key() {
    let two_seconds = GcOptions { image_delay: GoDuration::seconds(2), ..GcOptions::default() };
    check_gc("", GcOptions::default());
    check_gc("auth { config = \"/etc/docker.json\" }", GcOptions::default());
    check_gc("gc {}", GcOptions::default());
    check_gc("gc { container = true }", GcOptions::default());
    check_gc("gc { image = true }", GcOptions::default());
    check_gc(
        "gc { dangling_containers { enabled = false } }",
        GcOptions {
            dangling_containers: DanglingOptions { enabled: false, ..DanglingOptions::default() },
            ..GcOptions::default()
        },
    );
    check_gc("gc { image_delay = \"2s\" }", two_seconds.clone());
    check_gc("{ \"gc\": { \"image_delay\": \"2s\" } }", two_seconds);
    check_gc("gc { foreign = \"keep\" }", GcOptions::default());
    check_gc("gc { foreign = \"collect\" }", GcOptions { foreign: super::Foreign::Collect, ..GcOptions::default() });
    check_gc("gc { keep_versions = 2 }", GcOptions { keep_versions: 2, ..GcOptions::default() });
    check_gc("gc { image = false }", GcOptions { image: false, ..GcOptions::default() });
    check_gc("gc { image_delay = \"0s\" }", GcOptions { image_delay: GoDuration::ZERO, ..GcOptions::default() });
}

#[test]
fn marks_ages_and_budgets() {
    let space = |space| GcOptions { space, ..GcOptions::default() };
    let none = SpacePolicy::default();
    check_gc("gc { disk_high = 85 }", space(SpacePolicy { disk_high: Some(85), ..none.clone() }));
    check_gc("gc { disk_high = \"85%\" }", space(SpacePolicy { disk_high: Some(85), ..none.clone() }));
    check_gc(
        "{ \"gc\": { \"retain\": \"space\", \"budget\": \"20GB\" } }",
        space(SpacePolicy { retain: Retain::Space, budget_bytes: Some(20_000_000_000), ..none.clone() }),
    );
    check_gc(
        "gc {\n disk_high = 90\n disk_low = 70\n min_free = \"2GiB\"\n min_age = \"1h\"\n max_age = \"72h\"\n reclaim = false\n}",
        space(SpacePolicy {
            disk_high: Some(90),
            disk_low: Some(70),
            min_free_bytes: Some(2 << 30),
            min_age: GoDuration::hours(1),
            max_age: GoDuration::hours(72),
            reclaim: false,
            ..none
        }),
    );
}

#[test]
fn an_empty_delay_is_not_given_and_said() {
    let decoded = Options::decode(&tree("gc {\n  image_delay = \"\"\n}"));
    assert_eq!(decoded.value.gc, GcOptions::default());
    insta::assert_snapshot!(told(&decoded.diagnostics), @r#"
    agent.hcl:2:17: plugin.docker.config.gc.image_delay is empty: the default 3m0s holds
      |
    2 |   image_delay = ""
      |                 ^^
    hint: remove the line, or write image_delay = "0s" for "at once"
    "#);
}

#[test]
fn mistakes_are_refused_with_their_place() {
    let texts = [
        "image_delay = \"1h\"",
        "gc { image_dleay = \"1h\" }",
        "gc { image_delay = \"1d\" }",
        "gc { dangling_containers { creation_grace = \"10s\" } }",
        "gc { dangling_containers { period = \"0s\" } }",
        "pull_activity_timeout = \"30s\"",
        "endpoint = \"https://engine:2376\"",
        "endpoint = \"tcp://ann:s3cr3t@engine:2375\"",
        "tls { ca = \"/etc/ca.pem\" }",
        "gc { auth { config = \"a\" } }",
        "gc { retain = \"space\" }",
        "gc { retain = \"forever\" }",
        "gc { disk_high = 100 }",
        "gc { disk_low = \"80%\" }",
        "gc {\n  disk_high = 80\n  disk_low = 80\n}",
        "gc { budget = \"20 apples\" }",
        "gc { min_free = 0 }",
        "gc { min_age = \"-1s\" }",
        "gc {\n  min_age = \"2h\"\n  max_age = \"1h\"\n}",
        "disk_high = 85",
    ];
    let all: String = texts.map(|text| told(&Options::decode(&tree(text)).diagnostics)).concat();
    insta::assert_snapshot!(all, @r#"
    agent.hcl:1:1: plugin.docker.config unexpected keys image_delay
      |
    1 | image_delay = "1h"
      | ^^^^^^^^^^^
    hint: it belongs in gc { image_delay = … }
    agent.hcl:1:6: plugin.docker.config.gc unexpected keys image_dleay
      |
    1 | gc { image_dleay = "1h" }
      |      ^^^^^^^^^^^
    hint: did you mean "image_delay"?
    agent.hcl:1:20: plugin.docker.config.gc.image_delay = "1d" is no duration: time: unknown unit "d" in duration "1d"
      |
    1 | gc { image_delay = "1d" }
      |                    ^^^^
    hint: units are ns, us, ms, s, m and h, as in "90s" or "1h30m"
    agent.hcl:1:45: plugin.docker.config.gc.dangling_containers.creation_grace must be at least 1m0s, not 10s
      |
    1 | gc { dangling_containers { creation_grace = "10s" } }
      |                                             ^^^^^
    agent.hcl:1:37: plugin.docker.config.gc.dangling_containers.period must be longer than 0, not 0s
      |
    1 | gc { dangling_containers { period = "0s" } }
      |                                     ^^^^
    agent.hcl:1:25: plugin.docker.config.pull_activity_timeout must be at least 1m0s, not 30s
      |
    1 | pull_activity_timeout = "30s"
      |                         ^^^^^
    agent.hcl:1:12: plugin.docker.config.endpoint = "https://engine:2376": "https://engine:2376" asks for TLS, which this build cannot speak to an engine: use its Unix socket, or plain tcp:// inside of a trusted network
      |
    1 | endpoint = "https://engine:2376"
      |            ^^^^^^^^^^^^^^^^^^^^^
    agent.hcl:1:12: plugin.docker.config.endpoint = "tcp://***@engine:2375": "tcp://***@engine:2375" is no address of an engine: write unix:///PATH or tcp://HOST:PORT
    agent.hcl:1:12: tls is given, but this build cannot speak TLS to a Docker engine
      |
    1 | tls { ca = "/etc/ca.pem" }
      |            ^^^^^^^^^^^^^
    Nomad takes this without a word, and acts on it
    hint: use the engine's Unix socket, or plain tcp:// inside of a trusted network
    agent.hcl:1:6: plugin.docker.config.gc unexpected keys auth
      |
    1 | gc { auth { config = "a" } }
      |      ^^^^
    hint: it belongs in config { auth { … } }, beside gc, volumes and logging
    agent.hcl:1:15: plugin.docker.config.gc.retain = "space" needs to know how much room there is
      |
    1 | gc { retain = "space" }
      |               ^^^^^^^
    hint: set budget, disk_high or min_free beside it, or leave it out
    agent.hcl:1:15: plugin.docker.config.gc.retain = "forever": it is "delay" or "space"
      |
    1 | gc { retain = "forever" }
      |               ^^^^^^^^^
    agent.hcl:1:18: plugin.docker.config.gc.disk_high = "100": it is a share of the disk in whole percent, from 1 to 99, as in 85 or "85%"
      |
    1 | gc { disk_high = 100 }
      |                  ^^^
    agent.hcl:1:17: plugin.docker.config.gc.disk_low has no meaning without disk_high
      |
    1 | gc { disk_low = "80%" }
      |                 ^^^^^
    hint: set disk_high, the mark at which idle images begin to go
    agent.hcl:3:14: plugin.docker.config.gc.disk_low must be below disk_high (80), not 80
      |
    3 |   disk_low = 80
      |              ^^
    hint: idle images go from disk_high on, until disk_low is reached
    agent.hcl:1:15: plugin.docker.config.gc.budget = "20 apples": unknown unit "apples": units are B, kB, MB, GB, TB, KiB, MiB, GiB and TiB
      |
    1 | gc { budget = "20 apples" }
      |               ^^^^^^^^^^^
    agent.hcl:1:17: plugin.docker.config.gc.min_free = "0": it must be more than 0; leave it out for none
      |
    1 | gc { min_free = 0 }
      |                 ^
    agent.hcl:1:16: plugin.docker.config.gc.min_age must not be negative, but is -1s
      |
    1 | gc { min_age = "-1s" }
      |                ^^^^^
    agent.hcl:3:13: plugin.docker.config.gc.max_age must not be below min_age (2h0m0s), but is 1h0m0s
      |
    3 |   max_age = "1h"
      |             ^^^^
    agent.hcl:1:1: plugin.docker.config unexpected keys disk_high
      |
    1 | disk_high = 85
      | ^^^^^^^^^
    hint: it belongs in gc { disk_high = … }
    "#);
}

#[test]
fn the_reference_has_every_key_and_its_default() {
    let blocks: Vec<&str> = crate::AGENT_OPTIONS.iter().filter(|row| row.kind == "block").map(|row| row.key).collect();
    for row in crate::AGENT_OPTIONS.iter().filter(|row| row.kind != "block" && row.key != "tls") {
        let value = match row.kind.split(',').next().unwrap() {
            "bool" => "true",
            "duration" => "\"2m\"",
            "globs" | "list of texts" => "[\"host\"]",
            "map" => "{ a = \"b\" }",
            "number" | "-1000 to 1000" => "7",
            "address" => "\"unix:///run/docker.sock\"",
            "size" => "\"2GiB\"",
            "percent" => "70",
            _ => "\"x\"",
        };
        let (path, key) = row.key.rsplit_once('.').unwrap_or(("", row.key));
        let (mut head, mut tail) = (String::new(), String::new());
        for block in path.split('.').filter(|part| !part.is_empty()) {
            head.push_str(&format!("{block} {{ "));
            tail.push_str(" }");
        }
        let text = format!("{head}{key} = {value}{tail}");
        let decoded = Options::decode(&tree(&text));
        let told = told(&decoded.diagnostics);
        assert!(!told.contains("unexpected keys"), "{text}: {told}");
        assert!(path.is_empty() || blocks.contains(&path), "{path}");
        assert_eq!(told.contains("cannot speak TLS"), path == "tls", "{text}: {told}");
    }
    let by_path = Options::decode(&tree("auth { config = \"a\" helper = \"b\" }")).effective;
    for setting in by_path {
        let key = setting.path.strip_prefix("plugin.docker.config.").unwrap();
        let row = crate::AGENT_OPTIONS.iter().find(|row| key == row.key || key.starts_with(&format!("{}.", row.key)));
        let row = row.unwrap_or_else(|| panic!("{key} is not in the reference"));
        let value: String = setting.value.chars().filter(|letter| !"[]\"".contains(*letter)).collect();
        if key == row.key && key != "infra_image" && !key.starts_with("auth.") {
            assert_eq!(value.to_lowercase(), row.default, "{key}");
        }
    }
}
