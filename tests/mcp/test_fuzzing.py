"""Whatever an agent passes to a tool is answered."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from infold.operations.contract import Face
from infold.operations.schemas import arguments_schema
from infold.operations.table import operations

EXAMPLES = 4  # a tool


def fitting(schema):
    """What a plain schema allows, near enough: lengths and bounds of numbers are kept."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema.get("type", "string")
    if kind == "object":
        required = set(schema.get("required", ()))
        known = {name: fitting(inner) for name, inner in schema.get("properties", {}).items()}
        return st.fixed_dictionaries(
            {name: inner for name, inner in known.items() if name in required},
            optional={name: inner for name, inner in known.items() if name not in required},
        )
    if kind == "array":
        return st.lists(fitting(schema.get("items", {})), min_size=schema.get("minItems", 0), max_size=3)
    if kind == "integer":
        low = schema.get("minimum", -3)
        return st.integers(low, min(schema.get("maximum", low + 50), low + 50))
    if kind == "number":
        return st.floats(schema.get("minimum", 0), schema.get("maximum", 5))
    if kind == "boolean":
        return st.booleans()
    return st.sampled_from(["index.md", "house/boiler", "../x", "", "[[x]]", "w-last", "a:b:c"]) | st.text(max_size=12)


def calls():
    """A tool with arguments: as its schema allows them, or anything under its names, or under none."""
    anything = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=6,
    )
    for name, operation in operations(Face.MCP).items():
        schema = arguments_schema(operation.request)
        named = st.dictionaries(st.sampled_from(sorted(schema["properties"]) or ["x"]), anything, max_size=4)
        yield name, fitting(schema) | named | st.dictionaries(st.text(max_size=10), anything, max_size=3)


def examples(arguments):
    """Some of what a strategy gives, the same in every run."""
    drawn = []

    @given(arguments)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def draw(one):
        drawn.append(one)

    draw()
    return drawn


async def test_no_arguments_break_a_tool(connected, vault, tmp_path):
    """No exception escapes, an error is an answer; the server goes on, and nothing lies beyond the vault."""
    async with connected() as client:
        for name, strategy in calls():
            for arguments in examples(strategy):
                answer = await client.call_tool(name, arguments)
                said = "".join(getattr(part, "text", "") for part in answer.content)
                assert said, (name, arguments)
                assert "Traceback" not in said, (name, arguments)
        assert not (await client.call_tool("memory_search", {"query": "boiler"})).is_error
    assert {each.name for each in tmp_path.iterdir()} == {"vault", "state"}
