"""Every operation over HTTP, the debug API of spec 3, errors, jobs."""

from __future__ import annotations

import json
import re

from infold.operations.contract import Face
from infold.operations.table import operations


async def test_every_operation_has_a_path(client):
    """What the table holds for this face is in the OpenAPI document, with its request and answer described."""
    async with client() as http:
        document = (await http.get("/api/openapi.json")).json()
    for name, operation in operations(Face.HTTP).items():
        said = document["paths"][f"/api/{name}"]["post"]
        assert said["operationId"] == name
        assert said["summary"] == operation.summary
        assert "200" in said["responses"]


async def test_an_operation_is_asked_with_json_and_answers_in_the_contract(client, vault):
    """The answer is what the operation gives, in camelCase."""
    async with client() as http:
        found = (await http.post("/api/memory_search", json={"query": "boiler pressure"})).json()
        first = found["results"]["notebook"][0]
        assert first["filePath"] == "house/boiler.md"
        read = await http.post("/api/memory_get", json={"path": first["filePath"], "startLine": 3, "lines": 1})
        assert read.json()["text"].strip() == "The pressure of the boiler is 1.4 bar."


async def test_wrong_requests_are_told_in_the_form_of_every_error(client):
    """An unknown field, a missing one, no JSON, and an error of the library: a status, a sentence, what to do."""
    async with client() as http:
        for body in ({"querry": "x"}, {}, {"query": "x", "maxResults": 0}):
            answer = await http.post("/api/memory_search", json=body)
            assert answer.status_code == 422
            assert set(answer.json()["error"]) == {"type", "message", "hint"}
        answer = await http.post("/api/memory_get", json={"path": "../secret"})
        assert answer.status_code == 400
        assert answer.json()["error"]["message"]
        form = await http.post("/api/memory_search", content=b'{"query":"x"}', headers={"content-type": "text/plain"})
        assert form.status_code in (400, 422)


async def test_a_long_operation_can_be_followed(client, folder):
    """Asked to answer at once, it gives a job; its events end with the answer, also for whoever comes late."""
    (folder / "inbox.md").write_text("The boiler's pressure rises to 2 bar when the heating is on.\n")
    async with client() as http:
        long = "inbox_integrate"
        started = await http.post(f"/api/{long}", json={"dryRun": True}, headers={"prefer": "respond-async"})
        assert started.status_code == 202, started.text
        events = started.json()["events"]
        for _ in range(2):
            text = (await http.get(events)).text
            assert "event: answer\n" in text, text
        state = (await http.get(events.removesuffix("/events"))).json()
        assert state["answer"]
        assert (await http.get("/api/jobs/none")).status_code == 400


async def test_what_happens_to_each_chunk_is_told_while_it_is_planned(client, folder):
    """For each chunk: what was looked at and opened, then what came of it; a late follower hears all of it."""
    (folder / "inbox.md").write_text("The brass valve of the boiler was replaced in May because it had corroded.\n")
    async with client() as http:
        asked = {"json": {"dryRun": True}, "headers": {"prefer": "respond-async"}}
        started = (await http.post("/api/inbox_integrate", **asked)).json()
        first = (await http.get(started["events"])).text
        again = (await http.get(started["events"])).text
    told = re.findall(r"event: happened\ndata: (.*)", first)
    assert re.search(r"Chunk 1 \(The brass valve of the boiler …\) looked at .*; opens house/boiler.md", told[0])
    assert "has its answer: 1 edit." in told[1]
    assert re.findall(r"event: happened\ndata: (.*)", again) == told


async def test_the_debug_api_has_the_keys_of_the_specification(client):
    """Spec 3, section 10: status, search, files and rebuild, key for key."""
    async with client() as http:
        rebuilt = (await http.post("/api/debug/memory/rebuild")).json()
        assert rebuilt["completed"] is True
        assert set(rebuilt["result"]) == {
            "filesScanned",
            "filesChanged",
            "chunksCreated",
            "embeddingsComputed",
            "durationMs",
        }
        words = (await http.post("/api/debug/memory/rebuild?wait=false")).text
        assert json.loads(words.split("data: ")[1].splitlines()[0]) == {
            "started": True,
            "message": "Full rebuild initiated",
        }
        status = (await http.get("/api/debug/memory/status")).json()
        assert set(status) == {
            "indexed",
            "lastSync",
            "lastSyncDuration",
            "files",
            "chunks",
            "embeddingModel",
            "dbSizeBytes",
            "watcherActive",
            "servedBy",
        }
        assert status["files"] == {"total": 2, "stale": 0}
        found = (await http.get("/api/debug/memory/search", params={"q": "valve", "sources": "notebook,daily"})).json()
        assert set(found) == {"query", "results", "timing"}
        assert set(found["results"]) == {"notebook", "daily", "sessions"}
        assert found["results"]["daily"] == []
        assert set(found["timing"]) == {"ftsMs", "vectorMs", "totalMs"}
        assert found["timing"]["totalMs"] >= found["timing"]["ftsMs"] > 0
        (best, *_) = found["results"]["notebook"]
        assert set(best) == {"filePath", "heading", "snippet", "score", "lines"}
        assert best["heading"] == "## Valve"
        assert best["lines"]["start"] <= 5 <= best["lines"]["end"]
        files = (await http.get("/api/debug/memory/files")).json()["files"]
        assert set(files[0]) == {"path", "hash", "mtime", "size", "chunks", "stale"}
        assert (await http.get("/api/debug/memory/search", params={"q": "x", "sources": "nowhere"})).status_code == 400
