"""Settings: seen with where they come from, and changed without a word of the file lost."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from infold.errors import SettingInvalid
from infold.settings import Params, load_params
from infold.settings_file import change_setting, names, said_in


@pytest.fixture
def vault(tmp_path):
    """A vault with a root note that is found, and a file of settings with comments."""
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Home.md").write_text("# Home\n")
    (tmp_path / "params.yaml").write_text(
        "# mine\nvault:\n  path: vault\nsearch:\n  max_results: 7  # enough\n\n  min_score: 0.3\n"
    )
    return folder


def found(infold, *words) -> dict[str, tuple[object, str]]:
    """Value and origin by name."""
    done = json.loads(infold("config", "list", "--json", *words).stdout)
    return {each["name"]: (each["value"], each["from"]) for each in done["settings"]}


def test_each_value_says_where_it_comes_from(infold, vault, tmp_path, monkeypatch):
    """The default, the file by its path, an option, the vault itself, the environment; a key is never shown."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    values = found(infold, "--set", "integrate.concurrency=3")
    assert set(names()) < set(values)
    assert values["search.max_results"] == (7, str(tmp_path / "params.yaml"))
    assert values["search.language"] == ("auto", "default")
    assert values["integrate.concurrency"] == (3, "option --set")
    assert values["vault.root_file"] == ("Home.md", "found in the vault")
    assert values["OPENAI_BASE_URL"] == ("http://localhost:1/v1", "environment")
    assert values["INFOLD_QDRANT_URL"] == (None, "not set")
    assert values["OPENAI_API_KEY"] == ("set, not shown", "environment")
    assert "search.language" not in infold("config", "--changed").stdout


def test_one_value_is_bare_on_stdout(infold, vault, tmp_path, monkeypatch):
    """For a script; where it comes from is said on stderr. A misspelt name is told with the near one."""
    monkeypatch.chdir(tmp_path)
    done = infold("config", "get", "search.max_results")
    assert done.stdout == "7\n"
    assert "params.yaml" in done.stderr
    assert infold("config", "get", "librarian.max_usd").stdout == "null\n"
    wrong = infold("config", "get", "search.max_result")
    assert wrong.exit_code == 2
    assert "Did you mean search.max_results" in wrong.stderr


def test_setting_one_keeps_everything_else(infold, vault, tmp_path, monkeypatch):
    """Comments, blank lines and order stay; what is out of range changes nothing; taken out, the default counts."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "params.yaml"
    before = file.read_text()
    assert infold("config", "set", "search.max_results", "9").exit_code == 0
    assert file.read_text() == before.replace("7  # enough", "9  # enough")
    assert infold("config", "set", "librarian.kind", "model").exit_code == 0
    assert file.read_text().endswith("librarian:\n  kind: model\n")
    was = file.read_text()
    refused = infold("config", "set", "search.max_results", "0")
    assert refused.exit_code == 2
    assert "search.max_results" in refused.stderr
    assert "(--set)" not in refused.stderr
    assert file.read_text() == was
    assert infold("config", "unset", "search.max_results").exit_code == 0
    assert found(infold)["search.max_results"] == (Params().search.max_results, "default")


def test_without_a_file_one_is_made_in_the_state_folder(infold, tmp_path):
    """Never in the vault."""
    (tmp_path / "notes").mkdir()
    where = ("--vault", tmp_path / "notes", "--state", tmp_path / "state")
    assert infold("config", "set", "integrate.concurrency", "2", *where).exit_code == 0
    assert yaml.safe_load((tmp_path / "state" / "params.yaml").read_text()) == {"integrate": {"concurrency": 2}}
    assert infold("config", "get", "integrate.concurrency", *where).stdout == "2\n"
    assert list((tmp_path / "notes").iterdir()) == []


def test_edit_opens_the_file_and_checks_it(infold, vault, tmp_path, monkeypatch):
    """What the editor left is read at once, and what is wrong with it is said with the file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    assert "Set EDITOR" in infold("config", "edit").stderr
    monkeypatch.setenv("EDITOR", "sed -i s/max_results/max_result/")
    done = infold("config", "edit")
    assert done.exit_code == 2
    assert "search.max_result" in done.stderr
    assert "params.yaml" in done.stderr


@pytest.mark.parametrize("text", ["search: {max_results: 7}\n", "search:\n  'max_results': 7\n"])
def test_a_file_written_in_another_way_is_left_alone(tmp_path, text):
    """Rather than written wrongly: `config edit` is named."""
    file = tmp_path / "params.yaml"
    file.write_text(text)
    with pytest.raises(SettingInvalid) as refused:
        change_setting(file, "search.max_results", "9")
    assert "config edit" in (refused.value.hint or "")
    assert file.read_text() == text


@given(
    st.lists(st.sampled_from(["search.max_results", "search.fusion_k", "evaluate.questions", "watch.polling"])),
    st.sampled_from(["search.max_results", "evaluate.questions", "integrate.concurrency"]),
    st.one_of(st.none(), st.integers(1, 99)),
)
def test_whatever_a_file_says_one_change_changes_one_setting(tmp_path_factory, said, name, value):
    """Set or taken out, first or last of its section: all others mean what they meant."""
    file = tmp_path_factory.mktemp("settings") / "params.yaml"
    content: dict[str, dict[str, object]] = {}
    for each in said:
        section, _, key = each.partition(".")
        content.setdefault(section, {})[key] = True if each == "watch.polling" else 5
    file.write_text("# a\n" + (yaml.safe_dump(content, sort_keys=False) if content else ""))
    before = said_in(file)
    change_setting(file, name, None if value is None else str(value))
    wanted = {key: each for key, each in before.items() if key != name} | ({} if value is None else {name: value})
    assert said_in(file) == wanted
    load_params(file)
