use std::collections::{BTreeMap, BTreeSet};

use longshore_api::{Affinity, Constraint, NetworkResource, ObjectDiff, Service, ServiceCheck, Spread};
use serde::Serialize;

use super::flat::{Context, fields, flatten};
use super::{NONE, kind_of, told};

/// Differences of blocks, in the order in which they are told.
#[derive(Default)]
pub(super) struct Objects(pub(super) Vec<ObjectDiff>);

type Sides<'a, T> = (Option<&'a [T]>, Option<&'a [T]>);

impl Objects {
    pub(super) fn push(&mut self, diff: Option<ObjectDiff>) {
        self.0.extend(diff);
    }

    pub(super) fn constraints(&mut self, old: Option<&[Constraint]>, new: Option<&[Constraint]>) {
        self.0.extend(set((old, new), |old, new| object("Constraint", old, new, &[])));
    }

    pub(super) fn affinities(&mut self, old: Option<&[Affinity]>, new: Option<&[Affinity]>) {
        self.0.extend(set((old, new), |old, new| object("Affinity", old, new, &[])));
    }

    pub(super) fn spreads(&mut self, old: Option<&[Spread]>, new: Option<&[Spread]>) {
        self.0.extend(set((old, new), |old, new| {
            let mut diff = object("Spread", old, new, &["SpreadTarget"])?;
            let targets = |side: Option<&'_ Spread>| side.map(|spread| spread.spread_target.clone());
            let (old, new) = (targets(old), targets(new));
            diff.objects = set((old.as_deref(), new.as_deref()), |old, new| object("SpreadTarget", old, new, &[]));
            Some(diff)
        }));
    }

    pub(super) fn networks(&mut self, old: Option<&[NetworkResource]>, new: Option<&[NetworkResource]>) {
        self.0.extend(set((old, new), network));
    }

    pub(super) fn services(&mut self, old: Option<&[Service]>, new: Option<&[Service]>) {
        let diffs = of_each(old, new, |service| service.name.clone(), |_, old, new| service(old, new));
        self.0.extend(diffs.into_iter().flatten());
    }
}

/// One block of which there is at most one on each side; `None` when it is the same on both.
pub(super) fn object<T: Serialize>(
    name: &str,
    old: Option<&T>,
    new: Option<&T>,
    without: &[&str],
) -> Option<ObjectDiff> {
    if old.is_none() && new.is_none() {
        return None;
    }
    let flat = |part: &T| flatten(part, without);
    let fields = fields(old.map(flat).as_ref(), new.map(flat).as_ref(), Context::All);
    let is_empty = fields.is_empty();
    let changed = fields.iter().any(|field| field.kind != NONE);
    let kind = kind_of(old.is_some(), new.is_some(), changed);
    let diff = ObjectDiff { kind, name: name.to_owned(), fields, objects: Vec::new() };
    told(diff).filter(|_| !is_empty)
}

/// A list of names that counts as a set: each one that came or went.
pub(super) fn names(name: &str, old: Option<&[String]>, new: Option<&[String]>) -> Option<ObjectDiff> {
    let side = |names: Option<&[String]>| -> BTreeSet<String> { names.unwrap_or_default().iter().cloned().collect() };
    let (old_names, new_names) = (side(old), side(new));
    let gone = old_names.difference(&new_names).map(|gone| field(name, gone, ""));
    let added = new_names.difference(&old_names).map(|added| field(name, "", added));
    let fields: Vec<_> = gone.chain(added).collect();
    let kind = kind_of(!old_names.is_empty(), !new_names.is_empty(), true);
    (!fields.is_empty()).then(|| ObjectDiff { kind, name: name.to_owned(), fields, objects: Vec::new() })
}

fn field(name: &str, old: &str, new: &str) -> longshore_api::FieldDiff {
    let kind = kind_of(!old.is_empty(), !new.is_empty(), true);
    longshore_api::FieldDiff {
        kind,
        name: name.to_owned(),
        old: old.to_owned(),
        new: new.to_owned(),
        ..Default::default()
    }
}

