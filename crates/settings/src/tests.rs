use longshore_values::GoDuration;
use proptest::prelude::*;

use crate::{Decoded, Tree, parse_text};

fn tree(text: &str) -> Tree {
    Tree { path: String::new(), object: parse_text("a.hcl", text).unwrap() }
}

/// The tree in one line, for comparison.
#[track_caller]
fn check(text: &str, expected: &str) {
    let got = match parse_text("a.hcl", text) {
        Ok(object) => {
            let mut leaves: Vec<String> = Vec::new();
            for (path, _) in object.leaves() {
                let value = match &object.at(&path).unwrap().value {
                    crate::Value::Text(text) => format!("{text:?}"),
                    crate::Value::Number(text) => text.clone(),
                    crate::Value::Bool(value) => value.to_string(),
                    crate::Value::List(items) => format!("[{}]", items.len()),
                    crate::Value::Object(_) => "{}".to_owned(),
                };
                leaves.push(format!("{}={value}", path.join("/")));
            }
            leaves.join(" ")
        }
        Err(why) => why.to_string(),
    };
    assert_eq!(got, expected, "{text}");
}

#[test]
fn reads_hcl_in_its_first_version() {
    check("", "");
    check("a = 1\nb = \"x\" c = true", "a=1 b=\"x\" c=true");
    check("ports { http = 1 rpc = 2, serf = 3 }", "ports/http=1 ports/rpc=2 ports/serf=3");
    check("plugin \"docker\" { config { gc { image = false } } }", "plugin/docker/config/gc/image=false");
    check(
        "options { \"driver.raw_exec.enable\" = \"1\" docker.cleanup.image = false }",
        "options/docker.cleanup.image=false options/driver.raw_exec.enable=\"1\"",
    );
    check("meta = { a = \"b\" }", "meta/a=\"b\"");
    check("a = [1, \"x\", [true],]\nb = []", "a=[3] b=[0]");
    check("# c\n// d\n/* e\n*/ a = 1 # f", "a=1");
    check("a = <<EOF\n  one\n  two\nEOF\nb = 2", "a=\"  one\\n  two\\n\" b=2");
    check("a = <<-EOF\n    one\n      two\n    EOF\nb = 2", "a=\"one\\n  two\\n\" b=2");
    check("a = \"${env \"x\"} \\\"q\\\" \\u00e9\"", "a=\"${env \\\"x\\\"} \\\"q\\\" é\"");
    check("a = -1.5e+3\nb = 0x1F", "a=-1.5e+3 b=0x1F");
    check("gc { } gc { image = true }", "gc/image=true");
    check("\u{feff}a = 1", "a=1");
    check("a = 1\r\nb = 2\r\n", "a=1 b=2");
}

