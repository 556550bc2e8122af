use super::*;

#[test]
fn logs_are_written_as_they_are() {
    let agent = Agent::start();
    agent.at("GET /v1/allocations", 200, 5, &json!([alloc("running")]));
    let mut whole = alloc("running");
    whole["Job"] = json!({"TaskGroups": [{"Name": "g", "Tasks": [{"Name": "a"}, {"Name": "b"}]}]});
    agent.at(&format!("GET /v1/allocation/{ALLOC}"), 200, 5, &whole);
    let logs = format!("GET /v1/client/fs/logs/{ALLOC}");
    insta::assert_snapshot!(run_at(&agent.address, &["alloc", "logs", "76876d46"]), @r#"
    --- stderr
    Failed to validate task: Allocation "76876d46" is running the following tasks:
      * a
      * b

    Please specify the task.
    --- exit 1
    "#);
    agent.at(&logs, 200, 0, &json!("one\ntwo\nthree\n")).at(&logs, 200, 0, &json!("bad\n"));
    insta::assert_snapshot!(run_at(&agent.address, &["alloc", "logs", "76876d46", "a"]), @"
    --- stdout
    one
    two
    three
    --- stderr
    bad
    --- exit 0
    ");
    assert!(
        agent
            .asked()
            .iter()
            .any(|line| line.ends_with("task=a&type=stderr&follow=false&origin=start&offset=0&plain=true"))
    );
    insta::assert_snapshot!(run_at(&agent.address, &["logs", "-stderr", "-tail", "-n", "2", "-task", "b", "76876d46"]), @"
    --- stderr
    bad
    --- exit 0
    ");
    let follow = Agent::start();
    follow.at("GET /v1/allocations", 200, 5, &json!([alloc("running")]));
    follow.at(&format!("GET /v1/allocation/{ALLOC}"), 200, 5, &whole);
    follow.at(&logs, 200, 0, &json!("{\"Data\":\"b25lCnR3bwo=\",\"File\":\"f\",\"Offset\":8}{}"));
    insta::assert_snapshot!(run_at(&follow.address, &["logs", "-f", "-stdout", "-tail", "-n", "1", "76876d46", "a"]), @"
    --- stdout
    two
    --- exit 0
    ");
}

#[test]
fn images_are_listed_and_explained() {
    let agent = Agent::start();
    let image = json!({"Name": "web:1", "ID": "sha256:7614ae9453d1d87e740a2056257a6de7135c84037c367e1fffa92ae922784631", "SizeBytes": 2097152, "Provenance": "obtained", "State": "held", "Holds": 1});
    agent.at("GET /v1/client/images", 200, 5, &json!({"Note": "", "Images": [image]}));
    agent.at(
        "GET /v1/client/image/127.0.0.1%3A5001%2Fweb%3A1",
        200,
        5,
        &json!({"Status": image, "Lines": ["a task needs it"]}),
    );
    insta::assert_snapshot!(run_at(&agent.address, &["image", "status"]), @"
    --- stdout
    Name   ID            Size     Provenance  State  Holds  Goes in
    web:1  7614ae9453d1  2.0 MiB  obtained    held   1      -
    --- exit 0
    ");
    insta::assert_snapshot!(run_at(&agent.address, &["image", "status", "-t", "{{range .Images}}{{.Name}} {{.Holds}}{{end}}"]), @"
    --- stdout
    web:1 1
    --- exit 0
    ");
    insta::assert_snapshot!(run_at(&agent.address, &["image", "explain", "127.0.0.1:5001/web:1"]), @"
    --- stdout
    Name       = web:1
    ID         = sha256:7614ae9453d1d87e740a2056257a6de7135c84037c367e1fffa92ae922784631
    Size       = 2.0 MiB
    Provenance = obtained
    State      = held
    Holds      = 1
    Goes in    = -

    Why
      * a task needs it
    --- exit 0
    ");
    insta::assert_snapshot!(run_at(&agent.address, &["image", "explain", "other"]), @"
    --- stderr
    Error querying image: Unexpected response code: 404 (Invalid URL)
    --- exit 1
    ");
}

#[test]
fn images_are_pinned_and_collected() {
    let agent = Agent::start();
    let pin = json!({"Pattern": "web:1", "Who": "ann@host", "At": "2026-11-30T17:00:00Z", "Names": ["web:1"]});
    agent.at("PUT /v1/client/images/pin", 200, 5, &pin);
    agent.at("GET /v1/client/images/pins", 200, 5, &json!([]));
    agent.at("PUT /v1/client/images/unpin", 200, 5, &json!({}));
    let gone = json!({"Name": "web:2", "ID": "sha256:7614ae9453d1d87e740a2056257a6de7135c84037c367e1fffa92ae922784631", "SizeBytes": 2097152, "Removed": false, "Outcome": "would be removed"});
    agent.at("PUT /v1/client/images/gc", 200, 5, &json!({"Images": [gone]}));
    insta::assert_snapshot!(run_at(&agent.address, &["image", "pin", "web:1"]), @r#"
    --- stdout
    Pinned web:1: web:1 kept until "image unpin"
    --- exit 0
    "#);
    insta::assert_snapshot!(run_at(&agent.address, &["image", "pin"]), @r#"
    --- stdout
    No pins
    --- exit 0
    "#);
    insta::assert_snapshot!(run_at(&agent.address, &["image", "unpin", "web:1"]), @r#"
    --- stdout
    Unpinned web:1
    --- exit 0
    "#);
    insta::assert_snapshot!(run_at(&agent.address, &["image", "gc", "-dry-run"]), @r#"
    --- stdout
    Name   ID            Size     Outcome
    web:2  7614ae9453d1  2.0 MiB  would be removed

    Nothing was removed (-dry-run)
    --- exit 0
    "#);
}
