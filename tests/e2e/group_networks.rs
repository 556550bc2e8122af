//! Networks that the tasks of a group share: they are there before the tasks, and go after them, whoever is killed meanwhile.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use longshore_harness::{Agent, Body, Container, Image, ImageSetup, eventually};

use crate::support::*;

const PAUSE: &str = "longshore/pause:1";
const PATIENT: &str = "restart {\n      attempts = 20\n      interval = \"10m\"\n      delay    = \"100ms\"\n    }";
const DELAY: &str = "plugin \"docker\" {\n  config {\n    gc {\n      image_delay = \"1s\"\n    }\n  }\n}\n";

/// A web server and a task beside it that writes down what it sees.
fn shop(id: &str, image: &str, network: &str) -> String {
    let serve = "mkdir -p /tmp/www && echo served > /tmp/www/index.html && exec httpd -f -p 8080 -h /tmp/www";
    let look = "env > /local/env; cat /etc/hosts > /local/hosts; cat /etc/resolv.conf > /local/resolv; \
                hostname > /local/hostname; trap 'exit 0' TERM; \
                while :; do wget -q -O /local/seen http://127.0.0.1:8080/; sleep 0.1; done";
    let task = |name: &str, script: &str, config: &str| {
        format!(
            "task {name:?} {{\n driver = \"docker\"\n kill_timeout = \"1s\"\n config {{\n image = {image:?}\n command = \"/bin/sh\"\n \
             args = [\"-c\", {script:?}]\n {config}\n }}\n resources {{\n cpu = 20\n memory = 32\n }}\n }}\n"
        )
    };
    format!(
        "job {id:?} {{\n update {{\n min_healthy_time = \"100ms\"\n }}\n group \"g\" {{\n {PATIENT}\n network {{\n {network}\n }}\n {}{} }}\n}}\n",
        task("main", serve, "ports = [\"http\"]"),
        task("side", look, "extra_hosts = [\"db:10.0.0.9\"]"),
    )
}

const BRIDGE: &str = "mode = \"bridge\"\n hostname = \"counter\"\n dns {\n servers = [\"10.9.8.7\"]\n searches = [\"shop.test\"]\n }\n \
                      port \"http\" {\n to = 8080\n }";

fn run_text(agent: &Agent, id: &str, text: &str) {
    agent.job_run(id, text).unwrap().success(&format!("run {id}")).unwrap();
}

/// The container of the allocation's network, and those of its tasks.
fn parts(machine: &Machine, allocation: &[String]) -> (Vec<Container>, Vec<Container>) {
    machine.containers_of(allocation).into_iter().partition(|it| it.label("longshore.network").is_some())
}

/// Waits until one network and so many tasks in it run, and returns the network's container.
#[track_caller]
fn wait_whole(machine: &Machine, allocation: &[String], tasks: usize) -> String {
    eventually(SOON, format!("one network with {tasks} tasks in it"), || {
        let (networks, members) = parts(machine, allocation);
        let all = || format!("{networks:?} {members:?}");
        let [network] = &networks[..] else { return Err(all()) };
        let runs = |it: &Container| it.state == "running";
        if !runs(network) || members.len() != tasks || !members.iter().all(runs) {
            return Err(all());
        }
        for member in &members {
            let details = machine.engine.inspect_container(&member.id).map_err(|error| error.to_string())?;
            if details["HostConfig"]["NetworkMode"] != format!("container:{}", network.id) {
                return Err(format!("{} is in {}", member.id, details["HostConfig"]["NetworkMode"]));
            }
        }
        Ok(network.id.clone())
    })
    .unwrap()
}

/// Where the group's port is on the node.
fn outside(agent: &Agent, allocation: &str) -> String {
    let facts = agent.get(&format!("/v1/allocation/{allocation}")).unwrap();
    let port = &facts["AllocatedResources"]["Shared"]["Ports"][0];
    format!("{}:{}", port["HostIP"].as_str().unwrap(), port["Value"])
}

fn ask(address: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n")?;
    let mut said = String::new();
    stream.read_to_string(&mut said)?;
    Ok(said)
}

