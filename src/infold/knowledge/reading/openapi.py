"""An API description (OpenAPI, Swagger) as Markdown: what the API is, and each of its operations."""

from __future__ import annotations

import json
from typing import Any, Final

import yaml

from infold.knowledge.reading.records import SourceText

_METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_MOST_OPERATIONS: Final = 2_000


def read_api(text: str) -> SourceText | None:
    """The description in `text`, JSON or YAML; None where it is none."""
    document = _loaded(text)
    if not isinstance(document, dict) or not (document.get("openapi") or document.get("swagger")):
        return None
    facts = _mapping(document.get("info"))
    title = _line(facts.get("title")) or "API"
    version = _line(facts.get("version"))
    parts = [f"# {title}{f' {version}' if version else ''}", _text(facts.get("description"))]
    servers = [_line(_mapping(server).get("url")) for server in _sequence(document.get("servers"))]
    if servers:
        parts.append("Servers: " + ", ".join(server for server in servers if server))
    count = 0
    for path, item in _mapping(document.get("paths")).items():
        for method, operation in _mapping(item).items():
            if method in _METHODS and count < _MOST_OPERATIONS:
                count += 1
                parts.append(_operation(f"{method.upper()} {path}", _mapping(operation)))
    for name, schema in _mapping(_mapping(document.get("components")).get("schemas")).items():
        parts.append(_schema(str(name), _mapping(schema)))
    licence = _line(_mapping(facts.get("license")).get("name"))
    return SourceText(title, "\n\n".join(part for part in parts if part) + "\n", "api", licence=licence)


def _operation(name: str, operation: dict[str, Any]) -> str:
    parts = [f"## {name}", _text(operation.get("summary")), _text(operation.get("description"))]
    parameters = [_mapping(parameter) for parameter in _sequence(operation.get("parameters"))]
    lines = [
        f"- `{_line(p.get('name'))}` ({_line(p.get('in'))}{', required' if p.get('required') else ''}): "
        f"{_line(p.get('description'))}".rstrip(": ")
        for p in parameters
        if p.get("name")
    ]
    answers = _mapping(operation.get("responses")).items()
    lines += [
        f"- answers {status}: {_line(_mapping(answer).get('description'))}".rstrip(": ") for status, answer in answers
    ]
    return "\n\n".join(part for part in (*parts, "\n".join(lines)) if part)


def _schema(name: str, schema: dict[str, Any]) -> str:
    fields = _mapping(schema.get("properties")).items()
    lines = [
        f"- `{field}`: {_line(_mapping(facts).get('type'))} {_line(_mapping(facts).get('description'))}".rstrip()
        for field, facts in fields
    ]
    return "\n\n".join(
        part for part in (f"## Schema {name}", _text(schema.get("description")), "\n".join(lines)) if part
    )


def _loaded(text: str) -> Any:
    try:
        if text.lstrip().startswith("{"):
            return json.loads(text)
        if "openapi" not in text[:2000] and "swagger" not in text[:2000]:
            return None
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)):
            return None  # aliases multiply
        return yaml.safe_load(text)
    except (ValueError, yaml.YAMLError, RecursionError):
        return None


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _line(value: Any) -> str:
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
