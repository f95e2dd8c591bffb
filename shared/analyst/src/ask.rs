//! Questions to the catalog: `search_path` is `pg_catalog`, so a plain name in them is PostgreSQL's own, and what
//! PostgreSQL prints is qualified.

use pg::{Ask, Connection, SearchPath, Table};
use tokio::time::Instant;

use crate::failure::{Failure, Kind};
use crate::query::failed_read;

/// Asks in one flight; a table an ask, in order.
pub(crate) async fn tables<const N: usize>(
    connection: &mut Connection,
    asks: [(&'static str, Vec<Option<String>>); N],
    deadline: Instant,
) -> Result<[Table; N], Failure> {
    if asks.iter().flat_map(|(_, parameters)| parameters).flatten().any(|text| text.contains('\0')) {
        let failure = Failure::argument("a name holds a NUL character, which PostgreSQL cannot take");
        return Err(failure.hinting("leave the character out"));
    }
    let asks = asks.map(|(sql, parameters)| Ask { sql, parameters });
    let path = SearchPath::new(["pg_catalog"]).map_err(|error| internal(&error))?;
    let tables = connection.catalog(&asks, Some(&path), deadline).await.map_err(failed_read)?;
    tables.try_into().map_err(|_| internal(&"the catalog gave another number of answers"))
}

fn internal(reason: &impl ToString) -> Failure {
    Failure::new(Kind::Internal, "internal", "a question to the catalog went wrong")
        .logging(reason.to_string())
}
