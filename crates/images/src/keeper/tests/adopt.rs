//! What a person takes back as ours.

use super::*;

fn standings(rig: &Rig, pattern: &str) -> Vec<(String, Standing)> {
    let found = rig.keeper.adoptable(pattern).unwrap();
    found.into_iter().map(|it| (it.name.familiar().to_owned(), it.standing)).collect()
}

fn adopt(rig: &mut Rig, pattern: &str) {
    rig.feed(Event::Adopted { pattern: pattern.to_owned(), who: "ann".to_owned() });
}

fn provenance(rig: &Rig, image: &str) -> Provenance {
    rig.keeper.explain(&name(image)).unwrap().status.provenance
}

fn removals(rig: &Rig) -> Vec<ImageRef> {
    let removed = |action: &Action| match action {
        Action::RemoveName { name, .. } => Some(name.clone()),
        _ => None,
    };
    rig.acts.iter().filter_map(removed).collect()
}

/// As after the loss of a ledger: it is on the engine, and on no record.
fn stranger(images: &[(u8, &[ImageRef])]) -> Rig {
    let mut rig = Rig::new();
    images.iter().for_each(|(n, names)| rig.put(*n, names));
    rig.see(EngineNews::ImagesChanged);
    rig
}

#[test]
fn what_is_adopted_goes_like_what_we_brought() {
    let mut rig = stranger(&[(1, &[name("reg.test/a:1"), digest(1)]), (2, &[name("other:1")])]);
    assert_eq!(standings(&rig, "reg.test/*"), [("reg.test/a:1".to_owned(), Standing::Foreign)]);
    assert_eq!(standings(&rig, "none:*"), []);
    adopt(&mut rig, "reg.test/*");
    assert!(rig.has_told(|notice| matches!(notice, Notice::Adopted { who, .. } if who == "ann")));
    assert_eq!(standings(&rig, "reg.test/*"), [("reg.test/a:1".to_owned(), Standing::Ours)]);
    assert_eq!(provenance(&rig, "reg.test/a:1"), Provenance::Obtained);
    assert_eq!(provenance(&rig, "other:1"), Provenance::Foreign);
    rig.restart();
    rig.recover(&[]);
    rig.wait(DELAY - 1);
    assert_eq!(removals(&rig), []);
    rig.wait(1);
    assert_eq!(removals(&rig), [name("reg.test/a:1")]);
}

#[test]
fn adopted_and_needed_it_stays() {
    let mut rig = stranger(&[(1, &[name("reg.test/a:1")])]);
    let owner = task(1);
    rig.accept(&owner, "reg.test/a:1", None);
    adopt(&mut rig, "reg.test/a:1");
    rig.wait(2 * DELAY);
    assert_eq!((provenance(&rig, "reg.test/a:1"), removals(&rig)), (Provenance::Obtained, Vec::new()));
    rig.feed(Event::Ended { owner, at: Timestamp::from_seconds(rig.now) });
    rig.wait(DELAY);
    assert_eq!(removals(&rig), [name("reg.test/a:1")]);
}

#[test]
fn one_of_several_names_goes_alone() {
    let names = [name("reg.test/a:1"), name("reg.test/a:2"), name("mine:1")];
    let mut rig = stranger(&[(1, &names)]);
    adopt(&mut rig, "reg.test/a:1");
    rig.wait(DELAY);
    assert_eq!(removals(&rig), [name("reg.test/a:1")]);
    let contents = rig.keeper.entries().into_iter().filter(|entry| matches!(entry, Entry::Content(_)));
    assert_eq!(contents.count(), 0, "others have names on the content");
    // With the others' names it is all ours.
    let mut rig = stranger(&[(1, &names)]);
    adopt(&mut rig, "*");
    let contents = rig.keeper.entries().into_iter().filter(|entry| matches!(entry, Entry::Content(_)));
    assert_eq!(contents.count(), 1);
}

#[test]
fn a_digest_name_alone_and_nameless_content_can_be_adopted() {
    let mut rig = stranger(&[(1, &[digest(1)]), (2, &[]), (3, &[private_name(content(3))])]);
    assert_eq!(standings(&rig, "*").len(), 2, "nameless content is asked for by its id");
    adopt(&mut rig, "reg.test/a@*");
    adopt(&mut rig, &content(2).to_string());
    adopt(&mut rig, "longshore.invalid/*");
    assert_eq!(standings(&rig, "*").iter().filter(|(_, standing)| *standing == Standing::Ours).count(), 2);
    rig.wait(DELAY);
    assert_eq!(removals(&rig), [digest(1), private_name(content(3))]);
    assert!(rig.acts.iter().any(|act| matches!(act, Action::Tag { content: tagged, .. } if *tagged == content(2))));
}

#[test]
fn what_is_being_pulled_or_was_just_brought_is_not_adopted_yet() {
    let mut rig = stranger(&[]);
    rig.want(&task(1), "reg.test/a:1", false);
    rig.put(1, &[name("reg.test/a:1")]);
    rig.see(EngineNews::ImagesChanged);
    let standing = standings(&rig, "reg.test/a:1").first().map(|(_, standing)| *standing);
    assert_ne!(standing, Some(Standing::Foreign));
}

#[test]
fn nobody_adopts_where_another_agent_keeps_the_images() {
    let mut rig = Rig::with(Policy { kept_by_others: true, ..Policy::default() });
    rig.put(1, &[name("reg.test/a:1")]);
    rig.see(EngineNews::ImagesChanged);
    assert_eq!(rig.keeper.adoptable("*"), None);
    adopt(&mut rig, "*");
    assert_eq!(provenance(&rig, "reg.test/a:1"), Provenance::Foreign);
}
