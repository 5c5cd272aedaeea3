"""Permissions: sets that only narrow. `child = parent.intersect(declared).intersect(policy)`."""

from orchestra.skills.permissions.arguments import ArgumentPattern
from orchestra.skills.permissions.declared import declared_permissions
from orchestra.skills.permissions.entries import OWN_FILES, HostName, Name, Root, ToolCall, ToolRule, model_named
from orchestra.skills.permissions.grants import Grants, Outcome
from orchestra.skills.permissions.permission_set import EVERYTHING, KINDS, Narrowing, PermissionSet, narrowings

__all__ = [
    "EVERYTHING",
    "KINDS",
    "OWN_FILES",
    "ArgumentPattern",
    "Grants",
    "HostName",
    "Name",
    "Narrowing",
    "Outcome",
    "PermissionSet",
    "Root",
    "ToolCall",
    "ToolRule",
    "declared_permissions",
    "model_named",
    "narrowings",
]
