//! What others brought goes, because the settings say so.

use super::*;

fn collecting() -> Policy {
    Policy { foreign: Foreign::Collect, ..Policy::default() }
}

/// Others have brought these.
fn beside(images: &[(u8, &[ImageRef])]) -> Rig {
    let mut rig = Rig::with(collecting());
    images.iter().for_each(|(n, names)| rig.put(*n, names));
    rig.see(EngineNews::ImagesChanged);
    rig
}

fn removals(rig: &Rig) -> Vec<ImageRef> {
    let removed = |action: &Action| match action {
        Action::RemoveName { name, .. } => Some(name.clone()),
        _ => None,
    };
    rig.acts.iter().filter_map(removed).collect()
}

#[test]
fn what_nobody_needs_goes_after_the_delay_and_over_a_restart() {
    let mut rig = beside(&[(1, &[name("theirs:1"), name("other:1")]), (2, &[digest(2)]), (3, &[])]);
    let status = rig.status("theirs:1");
    assert_eq!((status.provenance, status.state), (Provenance::Foreign, StateWord::Idle));
    assert_eq!(status.due_at, Some(Timestamp::from_seconds(rig.now + DELAY)));
    rig.wait(DELAY - 10);
    rig.restart();
    rig.recover(&[]);
    rig.wait(9);
    assert_eq!(removals(&rig), []);
    rig.wait(1);
    // One name of a content at a time; what has no name stays.
    assert_eq!(removals(&rig), [name("other:1"), digest(2)]);
    let act = rig.removal_of(&name("other:1"));
    rig.put(1, &[name("theirs:1")]);
    rig.removed(act, RemovalAnswer::Done { untagged: vec![name("other:1")], deleted: Vec::new() });
    assert_eq!(removals(&rig), [name("theirs:1")]);
    rig.wait(DELAY);
    assert!(!rig.acts.iter().any(|act| matches!(act, Action::Tag { .. })));
}

#[test]
fn while_anything_needs_a_name_all_names_of_the_content_stay() {
    let keep = vec![Glob::new("kept:*")];
    let mut rig = Rig::with(Policy { keep, ..collecting() });
    rig.put(1, &[name("used:1"), name("second:1")]);
    rig.put(2, &[name("kept:1"), name("third:1")]);
    let container = |n: u8, from: &str| ContainerSeen {
        id: format!("{n:064}"),
        content: content(n),
        made_from: Some(name(from)),
        owner: None,
    };
    rig.containers = vec![container(1, "used:1")];
    rig.see(EngineNews::ImagesChanged);
    rig.wait(2 * DELAY);
    assert_eq!(removals(&rig), []);
    assert!(rig.status("second:1").why.starts_with("others brought it; last name of content that container 000"));
    assert_eq!(rig.status("third:1").why, "others brought it; gc.keep has `kept:*`");
    rig.containers.clear();
    rig.see(EngineNews::ContainersChanged);
    rig.wait(DELAY - 1);
    // It came into use once more.
    rig.containers = vec![container(1, "second:1")];
    rig.see(EngineNews::ContainersChanged);
    assert_eq!(rig.status("used:1").state, StateWord::Foreign);
    rig.wait(DELAY);
    assert_eq!(removals(&rig), []);
    rig.containers.clear();
    rig.see(EngineNews::ContainersChanged);
    rig.wait(DELAY);
    assert_eq!(removals(&rig), [name("second:1")]);
}

#[test]
fn the_setting_taken_back_makes_nothing_ours() {
    let mut rig = beside(&[(1, &[name("theirs:1")])]);
    rig.wait(DELAY);
    let act = rig.removal_of(&name("theirs:1"));
    rig.removed(act, RemovalAnswer::InUse { message: "in use".to_owned() });
    assert_eq!(rig.status("theirs:1").state, StateWord::Idle);
    rig.feed(Event::PolicyChanged(Policy::default()));
    let status = rig.status("theirs:1");
    assert_eq!((status.provenance, status.state, status.due_at), (Provenance::Foreign, StateWord::Foreign, None));
    rig.wait(2 * DELAY);
    assert_eq!(removals(&rig), []);
}

#[test]
fn a_task_that_ends_leaves_it_idle_since_then() {
    let mut rig = beside(&[]);
    let owner = task(1);
    rig.accept(&owner, "theirs:1", None);
    rig.put(1, &[name("theirs:1")]);
    rig.see(EngineNews::ImagesChanged);
    rig.want(&owner, "theirs:1", false);
    assert_eq!(rig.granted(&owner), Some(content(1)));
    rig.wait(2 * DELAY);
    rig.end(&owner);
    assert_eq!(rig.status("theirs:1").due_at, Some(Timestamp::from_seconds(rig.now + DELAY)));
    // Others bring it again: its time begins anew.
    rig.wait(DELAY - 1);
    rig.see(EngineNews::Pulled { name: name("theirs:1") });
    rig.wait(2);
    assert_eq!(removals(&rig), []);
    rig.wait(DELAY);
    assert_eq!(removals(&rig), [name("theirs:1")]);
}
