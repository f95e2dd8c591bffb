//! The settings of callers with OAuth: whom to trust, and where a token belongs. Every wrong one is reported, by name.

use crate::algorithm::Algorithm;
use crate::url::{KeysUrl, PublicUrl, is_trusted};

/// Algorithms where nothing else is set.
const USUAL: [Algorithm; 5] =
    [Algorithm::Rs256, Algorithm::Ps256, Algorithm::Es256, Algorithm::Es384, Algorithm::EdDsa];

/// Everything that is set about OAuth.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `PINGUARD_OAUTH_ISSUER`: as tokens write it in `iss`.
    pub(crate) issuer: String,
    /// `PINGUARD_OAUTH_AUDIENCE`: as tokens may write it in `aud`, besides the URL that is called.
    pub(crate) audience: String,
    /// `PINGUARD_OAUTH_JWKS_URL`: where the issuer publishes its keys.
    pub(crate) keys: KeysUrl,
    /// `PINGUARD_OAUTH_ALGORITHMS`: what tokens may be signed with.
    pub(crate) algorithms: Vec<Algorithm>,
    /// `PINGUARD_OAUTH_WORKSPACE` or `PINGUARD_OAUTH_WORKSPACE_CLAIM`.
    pub(crate) workspace: WorkspaceFrom,
    /// `PINGUARD_OAUTH_FLOWS_CLAIM`: the claim that binds a caller to flows.
    pub(crate) flows_claim: Option<String>,
    /// `PINGUARD_PUBLIC_URL`.
    pub(crate) public_url: PublicUrl,
}

/// Where the name of a caller's workspace comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WorkspaceFrom {
    Fixed(String),
    Claim(String),
}

impl Settings {
    /// Reads the settings through `get`; what is wrong or missing is added to `problems`, a line each.
    pub fn read(get: impl Fn(&str) -> Option<String>, problems: &mut Vec<String>) -> Option<Self> {
        let mut reader = Reader { get, problems };
        let public_url = reader.public_url();
        let issuer = reader.issuer();
        let keys = reader.keys();
        let algorithms = reader.algorithms();
        let workspace = reader.workspace();
        let audience = reader.text("PINGUARD_OAUTH_AUDIENCE");
        let flows_claim = reader.text("PINGUARD_OAUTH_FLOWS_CLAIM");
        let public_url = public_url?;
        Some(Self {
            issuer: issuer?,
            audience: audience.unwrap_or_else(|| public_url.as_str().to_owned()),
            keys: keys?,
            algorithms: algorithms?,
            workspace: workspace?,
            flows_claim,
            public_url,
        })
    }
}

struct Reader<'a, Get> {
    get: Get,
    problems: &'a mut Vec<String>,
}

