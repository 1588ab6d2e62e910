"""Flows: the composition of `infold.inbox` as Prefect runs it. With `tasks`, the only place that knows Prefect."""
