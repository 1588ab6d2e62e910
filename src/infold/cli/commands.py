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
class CommandEntry:
    """A command: the function `at`, as `module:function` below `infold.cli`.

    With `--json` it prints the answer of its `operation`; "" is a command of this machine or terminal alone.
    """

    name: str
    at: str
    panel: str | None = None
    operation: str = ""


@dataclass(frozen=True, slots=True)
class CommandGroup:
    """Commands under one name, such as `infold flows up`."""

    name: str
    help: str
    entries: tuple[CommandEntry, ...]
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
    CommandEntry("roots", "docmem_reading:roots", _READING),
    CommandEntry("show", "docmem_reading:show", _READING),
    CommandEntry("structure", "docmem_reading:structure", _READING),
    CommandEntry("text", "docmem_reading:text", _READING),
    CommandEntry("expand", "docmem_reading:expand", _READING),
    CommandEntry("search", "docmem_reading:search", _READING),
    CommandEntry("tags", "docmem_reading:tags", _READING),
    CommandEntry("find", "docmem_reading:find", _READING),
    CommandEntry("nodes", "docmem_reading:nodes", _READING),
    CommandEntry("root", "docmem_reading:root", _READING),
    CommandEntry("create", "docmem_writing:create", _WRITING),
    CommandEntry("append", "docmem_writing:append", _WRITING),
    CommandEntry("insert", "docmem_writing:insert", _WRITING),
    CommandEntry("note", "docmem_writing:note", _WRITING),
    CommandEntry("edit", "docmem_writing:edit", _WRITING),
    CommandEntry("context", "docmem_writing:context", _WRITING),
    CommandEntry("move", "docmem_writing:move", _WRITING),
    CommandEntry("copy", "docmem_writing:copy", _WRITING),
    CommandEntry("delete", "docmem_writing:delete", _WRITING),
    CommandEntry("mark", "docmem_writing:mark", _WRITING),
    CommandEntry("unmark", "docmem_writing:unmark", _WRITING),
    CommandEntry("summarise", "docmem_summaries:summarise", _FOLDING),
    CommandEntry("unsummarise", "docmem_summaries:unsummarise", _FOLDING),
    CommandEntry("condense", "docmem_summaries:condense", _FOLDING),
    CommandEntry("history", "docmem_summaries:history", _FOLDING),
    CommandEntry("deleted", "docmem_summaries:deleted", _FOLDING),
    CommandEntry("restore", "docmem_summaries:restore", _FOLDING),
    CommandEntry("import", "docmem_exchange:import_", _DOORS),
    CommandEntry("place", "docmem_exchange:place", _DOORS),
    CommandEntry("export", "docmem_exchange:export", _DOORS),
    CommandEntry("to-inbox", "docmem_exchange:to_inbox", _DOORS),
    CommandEntry("index", "docmem_store:index", _UPKEEP),
    CommandEntry("check", "docmem_store:check", _UPKEEP),
    CommandEntry("backup", "docmem_store:backup", _UPKEEP),
    CommandEntry("restore-backup", "docmem_store:restore_backup", _UPKEEP),
)

