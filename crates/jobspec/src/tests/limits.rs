//! No text makes the parser panic, overflow the stack or work without end.

use proptest::prelude::*;

use super::file;
use crate::{Input, parse};

#[test]
fn work_is_bounded() {
    let doubling: String = (1..60).map(|n| format!("a{n} = [local.a{}, local.a{}]\n", n - 1, n - 1)).collect();
    let text = file(&format!("locals {{\na0 = \"x\"\n{doubling}}}"), "x = local.a59");
    let told = parse(&Input::new("job.hcl", &text)).unwrap_err().to_string();
    assert!(told.contains("the limit of a job file"), "{told}");

    let nested = "[for a in range(1000) : [for b in range(1000) : [for c in range(1000) : a * b * c]]]";
    let told = parse(&Input::new("job.hcl", &file("", &format!("x = {nested}")))).unwrap_err().to_string();
    assert!(told.contains("the limit of a job file"), "{told}");

    let chain: String = (1..2_000).map(|n| format!("a{n} = local.a{}\n", n - 1)).collect();
    let text = file(&format!("locals {{\na0 = 1\n{chain}}}"), "x = local.a1999");
    let told = parse(&Input::new("job.hcl", &text)).unwrap_err().to_string();
    assert!(told.contains("wait for each other more than 240 deep"), "{told}");
}

/// Few words, many blocks: what they keep in memory is bounded too, and the end is told once.
#[test]
fn blocks_are_bounded() {
    let dynamic = |name: &str, content: &str| {
        let labels = format!("labels = [\"{name}${{{name}.value}}\"]");
        format!("dynamic \"{name}\" {{\nfor_each = range(1000)\n{labels}\ncontent {{\n{content}\n}}\n}}\n")
    };
    let tasks = dynamic("task", "driver = \"raw_exec\"\nconfig { command = \"x\" }");
    let text = format!("job \"a\" {{\n{}}}\n", dynamic("group", &tasks));
    let told = parse(&Input::new("job.hcl", &text)).unwrap_err().to_string();
    assert_eq!(told.matches("the limit of a job file").count(), 1, "{told}");

    let written = "constraint {\nvalue = \"1\"\n}\n".repeat(1_000);
    let text = format!("job \"a\" {{\n{}}}\n", dynamic("group", &written));
    let told = parse(&Input::new("job.hcl", &text)).unwrap_err().to_string();
    assert!(told.contains("the limit of a job file"), "{told}");

    let text = format!("job \"a\" {{\n{}}}\n", dynamic("group", "task \"t\" {\ndriver = \"raw_exec\"\n}"));
    assert!(parse(&Input::new("job.hcl", &text)).is_ok());
}

#[test]
fn deep_nesting_is_an_error() {
    for (open, close) in [("[", "]"), ("(", ")"), ("{a=", "}"), ("\"${", "}\""), ("!", ""), ("f(", ")")] {
        let text = file("", &format!("x = {}1{}", open.repeat(5_000), close.repeat(5_000)));
        assert!(parse(&Input::new("job.hcl", &text)).is_err(), "{open}");
    }
    let text = file("", &format!("x = 1{}", "+1".repeat(5_000)));
    assert!(parse(&Input::new("job.hcl", &text)).is_err());
    let blocks = format!("job \"a\" {{\n{}{}}}\n", "a {\n".repeat(5_000), "}\n".repeat(5_000));
    assert!(parse(&Input::new("job.hcl", &blocks)).is_err());
}

/// Each level is looked at a bounded number of times: were it twice, 50 levels would never end.
#[test]
fn allowed_nesting_takes_no_time() {
    let rows = [
        ("[", "1", "]"),
        ("(", "1", ")"),
        ("{ a = ", "1", " }"),
        ("{ (\"a\") = ", "1", " }"),
        ("\"a${", "1", "}\""),
        ("max(", "1", ")"),
        ("true ? ", "1", " : 2"),
        ("[for x in [1] : ", "1", "]"),
        ("\"%{ if true }${", "1", "}%{ endif }\""),
        ("-", "1", ""),
        ("!", "true", ""),
        ("[0][", "0", "]"),
    ];
    for (open, inner, close) in rows {
        let text = file("", &format!("x = {}{inner}{}", open.repeat(30), close.repeat(30)));
        // Deeper than a reader would follow; read or refused, but at once.
        let deeper = file("", &format!("x = {}{inner}{}", open.repeat(60), close.repeat(60)));
        let _ = parse(&Input::new("job.hcl", &deeper));
        let read = parse(&Input::new("job.hcl", &text));
        assert!(read.is_ok(), "{open}: {:?}", read.err());
    }
}

