"""The API asked everything that its description allows, and much that it does not."""

from __future__ import annotations

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from starlette.testclient import TestClient

import infold
from infold.web.app import create_app


def files_of(folder):
    """Every file below a folder with its bytes."""
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_no_request_breaks_the_server_or_leaves_the_vault(folder, tmp_path):
    """Whatever is sent to whichever path: no 500, no traceback, nothing written beyond vault and state."""
    beyond = tmp_path / "beyond"
    beyond.mkdir()
    (beyond / "kept.md").write_text("kept")
    with infold.open(folder, state=tmp_path / "state", changes=["search.embedding=static"]) as vault:
        app = create_app(vault)
        http = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)
        schema = schemathesis.openapi.from_dict(http.get("/api/openapi.json").json())
        schema.config.generation.update(modes=[GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
        faults, statuses = [], set()
        for found in schema.get_all_operations():
            operation = found.ok()  # type: ignore[union-attr]

            @given(case=operation.as_strategy())
            @settings(
                max_examples=3,
                deadline=None,
                database=None,
                derandomize=True,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            def ask(case):
                sent = case.as_transport_kwargs(base_url="http://127.0.0.1")
                sent.pop("cookies", None)
                answer = http.request(**sent)
                statuses.add(answer.status_code)
                if answer.status_code >= 500 or "Traceback" in answer.text:
                    faults.append((case.method, case.formatted_path, case.body, answer.status_code, answer.text[:300]))

            ask()
    assert faults == []
    assert {200, 422} <= statuses
    assert files_of(beyond) == {beyond.joinpath("kept.md").relative_to(beyond): b"kept"}
    assert {each.name for each in tmp_path.iterdir()} == {"vault", "state", "beyond"}
