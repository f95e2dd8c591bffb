//! What the server says of a statement's parameters and columns.

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{ParameterDescriptionBody, RowDescriptionBody};

use crate::raw::RawColumn;
use crate::read_error::ReadError;

pub(super) fn parameter_types(body: &ParameterDescriptionBody) -> Result<Vec<u32>, ReadError> {
    body.parameters().collect().map_err(|error| ReadError::Protocol { reason: error.to_string() })
}

pub(super) fn columns(body: &RowDescriptionBody) -> Result<Vec<RawColumn>, ReadError> {
    body.fields()
        .map(|field| {
            Ok(RawColumn {
                name: field.name().to_owned(),
                type_oid: field.type_oid(),
                type_modifier: field.type_modifier(),
                table_oid: field.table_oid(),
                column_number: field.column_id(),
            })
        })
        .collect()
        .map_err(|error| ReadError::Protocol { reason: error.to_string() })
}
