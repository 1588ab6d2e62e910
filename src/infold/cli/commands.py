"""Which commands there are, in the order and under the panels in which `infold --help` lists them.

A command is a function, loaded when it is called or when its help is shown: `infold search` waits for no other's
libraries. Add one here and its examples in `cli.examples`, then run `python -m scripts.cli_docs`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

JOB: Final = "The job"
DONE: Final = "What was done"
FINDING: Final = "Finding and reading"
NOTEBOOK: Final = "The notebook"
VAULT: Final = "The vault"
TERMINAL: Final = "The terminal"


@dataclass(frozen=True, slots=True)
class Entry:
    """A command: the function `at`, as `module:function` below `infold.cli`.

    With `--json` it prints the answer of its `operation`; "" is a command of this machine or terminal alone.
    """

    name: str
    at: str
    panel: str | None = None
    operation: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Commands under one name, such as `infold flows up`."""

    name: str
    help: str
    entries: tuple[Entry, ...]
    panel: str | None = None
    default: str = ""  # the command that is meant where none is named


_READING, _WRITING, _FOLDING, _DOORS, _UPKEEP = (
    "Reading",
    "Writing",
    "Summaries, earlier versions, what was deleted",
    "In and out",
    "All trees",
)
DOCMEM: Final = (
    Entry("roots", "docmem_reading:roots", _READING),
    Entry("show", "docmem_reading:show", _READING),
    Entry("structure", "docmem_reading:structure", _READING),
    Entry("text", "docmem_reading:text", _READING),
    Entry("expand", "docmem_reading:expand", _READING),
    Entry("search", "docmem_reading:search", _READING),
    Entry("tags", "docmem_reading:tags", _READING),
    Entry("find", "docmem_reading:find", _READING),
    Entry("nodes", "docmem_reading:nodes", _READING),
    Entry("root", "docmem_reading:root", _READING),
    Entry("create", "docmem_writing:create", _WRITING),
    Entry("append", "docmem_writing:append", _WRITING),
    Entry("insert", "docmem_writing:insert", _WRITING),
    Entry("note", "docmem_writing:note", _WRITING),
    Entry("edit", "docmem_writing:edit", _WRITING),
    Entry("context", "docmem_writing:context", _WRITING),
    Entry("move", "docmem_writing:move", _WRITING),
    Entry("copy", "docmem_writing:copy", _WRITING),
    Entry("delete", "docmem_writing:delete", _WRITING),
    Entry("mark", "docmem_writing:mark", _WRITING),
    Entry("unmark", "docmem_writing:unmark", _WRITING),
    Entry("summarise", "docmem_summaries:summarise", _FOLDING),
    Entry("unsummarise", "docmem_summaries:unsummarise", _FOLDING),
    Entry("condense", "docmem_summaries:condense", _FOLDING),
    Entry("history", "docmem_summaries:history", _FOLDING),
    Entry("deleted", "docmem_summaries:deleted", _FOLDING),
    Entry("restore", "docmem_summaries:restore", _FOLDING),
    Entry("import", "docmem_exchange:import_", _DOORS),
    Entry("place", "docmem_exchange:place", _DOORS),
    Entry("export", "docmem_exchange:export", _DOORS),
    Entry("to-inbox", "docmem_exchange:to_inbox", _DOORS),
    Entry("index", "docmem_store:index", _UPKEEP),
    Entry("check", "docmem_store:check", _UPKEEP),
    Entry("backup", "docmem_store:backup", _UPKEEP),
    Entry("restore-backup", "docmem_store:restore_backup", _UPKEEP),
)