#[track_caller]
fn wait_served(machine: &Machine, address: &str) {
    eventually(SOON, format!("an answer from {address}"), || {
        match machine.engine.namespace().inside(|| Ok(ask(address))).unwrap() {
            Ok(said) if said.contains("served") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .unwrap();
}

/// A file that the task beside the server has written.
#[track_caller]
fn written(agent: &Agent, allocation: &str, name: &str) -> String {
    let path = agent.data_dir().join(format!("alloc/{allocation}/side/local/{name}"));
    eventually(SOON, format!("{}", path.display()), || match std::fs::read_to_string(&path) {
        Ok(text) if !text.is_empty() => Ok(text),
        other => Err(format!("{other:?}")),
    })
    .unwrap()
}

#[test]
fn tasks_share_a_network_that_outlives_agents_and_goes_with_the_last_of_them() {
    let machine = Machine::start();
    let mut agent = machine.agent(DELAY);
    let (_, image) = machine.push("shop/counter");
    run_text(&agent, "counter", &shop("counter", &image, BRIDGE));
    let allocation = wait_running(&agent, "counter", 1);
    let id = &allocation[0];
    let network = wait_whole(&machine, &allocation, 2);
    let outside = outside(&agent, id);
    wait_served(&machine, &outside);

    let details = machine.engine.inspect_container(&network).unwrap();
    assert_eq!(details["Name"], format!("/nomad_init_{id}"));
    let policy = details["HostConfig"]["RestartPolicy"]["Name"].as_str().unwrap();
    assert!(matches!(policy, "" | "no"), "an engine that comes back shall not revive it without its tasks: {policy}");
    let address = details["NetworkSettings"]["Networks"]["bridge"]["IPAddress"].as_str().unwrap().to_owned();
    let facts = agent.get(&format!("/v1/allocation/{id}")).unwrap();
    assert_eq!(facts["NetworkStatus"]["Address"], address.as_str());
    assert_eq!(facts["NetworkStatus"]["InterfaceName"], "eth0");
    let port = &facts["AllocatedResources"]["Shared"]["Ports"][0];
    let said = agent.cli(&["alloc", "status", id]).unwrap().success("alloc status").unwrap().stdout;
    assert!(said.contains("Allocation Addresses (mode = \"bridge\"):"), "{said}");
    assert!(said.contains(&format!("{outside} -> 8080")), "{said}");

    // What the tasks see.
    assert_eq!(written(&agent, id, "seen"), "served\n");
    assert_eq!(written(&agent, id, "hostname"), "counter\n");
    let hosts = written(&agent, id, "hosts");
    assert!(hosts.contains("10.0.0.9\tdb") && hosts.contains(&format!("{address}\tcounter")), "{hosts}");
    let resolv = written(&agent, id, "resolv");
    assert!(resolv.contains("nameserver 10.9.8.7") && resolv.contains("search shop.test"), "{resolv}");
    let env = written(&agent, id, "env");
    for line in [
        format!("NOMAD_ALLOC_ADDR_http={address}:8080"),
        format!("NOMAD_ALLOC_IP_http={address}"),
        "NOMAD_ALLOC_INTERFACE_http=eth0".to_owned(),
        "NOMAD_PORT_http=8080".to_owned(),
        format!("NOMAD_HOST_PORT_http={}", port["Value"]),
        format!("NOMAD_ADDR_http={outside}"),
    ] {
        assert!(env.lines().any(|it| it == line), "no {line} in {env}");
    }

    // Its image came from nowhere and is the network's.
    let row = image_row(&agent, PAUSE).unwrap();
    assert!(row.to_string().contains("network"), "{row}");
    assert_eq!(machine.requests("longshore/pause"), 0);

    // A task starts anew in the network that there is; so it is after a restart of the agent.
    agent.cli(&["alloc", "restart", "-task", "main", id]).unwrap().success("restart").unwrap();
    assert_eq!(wait_whole(&machine, &allocation, 2), network);
    let before: Vec<String> = machine.containers_of(&allocation).into_iter().map(|it| it.id).collect();
    agent.kill9();
    wait_served(&machine, &outside);
    agent.resume().unwrap();
    assert_eq!(wait_running(&agent, "counter", 1), allocation);
    let after: Vec<String> = machine.containers_of(&allocation).into_iter().map(|it| it.id).collect();
    assert_eq!(after, before, "nothing was made anew");
    agent.cli(&["alloc", "restart", "-task", "side", id]).unwrap().success("restart").unwrap();
    assert_eq!(wait_whole(&machine, &allocation, 2), network);
    wait_served(&machine, &outside);

    let recorder = machine.engine.record_events();
    recorder.wait_connected(1).unwrap();
    stop_job(&machine, &agent, "counter");
    let events = recorder.events();
    let ends = events.iter().filter(|event| {
        event.action == "destroy" && event.attribute("name").is_some_and(|name| name.starts_with("nomad_init_"))
    });
    assert_eq!(ends.count(), 1);
    for name in [PAUSE, &image] {
        machine.wait_image_gone(SOON, name);
    }
}

/// Waits until the allocation is whole in another network than the one given.
#[track_caller]
fn wait_whole_again(machine: &Machine, allocation: &[String], before: &str) -> String {
    eventually(SOON, "another network", || {
        let (networks, _) = parts(machine, allocation);
        if networks.len() == 1 && networks[0].id != before { Ok(()) } else { Err(format!("{networks:?}")) }
    })
    .unwrap();
    wait_whole(machine, allocation, 2)
}

#[test]
fn a_network_that_is_lost_is_made_anew_with_its_tasks() {
    let mut machine = Machine::start();
    let mut agent = machine.agent(DELAY);
    let (_, image) = machine.push("shop/lost");
    run_text(&agent, "lost", &shop("lost", &image, "mode = \"bridge\"\n port \"http\" {\n to = 8080\n }"));
    let allocation = wait_running(&agent, "lost", 1);
    let mut network = wait_whole(&machine, &allocation, 2);
    let outside = outside(&agent, &allocation[0]);

    // Ended, removed, and ended while nobody looked.
    for way in ["killed", "removed", "killed without an agent"] {
        if way == "killed without an agent" {
            agent.kill9();
        }
        if way == "removed" {
            machine.engine.remove_container(&network).unwrap();
        } else {
            let path = format!("/containers/{network}/kill");
            machine.engine.call("POST", &path, Body::Empty).unwrap().success("kill").unwrap();
        }
        if way == "killed without an agent" {
            agent.resume().unwrap();
        }
        network = wait_whole_again(&machine, &allocation, &network);
        wait_served(&machine, &outside);
        assert_eq!(wait_running(&agent, "lost", 1), allocation, "{way}: the same allocation");
    }
    let told: Vec<String> = ["main", "side"].iter().flat_map(|it| event_texts(&agent, &allocation[0], it)).collect();
    assert!(told.iter().any(|it| it.contains("the network of its group had ended")), "{told:#?}");

    // The engine's end takes all of it along.
    machine.engine.kill9();
    machine.engine.resume().unwrap();
    network = wait_whole_again(&machine, &allocation, &network);
    wait_served(&machine, &outside);
    machine.engine.stop().unwrap();
    machine.engine.resume().unwrap();
    wait_whole_again(&machine, &allocation, &network);
    wait_served(&machine, &outside);
    assert_eq!(wait_running(&agent, "lost", 1), allocation);
    stop_job(&machine, &agent, "lost");
    machine.wait_image_gone(SOON, PAUSE);
}

#[test]
fn an_update_takes_over_the_port_and_other_modes_do_what_they_say() {
    let machine = Machine::start();
    let agent = machine.agent(DELAY);
    let (_, image) = machine.push("shop/modes");

    // The port is free only when the network before has gone.
    let port = longshore_harness::free_port().unwrap();
    let fixed = format!("mode = \"bridge\"\n port \"http\" {{\n static = {port}\n to = 8080\n }}");
    let text = shop("fixed", &image, &fixed);
    run_text(&agent, "fixed", &text);
    let first = wait_running(&agent, "fixed", 1);
    let address = outside(&agent, &first[0]);
    wait_served(&machine, &address);
    run_text(&agent, "fixed", &text.replace("cpu = 20", "cpu = 30"));
    let second = wait_running(&agent, "fixed", 1);
    assert_ne!(second, first);
    wait_served(&machine, &address);
    for task in ["main", "side"] {
        let told = event_texts(&agent, &second[0], task);
        assert!(!told.iter().any(|it| it.contains("Driver Failure")), "{told:#?}");
    }
    stop_job(&machine, &agent, "fixed");

    // Without a way out.
    run_text(&agent, "closed", &shop("closed", &image, "mode = \"none\"\n port \"http\" {\n to = 8080\n }"));
    let closed = wait_running(&agent, "closed", 1);
    let network = wait_whole(&machine, &closed, 2);
    assert_eq!(written(&agent, &closed[0], "seen"), "served\n");
    let details = machine.engine.inspect_container(&network).unwrap();
    assert_eq!(details["HostConfig"]["NetworkMode"], "none");
    stop_job(&machine, &agent, "closed");

    // A task's own mode comes first, with the ports that it publishes itself.
    let own = shop("own", &image, "mode = \"bridge\"\n port \"http\" {\n to = 8080\n }")
        .replace("ports = [\"http\"]", "ports = [\"http\"]\n network_mode = \"bridge\"");
    run_text(&agent, "own", &own);
    let own = wait_running(&agent, "own", 1);
    wait_served(&machine, &outside(&agent, &own[0]));
    let (networks, members) = parts(&machine, &own);
    let in_it = members.iter().filter(|it| {
        let details = machine.engine.inspect_container(&it.id).unwrap();
        details["HostConfig"]["NetworkMode"] == format!("container:{}", networks[0].id)
    });
    assert_eq!((networks.len(), members.len(), in_it.count()), (1, 2, 1));
    stop_job(&machine, &agent, "own");
}

#[test]
fn other_drivers_and_what_belongs_to_the_network_are_refused_by_name() {
    let machine = Machine::start();
    let agent = machine.agent("plugin \"raw_exec\" {\n config {\n enabled = true\n }\n}\n");
    let (_, image) = machine.push("shop/refused");
    let never = "restart {\n attempts = 0\n mode = \"fail\"\n }\n reschedule {\n attempts = 0\n unlimited = false\n }";
    let network = "network {\n mode = \"bridge\"\n }";
    let plain = format!(
        "job \"plain\" {{\n group \"g\" {{\n {never}\n {network}\n task \"main\" {{\n driver = \"raw_exec\"\n config {{\n \
         command = \"/bin/true\"\n }}\n }}\n }}\n}}\n"
    );
    let named = Job::new("named", &image).group(never).group(network).config("hostname = \"mine\"").text();
    for (id, text, words) in [
        ("plain", plain, "task main does not support \"bridge\" networking mode"),
        ("named", named, "config.hostname: belongs to the network of the group"),
    ] {
        let path = machine.run.write(&format!("{id}.nomad.hcl"), text).unwrap();
        agent.cli(&["job", "run", "-detach", path.to_str().unwrap()]).unwrap().success(id).unwrap();
        eventually(SOON, format!("{id} to fail"), || {
            let all = allocations(&agent, id);
            let [one] = &all[..] else { return Err(format!("{all:?}")) };
            let told = event_texts(&agent, &text_of(one), "main");
            let failed = one["ClientStatus"] == "failed" && told.iter().any(|it| it.contains(words));
            if failed { Ok(()) } else { Err(format!("{} {told:#?}", one["ClientStatus"])) }
        })
        .unwrap();
        wait_no_containers(&machine, &agent, id);
    }
}

fn text_of(allocation: &serde_json::Value) -> String {
    text(allocation, "ID")
}

#[test]
fn the_infra_image_of_the_settings_is_used_and_stays_with_the_setting() {
    let machine = Machine::start();
    let (_, infra) = machine.push("shop/infra");
    let (_, image) = machine.push("shop/web");
    let file = format!(
        "plugin \"docker\" {{\n  config {{\n    infra_image = \"{infra}\"\n    gc {{\n      image_delay = \"1s\"\n    }}\n  }}\n}}\n"
    );
    let agent = machine.agent(&file);
    run_text(&agent, "infra", &shop("infra", &image, "mode = \"bridge\"\n port \"http\" {\n to = 8080\n }"));
    let allocation = wait_running(&agent, "infra", 1);
    let network = wait_whole(&machine, &allocation, 2);
    assert_eq!(machine.engine.inspect_container(&network).unwrap()["Config"]["Image"], infra.as_str());
    assert!(!machine.has_image(PAUSE));
    stop_job(&machine, &agent, "infra");
    machine.wait_image_gone(SOON, &image);
    assert!(machine.has_image(&infra), "the setting still names it");

    // One that ends at once is told as what it is.
    let short = ImageSetup { command: vec!["/bin/true".to_owned()], ..ImageSetup::default() };
    machine.registry.push(&Image::build(&short).unwrap(), "shop/short", "1").unwrap();
    let file = file.replace("shop/infra", "shop/short");
    let other = Agent::start(&machine.run, machine.setup("other").file("agent.hcl", &file)).unwrap();
    submit(&other, &Job::new("short", &image).group(PATIENT).group("network {\n mode = \"bridge\"\n }"));
    eventually(SOON, "the reason", || {
        let all = allocations(&other, "short");
        let told: Vec<String> = all.iter().flat_map(|it| event_texts(&other, &text(it, "ID"), "main")).collect();
        let why = |it: &String| it.contains("ended at once with exit code 0") && it.contains("shop/short");
        if told.iter().any(why) { Ok(()) } else { Err(format!("{told:#?}")) }
    })
    .unwrap();
    stop_job(&machine, &other, "short");
}

#[test]
fn a_foreign_image_of_the_built_in_one_s_name_is_not_used() {
    let machine = Machine::start();
    let agent = machine.agent(DELAY);
    let (image, name) = machine.push("shop/squat");
    machine.engine.load(&image, &[PAUSE]).unwrap();
    run_text(&agent, "squat", &shop("squat", &name, BRIDGE));
    let allocation = wait_running(&agent, "squat", 1);
    let network = wait_whole(&machine, &allocation, 2);
    let made_from = machine.engine.inspect_container(&network).unwrap()["Image"].clone();
    assert_ne!(made_from, image.id());
    stop_job(&machine, &agent, "squat");
}
