//! The kinds of node, so that a rule that looks at some of them says what it does with all.

macro_rules! kinds {
    ($($kind:ident),* $(,)?) => {
        /// A kind of node, by the name of PostgreSQL's struct.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum NodeKind {
            $($kind),*
        }

        impl NodeKind {
            /// All of them.
            pub(crate) const ALL: &[Self] = &[$(Self::$kind),*];

            /// The struct's name.
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => stringify!($kind)),*
                }
            }
        }
    };
}

kinds! {
    Aggref, Alias, ArrayCoerceExpr, ArrayExpr, BoolExpr, BooleanTest, CTECycleClause, CTESearchClause,
    CaseExpr, CaseTestExpr, CaseWhen, CoalesceExpr, CoerceToDomain, CoerceToDomainValue, CoerceViaIO,
    CollateExpr, CommonTableExpr, Const, ConvertRowtypeExpr, DistinctExpr, FieldSelect, FromExpr, FuncExpr,
    GroupingFunc, GroupingSet, JoinExpr, JsonBehavior, JsonConstructorExpr, JsonExpr, JsonFormat,
    JsonIsPredicate, JsonReturning, JsonTablePath, JsonTablePathScan, JsonTableSiblingJoin, JsonValueExpr,
    MinMaxExpr, NamedArgExpr, NullIfExpr, NullTest, OpExpr, Param, Query, RTEPermissionInfo, RangeTblEntry,
    RangeTblFunction, RangeTblRef, RelabelType, RowCompareExpr, RowExpr, SQLValueFunction,
    ScalarArrayOpExpr, SetOperationStmt, SortGroupClause, SubLink, SubscriptingRef, TableFunc,
    TableSampleClause, TargetEntry, Var, WindowClause, WindowFunc, XmlExpr,
}
