"""One protocol for models, the adapters that speak it over HTTP, and what tokens cost.

Names load when they are used, so that the protocol alone stays cheap to import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestra.models.anthropic import AnthropicModel
    from orchestra.models.capabilities import Capabilities
    from orchestra.models.deadline import Deadline
    from orchestra.models.openai import OpenAIModel
    from orchestra.models.prices import context_window, price
    from orchestra.models.protocol import Message, Model, ModelReply, ModelRequest, Usage
    from orchestra.models.registry import ProviderRow, configured_models, default_spec, resolve_model

_HOMES = {
    "AnthropicModel": "anthropic",
    "Capabilities": "capabilities",
    "Deadline": "protocol",
    "Message": "protocol",
    "Model": "protocol",
    "ModelReply": "protocol",
    "ModelRequest": "protocol",
    "OpenAIModel": "openai",
    "ProviderRow": "registry",
    "Usage": "protocol",
    "configured_models": "registry",
    "context_window": "prices",
    "default_spec": "registry",
    "price": "prices",
    "resolve_model": "registry",
}

__all__ = [
    "AnthropicModel",
    "Capabilities",
    "Deadline",
    "Message",
    "Model",
    "ModelReply",
    "ModelRequest",
    "OpenAIModel",
    "ProviderRow",
    "Usage",
    "configured_models",
    "context_window",
    "default_spec",
    "price",
    "resolve_model",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
