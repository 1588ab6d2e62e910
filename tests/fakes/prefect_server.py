"""One real Prefect server for all tests that need one, with our pins and settings, as `infold flows up` has it."""

from __future__ import annotations

import os
import sys
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
            if "prefect" in sys.modules:  # imported by a test before: it reads its settings when it is
                from prefect.context import refresh_global_settings_context

                refresh_global_settings_context()
            yield api_url
            if "prefect" in sys.modules:  # what it still has to send, it would try to send for a minute after the end
                from prefect.events.worker import EventsWorker
                from prefect.logging.handlers import APILogWorker

                APILogWorker.drain_all(timeout=60)
                EventsWorker.drain_all(timeout=60)
        os.environ.clear()
        os.environ.update(before)
