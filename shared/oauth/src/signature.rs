//! Signatures by `ring`, which is in the build for TLS, as `jsonwebtoken` wants them handed over.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error as JwtError, ErrorKind};
use jsonwebtoken::{Algorithm as Known, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::signature::{
    self as by, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use signature::{Error, Verifier};

use crate::algorithm::Algorithm;

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: no_signer,
    verifier_factory: verifier,
    // These serve to make keys and thumbprints, which nobody here does.
    key_utils: KeyUtils::new_unimplemented(),
};

/// Hands `ring` over; again is fine.
pub(crate) fn install() {
    // The error says that it was done before, and nobody else does it.
    let _ = PROVIDER.install_default();
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the crate hands a reference over")]
fn no_signer(_: &Known, _: &EncodingKey) -> Result<Box<dyn JwtSigner>, JwtError> {
    Err(ErrorKind::UnsupportedAlgorithm.into())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the crate hands a reference over")]
fn verifier(known: &Known, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, JwtError> {
    let algorithm = Algorithm::of(*known).ok_or(ErrorKind::UnsupportedAlgorithm)?;
    if key.family() != known.family() {
        return Err(ErrorKind::InvalidKeyFormat.into());
    }
    Ok(Box::new(ByRing { algorithm, key: key.clone() }))
}

struct ByRing {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl JwtVerifier for ByRing {
    fn algorithm(&self) -> Known {
        self.algorithm.known()
    }
}

impl Verifier<Vec<u8>> for ByRing {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), Error> {
        let verified = match (self.key.kind(), how(self.algorithm)) {
            (DecodingKeyKind::RsaModulusExponent { n, e }, How::Rsa(parameters)) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (DecodingKeyKind::SecretOrDer(point), How::Curve(curve)) => {
                UnparsedPublicKey::new(curve, point).verify(message, signature)
            }
            _ => return Err(Error::new()),
        };
        verified.map_err(|_| Error::new())
    }
}

enum How {
    Rsa(&'static RsaParameters),
    Curve(&'static dyn VerificationAlgorithm),
}

/// RSA keys shorter than 2048 bits count for nothing.
fn how(algorithm: Algorithm) -> How {
    match algorithm {
        Algorithm::Rs256 => How::Rsa(&by::RSA_PKCS1_2048_8192_SHA256),
        Algorithm::Rs384 => How::Rsa(&by::RSA_PKCS1_2048_8192_SHA384),
        Algorithm::Rs512 => How::Rsa(&by::RSA_PKCS1_2048_8192_SHA512),
        Algorithm::Ps256 => How::Rsa(&by::RSA_PSS_2048_8192_SHA256),
        Algorithm::Ps384 => How::Rsa(&by::RSA_PSS_2048_8192_SHA384),
        Algorithm::Ps512 => How::Rsa(&by::RSA_PSS_2048_8192_SHA512),
        Algorithm::Es256 => How::Curve(&by::ECDSA_P256_SHA256_FIXED),
        Algorithm::Es384 => How::Curve(&by::ECDSA_P384_SHA384_FIXED),
        Algorithm::EdDsa => How::Curve(&by::ED25519),
    }
}