COMMANDS: Final[tuple[CommandEntry | CommandGroup, ...]] = (
    CommandEntry("demo", "demo:demo", JOB),
    CommandEntry("init", "init:init", JOB),
    CommandEntry("integrate", "integrate:integrate", JOB, operation="inbox_integrate"),
    CommandEntry("review", "review:review", JOB, operation="run_review"),
    CommandGroup(
        "runs",
        "What was changed, newest first (what `infold runs` alone lists), and how much of it is kept.",
        (
            CommandEntry("list", "runs:runs", operation="run_list"),
            CommandEntry("prune", "runs:prune", operation="run_prune"),
        ),
        DONE,
        default="list",
    ),
    CommandEntry("show", "runs:show", DONE, operation="run_show"),
    CommandEntry("diff", "runs:diff", DONE, operation="run_diff"),
    CommandEntry("apply", "runs:apply", DONE, operation="run_apply"),
    CommandEntry("undo", "runs:undo", DONE, operation="run_undo"),
    CommandEntry("search", "search:search", FINDING, operation="memory_search"),
    CommandEntry("get", "get:get", FINDING, operation="memory_get"),
    CommandEntry("open", "open:open_", FINDING),
    CommandEntry("ask", "ask:ask", FINDING, operation="ask"),
    CommandEntry("chat", "chat:chat", FINDING, operation="chat"),
    CommandEntry("query", "knowledge:query", FINDING, operation="knowledge_query"),
    CommandEntry("suggest", "graph:suggest", FINDING, operation="knowledge_suggest"),
    CommandEntry("links", "graph:links", FINDING),
    CommandEntry("backlinks", "graph:backlinks", FINDING),
    CommandEntry("tags", "graph:tags", FINDING, operation="knowledge_tags"),
    CommandEntry("graph", "graph:graph", FINDING, operation="knowledge_graph"),
    CommandEntry("research", "research:research", FINDING, operation="knowledge_research"),
    CommandGroup(
        "sources",
        "What was brought in from outside, and what is kept of it (what `infold sources` alone lists).",
        (
            CommandEntry("list", "research:list_", operation="sources_list"),
            CommandEntry("add", "research:add", operation="source_add"),
            CommandEntry("show", "research:show", operation="source_show"),
            CommandEntry("watch", "research:watch", operation="source_watch"),
            CommandEntry("forget", "research:forget", operation="source_forget"),
        ),
        FINDING,
        default="list",
    ),
    CommandEntry("new", "notes:new", NOTEBOOK, operation="knowledge_create"),
    CommandEntry("write", "notebook:write", NOTEBOOK, operation="notebook_write"),
    CommandEntry("log", "notebook:log", NOTEBOOK, operation="daily_log"),
    CommandEntry("context", "notebook:context", NOTEBOOK, operation="memory_context"),
    CommandGroup(
        "sessions",
        "Transcripts of conversations, to be searched like notes.",
        (
            CommandEntry("index", "sessions:index", operation="session_index"),
            CommandEntry("list", "sessions:list_", operation="session_list"),
            CommandEntry("add", "sessions:add", operation="session_add"),
            CommandEntry("forget", "sessions:forget", operation="session_forget"),
        ),
        NOTEBOOK,
    ),
    CommandGroup("docmem", "Memory trees: small pieces in an order that reads as a document.", DOCMEM, NOTEBOOK),
    CommandGroup(
        "mcp",
        "Serve the vault to agents over the Model Context Protocol (what `infold mcp` alone does).",
        (
            CommandEntry("serve", "mcp:serve"),
            CommandEntry("install", "mcp:install"),
            CommandEntry("clients", "mcp:clients"),
        ),
        NOTEBOOK,
        default="serve",
    ),
    CommandGroup(
        "nav",
        "Walk through imported notes: explore, zoom, move, follow links, look through a lens, see themes.",
        (
            CommandEntry("browse", "nav:browse", operation="browse_vault"),
            CommandEntry("import", "nav:import_", operation="import"),
            CommandEntry("explore", "nav:explore", operation="explore"),
            CommandEntry("move", "nav:move", operation="move"),
            CommandEntry("in", "nav:into", operation="zoom_in"),
            CommandEntry("out", "nav:out", operation="zoom_out"),
            CommandEntry("follow", "nav:follow", operation="follow_link"),
            CommandEntry("back", "nav:back", operation="back"),
            CommandEntry("lens", "nav:lens", operation="filter"),
            CommandEntry("summarise", "nav:summarise", operation="summarize"),
            CommandEntry("themes", "nav_themes:themes", operation="themes"),
            CommandEntry("name-themes", "nav_themes:name_themes", operation="name_themes"),
            CommandEntry("save-trail", "nav_trail:save_trail", operation="trail_save"),
        ),
        NOTEBOOK,
    ),
    CommandEntry("serve", "serve:serve", NOTEBOOK),
    CommandEntry("call", "call:call", NOTEBOOK),
    CommandEntry("migrate", "migrate:migrate", VAULT, operation="notebook_migrate"),
    CommandEntry("rename", "notes:rename", VAULT, operation="knowledge_rename"),
    CommandEntry("delete", "notes:delete", VAULT, operation="knowledge_delete"),
    CommandEntry("restore", "notes:restore", VAULT, operation="knowledge_restore"),
    CommandEntry("lint", "graph:lint", VAULT, operation="knowledge_lint"),
    CommandEntry("index", "index:index", VAULT, operation="index_sync"),
    CommandEntry("watch", "watch:watch", VAULT),
    CommandEntry("rebuild", "index:rebuild", VAULT, operation="index_rebuild"),
    CommandEntry("status", "status:status", VAULT, operation="vault_status"),
    CommandGroup(
        "config",
        "The settings in force and where each comes from (what `infold config` alone lists), and changing one.",
        (
            CommandEntry("list", "config:list_"),
            CommandEntry("get", "config:get"),
            CommandEntry("set", "config:set_"),
            CommandEntry("unset", "config:unset"),
            CommandEntry("edit", "config:edit"),
        ),
        VAULT,
        default="list",
    ),
    CommandGroup(
        "vaults",
        "Several vaults, each with a name that `--vault` takes (what `infold vaults` alone lists).",
        (
            CommandEntry("list", "vaults:list_"),
            CommandEntry("add", "vaults:add"),
            CommandEntry("use", "vaults:use"),
            CommandEntry("forget", "vaults:forget"),
        ),
        VAULT,
        default="list",
    ),
    CommandEntry("doctor", "doctor:doctor", VAULT, operation="vault_doctor"),
    CommandGroup(
        "evaluate",
        "Measure on your own notes how well text is filed (what `infold evaluate` alone does), and found.",
        (
            CommandEntry("filing", "evaluate:evaluate", operation="evaluate_filing"),
            CommandEntry("retrieval", "evaluate_retrieval:retrieval", operation="evaluate_retrieval"),
            CommandEntry("summaries", "evaluate_retrieval:summaries", operation="evaluate_summaries"),
        ),
        VAULT,
        default="filing",
    ),
    CommandGroup(
        "flows", "Run the steps as Prefect flows: schedule, retries, a UI.", (CommandEntry("up", "flows:up"),), VAULT
    ),
    CommandGroup(
        "models",
        "See, get and choose the model that embeddings come from.",
        (CommandEntry("list", "models:list_"), CommandEntry("pull", "models:pull"), CommandEntry("use", "models:use")),
        VAULT,
    ),
    CommandEntry("completion", "completion:completion", TERMINAL),
    CommandEntry("help", "help:help_", TERMINAL),
)
