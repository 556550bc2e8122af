//! What tasks write comes through whole and once, whatever is restarted, and in files of the size that the job says.

use std::fmt::Write as _;
use std::io::Write as _;

use longshore_driver::{Driver as _, Recovered, TaskHandle, TaskId};
use longshore_harness::{EngineSetup, HarnessError, eventually};
use longshore_model::LogConfig;
use serde_json::{Value, json};

use crate::world::{SOON, World, options, script};

/// Room for all that a test writes.
const ROOMY: LogConfig = LogConfig { max_files: 50, max_file_size_mb: 1, disabled: false };

/// Accepts a task that writes a file out, and starts it.
async fn write_out(world: &mut World, bytes: &[u8], mut config: Value, more: Value) -> (TaskId, TaskHandle) {
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let id = world.accept(config.clone()).await;
    let local = world.request(&id, config.clone()).dirs.local;
    std::fs::write(local.join("blob"), bytes).unwrap();
    let started = world.start(&id, config).await.unwrap_or_else(|error| panic!("{}", error.full_text()));
    (id, started.handle)
}

async fn end(world: &mut World, id: &TaskId, handle: &TaskHandle) {
    assert_eq!(world.driver.wait(handle).await.unwrap().exit_code, 0);
    world.driver.destroy(handle).await.unwrap();
    world.forget(id).await;
}

#[track_caller]
fn same(what: &str, got: &[u8], expected: &[u8]) {
    let at = got.iter().zip(expected).position(|(a, b)| a != b).unwrap_or(got.len().min(expected.len()));
    let near = |bytes: &[u8]| {
        bytes[at.saturating_sub(8)..].iter().take(72).copied().collect::<Vec<_>>().escape_ascii().to_string()
    };
    let counts = format!("{} bytes of {}, first difference at {at}", got.len(), expected.len());
    assert!(got == expected, "{what}: {counts}, got `{}` for `{}`", near(got), near(expected));
}

/// A line of a megabyte, short ones, and a last one without an end.
fn long_lines() -> Vec<u8> {
    let mut text = String::new();
    for i in 0..150_000 {
        write!(text, "{i:07}").unwrap();
    }
    text.push_str("\n\nshort – ümläut\n");
    text.push_str(&"z".repeat(40_000));
    text.into_bytes()
}

