"""Prefect's settings: quiet and private by default, and nobody's own choice overridden."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tasks import environment


def test_what_a_person_has_set_stays(monkeypatch, tmp_path):
    """A setting of one's own is kept; the rest is filled in."""
    monkeypatch.setattr(os, "environ", {"PREFECT_SERVER_EPHEMERAL_ENABLED": "true", "PREFECT_HOME": str(tmp_path)})
    environment.configure(tmp_path / "other", "http://127.0.0.1:4200/api", "infold:secret")
    assert os.environ["PREFECT_SERVER_EPHEMERAL_ENABLED"] == "true"
    assert os.environ["PREFECT_HOME"] == str(tmp_path)
    assert os.environ["DO_NOT_TRACK"] == "1"
    assert os.environ["PREFECT_API_URL"] == "http://127.0.0.1:4200/api"
    assert os.environ["PREFECT_API_AUTH_STRING"] == "infold:secret"


def test_settings_are_put_in_place_without_prefect():
    """They have to stand before Prefect is imported, so this module imports none of it."""
    code = "import sys, tasks.environment as e; e.configure(); print('prefect' in sys.modules)"
    folder = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
