//! Tokens that stand for a password at Amazon RDS: a request to connect, signed for 15 minutes and sent to nobody but the
//! database, which asks AWS about it.

use std::error::Error;

use thiserror::Error as ThisError;

/// Why there is no token.
#[derive(Debug, ThisError)]
pub enum TokenError {
    /// Only a deployment on AWS has an identity to sign with.
    #[error("the secret asks for a token of RDS for `{user}` at `{host}`, and nothing here can sign one")]
    NotHere {
        /// The login.
        user: String,
        /// The database's host.
        host: String,
    },
    /// Nothing says where the database is.
    #[error("the secret asks for a token of RDS, and neither it nor the host `{host}` names a region")]
    NoRegion {
        /// The database's host.
        host: String,
    },
    /// There is no identity to sign with.
    #[error("AWS gave no credentials to sign a token of RDS with")]
    NoCredentials(#[source] Box<dyn Error + Send + Sync>),
    /// What was to be signed could not be.
    #[error("a token of RDS for `{user}` at `{host}` could not be signed")]
    Unsigned {
        /// The login.
        user: String,
        /// The database's host.
        host: String,
        /// What went wrong.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl TokenError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotHere { .. } => "token_not_here",
            Self::NoRegion { .. } => "token_no_region",
            Self::NoCredentials(_) => "token_no_credentials",
            Self::Unsigned { .. } => "token_unsigned",
        }
    }

    /// What an operator does next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotHere { .. } => "give this login a password, or run the functions on AWS",
            Self::NoRegion { .. } => "write `region` into the secret, such as `eu-west-1`",
            Self::NoCredentials(_) => "try again in some seconds; a function's role gives it credentials",
            Self::Unsigned { .. } => "check host and user in the secret",
        }
    }
}

#[cfg(feature = "aws")]
pub(super) use signing::sign;

#[cfg(feature = "aws")]
mod signing {
    use std::fmt::Write as _;
    use std::time::{Duration, SystemTime};

    use aws_config::SdkConfig;
    use aws_credential_types::Credentials;
    use aws_credential_types::provider::{ProvideCredentials as _, error::CredentialsError};
    use aws_sigv4::http_request::{self, SignableBody, SignableRequest, SignatureLocation, SigningSettings};
    use aws_sigv4::sign::v4;
    use pg::TokenRequest;

    use super::TokenError;

    /// The longest that RDS takes.
    const LIFE: Duration = Duration::from_mins(15);

    pub(crate) async fn sign(request: &TokenRequest, config: &SdkConfig) -> Result<String, TokenError> {
        let region = request.region.as_deref().or_else(|| config.region().map(AsRef::as_ref));
        let region = region.ok_or_else(|| TokenError::NoRegion { host: request.host.clone() })?;
        let provider = config
            .credentials_provider()
            .ok_or_else(|| TokenError::NoCredentials(CredentialsError::not_loaded_no_source().into()))?;
        let credentials = provider.provide_credentials().await;
        let credentials = credentials.map_err(|error| TokenError::NoCredentials(error.into()))?;
        token(request, region, credentials, SystemTime::now()).map_err(|source| TokenError::Unsigned {
            user: request.user.clone(),
            host: request.host.clone(),
            source,
        })
    }

