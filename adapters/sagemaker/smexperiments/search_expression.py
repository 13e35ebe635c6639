"""Search expressions, for TrialComponent.search() and ExperimentAnalytics."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

__all__ = ["BooleanOperator", "Filter", "NestedFilter", "Operator", "SearchExpression"]


class Operator(Enum):
    """How a property is compared."""

    EQUALS = "Equals"
    NOT_EQUALS = "NotEquals"
    GREATER_THAN = "GreaterThan"
    GREATER_THAN_OR_EQUAL = "GreaterThanOrEqualTo"
    LESS_THAN = "LessThan"
    LESS_THAN_OR_EQUAL = "LessThanOrEqualTo"
    CONTAINS = "Contains"
    EXISTS = "Exists"
    NOT_EXISTS = "NotExists"
    IN = "In"


class BooleanOperator(Enum):
    """Whether all parts have to be met, or one of them."""

    AND = "And"
    OR = "Or"


class Filter:
    """One property, such as Parameters.lr or Metrics.loss.Min, and what it is to be."""

    def __init__(self, name: str, operator: Operator | None = None, value: str | None = None):
        self.name, self.operator, self.value = name, operator, value

    def to_boto(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"Name": self.name}
        if self.operator is not None:
            fields["Operator"] = self.operator.value
        if self.value is not None:
            fields["Value"] = str(self.value)
        return fields


class NestedFilter:
    """Filters that one and the same metric, parent or artifact has to meet."""

    def __init__(self, property_name: str, filters: Sequence[Filter]):
        self.property_name, self.filters = property_name, list(filters)

    def to_boto(self) -> dict[str, Any]:
        return {"NestedPropertyName": self.property_name, "Filters": [each.to_boto() for each in self.filters]}


class SearchExpression:
    """Filters, nested filters and further expressions, of which all are to be met, or one."""

    def __init__(
        self,
        filters: Sequence[Filter] | None = None,
        nested_filters: Sequence[NestedFilter] | None = None,
        sub_expressions: Sequence[SearchExpression] | None = None,
        boolean_operator: BooleanOperator = BooleanOperator.AND,
    ):
        if not (filters or nested_filters or sub_expressions):
            raise ValueError("SearchExpression: expected filters, nested_filters or sub_expressions, found none")
        self.filters, self.nested_filters = list(filters or ()), list(nested_filters or ())
        self.sub_expressions, self.boolean_operator = list(sub_expressions or ()), boolean_operator

    def to_boto(self) -> dict[str, Any]:
        parts = {
            "Filters": [each.to_boto() for each in self.filters],
            "NestedFilters": [each.to_boto() for each in self.nested_filters],
            "SubExpressions": [each.to_boto() for each in self.sub_expressions],
        }
        return {**{name: part for name, part in parts.items() if part}, "Operator": self.boolean_operator.value}
