//! One row of a pin's parameter table.

use serde_json::{Value as Json, json};

use crate::fields::{self, Fields};
use crate::name::ParamName;
use crate::problem::Problem;
use crate::value::{ParamType, Value};

const MAX_DESCRIPTION_CHARS: usize = 500;
const MAX_ALLOWED: usize = 200;
const MAX_CLAIM_CHARS: usize = 100;

const KEYS: [&str; 9] =
    ["name", "type", "required", "description", "default", "allowed", "min", "max", "claim"];

/// Whether a call has to give a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// A call without it is refused, and so is null.
    Required,
    /// Left out or null, it is SQL NULL.
    Nullable,
    /// Left out, it has this value; null is refused, so that nobody sends it by mistake.
    Default(Value),
    /// No call gives it: it is this claim of the caller's access token, and a caller without it is refused.
    Claim(String),
}

/// One parameter: what the statement calls `:name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    name: ParamName,
    ty: Option<ParamType>,
    presence: Presence,
    description: Option<String>,
    allowed: Vec<Value>,
    min: Option<Value>,
    max: Option<Value>,
}

impl Param {
    /// Reads a row; every problem goes to `problems`, with `path` before the field's name.
    pub(crate) fn read(json: &Json, path: &str, problems: &mut Vec<Problem>) -> Option<Self> {
        let before = problems.len();
        let mut row = Fields::open(json, path, &KEYS, problems)?;
        let name = row.required("name", |json| ParamName::parse(fields::text(json)?));
        let ty = row.optional("type", |json| ParamType::parse(fields::text(json)?));
        let required = row.optional("required", fields::boolean).unwrap_or(true);
        let description = row.optional("description", read_description).flatten();
        let values = Values::read(&mut row, ty);
        let claim = row.optional("claim", |json| fields::line(json, MAX_CLAIM_CHARS));
        let presence = match (required, values.default) {
            (_, default) if let Some(claim) = claim => {
                if default.is_some() || !required {
                    row.problem("claim", "a claim that is missing has no other value; drop `default`, and leave `required` true");
                }
                Presence::Claim(claim)
            }
            (true, Some(_)) => {
                row.problem(
                    "default",
                    "a required parameter has no default; set `required` to false, or drop it",
                );
                Presence::Required
            }
            (true, None) => Presence::Required,
            (false, Some(value)) => Presence::Default(value),
            (false, None) => Presence::Nullable,
        };
        let (allowed, min, max) = (values.allowed, values.min, values.max);
        let param = Self { name: name?, ty, presence, description, allowed, min, max };
        param.check_values(&mut row);
        (row.problems().len() == before).then_some(param)
    }

    /// The row as [`Param::read`] reads it, with every key.
    pub(crate) fn to_json(&self) -> Json {
        let value = |value: Option<&Value>| value.map(Value::to_json);
        json!({
            "name": self.name.as_str(),
            "type": self.ty.map(ParamType::name),
            "required": matches!(self.presence, Presence::Required | Presence::Claim(_)),
            "description": self.description,
            "default": value(self.default()),
            "allowed": self.allowed.iter().map(Value::to_json).collect::<Vec<_>>(),
            "min": value(self.min.as_ref()),
            "max": value(self.max.as_ref()),
            "claim": self.claim(),
        })
    }

    /// What the statement and the tool call it.
    pub fn name(&self) -> &ParamName {
        &self.name
    }

    /// Its type; none until somebody has picked one. Such a pin can be saved as a draft, never run.
    pub fn ty(&self) -> Option<ParamType> {
        self.ty
    }

    /// Whether a call has to give it.
    pub fn presence(&self) -> &Presence {
        &self.presence
    }

    /// What the tool says about it.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The only values it may have; empty: any.
    pub fn allowed(&self) -> &[Value] {
        &self.allowed
    }

    /// The least value it may have.
    pub fn min(&self) -> Option<&Value> {
        self.min.as_ref()
    }