/// Pieces from which random files are put together: most are wrong, in ways that get past the parser.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "job \"a\" {\n",
            "group \"g\" {\n",
            "task \"t\" {\n",
            "config {\n",
            "dynamic \"task\" {\n",
            "content {\n",
            "}\n",
            "for_each = [1, 2]\n",
            "labels = [\"x\"]\n",
            "count = ",
            "x = ",
            "locals {\n",
            "variable \"v\" {\n",
            "default = ",
            "type = list(string)\n",
            "var.v\n",
            "local.x\n",
            "1 / 0\n",
            "[for a in [1] : a]\n",
            "\"${a.b}\"\n",
            "network {\n",
            "port \"p\" {\n",
            "static = ",
            "<<EOF\n",
            "EOF\n",
            "%{ if true }",
            "${",
            "\"",
            "try(",
            ")",
            "range(1, 5)\n",
            "format(\"%d\", 1)\n",
            "constraint {\n",
            "version = \"x\"\n",
            "= ",
            "...",
            "?",
            ":",
            "validation {\n",
            "condition = false\n",
            "error_message = \"No.\"\n",
            "\n",
            " ",
            "é",
            "-",
            "9223372036854775808\n",
        ])
        .prop_map(str::to_owned),
        "[ -~\n]{0,6}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_text_panics(text in "(?s).{0,200}") {
        let _ = parse(&Input::new("job.hcl", &text));
    }

    #[test]
    fn no_pieces_panic(pieces in prop::collection::vec(piece(), 0..40)) {
        let _ = parse(&Input::new("job.hcl", &pieces.concat()));
    }

    #[test]
    fn no_json_panics(text in r#"\{"(job|Job|locals)": [\[{]?("[a-z${}]{0,4}"(: |, )?){0,6}[0-9\]}]{0,4}"#) {
        let _ = parse(&Input::new("job.json", &text));
    }

    #[test]
    fn no_change_to_a_real_file_panics(at in 0_usize..5_000, insert in piece(), cut in 0_usize..40) {
        let mut text = include_str!("../../tests/jobs/full.nomad").to_owned();
        let start = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let end = (start + cut).min(text.len());
        text.replace_range(start..end, &insert);
        let _ = parse(&Input::new("job.hcl", &text));
    }

    #[test]
    fn no_expression_panics(
        function in prop::sample::select(vec![
            "abs", "parseint", "pow", "log", "substr", "indent", "format", "split", "replace", "element", "slice", "range",
            "chunklist", "setproduct", "zipmap", "cidrhost", "cidrsubnet", "cidrsubnets", "cidrnetmask", "timeadd",
            "formatdate", "csvdecode", "jsondecode", "base64decode", "uuidv5", "title", "strrev", "merge", "flatten",
        ]),
        arguments in prop::collection::vec(
            prop_oneof![
                any::<i64>().prop_map(|n| n.to_string()),
                "[a-zA-Z0-9:./%+-]{0,12}".prop_map(|text| format!("{text:?}")),
                Just("\"2026-11-30T18:00:00Z\"".to_owned()),
                Just("\"10.0.0.0/8\"".to_owned()),
                Just("\"::/0\"".to_owned()),
                Just("[1, \"a\"]".to_owned()),
                Just("{ a = 1 }".to_owned()),
                Just("null".to_owned()),
            ],
            0..4,
        ),
    ) {
        let text = file("", &format!("x = {function}({})", arguments.join(", ")));
        let _ = parse(&Input::new("job.hcl", &text));
    }
}
