//! `SHOW` of the settings that tell an analyst how values read and how the server plans, and nothing of its host,
//! its logins or the secrets that people keep in settings of their own.

use crate::admitted::Admitted;
use crate::verdict::{Code, Finding, Refusal};

const SETTINGS: &[&str] = &[
    "bytea_output",
    "client_encoding",
    "datestyle",
    "default_statistics_target",
    "effective_cache_size",
    "extra_float_digits",
    "in_hot_standby",
    "integer_datetimes",
    "intervalstyle",
    "jit",
    "lc_collate",
    "lc_ctype",
    "lc_monetary",
    "lc_numeric",
    "lc_time",
    "lock_timeout",
    "max_connections",
    "max_parallel_workers",
    "max_parallel_workers_per_gather",
    "random_page_cost",
    "search_path",
    "seq_page_cost",
    "server_encoding",
    "server_version",
    "server_version_num",
    "shared_buffers",
    "standard_conforming_strings",
    "statement_timeout",
    "timezone",
    "transaction_isolation",
    "transaction_read_only",
    "work_mem",
];

/// Whether a setting may be told, by SHOW or by `current_setting`.
pub(crate) fn is_listed(name: &str) -> bool {
    let asked = name.to_ascii_lowercase();
    SETTINGS.iter().any(|setting| *setting == asked)
}

pub(crate) fn judge(name: &str) -> Result<Admitted, Refusal> {
    let asked = name.to_ascii_lowercase();
    if let Some(setting) = SETTINGS.iter().find(|setting| **setting == asked) {
        return Ok(Admitted::show(setting));
    }
    let message = format!("`SHOW {name}` is not on the list of settings that can be read");
    // What other databases answer to, and people type.
    let help = match asked.as_str() {
        "tables" | "databases" | "schemas" | "columns" => {
            "`list_tables` and `describe` tell of tables, where the node offers them, or a query on information_schema".to_owned()
        }
        _ => format!("the settings are {}", SETTINGS.join(", ")),
    };
    Err(Refusal::one(Finding::new(Code::ShowSetting, message, help)))
}
