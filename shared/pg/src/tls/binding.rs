//! Channel binding `tls-server-end-point` (RFC 5929): the hash of the server's certificate.

use sha2::{Digest, Sha256, Sha384, Sha512};
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::spki::AlgorithmIdentifierOwned;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hash {
    Sha256,
    Sha384,
    Sha512,
}

/// The certificate's hash by the hash of its signature, SHA-256 in place of MD5 and SHA-1; none where
/// the signature names no hash (Ed25519), for which the RFC defines no binding.
pub(crate) fn server_end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    let parsed = Certificate::from_der(certificate).ok()?;
    Some(match signature_hash(&parsed.signature_algorithm)? {
        Hash::Sha256 => Sha256::digest(certificate).to_vec(),
        Hash::Sha384 => Sha384::digest(certificate).to_vec(),
        Hash::Sha512 => Sha512::digest(certificate).to_vec(),
    })
}

fn signature_hash(algorithm: &AlgorithmIdentifierOwned) -> Option<Hash> {
    const RSA_PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
    const BY_OID: &[(ObjectIdentifier, Hash)] = &[
        // RSA with MD5, SHA-1, SHA-256, SHA-384, SHA-512
        (ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.4"), Hash::Sha256),
        (ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.5"), Hash::Sha256),
        (ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.11"), Hash::Sha256),
        (ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.12"), Hash::Sha384),
        (ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.13"), Hash::Sha512),
        // ECDSA with SHA-1, SHA-256, SHA-384, SHA-512
        (ObjectIdentifier::new_unwrap("1.2.840.10045.4.1"), Hash::Sha256),
        (ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2"), Hash::Sha256),
        (ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.3"), Hash::Sha384),
        (ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.4"), Hash::Sha512),
    ];
    if algorithm.oid == RSA_PSS {
        return pss_hash(algorithm.parameters.as_ref()?.value());
    }
    BY_OID.iter().find(|(oid, _)| *oid == algorithm.oid).map(|&(_, hash)| hash)
}

/// RSA-PSS names its hash in its parameters; that of the signature comes first.
fn pss_hash(parameters: &[u8]) -> Option<Hash> {
    // DER of 2.16.840.1.101.3.4.2, below which 1 is SHA-256, 2 SHA-384, 3 SHA-512.
    const SHA2: &[u8] = &[0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02];
    let start = parameters.windows(SHA2.len()).position(|window| window == SHA2)?;
    match parameters.get(start + SHA2.len())? {
        1 => Some(Hash::Sha256),
        2 => Some(Hash::Sha384),
        3 => Some(Hash::Sha512),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(algorithm: &'static rcgen::SignatureAlgorithm, length: Option<usize>) {
        let key = rcgen::KeyPair::generate_for(algorithm).unwrap();
        let certificate =
            rcgen::CertificateParams::new(vec!["db".into()]).unwrap().self_signed(&key).unwrap();
        assert_eq!(server_end_point(certificate.der()).map(|hash| hash.len()), length);
    }

    #[test]
    fn the_hash_is_that_of_the_signature() {
        check(&rcgen::PKCS_ECDSA_P256_SHA256, Some(32));
        check(&rcgen::PKCS_ECDSA_P384_SHA384, Some(48));
        check(&rcgen::PKCS_ED25519, None);
    }

    #[test]
    fn an_rsa_pss_signature_names_its_hash_in_its_parameters() {
        let parameters =
            [0xa0, 0x0d, 0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02];
        assert_eq!(pss_hash(&parameters), Some(Hash::Sha384));
        assert_eq!(pss_hash(&[]), None);
    }

    #[test]
    fn what_is_no_certificate_has_no_binding() {
        assert_eq!(server_end_point(b"no certificate"), None);
    }
}
