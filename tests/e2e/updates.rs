//! An update that keeps the image asks no registry, whatever the agent file leaves out.

use longshore_harness::Agent;

use crate::support::*;

/// A `plugin "docker"` block without `gc`: once it meant that the image went with the update and came again.
fn agent(machine: &Machine) -> Agent {
    let login = machine.run.write("docker-login.json", "{}").unwrap();
    let file = format!(
        "plugin \"docker\" {{\n  config {{\n    auth {{\n      config = \"{}\"\n    }}\n  }}\n}}\n",
        login.display()
    );
    machine.agent(&file)
}

#[test]
fn changed_resources_replace_the_allocation_and_ask_no_registry() {
    let machine = Machine::start();
    let agent = agent(&machine);
    let (image, name) = machine.push("shop/cart");
    let job = Job::new("cart", &name);

    run_job(&agent, &job);
    let first = wait_running(&agent, "cart", 1);
    let asked = machine.requests("shop/cart");
    assert!(asked > 0, "the first start pulls");

    run_job(&agent, &job.clone().memory(48));
    let second = wait_running(&agent, "cart", 1);
    assert_ne!(first, second);

    run_job(&agent, &job.memory(48).config("cpu_hard_limit = true"));
    let third = wait_running(&agent, "cart", 1);
    assert_ne!(second, third);

    let nodes: Vec<String> = allocations(&agent, "cart").iter().map(|it| text(it, "NodeID")).collect();
    assert_eq!(nodes.len(), 3, "each update replaces the allocation");
    assert!(nodes.iter().all(|node| *node == nodes[0]), "{nodes:?}");
    assert_eq!(machine.requests("shop/cart"), asked, "{:?}", machine.proxy.seen_of("shop/cart"));
    let containers = machine.containers_of(&third);
    assert_eq!(containers.len(), 1);
    assert_eq!(containers[0].image_id, image.id());
    let facts = machine.engine.inspect_container(&containers[0].id).unwrap();
    assert!(facts["HostConfig"]["CpuQuota"].as_i64().unwrap_or_default() > 0, "{facts}");
    stop_job(&machine, &agent, "cart");
    check_delay(&wait_idle(&agent, &name), 180.0);
}

/// The same with `force_pull`: the proxy does see requests when there are any.
#[test]
fn the_control_run_with_force_pull_is_seen() {
    let machine = Machine::start();
    let agent = agent(&machine);
    let (_, name) = machine.push("shop/forced");
    let job = Job::new("forced", &name).config("force_pull = true");
    run_job(&agent, &job);
    let asked = machine.requests("shop/forced");
    run_job(&agent, &job.memory(48));
    wait_running(&agent, "forced", 1);
    assert!(machine.requests("shop/forced") > asked);
}
