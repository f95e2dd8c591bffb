//! The CAs that a server's certificate may come from.

use std::fmt;
use std::io;
use std::path::PathBuf;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use thiserror::Error;

use crate::target::Host;

/// Source and fingerprints: `roots/README.md`.
const RDS: &str = include_str!("../../roots/rds.pem");
const SUPABASE: &str = include_str!("../../roots/supabase.pem");

const RDS_DOMAINS: &[&str] = &["rds.amazonaws.com"];
const SUPABASE_DOMAINS: &[&str] = &["supabase.co", "supabase.com"];

/// A set of CAs.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Roots {
    /// Mozilla's.
    Public,
    /// Mozilla's and those of Amazon RDS, whose proxies have certificates of public CAs.
    Rds,
    /// Mozilla's and Supabase's.
    Supabase,
    /// Those of a PEM text alone.
    Pem(String),
    /// Those of a PEM file alone.
    File(PathBuf),
}

/// Why a set of CAs cannot be used.
#[derive(Debug, Error)]
pub(crate) enum RootsError {
    #[error("the file that `sslrootcert` names cannot be read")]
    Unreadable(#[source] io::Error),
    #[error("`sslrootcert` holds no certificate")]
    NoCertificate,
    #[error("`sslrootcert` holds a certificate that cannot be read")]
    BadCertificate,
    #[error("TLS cannot be set up")]
    Versions(#[source] rustls::Error),
}

/// CAs in the form that a verifier works with.
#[derive(Debug)]
pub(super) struct Trusted {
    pub(super) roots: RootCertStore,
    /// Certificates that an operator gave by hand.
    pub(super) given: Vec<CertificateDer<'static>>,
}

impl Roots {
    /// The roots for a host of which the secret says nothing.
    pub(crate) fn of(host: &Host) -> Self {
        if host.is_under(RDS_DOMAINS) {
            Self::Rds
        } else if host.is_under(SUPABASE_DOMAINS) {
            Self::Supabase
        } else {
            Self::Public
        }
    }

    /// Reads a file, so that what it holds now is what counts.
    pub(super) fn read(&self) -> Result<Self, RootsError> {
        match self {
            Self::File(path) => std::fs::read_to_string(path).map(Self::Pem).map_err(RootsError::Unreadable),
            other => Ok(other.clone()),
        }
    }

    pub(super) fn load(&self) -> Result<Trusted, RootsError> {
        match self {
            Self::Public => Ok(public_and("")),
            Self::Rds => Ok(public_and(RDS)),
            Self::Supabase => Ok(public_and(SUPABASE)),
            Self::File(_) => self.read()?.load(),
            Self::Pem(text) => {
                let given = certificates(text)?;
                let mut roots = RootCertStore::empty();
                for certificate in &given {
                    roots.add(certificate.clone()).map_err(|_| RootsError::BadCertificate)?;
                }
                Ok(Trusted { roots, given })
            }
        }
    }
}

fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, RootsError> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    let all = all.map_err(|_| RootsError::BadCertificate)?;
    if all.is_empty() { Err(RootsError::NoCertificate) } else { Ok(all) }
}

fn public_and(bundle: &str) -> Trusted {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    roots.add_parsable_certificates(CertificateDer::pem_slice_iter(bundle.as_bytes()).flatten());
    Trusted { roots, given: Vec::new() }
}

impl fmt::Debug for Roots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Public => f.write_str("Public"),
            Self::Rds => f.write_str("Rds"),
            Self::Supabase => f.write_str("Supabase"),
            Self::Pem(_) => f.write_str("Pem"),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::{Duration, SystemTime};

    use sha2::{Digest, Sha256};
    use x509_cert::Certificate;
    use x509_cert::der::Decode;

    use super::*;

    const YEAR: Duration = Duration::from_hours(365 * 24);

    #[track_caller]
    fn check_bundle(pem: &str, count: usize) -> HashSet<String> {
        let all = certificates(pem).unwrap();
        assert_eq!(all.len(), count);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        for der in &all {
            let parsed = Certificate::from_der(der).unwrap().tbs_certificate;
            assert_eq!(parsed.issuer, parsed.subject, "a root signs itself");
            let until = parsed.validity.not_after.to_unix_duration();
            assert!(until > now + YEAR, "{} ends within a year", parsed.subject);
            assert!(until < now + 100 * YEAR, "{} never ends", parsed.subject);
        }
        let unique: HashSet<String> = all.iter().map(|der| hex(&Sha256::digest(der))).collect();
        assert_eq!(unique.len(), count);
        assert_eq!(public_and(pem).roots.len(), public_and("").roots.len() + count, "each is usable");
        unique
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
    }

    #[test]
    fn the_rds_bundle_is_whole_and_valid() {
        check_bundle(RDS, 87);
    }

    #[test]
    fn the_supabase_root_is_the_published_one() {
        let prints = check_bundle(SUPABASE, 1);
        assert!(prints.contains("807025ad50d4ed219d2c9c7d299c004f824eb00cf7f65afef607d07b72e6cafa"));
    }

    #[test]
    fn the_readme_names_every_bundle_with_its_digest() {
        let readme = include_str!("../../roots/README.md");
        for bundle in [RDS, SUPABASE] {
            let digest = hex(&Sha256::digest(bundle.as_bytes()));
            assert!(readme.contains(&digest), "roots/README.md lacks {digest}");
        }
    }

    #[test]
    fn given_roots_stand_alone_and_must_hold_a_certificate() {
        let given = Roots::Pem(SUPABASE.to_owned()).load().unwrap();
        assert_eq!((given.roots.len(), given.given.len()), (1, 1));
        assert!(matches!(Roots::Pem("nothing".into()).load(), Err(RootsError::NoCertificate)));
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert!(matches!(Roots::Pem(broken.into()).load(), Err(RootsError::BadCertificate)));
        assert!(matches!(Roots::File("/nowhere/ca.pem".into()).load(), Err(RootsError::Unreadable(_))));
    }
}
