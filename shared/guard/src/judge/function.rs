//! Functions and operators.

use std::sync::Arc;

use super::relation::is_among;
use super::{Json, Judgement, Object, Origin, Reads};
use crate::builtin::{self, Ruling};
use crate::extension::{self, Sight};
use crate::facts::{FunctionFact, Oid, Volatility};
use crate::verdict::Code;

impl Judgement<'_> {
    /// A function that is called.
    pub(super) fn function(&mut self, oid: Oid, origin: &Arc<Origin>) {
        if oid.is_pinned() {
            let ruling = builtin::function(oid, self.major);
            return self.builtin(oid, ruling, origin);
        }
        let Some(fact) = self.facts.function(oid) else { return };
        if oid.is_initial() {
            return self.initial(&fact, origin);
        }
        if let Some(extension) = &fact.extension {
            return self.of_extension(&fact, extension, origin);
        }
        self.of_user(&fact, origin);
    }

    /// A function that runs inside a type or an aggregate: those with internal arguments too.
    pub(super) fn support(&mut self, oid: Oid, origin: &Arc<Origin>) {
        let internal = builtin::function(oid, self.major)
            .is_some_and(|known| known.without_selection == Ruling::Internal);
        if !(oid.is_pinned() && internal) {
            self.function(oid, origin);
        }
    }

    /// A function that runs inside an aggregate of a listed extension. Those of the same extension are called there alone, so
    /// that nobody minded how they are declared.
    pub(super) fn part(&mut self, oid: Oid, extension: &str, origin: &Arc<Origin>) {
        match self.facts.function(oid) {
            Some(fact) if fact.extension.as_deref() == Some(extension) && !extension::is_refused(&fact) => {
                self.body_of_extension(&fact, &origin.inside(format!("function `{}`", fact.name)));
            }
            _ => self.support(oid, origin),
        }
    }

    /// A function that the body of a listed extension's function finds by a name. What a superuser installed with an extension
    /// is no trap: argument types in such a body are the author's, and lead where the author meant them to.
    pub(super) fn found(&mut self, oid: Oid, origin: &Arc<Origin>) {
        let Some(fact) = self.facts.function(oid) else { return };
        match &fact.extension {
            Some(extension) if extension::is_listed(extension) => {
                self.body_of_extension(&fact, &origin.inside(format!("function `{}`", fact.name)));
            }
            Some(_) => {}
            None => self.function(oid, origin),
        }
    }

    pub(super) fn operator(&mut self, oid: Oid, origin: &Arc<Origin>) {
        // Operators that PostgreSQL brings run functions of its own, none of which reaches outside their arguments and casts.
        if oid.is_pinned() {
            if builtin::operator_writes_text(oid) {
                self.reach(Object::TextCasts, origin);
            }
            return;
        }
        let Some(fact) = self.facts.operator(oid) else { return };
        fact.functions.iter().for_each(|function| self.reach(Object::Support(*function), origin));
        fact.stand_ins.iter().for_each(|operator| self.reach(Object::Operator(*operator), origin));
    }

    fn builtin(&mut self, oid: Oid, function: Option<builtin::Function>, origin: &Arc<Origin>) {
        let Some(function) = function else {
            let message = format!("the built-in function with OID {} is not known here", oid.0);
            return self.finding(Code::BuiltinRefused, message, "use another function", origin);
        };
        let limited = self.is_limited(origin);
        match if limited { function.with_selection } else { function.without_selection } {
            Ruling::Allow if builtin::writes_text(oid) => self.reach(Object::TextCasts, origin),
            Ruling::Allow => {}
            // A call that names a listed setting by a literal does not come here.
            Ruling::Setting => self.setting_refused("a setting that is not named by a literal", origin),
            Ruling::Internal => {
                let message = "an internal function of PostgreSQL is called by name".to_owned();
                self.finding(Code::BuiltinRefused, message, "use a cast", origin);
            }
            Ruling::Refuse => {
                let when = if function.without_selection == Ruling::Refuse {
                    ""
                } else {
                    " while tables are selected"
                };
                let message = format!("`{}` does not run here{when}: {}", function.name, function.category);
                self.finding(Code::BuiltinRefused, message, "leave the function out", origin);
            }
        }
    }

    /// A function that was made with the cluster: those of `information_schema`, and PL/pgSQL's handlers.
    fn initial(&mut self, fact: &FunctionFact, origin: &Arc<Origin>) {
        let known = fact.name.schema == "information_schema"
            && builtin::INFORMATION_SCHEMA_FUNCTIONS.contains(&fact.name.name.as_str());
        if !known {
            let message = format!("`{}` does not run here", fact.name);
            self.finding(Code::BuiltinRefused, message, "leave the function out", origin);
        }
    }

    fn of_extension(&mut self, fact: &FunctionFact, extension: &str, origin: &Arc<Origin>) {
        let sight = if self.is_limited(origin) { Sight::Selected } else { Sight::Everything };
        if extension::runs(extension, fact, sight) {
            self.body_of_extension(fact, &origin.inside(format!("function `{}`", fact.name)));
        } else if !self.is_allowed(fact) {
            let message = format!(
                "`{}` of the extension `{extension}` is not on the list of functions that run",
                fact.name
            );
            self.finding(Code::ExtensionFunction, message, ALLOW, origin);
        }
    }

    /// Its author is trusted, but whoever can make functions and operators of the names in it may have them found in place of
    /// those that the author meant.
    fn body_of_extension(&mut self, fact: &FunctionFact, within: &Arc<Origin>) {
        if fact.aggregate.is_some() {
            return self.parts(fact, within);
        }
        match (fact.language.as_str(), &fact.sql_body) {
            ("sql", None) => self.extension_sql(fact, within),
            ("plpgsql", _) => self.extension_plpgsql(fact, within),
            _ => {}
        }
    }

    pub(super) fn setting_refused(&mut self, what: &str, origin: &Origin) {
        let message = format!(
            "`current_setting` asks for {what}, which is not on the list of settings that can be read"
        );
        self.finding(
            Code::BuiltinRefused,
            message,
            "name one of the settings that SHOW takes, as a literal",
            origin,
        );
    }

    /// A function that somebody wrote: it must compute on its arguments alone, and so must all that it calls.
    fn of_user(&mut self, fact: &FunctionFact, origin: &Arc<Origin>) {
        let within = origin.inside(format!("function `{}`", fact.name));
        if is_constructor(fact) {
            return self.signature(fact, &within);
        }
        if self.is_allowed(fact) {
            // The owner of the node vouches for the body; what PostgreSQL adds to the call is looked at all the same.
            self.trees_of(fact, &within, Reads::InnerRelations);
            self.signature(fact, &within);
            return self.parts(fact, &within);
        }
        let reason = if fact.volatility == Volatility::Volatile {
            "is VOLATILE"
        } else if fact.security_definer {
            "runs with its owner's rights (SECURITY DEFINER)"
        } else if fact.has_settings {
            "changes settings while it runs"
        } else if fact.superuser_owned {
            "belongs to a superuser"
        } else if fact.aggregate.is_none() && !matches!(fact.language.as_str(), "sql" | "plpgsql") {
            "is not written in SQL or PL/pgSQL"
        } else {
            self.trees_of(fact, &within, Reads::Nothing);
            self.signature(fact, &within);
            self.parts(fact, &within);
            return self.body_of(fact, &within);
        };
        let message = format!("function `{}` {reason}", fact.name);
        self.finding(Code::UserFunction, message, ALLOW, origin);
    }

    fn trees_of(&mut self, fact: &FunctionFact, within: &Arc<Origin>, reads: Reads) {
        if let Some(tree) = &fact.sql_body {
            self.tree(tree, within, reads);
        }
        if let Some(tree) = &fact.defaults {
            self.tree(tree, within, Reads::Nothing);
        }
    }

    fn body_of(&mut self, fact: &FunctionFact, within: &Arc<Origin>) {
        match (fact.aggregate.is_some() || fact.sql_body.is_some(), fact.language.as_str()) {
            // What a body in SQL's own form ends in becomes the result by a cast that its tree does not show.
            (true, "sql") => self.reach(Object::Casts, within),
            (true, _) => {}
            (false, "sql") => self.sql_source(&fact.source, within),
            (false, _) => self.plpgsql_source(fact, within),
        }
    }

    /// Arguments and results become values of these types, by checks and casts that a call's tree need not show.
    pub(super) fn signature(&mut self, fact: &FunctionFact, within: &Arc<Origin>) {
        fact.types.iter().for_each(|oid| self.reach(Object::Type(*oid, Json::No), within));
    }

    /// What an aggregate is made of.
    fn parts(&mut self, fact: &FunctionFact, within: &Arc<Origin>) {
        let Some(aggregate) = &fact.aggregate else { return };
        let listed = fact.extension.as_ref().filter(|extension| extension::is_listed(extension));
        for function in &aggregate.functions {
            let object = match listed {
                Some(extension) => Object::Part(*function, extension.clone()),
                None => Object::Support(*function),
            };
            self.reach(object, within);
        }
        for operator in &aggregate.operators {
            self.reach(Object::Operator(*operator), within);
        }
        for oid in &aggregate.types {
            self.reach(Object::Type(*oid, Json::No), within);
        }
    }

    fn is_allowed(&self, fact: &FunctionFact) -> bool {
        is_among(&fact.name, &self.rules.allowed_functions)
    }
}

/// The functions that PostgreSQL makes together with a range type: each is its own code under the type's name.
fn is_constructor(fact: &FunctionFact) -> bool {
    const CONSTRUCTORS: &[&str] = &[
        "range_constructor2",
        "range_constructor3",
        "multirange_constructor0",
        "multirange_constructor1",
        "multirange_constructor2",
    ];
    fact.language == "internal" && CONSTRUCTORS.contains(&fact.source.as_str())
}

pub(super) const ALLOW: &str =
    "use a built-in function, or ask the owner of the node to allow this one by name";
