//! From a socket to a session: the startup message and the proof of the password.

use std::io;

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl;
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;

use fallible_iterator::FallibleIterator;

use crate::connect_error::{ConnectError, Stage};
use crate::dial::shown;
use crate::server_error::ServerError;
use crate::target::{ChannelBinding, Target};
use crate::wire::{Event, Wire};

/// What we call ourselves in `pg_stat_activity`.
const APPLICATION_NAME: &str = "pinguard";
const SCRAM: &str = "SCRAM-SHA-256";
const SCRAM_PLUS: &str = "SCRAM-SHA-256-PLUS";

/// What the server tells a new session.
#[derive(Default)]
pub(crate) struct Session {
    /// Settings that it reports, by name.
    pub(crate) parameters: Vec<(String, String)>,
    pub(crate) process_id: i32,
    pub(crate) secret_key: i32,
}

/// Logs in. Poolers refuse startup parameters that they do not know, so no others are sent.
pub(crate) async fn log_in(wire: &mut Wire, target: &Target) -> Result<Session, ConnectError> {
    let mut login = Login { wire, target, bound: false };
    let parameters = [
        ("user", target.user()),
        ("database", target.database()),
        ("application_name", APPLICATION_NAME),
        ("client_encoding", "UTF8"),
    ];
    login.send(|outbox| frontend::startup_message(parameters, outbox)).await?;
    login.authenticate().await?;
    login.collect_session().await
}

struct Login<'a> {
    wire: &'a mut Wire,
    target: &'a Target,
    /// Whether the proof was bound to the TLS connection.
    bound: bool,
}

impl Login<'_> {
    async fn send(
        &mut self,
        write: impl FnOnce(&mut bytes::BytesMut) -> io::Result<()>,
    ) -> Result<(), ConnectError> {
        write(self.wire.outbox()).map_err(|error| self.protocol(error.to_string()))?;
        self.wire
            .send()
            .await
            .map_err(|error| ConnectError::of_wire(error, &shown(self.target), Stage::Login))
    }

    /// The next message that is neither an error nor a notice.
    async fn receive(&mut self) -> Result<Message, ConnectError> {
        loop {
            let event = self.wire.next().await;
            match event.map_err(|error| ConnectError::of_wire(error, &shown(self.target), Stage::Login))? {
                Event::Message(Message::ErrorResponse(body)) => {
                    let encrypted = self.wire.stream().is_encrypted();
                    return Err(ConnectError::of_server(ServerError::parse(body.fields()), encrypted));
                }
                Event::Message(Message::NoticeResponse(_)) => {}
                Event::Message(message) => return Ok(message),
                Event::Row(_) => return Err(self.protocol("a row during the login".to_owned())),
            }
        }
    }

    fn protocol(&self, reason: String) -> ConnectError {
        ConnectError::Protocol { address: shown(self.target), reason }
    }

    fn password(&self) -> Result<&[u8], ConnectError> {
        self.target.password().map(crate::target::Password::reveal).ok_or(ConnectError::PasswordMissing)
    }

    async fn authenticate(&mut self) -> Result<(), ConnectError> {
        let request = self.receive().await?;
        let unsupported = |method| Err(ConnectError::AuthUnsupported { method });
        match request {
            Message::AuthenticationOk => {}
            Message::AuthenticationSasl(body) => self.prove_by_scram(&body).await?,
            Message::AuthenticationMd5Password(body) => {
                self.refuse_unbound()?;
                let hash = md5_hash(self.target.user().as_bytes(), self.password()?, body.salt());
                self.send(|outbox| frontend::password_message(hash.as_bytes(), outbox)).await?;
                self.expect_ok().await?;
            }
            Message::AuthenticationCleartextPassword => {
                self.refuse_unbound()?;
                if !self.wire.stream().is_encrypted() {
                    return Err(ConnectError::AuthInClear);
                }
                let password = self.password()?.to_vec();
                self.send(|outbox| frontend::password_message(&password, outbox)).await?;
                self.expect_ok().await?;
            }
            Message::AuthenticationGss | Message::AuthenticationKerberosV5 => return unsupported("Kerberos"),
            Message::AuthenticationSspi => return unsupported("SSPI"),
            Message::AuthenticationScmCredential => return unsupported("socket credentials"),
            _ => return Err(self.protocol("no request for a login".to_owned())),
        }
        // A server that asks for nothing has proven nothing.
        if self.bound { Ok(()) } else { self.refuse_unbound() }
    }

    fn refuse_unbound(&self) -> Result<(), ConnectError> {
        match self.target.channel_binding() {
            ChannelBinding::Require => Err(ConnectError::ChannelBinding),
            ChannelBinding::Prefer | ChannelBinding::Disable => Ok(()),
        }
    }

    async fn expect_ok(&mut self) -> Result<(), ConnectError> {
        match self.receive().await? {
            Message::AuthenticationOk => Ok(()),
            _ => Err(self.protocol("no end of the login".to_owned())),
        }
    }

    async fn prove_by_scram(&mut self, offered: &AuthenticationSaslBody) -> Result<(), ConnectError> {
        let offered: Vec<&str> =
            offered.mechanisms().collect().map_err(|error| self.protocol(error.to_string()))?;
        let wanted = self.target.channel_binding() != ChannelBinding::Disable;
        let binding = if wanted { self.wire.stream().channel_binding() } else { None };
        let (mechanism, binding) = match binding {
            Some(hash) if offered.contains(&SCRAM_PLUS) => {
                self.bound = true;
                (SCRAM_PLUS, sasl::ChannelBinding::tls_server_end_point(hash))
            }
            _ if !offered.contains(&SCRAM) => {
                return Err(ConnectError::AuthUnsupported { method: "SASL without SCRAM-SHA-256" });
            }
            // Said to the server, so that it notices if somebody took its offer of PLUS away.
            Some(_) => (SCRAM, sasl::ChannelBinding::unrequested()),
            None => (SCRAM, sasl::ChannelBinding::unsupported()),
        };
        if !self.bound {
            self.refuse_unbound()?;
        }
        let mut scram = sasl::ScramSha256::new(self.password()?, binding);
        self.send(|outbox| frontend::sasl_initial_response(mechanism, scram.message(), outbox)).await?;

        let unproven = |source| ConnectError::ServerUnproven { source };
        match self.receive().await? {
            Message::AuthenticationSaslContinue(body) => scram.update(body.data()).map_err(unproven)?,
            _ => return Err(self.protocol("no challenge in the SCRAM login".to_owned())),
        }
        self.send(|outbox| frontend::sasl_response(scram.message(), outbox)).await?;
        match self.receive().await? {
            Message::AuthenticationSaslFinal(body) => scram.finish(body.data()).map_err(unproven)?,
            _ => return Err(self.protocol("no proof in the SCRAM login".to_owned())),
        }
        self.expect_ok().await
    }

    async fn collect_session(&mut self) -> Result<Session, ConnectError> {
        let mut session = Session::default();
        loop {
            match self.receive().await? {
                Message::ParameterStatus(body) => {
                    if let (Ok(name), Ok(value)) = (body.name(), body.value()) {
                        session.parameters.push((name.to_owned(), value.to_owned()));
                    }
                }
                Message::BackendKeyData(body) => {
                    session.process_id = body.process_id();
                    session.secret_key = body.secret_key();
                }
                Message::ReadyForQuery(_) => return Ok(session),
                _ => return Err(self.protocol("an odd message at the end of the login".to_owned())),
            }
        }
    }
}