/// Blocks that are told apart only by what is in them: what is on one side alone is gone or new.
fn set<T, F>((old, new): Sides<'_, T>, diff: F) -> Vec<ObjectDiff>
where
    T: Serialize,
    F: Fn(Option<&T>, Option<&T>) -> Option<ObjectDiff>,
{
    let text = |one: &T| serde_json::to_string(one).unwrap_or_default();
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    let texts = |side: &[T]| side.iter().map(text).collect::<BTreeSet<String>>();
    let (old_texts, new_texts) = (texts(old), texts(new));
    let gone = old.iter().filter(|one| !new_texts.contains(&text(one))).filter_map(|one| diff(Some(one), None));
    let added = new.iter().filter(|one| !old_texts.contains(&text(one))).filter_map(|one| diff(None, Some(one)));
    gone.chain(added).collect()
}

/// Parts with names, in the order of the names, each with both of its sides.
pub(super) fn of_each<'a, T, D>(
    old: Option<&'a [T]>,
    new: Option<&'a [T]>,
    name: impl Fn(&T) -> String,
    diff: impl Fn(&str, Option<&'a T>, Option<&'a T>) -> D,
) -> Vec<D> {
    let mut sides: BTreeMap<String, (Option<&'a T>, Option<&'a T>)> = BTreeMap::new();
    for part in old.unwrap_or_default() {
        sides.entry(name(part)).or_default().0.get_or_insert(part);
    }
    for part in new.unwrap_or_default() {
        sides.entry(name(part)).or_default().1.get_or_insert(part);
    }
    sides.into_iter().map(|(name, (old, new))| diff(&name, old, new)).collect()
}

fn network(old: Option<&NetworkResource>, new: Option<&NetworkResource>) -> Option<ObjectDiff> {
    let without = ["Device", "CIDR", "IP", "DNS", "ReservedPorts", "DynamicPorts"];
    let mut diff = object("Network", old, new, &without)?;
    let mut objects = Objects::default();
    let fixed = |side: Option<&NetworkResource>| side.map(|network| network.reserved_ports.clone());
    let dynamic = |side: Option<&NetworkResource>| side.map(|network| network.dynamic_ports.clone());
    let (old_fixed, new_fixed) = (fixed(old), fixed(new));
    objects
        .0
        .extend(set((old_fixed.as_deref(), new_fixed.as_deref()), |old, new| object("Static Port", old, new, &[])));
    let (old_dynamic, new_dynamic) = (dynamic(old), dynamic(new));
    objects.0.extend(set((old_dynamic.as_deref(), new_dynamic.as_deref()), |old, new| {
        object("Dynamic Port", old, new, &["Value"])
    }));
    objects.push(object("DNS", old.and_then(|n| n.dns.as_ref()), new.and_then(|n| n.dns.as_ref()), &[]));
    diff.objects = objects.0;
    Some(diff)
}

fn service(old: Option<&Service>, new: Option<&Service>) -> Option<ObjectDiff> {
    if old == new {
        return None;
    }
    let mut objects = Objects::default();
    let list = |pick: fn(&Service) -> &Vec<String>| (old.map(|s| pick(s).as_slice()), new.map(|s| pick(s).as_slice()));
    let (old_tags, new_tags) = list(|service| &service.canary_tags);
    objects.push(names("CanaryTags", old_tags, new_tags));
    let (old_tags, new_tags) = list(|service| &service.tags);
    objects.push(names("Tags", old_tags, new_tags));
    let checks = of_each(
        old.map(|service| service.checks.as_slice()),
        new.map(|service| service.checks.as_slice()),
        |check| check.name.clone(),
        |_, old, new| check(old, new),
    );
    objects.0.extend(checks.into_iter().flatten());
    let without = ["Tags", "CanaryTags", "Checks", "CheckRestart", "Connect"];
    let flat = |service: &Service| flatten(service, &without);
    let fields = fields(old.map(flat).as_ref(), new.map(flat).as_ref(), Context::All);
    let kind = kind_of(old.is_some(), new.is_some(), true);
    Some(ObjectDiff { kind, name: "Service".to_owned(), fields, objects: objects.0 })
}

fn check(old: Option<&ServiceCheck>, new: Option<&ServiceCheck>) -> Option<ObjectDiff> {
    if old == new {
        return None;
    }
    let mut objects = Objects::default();
    objects.push(object(
        "CheckRestart",
        old.and_then(|check| check.check_restart.as_ref()),
        new.and_then(|check| check.check_restart.as_ref()),
        &[],
    ));
    let flat = |check: &ServiceCheck| flatten(check, &["CheckRestart"]);
    let fields = fields(old.map(flat).as_ref(), new.map(flat).as_ref(), Context::All);
    let kind = kind_of(old.is_some(), new.is_some(), true);
    Some(ObjectDiff { kind, name: "Check".to_owned(), fields, objects: objects.0 })
}
