"""From a name like "anthropic:claude-sonnet-5-5" to a model that answers.

| name | server | key |
| --- | --- | --- |
| `anthropic:NAME` | `ANTHROPIC_BASE_URL` or api.anthropic.com | `ANTHROPIC_API_KEY`, or `ANTHROPIC_AUTH_TOKEN` |
| `openai:NAME` | `OPENAI_BASE_URL` or api.openai.com | `OPENAI_API_KEY`; none needed elsewhere |
| `ollama:NAME` | `OLLAMA_HOST` or localhost:11434 | `OLLAMA_API_KEY`; none needed |
| `builtin:extractive` | none | none |
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from orchestra.errors import InputInvalid, ModelAuth
from orchestra.models.keys import display_url
from orchestra.models.protocol import Model

if TYPE_CHECKING:
    from orchestra.models.capabilities import Capabilities

ANTHROPIC_URL = "https://api.anthropic.com"
OPENAI_URL = "https://api.openai.com/v1"
OLLAMA_PORT = 11434
DEFAULT_ANTHROPIC = "claude-sonnet-5-5"
DEFAULT_OPENAI = "gpt-6-sol"
BUILTIN = "builtin:extractive"
PROVIDERS = ("anthropic:NAME", "openai:NAME", "ollama:NAME", BUILTIN)


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """How one provider is configured: what `orchestra models` prints. `model` is a spec that can be passed on."""

    provider: str
    model: str
    base_url: str
    key_variable: str
    has_key: bool
    note: str
    is_default: bool


@dataclass(frozen=True, slots=True)
class Server:
    """Where a provider is, as the environment says, and the variable that its key is read from."""

    base_url: str
    key_variable: str
    is_default: bool


def resolve_model(spec: str | Model | None, *, environ: Mapping[str, str] | None = None) -> Model:
    """The model that `spec` names; an object with a `complete` method passes as it is.

    None means `ORCHESTRA_MODEL`, else the provider whose key is set (Anthropic first), else an OpenAI-compatible
    server if `OPENAI_BASE_URL` is set, else the built-in engine. Cheap: the same name and environment give the same
    object. Raises `InputInvalid` for a name of no provider and `ModelAuth` for a missing key.
    """
    if spec is not None and not isinstance(spec, str):
        return _checked(spec)
    environ = os.environ if environ is None else environ
    name = (spec or default_spec(environ)).strip()
    if name == BUILTIN:
        return _builtin()
    provider, _, model = name.partition(":")
    if provider not in _SERVERS or not model:
        raise InputInvalid(
            f"{name!r} names no model",
            cause=f"a model is one of {', '.join(PROVIDERS)}",
            suggestion=_guess(name) or "`orchestra models` shows which are configured.",
        )
    server = _SERVERS[provider](environ)
    if server.is_default and provider != "ollama" and not _has(environ, server.key_variable):
        raise ModelAuth(
            f"no key for {name}",
            cause=f"{server.key_variable} is not set",
            suggestion=f"Set {server.key_variable}, or use model={BUILTIN!r}, which needs none.",
        )
    return _adapter(provider, model, server, environ.get(server.key_variable, "").strip())


def default_spec(environ: Mapping[str, str]) -> str:
    """The name of the model that is used when none is named."""
    if _has(environ, "ORCHESTRA_MODEL"):
        return environ["ORCHESTRA_MODEL"].strip()
    if _has(environ, "ANTHROPIC_API_KEY") or _has(environ, "ANTHROPIC_AUTH_TOKEN"):
        return f"anthropic:{DEFAULT_ANTHROPIC}"
    if _has(environ, "OPENAI_API_KEY") or _has(environ, "OPENAI_BASE_URL"):
        return f"openai:{DEFAULT_OPENAI}"
    return BUILTIN


def configured_models(environ: Mapping[str, str] | None = None) -> list[ProviderRow]:
    """One row per provider, in a fixed order. The row of the default model shows that model."""
    environ = os.environ if environ is None else environ
    default = default_spec(environ)
    named = [f"anthropic:{DEFAULT_ANTHROPIC}", f"openai:{DEFAULT_OPENAI}", "ollama:llama3.2"]
    rows = [_row(model, default, environ) for model in named]
    note = "quotes and does not reason; needs no key and no network"
    return [*rows, ProviderRow("builtin", BUILTIN, "", "", False, note, default == BUILTIN)]


def _row(model: str, default: str, environ: Mapping[str, str]) -> ProviderRow:
    provider = model.partition(":")[0]
    is_default = default.partition(":")[0] == provider
    named = default if is_default else model
    try:
        server = _SERVERS[provider](environ)
    except InputInvalid as error:
        return ProviderRow(provider, named, "", "", False, error.what, is_default)
    has_key = _has(environ, server.key_variable)
    note = _note(provider, server, has_key)
    return ProviderRow(provider, named, display_url(server.base_url), server.key_variable, has_key, note, is_default)


def _note(provider: str, server: Server, has_key: bool) -> str:
    if provider == "ollama":
        return "`ollama serve` must run; set its OLLAMA_CONTEXT_LENGTH for long documents, or it cuts them silently"
    if has_key:
        return "ready"
    return f"set {server.key_variable}" if server.is_default else "ready, if the server asks for no key"


def _anthropic_server(environ: Mapping[str, str]) -> Server:
    base_url = _base_url(environ, "ANTHROPIC_BASE_URL", ANTHROPIC_URL, ("/v1/messages", "/v1"))
    is_token = _has(environ, "ANTHROPIC_AUTH_TOKEN") and not _has(environ, "ANTHROPIC_API_KEY")
    return Server(base_url, "ANTHROPIC_AUTH_TOKEN" if is_token else "ANTHROPIC_API_KEY", base_url == ANTHROPIC_URL)


def _openai_server(environ: Mapping[str, str]) -> Server:
    base_url = _base_url(environ, "OPENAI_BASE_URL", OPENAI_URL, ("/chat/completions",))
    base_url = base_url if urlsplit(base_url).path else f"{base_url}/v1"
    return Server(base_url, "OPENAI_API_KEY", base_url == OPENAI_URL)


def _ollama_server(environ: Mapping[str, str]) -> Server:
    """`OLLAMA_HOST` as Ollama reads it: a host, with or without scheme and port; 0.0.0.0 is where it listens."""
    host = environ.get("OLLAMA_HOST", "").strip()
    scheme, separator, rest = host.partition("://")
    if not separator:
        authority, slash, path = host.partition("/")
        has_port = ":" in authority and not authority.endswith("]")
        name, _, port = authority.rpartition(":") if has_port else (authority, "", "")
        host = f"http://{name or 'localhost'}:{port or OLLAMA_PORT}{slash}{path}"
    elif not rest:
        host = f"{scheme}://localhost:{OLLAMA_PORT}"
    base_url = _base_url({"OLLAMA_HOST": host.replace("//0.0.0.0", "//localhost")}, "OLLAMA_HOST", "", ("/v1",)) + "/v1"
    return Server(base_url, "OLLAMA_API_KEY", base_url == f"http://localhost:{OLLAMA_PORT}/v1")


_SERVERS = {"anthropic": _anthropic_server, "openai": _openai_server, "ollama": _ollama_server}


def _base_url(environ: Mapping[str, str], variable: str, default: str, endings: tuple[str, ...]) -> str:
    """The base URL without a trailing slash and without the path that the adapter adds."""
    url = (environ.get(variable, "").strip() or default).rstrip("/")
    try:
        parts = urlsplit(url)
        is_callable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_callable = False
    if not is_callable:
        raise InputInvalid(
            f"{variable} is no http or https URL: {display_url(url)!r}", suggestion=f"Correct {variable}, or unset it."
        )
    for ending in endings:
        url = url.removesuffix(ending).rstrip("/")
    return url


@lru_cache(maxsize=64)
def _adapter(provider: str, model: str, server: Server, key: str) -> Model:
    if provider == "anthropic":
        from orchestra.models.anthropic import AnthropicModel

        is_token = server.key_variable == "ANTHROPIC_AUTH_TOKEN"
        key, token = ("", key) if is_token else (key, "")
        return AnthropicModel(model, base_url=server.base_url, key=key, token=token, capabilities=_capabilities())
    from orchestra.models.openai import OpenAIModel

    name = f"{provider}:{model}"
    return OpenAIModel(model, base_url=server.base_url, key=key, name=name, capabilities=_capabilities())


@cache
def _capabilities() -> Capabilities:
    """What the process has learnt about servers: adapters come and go, this stays."""
    from orchestra.models.capabilities import Capabilities

    return Capabilities()


@cache
def _builtin() -> Model:
    from orchestra.models.extractive import ExtractiveModel

    return ExtractiveModel()


def _checked(candidate: Any) -> Model:
    if isinstance(candidate, type) or not callable(getattr(candidate, "complete", None)):
        raise InputInvalid(
            f"model is a {type(candidate).__name__}" if not isinstance(candidate, type) else "model is a class",
            cause="a model is a name, or an object with complete(ModelRequest) -> ModelReply",
        )
    return candidate


def _guess(name: str) -> str:
    """What was probably meant by a name without its provider."""
    if ":" not in name and name.startswith("claude"):
        return f"Did you mean 'anthropic:{name}'?"
    if ":" not in name and name.startswith(("gpt", "o1", "o3", "o4")):
        return f"Did you mean 'openai:{name}'?"
    return ""


def _has(environ: Mapping[str, str], variable: str) -> bool:
    return bool(environ.get(variable, "").strip())
