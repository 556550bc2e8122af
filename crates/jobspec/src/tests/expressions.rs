//! What expressions give.

use serde_json::{Value, json};

use super::{config, file};
use crate::{Input, parse};

/// `x = expression` within a task's config, as JSON or as the first line of the error.
#[track_caller]
fn check(expression: &str, expected: Value) {
    check_after("", expression, expected);
}

#[track_caller]
fn check_after(before: &str, expression: &str, expected: Value) {
    let text = file(before, &format!("x = {expression}"));
    match parse(&Input::new("job.hcl", &text)) {
        Ok(parsed) => assert_eq!(config(parsed)["x"], expected, "{expression}"),
        Err(why) => panic!("{expression}:\n{why}"),
    }
}

#[track_caller]
fn check_error(expression: &str, expected: &str) {
    let text = file("", &format!("x = {expression}"));
    let told = match parse(&Input::new("job.hcl", &text)) {
        Ok(parsed) => config(parsed)["x"].to_string(),
        Err(why) => why.diagnostics.iter().map(|one| one.summary.as_str()).collect::<Vec<_>>().join("; "),
    };
    assert_eq!(told, expected, "{expression}");
}

#[test]
fn operators_and_conversions() {
    check("1 + 2 * 3", json!(7));
    check("1 + \"2\"", json!(3));
    check("\"5\" * 2", json!(10));
    check("0.1 + 0.2", json!(0.3));
    check("7 / 2", json!(3.5));
    check("7 % 4", json!(3));
    check("-3", json!(-3));
    check("!false", json!(true));
    check("1 == \"1\"", json!(false));
    check("\"a\" != \"b\"", json!(true));
    check("2 >= 2 && 1 < 2", json!(true));
    check("false && no.such.thing", json!(false));
    check("true ? 1 : (1 / 0)", json!(1));
    check("\"${1 + 1}\"", json!(2));
    check("\"n${1 + 1}\"", json!("n2"));
    check("[1, \"a\", true, null]", json!([1, "a", true, null]));
    check("{ a = 1, \"b c\" = 2, (\"d\") = 3 }", json!({"a": 1, "b c": 2, "d": 3}));
    check_error("1 / 0", "division by zero");
    check_error("1 % 0", "division by zero");
    check_error("1 + \"two\"", "the string \"two\" where a number is needed");
    check_error("![]", "a list where true or false is needed");
    check_error("\"a${[1]}\"", "a list cannot stand in a text; a string, number or bool can");
    check_error("99999999999999999999 * 99999999999999999999", "the result has more digits than can be kept (38)");
}

#[test]
fn collections() {
    check("[1, 2, 3][1]", json!(2));
    check("{ a = { b = 5 } }.a.b", json!(5));
    check("[{ n = 1 }, { n = 2 }][*].n", json!([1, 2]));
    check("[{ n = 1 }, { n = 2 }].*.n", json!([1, 2]));
    check("{ n = 1 }[*].n", json!([1]));
    check("[for x in [1, 2, 3] : x * 2 if x != 2]", json!([2, 6]));
    check("{ for i, x in [\"a\", \"b\"] : x => i }", json!({"a": 0, "b": 1}));
    check("{ for x in [\"ab\", \"ac\", \"b\"] : substr(x, 0, 1) => x... }", json!({"a": ["ab", "ac"], "b": ["b"]}));
    check("[for k, v in { b = 2, a = 1 } : \"${k}${v}\"]", json!(["a1", "b2"]));
    check_error("[1][4]", "the list of 1 has no element 4");
    check_error("{ a = 1 }.b", "the object has no attribute \"b\"");
    check_error("[1].a", "a list has no attribute \"a\"");
    check_error("{ for x in [1, 2] : \"same\" => x }", "two elements make the key \"same\"");
    check_error("[for x in 5 : x]", "a number cannot be walked over; a list or an object can");
}

#[test]
fn unknown_names_pass_through() {
    check("\"${node.unique.name}\"", json!("${node.unique.name}"));
    check("\"http://${NOMAD_ADDR_http}/${env[\"X\"]}\"", json!("http://${NOMAD_ADDR_http}/${env[\"X\"]}"));
    check("node.class", json!("${node.class}"));
    check("\"$${literal} %%{also}\"", json!("${literal} %{also}"));
    check_after("locals { svc = \"web\" }", "\"${local.svc}-${attr.kernel.name}\"", json!("web-${attr.kernel.name}"));
    check("upper(\"${meta.rack}\")", json!("${META.RACK}"));
}

#[test]
fn templates() {
    check("<<EOF\n  a\n b\nEOF", json!("  a\n b\n"));
    check("<<-EOF\n    a\n      b\n    EOF", json!("a\n  b\n"));
    check("\"%{ if 1 < 2 }yes%{ else }no%{ endif }\"", json!("yes"));
    check("\"%{ for x in [1, 2] }<${x}>%{ endfor }\"", json!("<1><2>"));
    check("<<-EOF\n%{ for x in [1, 2] ~}\nline ${x}\n%{ endfor ~}\nend\nEOF", json!("line 1\nline 2\nend\n"));
    check("\"a  ${~ 1 ~}  b\"", json!("a1b"));
}

