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
    --- stdout
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
    let pin = json!({"Pattern": "web:*", "Who": "ann@h", "At": "2026-11-30T17:38:32Z", "Names": ["web:1"]});
    agent.at("GET /v1/client/images/pins", 200, 5, &json!([pin]));
    let pinned = run_at(&agent.address, &["image", "status"]);
    assert!(pinned.contains("\n\nPins\nPattern  By     Pinned") && pinned.contains("web:1\n---"), "{pinned}");
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
    let pulled = json!({"Name": "web:3", "ID": "sha256:7614", "SizeBytes": 5, "Message": "Image ready: web:3 was already present", "KeptUntil": "2006-11-30T17:00:00Z"});
    agent.at("PUT /v1/client/images/pull", 200, 5, &pulled);
    let told = run_at(&agent.address, &["image", "pull", "web:3"]);
    assert!(told.starts_with("--- stdout\nImage ready: web:3 was already present\nKept for "), "{told}");
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

#[test]
fn images_are_adopted_and_removals_paused() {
    let agent = Agent::start();
    let id = "sha256:7614ae9453d1d87e740a2056257a6de7135c84037c367e1fffa92ae922784631";
    let image =
        json!({"Name": "web:1", "ID": id, "SizeBytes": 2097152, "Adopted": false, "Outcome": "would be adopted"});
    agent.at("PUT /v1/client/images/adopt", 200, 5, &json!({"Images": [image]}));
    insta::assert_snapshot!(run_at(&agent.address, &["image", "adopt", "-dry-run", "web:*"]), @"
    --- stdout
    Name   ID            Size     Outcome
    web:1  7614ae9453d1  2.0 MiB  would be adopted

    Nothing was adopted (-dry-run)
    --- exit 0
    ");
    let pause = json!({"Who": "ann@h", "At": "2026-11-30T17:00:00Z", "Until": "2226-11-30T17:00:00Z"});
    // One answer a call.
    agent.at("PUT /v1/client/images/pause", 200, 5, &json!({"Who": "", "At": null, "Until": null}));
    agent.at("PUT /v1/client/images/pause", 200, 5, &pause);
    insta::assert_snapshot!(run_at(&agent.address, &["image", "pause", "0s"]), @"
    --- stdout
    Images are removed again when nothing needs them
    --- exit 0
    ");
    let told = run_at(&agent.address, &["image", "pause", "200y"]);
    assert!(told.starts_with("--- stdout\nNo image is removed for ") && told.contains("(ann@h paused it)"), "{told}");
    agent.at("GET /v1/client/images", 200, 5, &json!({"Note": "", "Pause": pause, "Images": []}));
    let told = run_at(&agent.address, &["image", "status"]);
    assert!(told.contains("(ann@h paused it)\n\nNo images"), "{told}");
}

#[test]
fn files_are_listed_and_shown() {
    let agent = Agent::start();
    agent.at("GET /v1/allocations", 200, 5, &json!([alloc("running")]));
    agent.at(&format!("GET /v1/allocation/{ALLOC}"), 200, 5, &alloc("running"));
    let folder =
        json!({"Name": "", "IsDir": true, "Size": 4096, "FileMode": "drwx--x--x", "ModTime": "2026-11-30T17:39:46.4Z"});
    let inner = json!({"Name": "web", "IsDir": true, "Size": 4096, "FileMode": "dtrwxrwxrwx", "ModTime": "2026-11-30T17:39:46Z"});
    let file = json!({"Name": "a.txt", "IsDir": false, "Size": 12, "FileMode": "-rw-r--r--", "ModTime": "2026-11-30T17:39:51.9Z", "ContentType": "text/plain; charset=utf-8"});
    let call = |verb: &str| format!("GET /v1/client/fs/{verb}/{ALLOC}");
    agent.at(&call("stat"), 200, 0, &folder).at(&call("stat"), 200, 0, &folder).at(&call("stat"), 200, 0, &file);
    agent.at(&call("ls"), 200, 0, &json!([inner, file]));
    agent.at(&call("cat"), 200, 0, &json!("hello\nworld\n"));
    agent.at(&call("stream"), 200, 0, &json!("{\"Data\":\"b25lCnR3bwo=\",\"File\":\"f\",\"Offset\":8}{}"));
    insta::assert_snapshot!(run_at(&agent.address, &["alloc", "fs", "76876d46"]), @r"
    --- stdout
    Mode         Size     Modified Time         Name
    dtrwxrwxrwx  4.0 KiB  2026-11-30T17:39:46Z  web/
    -rw-r--r--   12 B     2026-11-30T17:39:51Z  a.txt
    --- exit 0
    ");
    insta::assert_snapshot!(run_at(&agent.address, &["fs", "-H", "76876d46", "web"]), @r"
    --- stdout
    Mode         Size  Modified Time         Name
    dtrwxrwxrwx  4096  2026-11-30T17:39:46Z  web/
    -rw-r--r--   12    2026-11-30T17:39:51Z  a.txt
    --- exit 0
    ");
    insta::assert_snapshot!(run_at(&agent.address, &["alloc", "fs", "-stat", "76876d46", "web/a.txt"]), @r"
    --- stdout
    Mode        Size  Modified Time         Content Type               Name
    -rw-r--r--  12 B  2026-11-30T17:39:51Z  text/plain; charset=utf-8  a.txt
    --- exit 0
    ");
    insta::assert_snapshot!(run_at(&agent.address, &["alloc", "fs", "76876d46", "web/a.txt"]), @r"
    --- stdout
    hello
    world
    --- exit 0
    ");
    insta::assert_snapshot!(run_at(&agent.address, &["alloc", "fs", "-tail", "-n", "1", "76876d46", "web/a.txt"]), @r"
    --- stdout
    two
    --- exit 0
    ");
    assert!(agent.asked().iter().any(|line| line.ends_with("path=web%2Fa.txt&offset=120&origin=end&follow=false")));
    let gone = Agent::start();
    gone.at("GET /v1/allocations", 200, 5, &json!([alloc("running")]));
    gone.at(&format!("GET /v1/allocation/{ALLOC}"), 200, 5, &alloc("running"));
    gone.at(&call("stat"), 500, 0, &json!("stat /d/none: no such file or directory"));
    insta::assert_snapshot!(run_at(&gone.address, &["alloc", "fs", "76876d46", "none"]), @r"
    --- stderr
    Unexpected response code: 500 (stat /d/none: no such file or directory)
    --- exit 1
    ");
}

#[test]
fn signals_and_restarts_are_silent_when_they_are_done() {
    let agent = Agent::start();
    let mut whole = alloc("running");
    whole["Job"] = json!({"TaskGroups": [{"Name": "g", "Tasks": [{"Name": "a"}, {"Name": "b"}]}]});
    agent.at("GET /v1/allocations", 200, 5, &json!([alloc("running")]));
    agent.at(&format!("GET /v1/allocation/{ALLOC}"), 200, 5, &whole);
    let (signal, restart) =
        (format!("PUT /v1/client/allocation/{ALLOC}/signal"), format!("PUT /v1/client/allocation/{ALLOC}/restart"));
    agent.at(&signal, 200, 0, &json!({"Index": 0})).at(&restart, 200, 0, &json!({"Index": 0}));
    for words in [
        &["alloc", "signal", "76876d46"][..],
        &["alloc", "signal", "-s", "SIGHUP", "76876d46", "a"],
        &["alloc", "restart", "76876d46"],
        &["alloc", "restart", "-task", "b", "76876d46"],
    ] {
        assert_eq!(run_at(&agent.address, words), "--- exit 0", "{words:?}");
    }
    let writes: Vec<String> = agent.asked().into_iter().filter(|line| line.starts_with("PUT")).collect();
    assert_eq!(
        writes,
        [
            format!("{signal} {{\"Task\":\"\",\"Signal\":\"SIGKILL\"}}"),
            format!("{signal} {{\"Task\":\"a\",\"Signal\":\"SIGHUP\"}}"),
            format!("{restart} {{\"TaskName\":\"\",\"AllTasks\":false}}"),
            format!("{restart} {{\"TaskName\":\"b\",\"AllTasks\":false}}"),
        ]
    );
    insta::assert_snapshot!(run_at(&agent.address, &["alloc", "signal", "76876d46", "nobody"]), @r"
    --- stderr
    Could not find task named: nobody, found:
    a
    b
    --- exit 1
    ");
    insta::assert_snapshot!(run_at(&agent.address, &["alloc", "restart", "-all-tasks", "76876d46", "a"]), @r"
    --- stderr
    The -all-tasks option is not allowed when restarting a specific task.
    --- exit 1
    ");
    let not_running = "1 error occurred:\n\t* Task not running\n\n";
    let over = Agent::start();
    over.at("GET /v1/allocations", 200, 5, &json!([alloc("complete")]));
    over.at(&format!("GET /v1/allocation/{ALLOC}"), 200, 5, &whole);
    over.at(&signal, 500, 0, &json!(not_running)).at(&restart, 500, 0, &json!(not_running));
    insta::assert_snapshot!(run_at(&over.address, &["alloc", "restart", "76876d46"]), @r"
    --- stderr
    Failed to restart allocation:

    Unexpected response code: 500 (1 error occurred:
    	* Task not running

    )
    --- exit 1
    ");
    insta::assert_snapshot!(run_at(&over.address, &["alloc", "signal", "76876d46"]), @r"
    --- stderr
    Error signalling allocation: Unexpected response code: 500 (1 error occurred:
    	* Task not running

    )
    --- exit 1
    ");
}
