"""What a model's tokens cost, from the price list that the `genai-prices` package carries. Never asks the network."""

from __future__ import annotations

from infold.librarian.spend import Price


def price_of(model: str, base_url: str | None) -> Price | None:
    """The price of `model` at that endpoint (None: OpenAI's own), or None where the list does not know it.

    A local or unlisted endpoint is unknown, even for a model of a known name: who runs it decides what it costs.
    """
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    def usd(prompt_tokens: int, cached_tokens: int, completion_tokens: int) -> float:
        tokens = Tokens(
            input_tokens=prompt_tokens,
            cache_read_tokens=min(cached_tokens, prompt_tokens),
            output_tokens=completion_tokens,
        )
        if base_url is None:
            return float(calc_price(tokens, model, provider_id="openai").total_price)
        return float(calc_price(tokens, model, provider_api_url=base_url).total_price)

    try:
        usd(1, 0, 1)
    except LookupError:
        return None
    return usd