#[test]
fn reads_json_into_the_same_tree() {
    check("{}", "");
    check(" {\"a\": 1, \"b\": [\"x\"], \"c\": {\"d\": false}, \"e\": null}", "a=1 b=[1] c/d=false");
    check(
        r#"{"plugin": [{"docker": [{"config": [{"gc": [{"image_delay": "2s"}]}]}]}, {"raw_exec": {}}]}"#,
        "plugin/docker/config/gc/image_delay=\"2s\" plugin/raw_exec={}",
    );
    check(r#"{"a": "\ud83d\ude00 \"q\" ${x}"}"#, "a=\"😀 \\\"q\\\" ${x}\"");
}

#[test]
fn errors_point_at_the_place() {
    check("server {\n  enabled = \n}", "a.hcl:3:1: expected a value, found \"}\"\n  |\n3 | }\n  | ^");
    check("a {", "a.hcl:1:3: this block has no closing \"}\"\n  |\n1 | a {\n  |   ^");
    check("a = \"x\nb = 1", "a.hcl:1:5: this text has no closing quote on its line\n  |\n1 | a = \"x\n  |     ^^");
    check(
        "a = 30s",
        "a.hcl:1:5: \"30s\" is no number\n  |\n1 | a = 30s\n  |     ^^^\nhint: texts, durations and sizes stand in quotes, as in \"30s\"",
    );
    check(
        "a = INFO",
        "a.hcl:1:5: expected a value, found \"INFO\"\n  |\n1 | a = INFO\n  |     ^^^^\nhint: a text stands in quotes: \"INFO\"",
    );
    check("encrypt = hush", "a.hcl:1:11: expected a value, found a word\nhint: a text stands in quotes");
    check(
        "api_token = 7hush",
        "a.hcl:1:13: this is no number\nhint: texts, durations and sizes stand in quotes, as in \"30s\"",
    );
    check("{\"a\": 1,}", "a.hcl:1:9: expected a key in quotes, found \"}\"\n  |\n1 | {\"a\": 1,}\n  |         ^");
    check("{\"a\" 1}", "a.hcl:1:6: expected \":\" after a key, found the number 1\n  |\n1 | {\"a\" 1}\n  |      ^");
    check("a b = 1", "a.hcl:1:5: expected \"{\" after a block's label, found \"=\"\n  |\n1 | a b = 1\n  |     ^");
    check("a = <<EOF\nx", "a.hcl:1:5: this heredoc never meets its end \"EOF\"\n  |\n1 | a = <<EOF\n  |     ^^^^^");
}

#[test]
fn nesting_has_a_limit() {
    let deep = format!("a = {}", "[".repeat(5_000));
    assert!(parse_text("a.hcl", &deep).unwrap_err().to_string().contains("more than 64 blocks and lists"));
    let deep = format!("{{\"a\": {}", "[".repeat(5_000));
    assert!(parse_text("a.json", &deep).unwrap_err().to_string().contains("more than 64 blocks and lists"));
    let deep = "a { ".repeat(5_000);
    assert!(parse_text("a.hcl", &deep).unwrap_err().to_string().contains("more than 64 blocks and lists"));
}

#[derive(Debug, Clone, PartialEq)]
struct Gc {
    image: bool,
    image_delay: GoDuration,
}

fn decode(text: &str) -> Decoded<Gc> {
    tree(text).decode(|block| {
        block.take_block("gc", |gc| Gc {
            image: gc.take_bool_or("image", true),
            image_delay: gc.take_duration_or("image_delay", GoDuration::minutes(3)),
        })
    })
}

#[test]
fn absent_empty_and_half_given_blocks_keep_their_defaults() {
    let expected = Gc { image: true, image_delay: GoDuration::minutes(3) };
    for text in
        ["", "gc { }", "gc { image = true }", "gc { image = \"1\" }", "{\"gc\": []}", "{\"gc\": null}", "gc = {}"]
    {
        let got = decode(text).into_result().unwrap();
        assert_eq!((got.value, got.diagnostics), (expected.clone(), vec![]), "{text}");
    }
    assert_eq!(decode("gc { image_delay = \"0s\" }").into_result().unwrap().value.image_delay, GoDuration::ZERO);
}

#[test]
fn an_empty_duration_is_not_given_and_said() {
    let got = decode("gc {\n  image_delay = \"\"\n}").into_result().unwrap();
    assert_eq!(got.value.image_delay, GoDuration::minutes(3));
    insta::assert_snapshot!(got.diagnostics[0], @r#"
    a.hcl:2:17: gc.image_delay is empty: the default 3m0s holds
      |
    2 |   image_delay = ""
      |                 ^^
    hint: remove the line, or write image_delay = "0s" for "at once"
    "#);
}

#[test]
fn unknown_and_misplaced_keys_are_refused_with_the_right_place() {
    let why = decode("gc { imag = true }\nimage_delay = \"1h\"").into_result().unwrap_err();
    insta::assert_snapshot!(why, @r#"
    a.hcl:1:6: gc unexpected keys imag
      |
    1 | gc { imag = true }
      |      ^^^^
    hint: did you mean "image"?

    a.hcl:2:1: unexpected keys image_delay
      |
    2 | image_delay = "1h"
      | ^^^^^^^^^^^
    hint: it belongs in gc { image_delay = … }
    "#);
}

#[test]
fn each_setting_that_holds_is_listed_with_its_origin() {
    let got = decode("gc { image_delay = \"90s\" }");
    let listed: Vec<String> =
        got.effective.iter().map(|it| format!("{} = {} ({})", it.path, it.value, it.origin)).collect();
    assert_eq!(listed, ["gc.image = true (default)", "gc.image_delay = 1m30s (a.hcl:1)"]);
}

proptest! {
    #[test]
    fn no_text_panics(text in "[ -~\n\u{e9}]{0,64}") {
        let _ = parse_text("a", &text);
    }

    #[test]
    fn no_near_miss_panics(text in "([{}\\[\\]=,:\"#\\\\\\-$x\n<0.]|<<-?E\n|\\$\\{|\"a\" ?[:=] |/\\*|u00|E\n){0,24}") {
        for prefix in ["", "{", "a = "] {
            let _ = parse_text("a", &format!("{prefix}{text}"));
        }
    }
}
