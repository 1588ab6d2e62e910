"""What the forms of the memory pages change: each asks one operation, and leads to the page that shows it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from urllib.parse import urlencode

from infold.docmem.budgeted_expansion import PRIORITY, STICKY
from infold.docmem.node import SUMMARY
from infold.errors import UsageError
from infold.operations import docmem_exchange as exchange
from infold.operations import docmem_marks
from infold.operations import docmem_writing as writing
from infold.operations.docmem import DocmemNodeRequest
from infold.web.rendering import Pages

FormFields = Mapping[str, str]

DONE: Final = {
    "saved": "Saved.",
    "added": "Added.",
    "moved": "Moved.",
    "copied": "Copied.",
    "folded": "Folded below its summary; Unfold takes it back.",
    "unfolded": "Unfolded.",
    "restored": "It is back.",
    "deleted": "Deleted.",
    "created": "The tree is there.",
    "sent": "Sent to the inbox.",
    "already": "The inbox had these texts before; nothing was sent.",
}


def memory_address(root: str, node: str = "", **more: str) -> str:
    """Where a tree is open, at a node."""
    values = {"root": root, "node": node, **more}
    return f"/memory?{urlencode({name: value for name, value in values.items() if value})}" + (
        f"#n-{node}" if node else ""
    )


async def change_memory(pages: Pages, form: FormFields) -> str:
    """Does what the form asks, and gives the address of what there is to see. Raises InfoldError."""
    action = form.get("action", "")
    if action not in _ACTIONS:
        raise UsageError(f"There is no change {action!r}.", hint=f"There are {', '.join(_ACTIONS)}.")
    return await _ACTIONS[action](pages, form)


def _text(form: FormFields, name: str = "text") -> str:
    return form.get(name, "").replace("\r\n", "\n").strip()


def _context(form: FormFields, kind: str = "memory") -> dict[str, str]:
    given = {f"context_{part}": form.get(f"context_{part}", "").strip() for part in ("type", "name", "value")}
    return given | {"context_type": given["context_type"] or kind}


def _locked(form: FormFields) -> dict[str, str]:
    return {"node": form["node"], "expected_hash": form.get("hash", "")}


def _here(form: FormFields, done: str, node: str | None = None, **more: str) -> str:
    return memory_address(form["root"], form["node"] if node is None else node, done=done, **more)


async def _create(pages: Pages, form: FormFields) -> str:
    root = form.get("name", "").strip() or None
    request = writing.DocmemCreateRequest(root=root, text=_text(form), **_context(form, "root"))
    made = await pages.ask(writing.docmem_create, request)
    return memory_address(made.id, made.id, done="created")


async def _import(pages: Pages, form: FormFields) -> str:
    request = exchange.DocmemImportTextRequest(name=form.get("name", "").strip() or "text.md", text=_text(form))
    made = await pages.ask(exchange.docmem_import_text, request)
    return memory_address(made.node.id, made.node.id, done="created")


async def _edit(pages: Pages, form: FormFields) -> str:
    request = writing.DocmemUpdateContentRequest(text=_text(form), **_locked(form))
    await pages.ask(writing.docmem_update_content, request)
    return _here(form, "saved")


async def _recontext(pages: Pages, form: FormFields) -> str:
    request = writing.DocmemUpdateContextRequest(**_context(form), **_locked(form))
    await pages.ask(writing.docmem_update_context, request)
    return _here(form, "saved")


async def _add(pages: Pages, form: FormFields) -> str:
    new: dict[str, Any] = {"text": _text(form, "new"), **_context(form)}
    side = form.get("side", "child")
    if side == "child":
        made = await pages.ask(writing.docmem_append, writing.DocmemAppendRequest(parent=form["node"], **new))
    else:
        ask = writing.docmem_insert_before if side == "before" else writing.docmem_insert_after
        made = await pages.ask(ask, writing.DocmemInsertRequest(target=form["node"], **new))
    return _here(form, "added", made.id)


async def _note(pages: Pages, form: FormFields) -> str:
    made = await pages.ask(writing.docmem_note, writing.DocmemNoteRequest(node=form["node"], text=_text(form, "new")))
    return _here(form, "added", made.id)


async def _move(pages: Pages, form: FormFields) -> str:
    place = {"side": form.get("side", "child"), "target": form.get("target", "").strip()}
    request = writing.DocmemMoveRequest.model_validate(place | _locked(form))
    await pages.ask(writing.docmem_move, request)
    return _here(form, "moved")


async def _copy(pages: Pages, form: FormFields) -> str:
    place = {"node": form["node"], "side": form.get("side", "child"), "target": form.get("target", "").strip()}
    made = await pages.ask(writing.docmem_copy, writing.DocmemCopyRequest.model_validate(place))
    return _here(form, "copied", made.id)


async def _delete(pages: Pages, form: FormFields) -> str:
    await pages.ask(writing.docmem_delete, writing.DocmemDeleteRequest(**_locked(form), for_good=False))
    is_whole = form["node"] == form["root"]
    gone = form["node"]
    return memory_address("" if is_whole else form["root"], done="deleted", gone=gone)


async def _restore(pages: Pages, form: FormFields) -> str:
    made = await pages.ask(writing.docmem_restore_deleted, DocmemNodeRequest(node=form["node"]))
    return memory_address(form.get("root", "") or made.id, made.id, done="restored")


async def _fold(pages: Pages, form: FormFields) -> str:
    """From the chosen node to the one that is named, in the order in which the page listed them."""
    listed = [pair.split("=", 1) for pair in form.get("following", "").split()]
    last = next((place for place, (node, _) in enumerate(listed) if node == form.get("through")), 0)
    read = tuple(writing.ReadNode(id=node, hash=known) for node, known in listed[: last + 1])
    request = writing.DocmemSummarizeRequest(expected_hashes=read, text=_text(form, "new"), **_context(form, SUMMARY))
    made = await pages.ask(writing.docmem_summarize, request)
    return _here(form, "folded", made.id)


async def _unfold(pages: Pages, form: FormFields) -> str:
    back = await pages.ask(writing.docmem_unsummarize, writing.LockedRequest(**_locked(form)))
    return _here(form, "unfolded", back.nodes[0].id if back.nodes else "")


async def _version(pages: Pages, form: FormFields) -> str:
    request = writing.DocmemRestoreVersionRequest.model_validate({"version": form.get("version")} | _locked(form))
    await pages.ask(writing.docmem_restore_version, request)
    return _here(form, "saved")


async def _mark(pages: Pages, form: FormFields) -> str:
    """Priority and group as they stand in the form; an empty one is none."""
    for name in (PRIORITY, STICKY):
        value = form.get(name, "").strip()
        if value:
            request = docmem_marks.DocmemMarkRequest(node=form["node"], name=name, value=value)
            await pages.ask(docmem_marks.docmem_mark, request)
        else:
            await pages.ask(docmem_marks.docmem_unmark, docmem_marks.DocmemUnmarkRequest(node=form["node"], name=name))
    return _here(form, "saved")


async def _to_inbox(pages: Pages, form: FormFields) -> str:
    done = await pages.ask(exchange.docmem_to_inbox, exchange.DocmemToInboxRequest(node=form["node"]))
    return _here(form, "sent" if done.sent else "already")


_ACTIONS: Final[Mapping[str, Callable[[Pages, FormFields], Awaitable[str]]]] = {
    "create": _create,
    "import": _import,
    "edit": _edit,
    "context": _recontext,
    "add": _add,
    "note": _note,
    "move": _move,
    "copy": _copy,
    "delete": _delete,
    "restore": _restore,
    "fold": _fold,
    "unfold": _unfold,
    "version": _version,
    "mark": _mark,
    "inbox": _to_inbox,
}
