use base64::Engine as _;
use longshore_values::Secret;
use serde::Serialize;

/// What a registry is shown when the engine pulls from it. Prints without its secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RegistryAuth {
    pub username: String,
    pub password: Secret,
    /// A refresh token, used in place of name and password.
    pub identity_token: Secret,
    /// The registry's own address; the engine takes it from the image's name, so this is for its logs only.
    pub server_address: String,
}

impl RegistryAuth {
    pub fn is_empty(&self) -> bool {
        self.username.is_empty() && self.password.is_empty() && self.identity_token.is_empty()
    }

    /// The value of `X-Registry-Auth`: JSON in URL-safe base64, padded. (An engine ignores one that it cannot read and
    /// pulls anonymously.)
    pub(crate) fn header(&self) -> String {
        #[derive(Serialize)]
        struct Wire<'a> {
            #[serde(skip_serializing_if = "str::is_empty")]
            username: &'a str,
            #[serde(skip_serializing_if = "str::is_empty")]
            password: &'a str,
            #[serde(skip_serializing_if = "str::is_empty")]
            identitytoken: &'a str,
            #[serde(skip_serializing_if = "str::is_empty")]
            serveraddress: &'a str,
        }
        let wire = Wire {
            username: &self.username,
            password: self.password.reveal(),
            identitytoken: self.identity_token.reveal(),
            serveraddress: &self.server_address,
        };
        // Four texts always serialise; an empty header would only mean an anonymous pull.
        let json = serde_json::to_vec(&wire).unwrap_or_default();
        base64::engine::general_purpose::URL_SAFE.encode(json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_url_safe_json_and_debug_hides_it() {
        let auth =
            RegistryAuth { username: "ann?>".into(), password: Secret::new("p~~~ÿ"), ..RegistryAuth::default() };
        let header = auth.header();
        assert!(!header.contains(['+', '/']), "{header}");
        let json = base64::engine::general_purpose::URL_SAFE.decode(header).unwrap();
        assert_eq!(String::from_utf8(json).unwrap(), r#"{"username":"ann?>","password":"p~~~ÿ"}"#);
        assert!(!format!("{auth:?}").contains("p~~~"));
        assert!(RegistryAuth::default().is_empty() && !auth.is_empty());
    }
}