impl<Get: Fn(&str) -> Option<String>> Reader<'_, Get> {
    fn text(&self, name: &str) -> Option<String> {
        (self.get)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    fn problem<T>(&mut self, problem: String) -> Option<T> {
        self.problems.push(problem);
        None
    }

    /// A setting that has to be there and to be readable; `meaning` says what it is.
    fn required<T>(
        &mut self,
        name: &str,
        meaning: &str,
        parse: impl FnOnce(String) -> Option<T>,
    ) -> Option<T> {
        let Some(value) = self.text(name) else {
            return self.problem(format!("{name} is missing: {meaning}"));
        };
        match parse(value.clone()) {
            Some(parsed) => Some(parsed),
            None => self.problem(format!("{name} must be {meaning}, not `{value}`")),
        }
    }

    fn public_url(&mut self) -> Option<PublicUrl> {
        let meaning = "the URL that callers use, such as https://mcp.example.com";
        self.required("PINGUARD_PUBLIC_URL", meaning, |url| PublicUrl::parse(&url))
    }

    fn issuer(&mut self) -> Option<String> {
        let meaning = "the `issuer` of your provider's metadata, an https URL, character by character";
        self.required("PINGUARD_OAUTH_ISSUER", meaning, |url| is_trusted(&url).then_some(url))
    }

    fn keys(&mut self) -> Option<KeysUrl> {
        let meaning = "the `jwks_uri` of your provider's metadata, an https URL";
        self.required("PINGUARD_OAUTH_JWKS_URL", meaning, |url| KeysUrl::parse(&url))
    }

    fn algorithms(&mut self) -> Option<Vec<Algorithm>> {
        let Some(given) = self.text("PINGUARD_OAUTH_ALGORITHMS") else { return Some(USUAL.to_vec()) };
        match given.split(',').map(|word| word.trim().parse()).collect() {
            Ok(algorithms) => Some(algorithms),
            Err(error) => {
                let error: crate::algorithm::UnknownAlgorithm = error;
                self.problem(format!(
                    "PINGUARD_OAUTH_ALGORITHMS must be algorithms divided by commas: {error}"
                ))
            }
        }
    }

    fn workspace(&mut self) -> Option<WorkspaceFrom> {
        let fixed = self.text("PINGUARD_OAUTH_WORKSPACE");
        match (fixed, self.text("PINGUARD_OAUTH_WORKSPACE_CLAIM")) {
            (Some(fixed), None) => Some(WorkspaceFrom::Fixed(fixed)),
            (None, Some(claim)) => Some(WorkspaceFrom::Claim(claim)),
            (None, None) => self.problem(
                "PINGUARD_OAUTH_WORKSPACE is missing: the workspace of all callers, or in PINGUARD_OAUTH_WORKSPACE_CLAIM \
                 the claim that names a caller's"
                    .to_owned(),
            ),
            (Some(_), Some(_)) => self.problem(
                "PINGUARD_OAUTH_WORKSPACE and PINGUARD_OAUTH_WORKSPACE_CLAIM are both set: set one".to_owned(),
            ),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const GOOD: [(&str, &str); 3] = [
        ("PINGUARD_PUBLIC_URL", "https://mcp.example.com/"),
        ("PINGUARD_OAUTH_ISSUER", "https://id.example.com/"),
        ("PINGUARD_OAUTH_JWKS_URL", "https://id.example.com/jwks"),
    ];
    const FIXED: (&str, &str) = ("PINGUARD_OAUTH_WORKSPACE", "w");

    fn read(pairs: &[(&str, &str)]) -> Result<Settings, String> {
        let get = |name: &str| {
            let last = pairs.iter().rev().find(|(key, _)| *key == name);
            last.map(|(_, value)| (*value).to_owned())
        };
        let mut problems = Vec::new();
        let settings = Settings::read(get, &mut problems);
        assert_eq!(settings.is_none(), !problems.is_empty(), "{problems:?}");
        settings.ok_or(problems.join("; "))
    }

    /// Good settings, and more of them; the workspace is fixed unless a claim is named.
    pub(crate) fn settings(more: &[(&str, &str)]) -> Settings {
        let mut pairs = [GOOD.as_slice(), more].concat();
        if !more.iter().any(|(name, _)| name.starts_with("PINGUARD_OAUTH_WORKSPACE")) {
            pairs.push(FIXED);
        }
        read(&pairs).unwrap()
    }

    #[test]
    fn the_audience_is_the_public_url_where_none_is_set() {
        assert_eq!(settings(&[]).audience, "https://mcp.example.com");
        assert_eq!(settings(&[("PINGUARD_OAUTH_AUDIENCE", "api://mcp")]).audience, "api://mcp");
        assert_eq!(settings(&[]).issuer, "https://id.example.com/", "kept as it is written");
    }

    #[test]
    fn all_missing_settings_are_reported_together() {
        let problems = read(&[]).unwrap_err();
        for name in ["PUBLIC_URL", "OAUTH_ISSUER", "OAUTH_JWKS_URL", "OAUTH_WORKSPACE"] {
            assert!(problems.contains(&format!("PINGUARD_{name} is missing")), "{name} in {problems}");
        }
    }

    #[test]
    fn wrong_settings_say_what_is_accepted() {
        for (name, value, said) in [
            ("PINGUARD_PUBLIC_URL", "mcp.example.com", "must be the URL that callers use"),
            ("PINGUARD_OAUTH_ISSUER", "http://id.example.com", "an https URL"),
            ("PINGUARD_OAUTH_JWKS_URL", "http://id.example.com/jwks", "an https URL"),
            ("PINGUARD_OAUTH_ALGORITHMS", "RS256,HS256", "`HS256` is not one of RS256"),
            ("PINGUARD_OAUTH_ALGORITHMS", "none", "`none` is not one of RS256"),
            ("PINGUARD_OAUTH_WORKSPACE_CLAIM", "org", "are both set: set one"),
        ] {
            let problems = read(&[GOOD.as_slice(), &[FIXED, (name, value)]].concat()).unwrap_err();
            assert!(problems.contains(name) && problems.contains(said), "{name} {value}: {problems}");
        }
    }

    #[test]
    fn the_list_of_algorithms_can_be_narrowed() {
        let narrow = settings(&[("PINGUARD_OAUTH_ALGORITHMS", "ES256, EdDSA")]);
        assert_eq!(narrow.algorithms, [Algorithm::Es256, Algorithm::EdDsa]);
        assert_eq!(settings(&[]).algorithms, USUAL);
    }
}
