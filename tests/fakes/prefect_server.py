"""One real Prefect server for all tests that need one, with our pins and settings, as `infold flows up` has it."""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Iterator

import pytest

from tests.fakes.ports import free_port


@pytest.fixture(scope="session")
def prefect_api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The API address of a real server with an empty database; flows of this process and of its children use it."""
    from flows.processes import children
    from flows.serve import start_server
    from flows.server_folder import ServerFolder
    from tasks.environment import configure

    folder = ServerFolder(tmp_path_factory.mktemp("prefect"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PREFECT_HOME", str(folder.path))
        patch.setenv("PREFECT_API_URL", "")
        before = dict(os.environ)
        with children() as start:
            _, api_url = start_server(free_port(), folder, start, threading.Event())
            configure(folder.home, api_url, folder.auth_string())
            # Imported here at the latest: within a test it would take pytest's handlers from the root logger.
            importlib.import_module("prefect.main")
            from prefect.context import refresh_global_settings_context

            refresh_global_settings_context()  # imported by a test before, it has read its settings then
            yield api_url
            end_workers()
        os.environ.clear()
        os.environ.update(before)


def end_workers() -> None:
    """End what Prefect keeps running in this process; the next flow starts them again.

    What the log's still has to send, it would try to send for a minute after the server; the events' sends a ping every
    twenty seconds, of bytes from the generator that Hypothesis watches while it draws an example.
    """
    from prefect.events.worker import EventsWorker
    from prefect.logging.handlers import APILogWorker

    APILogWorker.drain_all(timeout=60)
    EventsWorker.drain_all(timeout=60)