/// All bytes there are, in a disorder that is the same each time.
fn binary() -> Vec<u8> {
    let mut state = 7_u32;
    let next = |state: &mut u32| {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (*state >> 24) as u8
    };
    std::iter::repeat_with(|| next(&mut state)).take(400_000).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_of_any_length_and_all_bytes_come_through() {
    let mut world = World::new().await;
    world.logs = ROOMY;
    let (_, name) = world.push("acme/web", "1");
    let (long, binary) = (long_lines(), binary());
    let short = long[1_000_000..].to_vec();
    let cat = script(&name, "cat /local/blob; cat /local/blob >&2");
    // What is sent away is kept by the engine as well, as long as it can be sent and comes at a pace that is not above a
    // megabyte at a time. Nobody reads what comes there, but somebody listens: otherwise the engine may be told that a
    // datagram before was refused, and then keeps that line nowhere.
    let listen = || std::net::UdpSocket::bind("127.0.0.1:0").map_err(|error| HarnessError::refused("listen", error));
    let listener = world.engine.namespace().inside(listen).unwrap();
    let syslog = json!({"syslog-address": format!("udp://{}", listener.local_addr().unwrap())});
    for (logging, blob) in [
        (json!({}), &long),
        (json!({"type": "json-file"}), &long),
        (json!({"type": "local"}), &long),
        (json!({"type": "local"}), &binary),
        (json!({"type": "syslog", "config": syslog}), &short),
    ] {
        let (id, handle) = write_out(&mut world, blob, cat.clone(), json!({"logging": logging})).await;
        world.driver.wait(&handle).await.unwrap();
        for stream in ["stdout", "stderr"] {
            same(&format!("{logging} {stream}"), &world.log_bytes(&id, stream), blob);
        }
        end(&mut world, &id, &handle).await;
    }
    // What is no UTF-8 this driver of the engine cannot keep: bytes are replaced, none is left out.
    let few = json!({"logging": {"type": "json-file"}});
    let (id, handle) = write_out(&mut world, b"a\xff\xfeb\0c\n\n", cat.clone(), few).await;
    world.driver.wait(&handle).await.unwrap();
    same("json-file", &world.log_bytes(&id, "stdout"), "a\u{fffd}\u{fffd}b\0c\n\n".as_bytes());
    end(&mut world, &id, &handle).await;

    // A terminal: every end of line gets its carriage return, and lines longer than the engine's buffer are one again.
    for (logging, blob) in [(json!({}), &long[..]), (json!({"type": "local"}), &long[1_050_000..1_060_000])] {
        let expected = String::from_utf8(blob.to_vec()).unwrap().replace('\n', "\r\n").into_bytes();
        let terminal = json!({"tty": true, "logging": logging});
        let (id, handle) = write_out(&mut world, blob, script(&name, "cat /local/blob"), terminal).await;
        world.driver.wait(&handle).await.unwrap();
        same(&format!("{logging} tty"), &world.log_bytes(&id, "stdout"), &expected);
        assert_eq!(world.log_bytes(&id, "stderr"), b"");
        end(&mut world, &id, &handle).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_as_large_and_as_many_as_the_job_says() {
    let mut world = World::new().await;
    world.logs = LogConfig { max_files: 2, max_file_size_mb: 1, disabled: false };
    let (_, name) = world.push("acme/web", "1");
    let mut text = String::new();
    for i in 0..120_000 {
        writeln!(text, "line {i:035}").unwrap();
    }
    // The engine's own files are large enough to be read in peace.
    let roomy = json!({"logging": {"type": "json-file", "config": {"max-size": "50m"}}});
    let (id, handle) = write_out(&mut world, text.as_bytes(), script(&name, "cat /local/blob"), roomy).await;
    world.driver.wait(&handle).await.unwrap();
    let files = world.log_files(&id, "stdout");
    let numbers: Vec<u64> = files.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [3, 4], "4.9 MB in files of one");
    assert!(files.iter().all(|(_, bytes)| bytes.len() <= 1 << 20 && bytes.ends_with(b"\n")));
    let kept = world.log_bytes(&id, "stdout");
    same("the end of it", &kept, &text.as_bytes()[text.len() - kept.len()..]);
    end(&mut world, &id, &handle).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_or_shall_not_be_collected() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let says = script(&name, "echo hello; sleep 1");
    let without_cache = json!({"syslog-address": "udp://127.0.0.1:9", "cache-disabled": "true"});
    for logging in [json!({"type": "none"}), json!({"type": "syslog", "config": without_cache})] {
        world.messages();
        let (id, handle) = write_out(&mut world, b"", says.clone(), json!({"logging": logging})).await;
        assert_eq!(world.driver.wait(&handle).await.unwrap().exit_code, 0);
        let told = world.messages();
        let meant: Vec<_> = told.iter().filter(|it| it.starts_with("Output is not collected: ")).collect();
        assert_eq!(meant.len(), 1, "{logging}: {told:?}");
        assert!(meant[0].contains("does not support reading"), "{meant:?}");
        assert_eq!(world.log_bytes(&id, "stdout"), b"");
        // Found again, it is not told again.
        world.restart_driver().await;
        let request = world.request(&id, says.clone());
        let recovered = world.driver.recover(&handle, request).await.unwrap();
        assert!(matches!(recovered, Recovered::Exited(_)), "{recovered:?}");
        assert_eq!(world.messages(), [""; 0]);
        end(&mut world, &id, &handle).await;
    }

    // Nobody wants it: no file, and nothing is said.
    for (all, of_job) in [(true, false), (false, true)] {
        world.options.disable_log_collection = all;
        world.logs.disabled = of_job;
        world.restart_driver().await;
        let (id, handle) = write_out(&mut world, b"", says.clone(), json!({})).await;
        world.driver.wait(&handle).await.unwrap();
        assert_eq!(world.log_files(&id, "stdout"), []);
        assert_eq!(world.log_files(&id, "stderr"), []);
        assert!(!world.messages().iter().any(|it| it.contains("collected")));
        end(&mut world, &id, &handle).await;
    }
    // No server there: the container cannot be started, and the driver of its log is named.
    let nobody = json!({"logging": {"type": "syslog", "config": {"syslog-address": "tcp://127.0.0.1:1"}}});
    let mut config = says.clone();
    config.as_object_mut().unwrap().extend(nobody.as_object().unwrap().clone());
    let id = world.accept(config.clone()).await;
    let error = world.start(&id, config).await.unwrap_err();
    assert!(error.full_text().contains("failed to initialize logging driver"), "{}", error.full_text());
    world.forget(&id).await;
}

/// Without an end of line nothing but the count of its bytes says how far a line was written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_agent_ends_within_a_line_and_between_writing_and_noting() {
    let mut world = World::new().await;
    world.logs = ROOMY;
    let (_, name) = world.push("acme/web", "1");
    let endless = "i=0; while [ $i -lt 1500 ]; do printf '%01024d' $i; i=$((i+1)); usleep 2000; done; printf end >&2";
    let expected: String = (0..1500).map(|i| format!("{i:01024}")).collect();
    for tty in [false, true] {
        let mut config = script(&name, endless);
        config["tty"] = json!(tty);
        let (id, handle) = world.run_task(config.clone()).await;
        for round in 1..=3 {
            eventually(SOON, "some of the line", || match world.log_bytes(&id, "stdout").len() {
                enough if enough > round * 200_000 => Ok(()),
                few => Err(format!("{few} bytes")),
            })
            .unwrap();
            world.driver.shutdown().await;
            // As if it had been killed after it wrote this, and before it noted that.
            let (number, _) = world.log_files(&id, "stdout").pop().unwrap();
            let path = world.run.dir().join(format!("alloc/{}/alloc/logs/web.stdout.{number}", id.alloc));
            let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
            file.write_all(&b"twice\n".repeat(1 << 17)).unwrap();
            world.restart_driver().await;
            let recovered = world.driver.recover(&handle, world.request(&id, config.clone())).await.unwrap();
            assert!(matches!(recovered, Recovered::Running { .. }), "{recovered:?}");
        }
        assert_eq!(world.driver.wait(&handle).await.unwrap().exit_code, 0);
        if tty {
            same("tty", &world.log_bytes(&id, "stdout"), format!("{expected}end").as_bytes());
        } else {
            same("stdout", &world.log_bytes(&id, "stdout"), expected.as_bytes());
            same("stderr", &world.log_bytes(&id, "stderr"), b"end");
        }
        end(&mut world, &id, &handle).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_with_live_restore_comes_and_goes_under_the_log() {
    let mut world = World::on(EngineSetup { live_restore: true, ..EngineSetup::default() }, options()).await;
    world.logs = ROOMY;
    let (_, name) = world.push("acme/web", "1");
    let count = "i=0; while [ $i -lt 12000 ]; do echo line $i; i=$((i+1)); usleep 800; done";
    let (id, handle) = world.run_task(script(&name, count)).await;
    for round in 1..=4 {
        let enough = format!("line {}\n", round * 1000);
        eventually(SOON, "some of the log", || {
            let log = world.log_bytes(&id, "stdout");
            if log.windows(enough.len()).any(|it| it == enough.as_bytes()) { Ok(()) } else { Err(String::new()) }
        })
        .unwrap();
        if round % 2 == 0 {
            world.engine.kill9()
        } else {
            world.engine.stop().unwrap()
        }
        world.engine.resume().unwrap();
    }
    let exit = world.driver.wait(&handle).await.unwrap();
    assert_eq!((exit.exit_code, exit.message.as_str()), (0, ""));
    let expected: String = (0..12_000).map(|i| format!("line {i}\n")).collect();
    same("the log", &world.log_bytes(&id, "stdout"), expected.as_bytes());
    end(&mut world, &id, &handle).await;
    world.wait_images(&[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_without_live_restore_ends_the_task_and_none_of_its_last_words_is_lost() {
    let mut world = World::new().await;
    world.logs = ROOMY;
    let (_, name) = world.push("acme/web", "1");
    let count = "trap 'echo last words; exit 7' TERM; i=0; while :; do echo line $i; i=$((i+1)); usleep 800; done";
    for kill in [false, true] {
        let (id, handle) = world.run_task(script(&name, count)).await;
        eventually(SOON, "some of the log", || match world.log_bytes(&id, "stdout").len() {
            enough if enough > 5_000 => Ok(()),
            few => Err(format!("{few} bytes")),
        })
        .unwrap();
        let waiting = (world.driver.clone(), handle.clone());
        let waiting = tokio::spawn(async move { waiting.0.wait(&waiting.1).await });
        // Away for longer than the pauses between tries were at first.
        if kill {
            world.engine.kill9()
        } else {
            world.engine.stop().unwrap()
        }
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        world.engine.resume().unwrap();
        let exit = waiting.await.unwrap().unwrap();
        assert_eq!(exit.exit_code, 7, "{exit:?}");
        let log = String::from_utf8(world.log_bytes(&id, "stdout")).unwrap();
        let lines: Vec<&str> = log.lines().collect();
        let (last, counted) = lines.split_last().unwrap();
        assert_eq!(*last, "last words", "killed: {kill}");
        for (i, line) in counted.iter().enumerate() {
            assert_eq!(*line, format!("line {i}"), "killed: {kill}");
        }
        world.driver.destroy(&handle).await.unwrap();
        world.forget(&id).await;
    }
}
