use serde_json::{Value, json};

use super::Fields;

fn take(fields: &mut Fields, key: &str) -> Option<Value> {
    fields.remove(key).filter(|value| !value.is_null())
}

fn list<'a>(fields: &'a mut Fields, key: &str) -> impl Iterator<Item = &'a mut Fields> {
    fields.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

/// A task that stands in the job itself is a group of its own; a `vault` of the job is that of tasks without one.
pub(super) fn job(fields: &mut Fields) -> Result<(), String> {
    if let Some(Value::Array(tasks)) = take(fields, "~tasks") {
        let groups = tasks.into_iter().map(|task| json!({"Name": task.get("Name"), "Tasks": [task]}));
        match fields.entry("TaskGroups").or_insert_with(|| json!([])) {
            Value::Array(all) => all.extend(groups),
            other => *other = groups.collect(),
        }
    }
    if let Some(vault) = take(fields, "~vault") {
        list(fields, "TaskGroups").for_each(|group| give_vault(group, &vault));
    }
    Ok(())
}

/// The identity without a name is the default one, which has a place of its own.
pub(super) fn task(fields: &mut Fields) -> Result<(), String> {
    let Some(Value::Array(identities)) = take(fields, "~identities") else { return Ok(()) };
    let is_default =
        |identity: &Value| matches!(identity.get("Name").and_then(Value::as_str).unwrap_or_default(), "" | "default");
    let (default, others): (Vec<Value>, Vec<Value>) = identities.into_iter().partition(is_default);
    if default.len() > 1 {
        return Err("there are two default identities; give all but one a name".to_owned());
    }
    if let Some(default) = default.into_iter().next() {
        fields.insert("Identity".to_owned(), default);
    }
    if !others.is_empty() {
        fields.insert("Identities".to_owned(), others.into());
    }
    Ok(())
}

/// A `vault` of the group is that of tasks without one.
pub(super) fn group(fields: &mut Fields) -> Result<(), String> {
    if let Some(vault) = take(fields, "~vault") {
        give_vault(fields, &vault);
    }
    Ok(())
}

fn give_vault(group: &mut Fields, vault: &Value) {
    for task in list(group, "Tasks") {
        task.entry("Vault").or_insert_with(|| vault.clone());
    }
}

pub(super) fn periodic(fields: &mut Fields) -> Result<(), String> {
    fields.insert("SpecType".to_owned(), json!("cron"));
    Ok(())
}

/// Ports with a number are reserved ones.
pub(super) fn network(fields: &mut Fields) -> Result<(), String> {
    let Some(Value::Array(ports)) = take(fields, "~ports") else { return Ok(()) };
    let is_fixed = |port: &Value| port.get("Value").and_then(Value::as_i64).unwrap_or(0) != 0;
    let (fixed, dynamic): (Vec<Value>, Vec<Value>) = ports.into_iter().partition(is_fixed);
    fields.insert("ReservedPorts".to_owned(), fixed.into());
    fields.insert("DynamicPorts".to_owned(), dynamic.into());
    Ok(())
}

pub(super) fn group_scaling(fields: &mut Fields) -> Result<(), String> {
    fields.entry("Type").or_insert_with(|| json!("horizontal"));
    Ok(())
}

pub(super) fn task_scaling(fields: &mut Fields) -> Result<(), String> {
    let dimension = take(fields, "~dimension");
    let kind = match dimension.as_ref().and_then(Value::as_str) {
        Some("cpu") => "vertical_cpu",
        Some("mem") => "vertical_mem",
        _ => return Err("scaling of a task is labelled \"cpu\" or \"mem\"".to_owned()),
    };
    fields.insert("Type".to_owned(), json!(kind));
    Ok(())
}

/// Operators that are written as an attribute of their own, such as `version = ">= 1.2"`.
const AS_ATTRIBUTE: [&str; 6] = ["version", "semver", "regexp", "set_contains", "set_contains_all", "set_contains_any"];

/// The short forms of `constraint` and `affinity`.
pub(super) fn comparison(fields: &mut Fields) -> Result<(), String> {
    let mut operators: Vec<String> =
        fields.get("Operand").and_then(Value::as_str).map(str::to_owned).into_iter().collect();
    for name in AS_ATTRIBUTE {
        if let Some(value) = take(fields, &format!("~{name}")) {
            fields.insert("RTarget".to_owned(), value);
            operators.push(name.to_owned());
        }
    }
    for name in ["is_set", "is_not_set"] {
        match take(fields, &format!("~{name}")) {
            Some(Value::Bool(true)) => operators.push(name.to_owned()),
            Some(_) => return Err(format!("{name} can only be true; leave it out otherwise")),
            None => {}
        }
    }
    if let Some(wanted) = take(fields, "~distinct_hosts") {
        fields.insert("RTarget".to_owned(), json!(wanted.to_string()));
        operators.push("distinct_hosts".to_owned());
    }
    if let Some(attribute) = take(fields, "~distinct_property") {
        fields.insert("LTarget".to_owned(), attribute);
        operators.push("distinct_property".to_owned());
    }
    operators.dedup();
    if operators.len() > 1 {
        return Err(format!("one comparison at a time, not {}", operators.join(" and ")));
    }
    fields.insert("Operand".to_owned(), json!(operators.pop().unwrap_or_else(|| "=".to_owned())));
    Ok(())
}
