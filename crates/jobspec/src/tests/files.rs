//! What whole files give, and what people read when one is wrong.

use std::collections::BTreeMap;

use serde_json::json;

use super::{config, file};
use crate::{Files, Input, locate, parse};

#[test]
fn variables_and_locals() {
    let text = file(
        r#"
variable "name" { default = "web" }
variable "sizes" {
  type    = list(number)
  default = [1]
}
variable "count" {
  type = number
  validation {
    condition     = var.count < 5
    error_message = "At most four."
  }
}
variables { region = "eu" }
locals {
  full  = "${var.name}-${local.tail}"
  tail  = var.region
}"#,
        "x = [local.full, var.sizes, var.count]",
    );
    let given = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let input = Input {
        environment: &[given("count", "1"), given("name", "env"), given("other", "ignored")],
        variable_files: &[given("a.hcl", "sizes = [2, \"3\"]\nname = \"file\"")],
        variables: &[given("count", "4")],
        ..Input::new("job.hcl", &text)
    };
    assert_eq!(config(parse(&input).unwrap())["x"], json!(["file-eu", [2, 3], 4]));

    let wrong = Input { variables: &[given("count", "7"), given("nam", "x"), given("sizes", "[true]")], ..input };
    let told: Vec<String> = parse(&wrong).unwrap_err().diagnostics.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(told.join("\n---\n"), @r#"
    -var nam gives a value to "nam", but the job file declares no such variable
    hint: did you mean "name"?
    ---
    the value of -var sizes is not of the type of variable "sizes", list(number): a number is needed, not a bool
    ---
    job.hcl:7:10: the value of variable "count" is not valid
      |
    7 | variable "count" {
      |          ^^^^^^^
    At most four.
    "#);

    let loose = Input { strict: false, variables: &[given("nam", "x")], ..input };
    assert!(parse(&loose).is_ok());
}

#[test]
fn locals_that_need_each_other_are_told_once() {
    let text = file("locals {\n  a = local.b\n  b = local.a\n}", "x = local.a");
    let error = parse(&Input::new("job.hcl", &text)).unwrap_err();
    insta::assert_snapshot!(error, @r#"
    job.hcl:3:7: local.a depends on itself
      |
    3 |   b = local.a
      |       ^^^^^^^
    "#);
}

#[test]
fn a_root_that_was_probably_meant_otherwise_is_warned_about() {
    let text = file("variable \"a\" { default = 1 }", "x = [vars.a, \"${locals.b}\", \"${node.class}\"]");
    let parsed = parse(&Input::new("job.hcl", &text)).unwrap();
    let told: Vec<String> =
        parsed.warnings.iter().map(|warning| format!("{} {}", warning.summary, warning.hint)).collect();
    assert_eq!(
        told,
        [
            "${vars.a} is left as it is written, for the node to fill in did you mean `var.…`?",
            "${locals.b} is left as it is written, for the node to fill in did you mean `local.…`?",
        ]
    );
    assert_eq!(config(parsed)["x"], json!(["${vars.a}", "${locals.b}", "${node.class}"]));
}

#[test]
fn dynamic_blocks() {
    let text = r#"
job "j" {
  group "g" {
    dynamic "task" {
      for_each = { one = 10, two = 20 }
      labels   = [task.key]
      content {
        driver = "mock"
        dynamic "constraint" {
          for_each = ["a", "b"]
          iterator = it
          content {
            attribute = "${attr.x}"
            value     = "${task.value}-${it.value}-${it.key}"
          }
        }
      }
    }
  }
}"#;
    let job = parse(&Input::new("job.hcl", text)).unwrap().job;
    let got: Vec<String> = job.task_groups[0]
        .tasks
        .iter()
        .flat_map(|task| task.constraints.iter().map(|rule| format!("{} {}", task.name, rule.rtarget)))
        .collect();
    assert_eq!(got, ["one 10-a-0", "one 10-b-1", "two 20-a-0", "two 20-b-1"]);
}

#[test]
fn short_forms_of_constraints() {
    let text = r#"
job "j" {
  group "g" {
    constraint {
      attribute = "${attr.nomad.version}"
      version   = ">= 1.2"
    }
    constraint {
      distinct_hosts = true
    }
    constraint {
      distinct_property = "${meta.rack}"
      value             = "2"
    }
    affinity {
      attribute        = "${node.class}"
      set_contains_any = "a,b"
      weight           = -5
    }
    task "t" {}
  }
}"#;
    let job = parse(&Input::new("job.hcl", text)).unwrap().job;
    let group = serde_json::to_value(&job.task_groups[0]).unwrap();
    assert_eq!(
        group["Constraints"],
        json!([
            {"LTarget": "${attr.nomad.version}", "Operand": "version", "RTarget": ">= 1.2"},
            {"LTarget": "", "Operand": "distinct_hosts", "RTarget": "true"},
            {"LTarget": "${meta.rack}", "Operand": "distinct_property", "RTarget": "2"},
        ])
    );
    assert_eq!(
        group["Affinities"],
        json!([{"LTarget": "${node.class}", "Operand": "set_contains_any", "RTarget": "a,b", "Weight": -5}])
    );
}

#[test]
fn conveniences_of_the_top() {
    let text = r#"
job "short" {
  name  = "Long name"
  vault { policies = ["p"] }
  meta = { a = 1, b = true }
  task "only" {
    driver = "docker"
    env    = { N = 3 }
    vault  { policies = ["own"] }
  }
  group "g" {
    vault { policies = ["group"] }
    task "a" {}
  }
}"#;
    let job = parse(&Input::new("job.hcl", text)).unwrap().job;
    assert_eq!((job.id.as_deref(), job.name.as_deref()), (Some("short"), Some("Long name")));
    assert_eq!(job.meta, BTreeMap::from([("a".into(), "1".into()), ("b".into(), "true".into())]));
    let groups: Vec<_> = job.task_groups.iter().map(|group| group.name.clone().unwrap()).collect();
    assert_eq!(groups, ["g", "only"]);
    let policies = |at: usize| job.task_groups[at].tasks[0].vault.as_ref().unwrap().policies.clone();
    assert_eq!((policies(0), policies(1)), (vec!["group".to_owned()], vec!["own".to_owned()]));
    assert_eq!(job.task_groups[1].tasks[0].env["N"], "3");
}

#[test]
fn all_mistakes_are_told_with_their_places() {
    let text = r#"variable "n" {
  type = strin
}

job "web" {
  datacentres = ["dc1"]
  count       = 2
  priority    = "high"

  group "g" {
    count = 1.5
    network = { mode = "host" }
    disconnect {}

    restart {
      intervall = "5s"
      delay     = "5 s"
    }

    task "t" {
      driver = "docker"
      memory = 5
      config {
        image = "${var.n}:${var.m}"
        cmd   = uper("x")
      }
      kill_timeout {
      }
      resources {
        cpu = local.none
      }
      resources {
        cpu = 5
      }
    }
    task {
    }
  }
}
"#;
    insta::assert_snapshot!(parse(&Input::new("web.hcl", text)).unwrap_err(), @r#"
    web.hcl:2:10: there is no type "strin"; types are string, number, bool, any, list(…), set(…), map(…), object({…}) and tuple([…])
      |
    2 |   type = strin
      |          ^^^^^

    web.hcl:6:3: there is no attribute "datacentres" in job
      |
    6 |   datacentres = ["dc1"]
      |   ^^^^^^^^^^^
    hint: did you mean "datacenters"?

    web.hcl:7:3: there is no attribute "count" in job
      |
    7 |   count       = 2
      |   ^^^^^
    hint: "count" belongs in the block "group"

    web.hcl:8:17: priority must be a whole number, not "high"
      |
    8 |   priority    = "high"
      |                 ^^^^^^

    web.hcl:11:13: count must be a whole number, not 1.5
       |
    11 |     count = 1.5
       |             ^^^

    web.hcl:12:5: "network" is a block
       |
    12 |     network = { mode = "host" }
       |     ^^^^^^^
    hint: write `network { … }`, without `=`

    web.hcl:16:7: there is no attribute "intervall" in restart
       |
    16 |       intervall = "5s"
       |       ^^^^^^^^^
    hint: did you mean "interval"?

    web.hcl:17:19: delay must be a duration such as "30s": time: unknown unit " s" in duration "5 s"
       |
    17 |       delay     = "5 s"
       |                   ^^^^^

    web.hcl:22:7: there is no attribute "memory" in task
       |
    22 |       memory = 5
       |       ^^^^^^
    hint: "memory" belongs in the block "resources"

    web.hcl:25:17: there is no function "uper"
       |
    25 |         cmd   = uper("x")
       |                 ^^^^
    hint: did you mean "upper"?

    web.hcl:27:7: "kill_timeout" is no block
       |
    27 |       kill_timeout {
       |       ^^^^^^^^^^^^
    hint: write `kill_timeout = …`

    web.hcl:30:15: there is no local value "none"
       |
    30 |         cpu = local.none
       |               ^^^^^^^^^^

    web.hcl:32:7: "resources" is there twice; one block is allowed
       |
    32 |       resources {
       |       ^^^^^^^^^

    web.hcl:36:5: the task block has no label
       |
    36 |     task {
       |     ^^^^
    hint: write `task "…" {`
    "#);
}

#[track_caller]
fn check_syntax(text: &str) -> String {
    parse(&Input::new("job.hcl", text)).unwrap_err().to_string()
}

#[test]
fn syntax_errors_point_at_the_place() {
    insta::assert_snapshot!(check_syntax("job \"a\" {\n  group \"web\" {\n    count = \n  }\n}\n"), @r#"
    job.hcl:3:13: syntax error: invalid expression; expected `"`, `[`, `{`, `-`, `!`, `(`, `_`, `<`, letter or digit
      |
    3 |     count = 
      |             ^
    "#);
    insta::assert_snapshot!(check_syntax("job \"a\" {\n  type = \"service\n}\n"), @r#"
    job.hcl:2:10: syntax error: this text does not end on its line
      |
    2 |   type = "service
      |          ^
    hint: close it with `"`; a text of several lines is written as `<<-EOT`
    "#);
    insta::assert_snapshot!(check_syntax(""), @r#"
    job.hcl has no job block
    "#);
    insta::assert_snapshot!(check_syntax("jbo \"a\" {}\n"), @r#"
    job.hcl:1:1: there is no block "jbo" at the top of a job file
      |
    1 | jbo "a" {}
      | ^^^
    hint: did you mean "job"?
    "#);
    insta::assert_snapshot!(check_syntax("job \"a\" {}\njob \"b\" {}\n"), @r#"
    job.hcl:2:1: there is a second job block; a file holds one job
      |
    2 | job "b" {}
      | ^^^
    "#);
    insta::assert_snapshot!(check_syntax("group \"a\" {}\n"), @r#"
    job.hcl:1:1: there is no block "group" at the top of a job file
      |
    1 | group "a" {}
      | ^^^^^
    hint: "group" belongs in the block "job"
    "#);
}

#[test]
fn messages_find_their_lines() {
    let text = file("", "image = \"x\"").replace("config {", "artifact {\n}\nconfig {");
    let parsed = parse(&Input::new("job.hcl", &text)).unwrap();
    let message = "2 errors occurred:\n\t* group \"g\" → task \"t\" → artifact: this is not acted on\n\t* group \"g\" → \
                   update → canary: neither is this\n\t* something: else\n\n";
    insta::assert_snapshot!(locate(&parsed.places, message, &[]), @r#"
    2 errors occurred:
    	* group "g" → task "t" → artifact: this is not acted on
        job.hcl:5:7
        5 |       artifact {
          |       ^^^^^^^^
    	* group "g" → update → canary: neither is this
        job.hcl:3:3
        3 |   group "g" {
          |   ^^^^^
    	* something: else
    "#);
}

#[test]
fn job_files_in_json() {
    let text = r#"{
      "//": "a comment",
      "variable": {"tag": {"type": "string", "default": "1"}},
      "locals": {"name": "web:${var.tag}"},
      "job": {"j": {
        "datacenters": ["dc1"],
        "meta": {"odd key": "x"},
        "group": [{"a": {"count": 2, "task": {"t": {
          "driver": "docker",
          "config": [{"image": "${local.name}", "labels": [{"a": "b"}]}],
          "constraint": [{"attribute": "${attr.x}", "value": "1"}],
          "dynamic": {"template": {"for_each": [1, 2], "iterator": "it", "content": {"data": "${it.value}"}}}
        }}}}]
      }}
    }"#;
    let parsed = parse(&Input::new("job.json", text)).unwrap();
    let job = &parsed.job;
    assert_eq!((job.id.as_deref(), job.meta["odd key"].as_str()), (Some("j"), "x"));
    let group = &job.task_groups[0];
    assert_eq!((group.name.as_deref(), group.count), (Some("a"), Some(2)));
    let task = serde_json::to_value(&group.tasks[0]).unwrap();
    assert_eq!(task["Config"], json!({"image": "web:1", "labels": [{"a": "b"}]}));
    assert_eq!(task["Constraints"][0]["LTarget"], "${attr.x}");
    assert_eq!(task["Templates"][1]["EmbeddedTmpl"], "2");
    let at = |path: &str| {
        let place = parsed.places.get(path).unwrap_or_else(|| panic!("no place for {path}"));
        (place.line, place.column)
    };
    assert_eq!(at("group \"a\" → task \"t\" → config"), (10, 11));
    assert_eq!(at("group \"a\" → task \"t\" → config → labels[0] → a"), (10, 61));
    let text = r#"{"job": {"j": {"priority": "${1 + []}"}}}"#;
    let told = parse(&Input::new("job.json", text)).unwrap_err().to_string();
    insta::assert_snapshot!(told, @r#"
    job.json:1:28: a list where a number is needed
      |
    1 | {"job": {"j": {"priority": "${1 + []}"}}}
      |                            ^^^^^^^^^^^
    "#);
}

/// Templates in JSON are the templates of the language, whatever JSON's own escapes are.
#[test]
fn templates_in_json() {
    #[track_caller]
    fn check(template: &str, expected: &str) {
        let text = json!({"locals": {"l": ["a", "b"]}, "job": {"j": {"meta": {"x": template}}}}).to_string();
        let parsed = parse(&Input::new("job.json", &text)).unwrap_or_else(|why| panic!("{template}: {why}"));
        assert_eq!(parsed.job.meta["x"], expected, "{template}");
    }
    check("plain", "plain");
    check("", "");
    check("a \"quoted\" \\ back", "a \"quoted\" \\ back");
    check("two\nlines\tand \u{1}", "two\nlines\tand \u{1}");
    check("${upper(\"a\")}-\"${local.l[1]}\"", "A-\"b\"");
    check("%{ if true }\"yes\"%{ else }no\\%{ endif }.", "\"yes\".");
    check("%{ for x in local.l }<\"${x}\">%{ endfor }", "<\"a\"><\"b\">");
    check("a\n%{ if true ~}\n  b\n%{~ endif }\nc", "a\nb\nc");
    check("$${no} %%{no}", "${no} %{no}");
    check("${attr.kernel.name}:${NOMAD_PORT_http}", "${attr.kernel.name}:${NOMAD_PORT_http}");
    check("é ${\"ü\"} ñ", "é ü ñ");
}

/// What servers say about a job of the API is shown in its JSON.
#[test]
fn places_in_jobs_of_the_api() {
    let text = r#"{"Job": {
      "ID": "a",
      "TaskGroups": [{
        "Name": "g", "count": 2,
        "Tasks": [{"Name": "t",
          "Artifacts": [{"GetterSource": "s"}]}]
      }]
    }}"#;
    let parsed = parse(&Input::new("job.json", text)).unwrap();
    let at = |path: &str| {
        let place = parsed.places.get(path).unwrap_or_else(|| panic!("no place for {path}"));
        (place.line, place.column)
    };
    assert_eq!(at("group \"g\""), (4, 17));
    assert_eq!(at("group \"g\" → count"), (4, 22));
    assert_eq!(at("group \"g\" → task \"t\""), (5, 28));
    assert_eq!(at("group \"g\" → task \"t\" → artifact"), (6, 25));
    assert_eq!(at("group \"g\" → task \"t\" → artifact → source"), (6, 26));
}

#[test]
fn mistakes_in_json_show_their_line() {
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let told = parse(&Input::new("job.json", text)).unwrap_err().to_string();
        let head: Vec<&str> = told.lines().filter(|line| line.starts_with("job.json:")).collect();
        assert_eq!(head.join("\n"), expected, "{text}\n{told}");
    }
    check("{\n  \"job\": {\n    \"a\": \n}}", "job.json:4:1: job.json is no JSON: expected value");
    check(
        "{\"jobs\": {}}",
        "job.json:1:2: job.json holds neither a job file in JSON (\"job\") nor a job of the API (\"Job\" or \"ID\")",
    );
    check(
        "{\"Job\": {\"ID\":\n 5}}",
        "job.json:2:2: the job is not valid: ID: invalid type: integer `5`, expected a string",
    );
    check(
        "{\"ID\": \"a\", \"TaskGroups\": [{},\n{\"count\": \"x\"}]}",
        "job.json:2:11: the job is not valid: TaskGroups[1].Count: invalid type: string \"x\", expected i64",
    );
    let told = parse(&Input::new("job.json", "{\"job\": {\"a\": {\"count\":\n\"x${\"}}}")).unwrap_err().to_string();
    assert!(told.starts_with("job.json:2:1: \"x${\" is no template: "), "{told}");
    check(
        "{\"job\": {\"a\": {\"group\": {\"g\": {\n\"count\": \"x\",\n\"colour\": 1},\n\"h\": 5}}}}",
        "job.json:4:6: \"group\" must be an object, or a list of objects\n\
         job.json:2:10: count must be a whole number, not \"x\"\n\
         job.json:3:1: there is no attribute \"colour\" in group",
    );
}

/// Many mistakes on one long line: each is told without the line, and finding its place does not read the line again.
#[test]
fn many_mistakes_on_one_long_line() {
    let items: String = (0..4_000).map(|at| format!("k{at} = [], ")).collect();
    let text = format!("job \"a\" {{\n meta = {{ {items} {}}}\n}}\n", " ".repeat(1 << 20));
    let begin = std::time::Instant::now();
    let diagnostics = parse(&Input::new("job.hcl", &text)).unwrap_err().diagnostics;
    assert_eq!(diagnostics.len(), 4_000);
    assert!(diagnostics.iter().all(|one| one.place.as_ref().is_some_and(|place| place.line_text.is_empty())));
    assert!(begin.elapsed() < std::time::Duration::from_secs(20), "{:?}", begin.elapsed());
}

#[test]
fn jobs_of_the_api() {
    for text in [r#"{"Job": {"ID": "a", "Priority": 7}}"#, r#" {"id": "a", "priority": 7}"#] {
        let job = parse(&Input::new("job.json", text)).unwrap().job;
        assert_eq!((job.id.as_deref(), job.priority), (Some("a"), Some(7)), "{text}");
    }
    for text in ["{", "{}", r#"{"job": 5}"#, r#"{"job": {"a": {"count": "x${"}}}"#, r#"{"Job": {"ID": 5}}"#] {
        assert!(parse(&Input::new("job.json", text)).is_err(), "{text}");
    }
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    assert!(parse(&Input::new("job.hcl", "\u{feff}job \"a\" {}\n")).is_ok());
}

struct OneFile;

impl Files for OneFile {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        if path == "a.txt" { Ok(b"content".to_vec()) } else { Err(format!("{path} does not exist")) }
    }
    fn exists(&self, path: &str) -> Result<bool, String> {
        Ok(path == "a.txt")
    }
    fn absolute(&self, path: &str) -> Result<String, String> {
        Ok(format!("/home/{path}"))
    }
    fn expand_home(&self, path: &str) -> Result<String, String> {
        Ok(path.replace('~', "/home"))
    }
    fn matching(&self, _folder: &str, _glob: &str) -> Result<Vec<String>, String> {
        Ok(vec!["a.txt".to_owned()])
    }
}

#[test]
fn files_are_read_through_the_caller() {
    let text = file("", "x = [file(\"a.txt\"), fileexists(\"b\"), filebase64(\"a.txt\"), fileset(\".\", \"*\")]");
    let input = Input { files: Some(&OneFile), ..Input::new("job.hcl", &text) };
    assert_eq!(config(parse(&input).unwrap())["x"], json!(["content", false, "Y29udGVudA==", ["a.txt"]]));
    let text = file("", "x = file(\"none\")");
    let input = Input { files: Some(&OneFile), ..Input::new("job.hcl", &text) };
    assert_eq!(parse(&input).unwrap_err().diagnostics[0].summary, "file: none does not exist");
}