COMMANDS: Final[tuple[Entry | Group, ...]] = (
    Entry("demo", "demo:demo", JOB),
    Entry("init", "init:init", JOB),
    Entry("integrate", "integrate:integrate", JOB, operation="inbox_integrate"),
    Entry("review", "review:review", JOB, operation="run_review"),
    Group(
        "runs",
        "What was changed, newest first (what `infold runs` alone lists), and how much of it is kept.",
        (Entry("list", "runs:runs", operation="run_list"), Entry("prune", "runs:prune", operation="run_prune")),
        DONE,
        default="list",
    ),
    Entry("show", "runs:show", DONE, operation="run_show"),
    Entry("diff", "runs:diff", DONE, operation="run_diff"),
    Entry("apply", "runs:apply", DONE, operation="run_apply"),
    Entry("undo", "runs:undo", DONE, operation="run_undo"),
    Entry("search", "search:search", FINDING, operation="memory_search"),
    Entry("get", "get:get", FINDING, operation="memory_get"),
    Entry("open", "open:open_", FINDING),
    Entry("ask", "ask:ask", FINDING, operation="ask"),
    Entry("chat", "chat:chat", FINDING, operation="chat"),
    Entry("query", "knowledge:query", FINDING, operation="knowledge_query"),
    Entry("suggest", "graph:suggest", FINDING, operation="knowledge_suggest"),
    Entry("links", "graph:links", FINDING),
    Entry("backlinks", "graph:backlinks", FINDING),
    Entry("tags", "graph:tags", FINDING, operation="knowledge_tags"),
    Entry("graph", "graph:graph", FINDING, operation="knowledge_graph"),
    Entry("research", "research:research", FINDING, operation="knowledge_research"),
    Group(
        "sources",
        "What was brought in from outside, and what is kept of it (what `infold sources` alone lists).",
        (
            Entry("list", "research:list_", operation="sources_list"),
            Entry("add", "research:add", operation="source_add"),
            Entry("show", "research:show", operation="source_show"),
            Entry("watch", "research:watch", operation="source_watch"),
            Entry("forget", "research:forget", operation="source_forget"),
        ),
        FINDING,
        default="list",
    ),
    Entry("new", "notes:new", NOTEBOOK, operation="knowledge_create"),
    Entry("write", "notebook:write", NOTEBOOK, operation="notebook_write"),
    Entry("log", "notebook:log", NOTEBOOK, operation="daily_log"),
    Entry("context", "notebook:context", NOTEBOOK, operation="memory_context"),
    Group(
        "sessions",
        "Transcripts of conversations, to be searched like notes.",
        (
            Entry("index", "sessions:index", operation="session_index"),
            Entry("list", "sessions:list_", operation="session_list"),
            Entry("add", "sessions:add", operation="session_add"),
            Entry("forget", "sessions:forget", operation="session_forget"),
        ),
        NOTEBOOK,
    ),
    Group("docmem", "Memory trees: small pieces in an order that reads as a document.", DOCMEM, NOTEBOOK),
    Group(
        "mcp",
        "Serve the vault to agents over the Model Context Protocol (what `infold mcp` alone does).",
        (Entry("serve", "mcp:serve"), Entry("install", "mcp:install"), Entry("clients", "mcp:clients")),
        NOTEBOOK,
        default="serve",
    ),
    Group(
        "nav",
        "Walk through imported notes: explore, zoom, move, follow links, look through a lens, see themes.",
        (
            Entry("browse", "nav:browse", operation="browse_vault"),
            Entry("import", "nav:import_", operation="import"),
            Entry("explore", "nav:explore", operation="explore"),
            Entry("move", "nav:move", operation="move"),
            Entry("in", "nav:into", operation="zoom_in"),
            Entry("out", "nav:out", operation="zoom_out"),
            Entry("follow", "nav:follow", operation="follow_link"),
            Entry("back", "nav:back", operation="back"),
            Entry("lens", "nav:lens", operation="filter"),
            Entry("summarise", "nav:summarise", operation="summarize"),
            Entry("themes", "nav:themes", operation="themes"),
        ),
        NOTEBOOK,
    ),
    Entry("serve", "serve:serve", NOTEBOOK),
    Entry("migrate", "migrate:migrate", VAULT, operation="notebook_migrate"),
    Entry("rename", "notes:rename", VAULT, operation="knowledge_rename"),
    Entry("delete", "notes:delete", VAULT, operation="knowledge_delete"),
    Entry("lint", "graph:lint", VAULT, operation="knowledge_lint"),
    Entry("index", "index:index", VAULT, operation="index_sync"),
    Entry("watch", "watch:watch", VAULT),
    Entry("rebuild", "index:rebuild", VAULT, operation="index_rebuild"),
    Entry("status", "status:status", VAULT, operation="vault_status"),
    Group(
        "config",
        "The settings in force and where each comes from (what `infold config` alone lists), and changing one.",
        (
            Entry("list", "config:list_"),
            Entry("get", "config:get"),
            Entry("set", "config:set_"),
            Entry("unset", "config:unset"),
            Entry("edit", "config:edit"),
        ),
        VAULT,
        default="list",
    ),
    Group(
        "vaults",
        "Several vaults, each with a name that `--vault` takes (what `infold vaults` alone lists).",
        (
            Entry("list", "vaults:list_"),
            Entry("add", "vaults:add"),
            Entry("use", "vaults:use"),
            Entry("forget", "vaults:forget"),
        ),
        VAULT,
        default="list",
    ),
    Entry("doctor", "doctor:doctor", VAULT, operation="vault_doctor"),
    Group(
        "evaluate",
        "Measure on your own notes how well text is filed (what `infold evaluate` alone does), and found.",
        (
            Entry("filing", "evaluate:evaluate", operation="evaluate_filing"),
            Entry("retrieval", "evaluate_retrieval:retrieval", operation="evaluate_retrieval"),
            Entry("summaries", "evaluate_retrieval:summaries", operation="evaluate_summaries"),
        ),
        VAULT,
        default="filing",
    ),
    Group("flows", "Run the steps as Prefect flows: schedule, retries, a UI.", (Entry("up", "flows:up"),), VAULT),
    Group(
        "models",
        "See, get and choose the model that embeddings come from.",
        (Entry("list", "models:list_"), Entry("pull", "models:pull"), Entry("use", "models:use")),
        VAULT,
    ),
    Entry("completion", "completion:completion", TERMINAL),
    Entry("help", "help:help_", TERMINAL),
)
