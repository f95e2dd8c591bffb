#![doc = include_str!("../README.md")]

mod app;
mod audit_list;
mod credentials;
mod drafts;
mod keys;
mod relations;
mod route;
mod settings;

use std::fmt::Display;

use http::Request;
use http_body::Body;
use tokio::time::Instant;

pub use app::App;
pub use service::{Answer, Callers, Problems};
pub use settings::{Deployment, Settings};

use route::Route;
use service::{Asked, Refusal};

/// Answers one HTTP request; `latest` is when the answer must be on its way.
pub async fn handle<B>(app: &App, request: Request<B>, latest: Instant) -> Answer
where
    B: Body + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + Display,
{
    // Boxed, or the compiler finds the future of a whole call nested too deep.
    Box::pin(answer(app, request, latest)).await.unwrap_or_else(Refusal::into_answer)
}

async fn answer<B>(app: &App, request: Request<B>, latest: Instant) -> Result<Answer, Refusal>
where
    B: Body + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + Display,
{
    let (parts, body) = request.into_parts();
    app.settings.front.admits(&parts)?;
    let route = Route::read(&parts.method, parts.uri.path())?;
    let caller = app.callers.caller(&app.control, &parts.headers, latest).await?;
    let asked = Asked::read(&parts, body).await?;
    match &route {
        Route::Flows => drafts::list(app, &caller, latest).await,
        Route::Flow(flow) => drafts::read(app, &caller, flow, latest).await,
        Route::SaveDraft(flow) => drafts::save(app, &caller, flow, &asked, latest).await,
        Route::Publish(flow) => drafts::publish(app, &caller, flow, &asked, latest).await,
        Route::DeleteFlow(flow) => drafts::delete(app, &caller, flow, &asked, latest).await,
        Route::Relations(flow, node) => relations::saved(app, &caller, (flow, node), latest).await,
        Route::RelationsOnCanvas(flow, node) => {
            relations::on_canvas(app, &caller, (flow, node), &asked, latest).await
        }
        Route::Audit => audit_list::list(app, &caller, &asked, latest).await,
        Route::Credentials => credentials::list(app, &caller, latest).await,
        Route::AddCredential => credentials::add(app, &caller, &asked, latest).await,
        Route::ChangeCredential(id) => credentials::change(app, &caller, id, &asked, latest).await,
        Route::RemoveCredential(id) => credentials::remove(app, &caller, id, latest).await,
        Route::Keys => keys::list(app, &caller, latest).await,
        Route::CreateKey => keys::create(app, &caller, &asked).await,
        Route::RevokeKey(id) => keys::revoke(app, &caller, id, latest).await,
    }
}