#[test]
fn functions() {
    check("upper(\"abc\")", json!("ABC"));
    check("title(\"hello brave world\")", json!("Hello Brave World"));
    check("join(\",\", [\"a\", 1, true])", json!("a,1,true"));
    check("split(\",\", \"a,b\")", json!(["a", "b"]));
    check("replace(\"a.b.c\", \".\", \"-\")", json!("a-b-c"));
    check("regex_replace(\"a1b22\", \"[0-9]+\", \"#\")", json!("a#b#"));
    check("format(\"%s has %03d of %5.1f %q %v\", \"x\", 7, 2.25, \"q\", [1])", json!("x has 007 of   2.2 \"q\" [1]"));
    check("formatlist(\"%s-%d\", [\"a\", \"b\"], 3)", json!(["a-3", "b-3"]));
    check("substr(\"hello\", 1, 3)", json!("ell"));
    check("substr(\"hello\", -3, -1)", json!("llo"));
    check("trimsuffix(\"a.hcl\", \".hcl\")", json!("a"));
    check("indent(2, \"a\\nb\")", json!("a\n  b"));
    check("max(1, 3, 2)", json!(3));
    check("parseint(\"ff\", 16)", json!(255));
    check("pow(2, 10)", json!(1024));
    check("ceil(1.2) + floor(1.8)", json!(3));
    check("length([1, 2])", json!(2));
    check("element([\"a\", \"b\"], 3)", json!("b"));
    check("flatten([[1], [2, [3]]])", json!([1, 2, 3]));
    check("distinct([1, \"1\", 1])", json!([1, "1"]));
    check("merge({ a = 1, b = 1 }, { b = 2 })", json!({"a": 1, "b": 2}));
    check("lookup({ a = 1 }, \"b\", 9)", json!(9));
    check("keys({ b = 1, a = 2 })", json!(["a", "b"]));
    check("zipmap([\"a\", \"b\"], [1, 2])", json!({"a": 1, "b": 2}));
    check("range(3)", json!([0, 1, 2]));
    check("range(5, 1, -2)", json!([5, 3]));
    check("chunklist([1, 2, 3], 2)", json!([[1, 2], [3]]));
    check("setproduct([1, 2], [\"a\"])", json!([[1, "a"], [2, "a"]]));
    check("concat([1], [2])", json!([1, 2]));
    check("max([1, 5, 2]...)", json!(5));
    check("coalesce(null, \"\", \"x\")", json!("x"));
    check("base64encode(\"hi\")", json!("aGk="));
    check("base64decode(\"aGk=\")", json!("hi"));
    check("jsonencode({ a = [1, \"x\"] })", json!("{\"a\":[1,\"x\"]}"));
    check("jsondecode(\"{\\\"a\\\": [1.5]}\").a[0]", json!(1.5));
    check("csvdecode(\"a,b\\n1,\\\"x,y\\\"\\n\")", json!([{"a": "1", "b": "x,y"}]));
    check("sha256(\"\")", json!("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
    check("md5(\"\")", json!("d41d8cd98f00b204e9800998ecf8427e"));
    check("sha1(\"\")", json!("da39a3ee5e6b4b0d3255bfef95601890afd80709"));
    check("uuidv5(\"dns\", \"www.example.com\")", json!("2ed6657d-e927-568b-95e1-2665a8aea6a2"));
    check("urlencode(\"a b&c\")", json!("a+b%26c"));
    check("cidrhost(\"10.1.0.0/16\", 5)", json!("10.1.0.5"));
    check("cidrhost(\"10.1.0.0/16\", -2)", json!("10.1.255.254"));
    check("cidrnetmask(\"10.0.0.0/12\")", json!("255.240.0.0"));
    check("cidrsubnet(\"10.0.0.0/8\", 8, 3)", json!("10.3.0.0/16"));
    check("cidrsubnets(\"10.1.0.0/16\", 4, 4, 8)", json!(["10.1.0.0/20", "10.1.16.0/20", "10.1.32.0/24"]));
    check("timeadd(\"2026-11-30T23:59:30Z\", \"1m\")", json!("2026-12-01T00:00:30Z"));
    check("formatdate(\"DD MMM YYYY hh:mm ZZZ\", \"2026-01-02T03:04:05Z\")", json!("02 Jan 2026 03:04 UTC"));
    check("try(1 / 0, \"saved\")", json!("saved"));
    check("can(1 / 0)", json!(false));
    check("convert([\"1\"], list(number))", json!([1]));
    check("basename(\"/a/b.txt\")", json!("b.txt"));
    check("dirname(\"/a/b.txt\")", json!("/a"));
    check_error("uper(\"a\")", "there is no function \"uper\"");
    check_error("upper()", "upper: takes 1 arguments, 0 given");
    check_error("range(5000)", "range: more than 1024 numbers");
    check_error("format(\"%d\", \"x\")", "format: %d needs a number, not a string");
    check_error("file(\"/etc/passwd\")", "file: files can only be read by the command line, not over the API");
}
