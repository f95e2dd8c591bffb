//! The shell of the functions around a handler that can fall, for what no real handler does.

use bytes::Bytes;
use http_body_util::Full;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    lambda::log();
    let answer = async |request: lambda::Request, _| {
        assert_ne!(request.uri().path(), "/panic", "the handler fell");
        http::Response::new(Full::new(Bytes::from(request.uri().path().to_owned())))
    };
    Ok(lambda::http(answer).await?)
}
