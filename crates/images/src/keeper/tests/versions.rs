//! What versions of jobs need that can be gone back to.

use longshore_model::JobKey;

use super::*;

fn version(number: u64) -> Owner {
    Owner::KeptVersion { job: JobKey::new("default", "web"), version: number }
}

fn keep(rig: &mut Rig, kept: &[(u64, &str)]) {
    let needs = kept.iter().map(|(number, image)| Need { owner: version(*number), name: name(image) });
    rig.feed(Event::VersionsKept { needs: needs.collect() });
}

fn holders(rig: &Rig, image: &str) -> Vec<Owner> {
    let explained = rig.keeper.explain(&name(image));
    explained.into_iter().flat_map(|it| it.status.holders).map(|hold| hold.owner).collect()
}

#[test]
fn the_image_of_a_version_stays_until_that_is_over_and_over_a_restart() {
    let mut rig = Rig::running("redis:7");
    keep(&mut rig, &[(0, "redis:7"), (0, "gone:1")]);
    assert_eq!(holders(&rig, "redis:7").len(), 2);
    assert_eq!(holders(&rig, "gone:1"), [], "it is not here");
    rig.end(&task(1));
    rig.wait(2 * DELAY);
    rig.restart();
    rig.recover(&[]);
    rig.wait(2 * DELAY);
    assert!(!rig.removes_anything());
    assert_eq!(holders(&rig, "redis:7"), [version(0)]);
    keep(&mut rig, &[(1, "redis:7")]);
    assert_eq!(holders(&rig, "redis:7"), [version(1)]);
    keep(&mut rig, &[]);
    rig.wait(DELAY - 1);
    assert!(!rig.removes_anything());
    rig.wait(1);
    assert!(rig.removes_anything());
}

#[test]
fn what_comes_later_is_kept_too_and_nothing_is_let_go_before_the_comparison() {
    let mut rig = Rig::new();
    keep(&mut rig, &[(0, "redis:7")]);
    rig.accept(&task(1), "redis:7", None);
    rig.want(&task(1), "redis:7", false);
    rig.pulled(1, &[name("redis:7")]);
    rig.end(&task(1));
    assert_eq!(holders(&rig, "redis:7"), [version(0)]);
    rig.restart();
    rig.feed(Event::VersionsKept { needs: Vec::new() });
    assert!(!rig.has_told(|notice| matches!(notice, Notice::HoldReturned { .. })));
    rig.recover(&[]);
    assert_eq!(holders(&rig, "redis:7"), []);
}