    /// The greatest value it may have.
    pub fn max(&self) -> Option<&Value> {
        self.max.as_ref()
    }

    /// The value it has when a call leaves it out.
    pub fn default(&self) -> Option<&Value> {
        if let Presence::Default(value) = &self.presence { Some(value) } else { None }
    }

    /// The claim of the caller's access token that it is.
    pub fn claim(&self) -> Option<&str> {
        if let Presence::Claim(claim) = &self.presence { Some(claim) } else { None }
    }

    /// Whether a value of the right type is one that this row lets through. The error is meant to follow the name.
    pub(crate) fn admit(&self, value: &Value) -> Result<(), String> {
        if !self.allowed.is_empty() && !self.allowed.iter().any(|allowed| allowed.compare(value).is_eq()) {
            let allowed = fields::list(self.allowed.iter().map(Value::text));
            return Err(format!("is not one of the allowed values {allowed}"));
        }
        self.admit_size(value)
    }

    fn admit_size(&self, value: &Value) -> Result<(), String> {
        if let Some(min) = self.min.as_ref().filter(|min| value.compare(min).is_lt()) {
            return Err(format!("is below the least value `{}`", fields::shown(min.text())));
        }
        if let Some(max) = self.max.as_ref().filter(|max| value.compare(max).is_gt()) {
            return Err(format!("is above the greatest value `{}`", fields::shown(max.text())));
        }
        Ok(())
    }

    fn check_values(&self, row: &mut Fields<'_>) {
        if let (Some(min), Some(max)) = (&self.min, &self.max)
            && min.compare(max).is_gt()
        {
            row.problem("min", "is above `max`");
        }
        for (index, value) in self.allowed.iter().enumerate() {
            if self.allowed.iter().take(index).any(|earlier| earlier.compare(value).is_eq()) {
                row.problem(&format!("allowed[{index}]"), "stands in the list twice");
            }
            if let Err(message) = self.admit_size(value) {
                row.problem(&format!("allowed[{index}]"), message);
            }
        }
        if let Some(Err(message)) = self.default().map(|value| self.admit(value)) {
            row.problem("default", message);
        }
    }
}

/// The fields of a row that hold values of its type.
#[derive(Default)]
struct Values {
    default: Option<Value>,
    allowed: Vec<Value>,
    min: Option<Value>,
    max: Option<Value>,
}

impl Values {
    fn read(row: &mut Fields<'_>, ty: Option<ParamType>) -> Self {
        let items = row.optional("allowed", fields::array).map(Vec::as_slice).unwrap_or_default();
        if items.len() > MAX_ALLOWED {
            row.problem("allowed", format!("has {} values; at most {MAX_ALLOWED} are allowed", items.len()));
            return Self::default();
        }
        let Some(ty) = ty else {
            let given = ["default", "min", "max"].into_iter().filter(|key| row.get(key).is_some());
            let given: Vec<_> = given.chain((!items.is_empty()).then_some("allowed")).collect();
            for key in given {
                row.problem(key, "has no meaning before `type` is picked; pick the type first");
            }
            return Self::default();
        };
        let mut allowed = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match Value::read(ty, item) {
                Ok(value) => allowed.push(value),
                Err(message) => row.problem(&format!("allowed[{index}]"), message),
            }
        }
        let mut bound = |key| {
            if row.get(key).is_some() && !ty.has_bounds() {
                row.problem(key, format!("{} has no bounds; use `allowed`", ty.name()));
                return None;
            }
            row.optional(key, |json| Value::read(ty, json))
        };
        let (min, max) = (bound("min"), bound("max"));
        Self { default: row.optional("default", |json| Value::read(ty, json)), allowed, min, max }
    }
}

/// Blank is none: editors send empty boxes.
fn read_description(json: &Json) -> Result<Option<String>, String> {
    if fields::text(json)?.trim().is_empty() {
        return Ok(None);
    }
    fields::line(json, MAX_DESCRIPTION_CHARS).map(Some)
}
