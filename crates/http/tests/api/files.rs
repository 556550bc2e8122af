//! Files of allocations over HTTP: lists, looks, whole, from an offset, as frames.

use std::path::PathBuf;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::world::{MINUTE, World, shop};

async fn world() -> (World, String, PathBuf) {
    let world = World::new().await;
    world.run(&shop("web")).await;
    world.all_run().await;
    let alloc = world.allocations("web").await[0]["ID"].as_str().unwrap().to_owned();
    let folder = world.folder.path().join("alloc").join(&alloc);
    std::fs::write(folder.join("httpd/local/result.txt"), "line 1\nline 2\nline 3\n").unwrap();
    std::fs::write(folder.join("httpd/secrets/key"), "s3cret").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("httpd/local/passwd")).unwrap();
    (world, alloc, folder)
}

#[tokio::test]
async fn what_is_there_and_what_it_holds() {
    let (world, alloc, folder) = world().await;
    let names = |list: Value| {
        list.as_array().unwrap().iter().map(|file| file["Name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let call = |verb: &str, query: &str| format!("/v1/client/fs/{verb}/{alloc}{query}");
    assert_eq!(names(world.get(&call("ls", "")).await.json()), ["alloc", "httpd"]);
    assert_eq!(
        names(world.ask("POST", &call("ls", "?path=/httpd"), Body::empty()).await.json()),
        ["local", "secrets", "tmp"]
    );
    let file = world.get(&call("stat", "?path=httpd/local/result.txt")).await.json();
    let keys: Vec<&String> = file.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["ContentType", "FileMode", "IsDir", "ModTime", "Name", "Size"]);
    assert_eq!((&file["Name"], &file["Size"], &file["IsDir"]), (&json!("result.txt"), &json!(21), &json!(false)));
    let missing = world.get(&call("stat", "?path=nothing")).await;
    let expected = format!("stat {}/nothing: no such file or directory", folder.display());
    assert_eq!((missing.status, missing.text()), (500, expected.clone()));
    for (path, status, text) in [
        (call("stat", ""), 400, "must provide a file name"),
        (call("ls", "?path=../../.."), 500, "Path escapes the alloc directory"),
        ("/v1/client/fs/ls/".to_owned(), 400, "must provide a valid alloc id"),
        (
            "/v1/client/fs/ls/12345678-abcd-efab-cdef-123456789abc".to_owned(),
            404,
            "Unknown allocation \"12345678-abcd-efab-cdef-123456789abc\"",
        ),
        (call("touch", ""), 404, "Invalid method"),
        (call("cat", "?path=httpd/local/result.txt"), 200, "line 1\nline 2\nline 3\n"),
        (call("cat", "?path=httpd"), 200, "file \"httpd\" is a directory"),
        (call("cat", "?path=httpd/secrets/key"), 200, "Reading secret file prohibited: httpd/secrets/key"),
        (call("cat", "?path=httpd/local/passwd"), 200, "Path escapes the alloc directory"),
        (call("cat", "?path=nothing"), 200, &expected),
        (call("cat", ""), 200, "must provide a file name"),
        (call("readat", "?path=httpd/local/result.txt&offset=5&limit=8"), 200, "1\nline 2"),
        (call("readat", "?path=httpd/local/result.txt&offset=14"), 200, "line 3\n"),
        (call("readat", "?path=httpd/local/result.txt&offset=99&limit=5"), 200, ""),
        (call("readat", "?path=httpd/local/result.txt&offset=9223372036854775807"), 200, ""),
        (
            call("readat", "?path=httpd/local/result.txt&limit=5"),
            200,
            "error parsing offset: strconv.ParseInt: parsing \"\": invalid syntax",
        ),
    ] {
        let answer = world.get(&path).await;
        assert_eq!((answer.status, answer.text().as_str()), (status, text), "{path}");
    }
    world.close().await;
}

#[tokio::test]
async fn files_as_frames() {
    let (world, alloc, folder) = world().await;
    let call = |query: &str| format!("/v1/client/fs/stream/{alloc}{query}");
    let file = "?path=httpd/local/result.txt";
    let frame = |data: &str, offset: u64| json!({"Data": data, "File": "httpd/local/result.txt", "Offset": offset});
    let whole = world.get(&call(&format!("{file}&follow=false"))).await.json();
    assert_eq!(whole, frame("bGluZSAxCmxpbmUgMgpsaW5lIDMK", 21));
    let tail = world.get(&call(&format!("{file}&follow=false&origin=end&offset=7"))).await.json();
    assert_eq!(tail, frame("bGluZSAzCg==", 21));
    for (query, status, text) in [
        ("", 400, "must provide a file name".to_owned()),
        ("?path=httpd", 400, "file \"httpd\" is a directory".to_owned()),
        ("?path=none", 400, format!("stat {}/none: no such file or directory", folder.display())),
        ("?path=httpd/secrets/key", 500, "Reading secret file prohibited: httpd/secrets/key".to_owned()),
        ("?path=httpd/local/result.txt&origin=middle", 400, "origin must be start or end".to_owned()),
        (
            "?path=httpd/local/result.txt&follow=perhaps",
            500,
            "failed to parse follow field to boolean: strconv.ParseBool: parsing \"perhaps\": invalid syntax"
                .to_owned(),
        ),
    ] {
        let answer = world.get(&call(query)).await;
        assert_eq!((answer.status, answer.text()), (status, text), "{query}");
    }

    // Followed: what is added, that it lives, that it was cut, that it is gone; then the end.
    let request = Request::get(call(file)).body(Body::empty()).unwrap();
    let mut body = world.router().oneshot(request).await.unwrap().into_body();
    let mut next = async || {
        let piece = tokio::time::timeout(MINUTE, body.frame()).await.unwrap()?.unwrap();
        Some(serde_json::from_slice::<Value>(&piece.into_data().unwrap()).unwrap())
    };
    let path = folder.join("httpd/local/result.txt");
    assert_eq!(next().await.unwrap()["Offset"], 21);
    assert_eq!(next().await.unwrap(), json!({}));
    std::fs::write(&path, "new\n").unwrap();
    let mut told = next().await.unwrap();
    while told == json!({}) {
        told = next().await.unwrap();
    }
    assert_eq!(told, json!({"File": "httpd/local/result.txt", "FileEvent": "file truncated"}));
    assert_eq!(next().await.unwrap(), frame("bmV3Cg==", 4));
    std::fs::remove_file(&path).unwrap();
    let mut told = next().await.unwrap();
    while told == json!({}) {
        told = next().await.unwrap();
    }
    assert_eq!(told["FileEvent"], "file deleted");
    assert_eq!(next().await, None);
    world.close().await;
}
