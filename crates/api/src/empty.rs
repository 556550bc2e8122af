//! How absent values look on the wire.

/// Empty lists and maps are `null`, and `null` is empty: what Go makes of a nil slice or map.
pub(crate) mod null_if_empty {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::is_default;

    pub(crate) fn serialize<T, S>(value: &T, serializer: S) -> Result<S::Ok, S::Error>
    where
        T: Serialize + Default + PartialEq,
        S: Serializer,
    {
        if is_default(value) { serializer.serialize_none() } else { value.serialize(serializer) }
    }

    pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: Deserialize<'de> + Default,
        D: Deserializer<'de>,
    {
        Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
    }
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
