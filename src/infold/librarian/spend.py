"""What decisions cost: reserved before a call, counted as they are paid, stopped before the cap is passed.

Prices belong to `librarian.prices`, the forecast of a whole run to `librarian.estimate`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from infold.errors import CapReached, SettingInvalid
from infold.librarian.ledger import Ledger
from infold.text import counted

# US dollars for (prompt tokens, of these read from the endpoint's prompt cache, completion tokens).
Price = Callable[[int, int, int], float]


class Usage(BaseModel):
    """What was paid: model calls, tokens, US dollars (None: the price of this model is unknown).

    `reused` counts answers that were served from the store of decisions, `failed` calls that brought no answer; both
    are in no other figure.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0
    reused: int = 0
    failed: int = 0

    @property
    def tokens(self) -> int:
        """Prompt and completion together."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def in_words(self) -> str:
        """What was paid, in one phrase for a person."""
        kept = f"{counted(self.reused, 'answer')} kept from before" if self.reused else ""
        failed = f"{counted(self.failed, 'call')} without an answer" if self.failed else ""
        if not self.calls:
            return ", ".join(filter(None, (failed, kept))) or "no model was asked"
        tokens = f"{self.prompt_tokens:,} tokens in, {self.completion_tokens:,} out"
        price = "price unknown" if self.usd is None else f"${self.usd:.4f}"
        return ", ".join(filter(None, (counted(self.calls, "call"), tokens, price, failed, kept)))

    def __add__(self, other: Usage) -> Usage:
        """Both together; one unknown price makes the sum unknown."""
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            usd=usd,
            reused=self.reused + other.reused,
            failed=self.failed + other.failed,
        )

    def __str__(self) -> str:
        price = "price unknown" if self.usd is None else f"{self.usd:.4f} USD"
        reused = f", {self.reused} reused" if self.reused else ""
        failed = f", {self.failed} without an answer" if self.failed else ""
        return f"{self.calls} calls, {self.prompt_tokens} + {self.completion_tokens} tokens, {price}{reused}{failed}"


@dataclass(frozen=True, slots=True)
class MeteredCall:
    """One paid or reused answer, and what it was for (`chunk 3`, `group`, a note's path)."""

    purpose: str
    usage: Usage


@dataclass(frozen=True, slots=True, eq=False)
class Reservation:
    """Room under the caps that one call in flight holds, until it is settled or released."""

    purpose: str
    tokens: int
    usd: float
    counted_prompt_tokens: int
    entry: int = 0  # in the ledger of the day


class CostMeter:
    """The meter of one librarian, safe over threads. Calls side by side reserve together, so they cannot overshoot.

    A call reserves its prompt by the product's token rule and the longest answer it may get. Endpoints count with their
    own tokenizers: where one counted more than the rule, later reservations are widened by the worst ratio seen. An
    endpoint that ignores the limit of an answer can pass a cap by the answers under way.
    """

    def __init__(
        self,
        *,
        max_usd: float | None = None,
        max_tokens: int | None = None,
        price: Price | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        """`price` is None where the model's price is unknown; a cap in dollars is then refused by SettingInvalid.

        `ledger` is where the day's spending of all processes is kept, and capped.
        """
        capped = {"max_usd": max_usd, "max_usd_per_day": ledger.max_usd if ledger else None}
        for name, cap in capped.items():
            if cap is not None and price is None:
                raise SettingInvalid(
                    f"Setting librarian.{name} cannot be held: the price of this model at this endpoint is unknown.",
                    hint=f"Set librarian.{name.replace('usd', 'tokens')} instead.",
                )
        self._ledger = ledger
        self.max_usd = max_usd
        self.max_tokens = max_tokens
        self.price = price
        self._lock = threading.Lock()
        self._calls: list[MeteredCall] = []
        self._total = Usage()
        self._held: list[Reservation] = []
        self._worst_ratio = 1.0
        self._refusal: CapReached | None = None

    @property
    def usage(self) -> Usage:
        """All that was paid so far."""
        with self._lock:
            return self._total

    @property
    def calls(self) -> tuple[MeteredCall, ...]:
        """Every answer in the order it came."""
        with self._lock:
            return tuple(self._calls)

    @property
    def refusal(self) -> CapReached | None:
        """Why a call was not made, where one was kept back for a cap; the first of them."""
        with self._lock:
            return self._refusal

    def reserve(self, purpose: str, prompt_tokens: int, max_answer_tokens: int) -> Reservation:
        """Room for one call. Raises CapReached where it might pass a cap; nothing is sent then."""
        with self._lock:
            likely = math.ceil(prompt_tokens * self._worst_ratio)
            usd = self.price(likely, 0, max_answer_tokens) if self.price else 0.0
            wanted = Reservation(purpose, likely + max_answer_tokens, usd, prompt_tokens)
            try:
                self._check_caps(wanted)
                if self._ledger is not None:
                    wanted = replace(wanted, entry=self._ledger.enter(wanted.tokens, wanted.usd))
            except CapReached as refusal:
                self._refusal = self._refusal or refusal
                raise
            self._held.append(wanted)
            return wanted

    def settle(self, held: Reservation, prompt_tokens: int, completion_tokens: int, *, cached_tokens: int = 0) -> Usage:
        """Counts what the call really took in place of what it had reserved."""
        usd = self.price(prompt_tokens, cached_tokens, completion_tokens) if self.price else None
        paid = Usage(calls=1, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens, usd=usd)
        if self._ledger is not None:
            self._ledger.settle(held.entry, paid.tokens, usd or 0.0)
        with self._lock:
            self._held.remove(held)
            if held.counted_prompt_tokens:
                self._worst_ratio = max(self._worst_ratio, prompt_tokens / held.counted_prompt_tokens)
            return self._count(MeteredCall(held.purpose, paid))

    def release(self, held: Reservation, *, failed: bool = False) -> None:
        """Gives the room back: the call was not paid. `failed`: it was made, and brought no answer."""
        if self._ledger is not None:
            self._ledger.release(held.entry)
        with self._lock:
            self._held.remove(held)
            if failed:
                self._total += Usage(failed=1)

    def reuse(self, purpose: str) -> Usage:
        """Counts an answer that was served from the store and cost nothing."""
        with self._lock:
            return self._count(MeteredCall(purpose, Usage(reused=1)))

    def _check_caps(self, wanted: Reservation) -> None:
        spent, reserved = self._total.tokens, sum(held.tokens for held in self._held)
        if self.max_tokens is not None and spent + reserved + wanted.tokens > self.max_tokens:
            raise CapReached(
                f"The next call may take {wanted.tokens} tokens; of {self.max_tokens}, {spent} are spent"
                f" and {reserved} reserved by calls under way.",
                hint="Raise librarian.max_tokens, or run again later: what is done is kept.",
            )
        spent_usd, reserved_usd = self._total.usd or 0.0, sum(held.usd for held in self._held)
        if self.max_usd is not None and spent_usd + reserved_usd + wanted.usd > self.max_usd:
            raise CapReached(
                f"The next call may cost {wanted.usd:.4f} USD; of {self.max_usd:.4f}, {spent_usd:.4f} are spent"
                f" and {reserved_usd:.4f} reserved by calls under way.",
                hint="Raise librarian.max_usd, or run again later: what is done is kept.",
            )

    def _count(self, call: MeteredCall) -> Usage:
        self._calls.append(call)
        self._total += call.usage
        return call.usage