    /// A signed URL without its scheme.
    fn token(
        request: &TokenRequest,
        region: &str,
        credentials: Credentials,
        now: SystemTime,
    ) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        let mut settings = SigningSettings::default();
        settings.expires_in = Some(LIFE);
        settings.signature_location = SignatureLocation::QueryParams;
        let identity = credentials.into();
        let parameters = v4::SigningParams::builder()
            .identity(&identity)
            .region(region)
            .name("rds-db")
            .time(now)
            .settings(settings)
            .build()?
            .into();
        let TokenRequest { host, port, user, .. } = request;
        let mut token = format!("{host}:{port}/?Action=connect&DBUser={}", encoded(user));
        let url = format!("https://{token}");
        let signable = SignableRequest::new("GET", &url, std::iter::empty(), SignableBody::Bytes(&[]))?;
        let (signed, _) = http_request::sign(signable, &parameters)?.into_parts();
        for (name, value) in signed.params() {
            let _ = write!(token, "&{name}={}", encoded(value));
        }
        Ok(token)
    }

    /// As signatures want it: everything but RFC 3986's unreserved characters is a percent code.
    fn encoded(text: &str) -> String {
        let mut encoded = String::with_capacity(text.len());
        for byte in text.bytes() {
            if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
                encoded.push(char::from(byte));
            } else {
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
        encoded
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// Expected is what botocore's `generate_db_auth_token` gives for the same.
        #[track_caller]
        fn check(user: &str, session: Option<&str>, expected: &str) {
            let host = "shop.abc.eu-west-1.rds.amazonaws.com".to_owned();
            let request = TokenRequest { host, port: 5432, user: user.to_owned(), region: None };
            let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
            let credentials =
                Credentials::new("AKIDEXAMPLE", secret, session.map(str::to_owned), None, "test");
            // 2026-12-01 06:00:00 UTC.
            let now = SystemTime::UNIX_EPOCH + Duration::from_hours(498_918);
            let token = token(&request, "eu-west-1", credentials, now).unwrap();
            let sorted = |token: &str| {
                let mut parts: Vec<String> = token.split('&').map(str::to_owned).collect();
                parts.sort();
                parts
            };
            assert_eq!(sorted(&token), sorted(expected));
            assert!(token.starts_with("shop.abc.eu-west-1.rds.amazonaws.com:5432/?Action=connect&"));
        }

        const SESSION: &str = "IQoJb3JpZ2luX2VjEXAMPLE//////////wEaCXVzLWVhc3QtMSJHMEUCIQ==";

        #[test]
        fn a_token_is_the_one_that_awss_own_tool_makes() {
            check(
                "reader",
                None,
                "shop.abc.eu-west-1.rds.amazonaws.com:5432/?Action=connect&DBUser=reader&\
                 X-Amz-Algorithm=AWS4-HMAC-SHA256&\
                 X-Amz-Credential=AKIDEXAMPLE%2F20261201%2Feu-west-1%2Frds-db%2Faws4_request&\
                 X-Amz-Date=20261201T060000Z&X-Amz-Expires=900&X-Amz-SignedHeaders=host&\
                 X-Amz-Signature=3ea08abeaaf8aee373f1a52ed502a815e3f480b09b58884cfe2704d4807d7887",
            );
            check(
                "reader",
                Some(SESSION),
                "shop.abc.eu-west-1.rds.amazonaws.com:5432/?Action=connect&DBUser=reader&\
                 X-Amz-Algorithm=AWS4-HMAC-SHA256&\
                 X-Amz-Credential=AKIDEXAMPLE%2F20261201%2Feu-west-1%2Frds-db%2Faws4_request&\
                 X-Amz-Date=20261201T060000Z&X-Amz-Expires=900&X-Amz-SignedHeaders=host&\
                 X-Amz-Security-Token=IQoJb3JpZ2luX2VjEXAMPLE%2F%2F%2F%2F%2F%2F%2F%2F%2F%2FwEaCXVzLWVhc3QtMSJHMEUCIQ%3D%3D&\
                 X-Amz-Signature=5c1aa92c2243b195124dd73fa7b945ced639f6a5acc85a492fb1455fd81d7f97",
            );
        }

        #[test]
        fn a_users_odd_characters_are_signed_as_they_are_sent() {
            check(
                "a b+c/ü@x",
                None,
                "shop.abc.eu-west-1.rds.amazonaws.com:5432/?Action=connect&DBUser=a%20b%2Bc%2F%C3%BC%40x&\
                 X-Amz-Algorithm=AWS4-HMAC-SHA256&\
                 X-Amz-Credential=AKIDEXAMPLE%2F20261201%2Feu-west-1%2Frds-db%2Faws4_request&\
                 X-Amz-Date=20261201T060000Z&X-Amz-Expires=900&X-Amz-SignedHeaders=host&\
                 X-Amz-Signature=5ee9d380d00f4b18ec2a26bb8e778e2e951e15867ceaa5ba319b10c4cdf1f680",
            );
        }
    }
}
