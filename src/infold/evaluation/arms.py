"""The arms of an evaluation: the settings in force, those settings changed, or an evaluation made before."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from infold.errors import SettingInvalid, UsageError
from infold.evaluation.records import Arm, Evaluation
from infold.settings import Params, load_params

RESULT_FILE: Final = "result.json"
IN_FORCE: Final = "settings in force"


@dataclass(frozen=True, slots=True)
class ArmPlan:
    """An arm to be carried out: its name, what it changes (`section.name=value`) and the settings that result."""

    name: str
    settings: tuple[str, ...]
    params: Params


def plan_arms(params: Params, compared: Sequence[str]) -> tuple[list[ArmPlan], list[Arm]]:
    """The arms to carry out, the settings in force first, and those that were carried out earlier.

    Each of `compared` is `section.name=value` (several with spaces between them are one arm) or the path of an earlier
    evaluation's folder or of a file in it. Raises SettingInvalid and UsageError.
    """
    plans = [ArmPlan(IN_FORCE, (), params)]
    earlier = []
    for entry in compared:
        if _is_settings(entry):
            settings = tuple(entry.split())
            plans.append(ArmPlan(" ".join(settings), settings, with_settings(params, settings)))
        else:
            earlier.append(load_arm(Path(entry)))
    return plans, earlier


def with_settings(params: Params, settings: Sequence[str]) -> Params:
    """`params` with `section.name=value` on top. Raises SettingInvalid."""
    values = params.model_dump(mode="json")
    known = [f"{section}.{name}={json.dumps(value)}" for section in values for name, value in values[section].items()]
    return load_params(None, [*known, *settings])


def load_evaluation(path: Path) -> Evaluation:
    """The evaluation in a folder, or beside the file, that `path` names. Raises UsageError."""
    file = path / RESULT_FILE if path.is_dir() else path.with_name(RESULT_FILE)
    try:
        return Evaluation.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise UsageError(
            f"{path} is neither SECTION.NAME=VALUE nor an evaluation that can be read.",
            hint="Name a setting, such as exploration.search_candidates=0, or the folder that --out named before.",
        ) from error


def load_arm(path: Path) -> Arm:
    """The first arm of an earlier evaluation, named for its day. Raises UsageError."""
    evaluation = load_evaluation(path)
    name = f"evaluation of {evaluation.created_at[:16].replace('T', ' ')}"
    return evaluation.arms[0].model_copy(update={"name": name})


def _is_settings(entry: str) -> bool:
    words = entry.split()
    if not words:
        raise SettingInvalid("Nothing is named to compare with.", hint="Name SECTION.NAME=VALUE or a result.")
    return all("=" in word and "." in word.partition("=")[0] and "/" not in word.partition("=")[0] for word in words)
