//! Logins by a token of Amazon RDS, which somebody else signs.

/// What a token vouches for. It is signed for the very host, port and user that are connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRequest {
    /// The host.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// The login role.
    pub user: String,
    /// The region, as the secret or the host's name says; none: that of whoever signs.
    pub region: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::super::{Password, Target, TargetError};
    use super::TokenRequest;
    use crate::tls::TlsMode;

    const HOST: &str = "shop.abc.eu-west-1.rds.amazonaws.com";

    #[track_caller]
    fn request(secret: &str) -> TokenRequest {
        Target::parse(secret).unwrap().token_request().unwrap()
    }

    #[test]
    fn both_forms_of_a_secret_can_ask_for_a_token() {
        let expected = TokenRequest {
            host: HOST.to_owned(),
            port: 5432,
            user: "reader".to_owned(),
            region: Some("eu-west-1".to_owned()),
        };
        for secret in [
            format!(
                r#"{{"host":"{HOST}","port":5432,"username":"reader","dbname":"shop","auth":"rds-iam"}}"#
            ),
            format!("postgres://reader@{HOST}/shop?auth=rds-iam"),
            format!("postgres://reader@{}./shop?auth=rds-iam&region=eu-west-1", HOST.to_uppercase()),
        ] {
            assert_eq!(request(&secret), expected, "{secret}");
        }
        assert_eq!(request("postgres://u@db.example.com/d?auth=rds-iam").region, None);
        let named = request(&format!("postgres://u@{HOST}/d?auth=rds-iam&region=us-east-2"));
        assert_eq!(named.region.as_deref(), Some("us-east-2"));
    }

    #[test]
    fn a_token_becomes_the_password_and_shows_nowhere() {
        let target = Target::parse(&format!("postgres://u@{HOST}/d?auth=rds-iam")).unwrap();
        assert_eq!(target.password(), None);
        let target = target.with_token("signed".to_owned());
        assert_eq!(target.password().map(Password::reveal), Some(&b"signed"[..]));
        assert!(!format!("{target:?}").contains("signed"));
    }

    #[test]
    fn without_the_option_there_is_a_password_and_no_token() {
        for query in ["", "?auth=password", "?region=eu-west-1"] {
            let target = Target::parse(&format!("postgres://u:p@{HOST}/d{query}")).unwrap();
            assert_eq!(target.token_request(), None, "{query}");
        }
        assert_eq!(Target::parse("postgres://u:p@h/d?region=x").unwrap().ignored(), ["region"]);
    }

    #[test]
    fn a_token_goes_over_verified_tls_alone() {
        let parse =
            |host: &str, query: &str| Target::parse(&format!("postgres://u@{host}/d?auth=rds-iam{query}"));
        for (query, mode) in [
            ("", TlsMode::VerifyFull),
            ("&sslmode=verify-full", TlsMode::VerifyFull),
            ("&sslmode=verify-ca", TlsMode::VerifyCa),
            ("&sslmode=require&sslrootcert=/ca.pem", TlsMode::VerifyCa),
        ] {
            for host in [HOST, "localhost"] {
                assert_eq!(parse(host, query).unwrap().tls_mode(), mode, "{host} {query}");
            }
        }
        for query in ["&sslmode=disable", "&sslmode=allow", "&sslmode=prefer", "&sslmode=require"] {
            for host in [HOST, "localhost"] {
                let error = parse(host, query).unwrap_err();
                assert!(matches!(error, TargetError::OptionValue { name: "sslmode", .. }), "{host} {query}");
            }
        }
    }

    #[test]
    fn what_contradicts_a_token_is_refused() {
        let error = |secret: &str| Target::parse(secret).unwrap_err();
        assert_eq!(error(&format!("postgres://u:p@{HOST}/d?auth=rds-iam")), TargetError::PasswordBesideToken);
        for query in ["auth=iam", "auth=", "auth=rds-iam&region=Europe", "auth=rds-iam&region="] {
            let error = error(&format!("postgres://u@{HOST}/d?{query}"));
            assert!(
                matches!(error, TargetError::OptionValue { name: "auth" | "region", .. }),
                "{query} {error:?}"
            );
        }
    }
}
