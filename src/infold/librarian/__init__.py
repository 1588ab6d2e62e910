"""Whatever takes the decisions: a model behind an endpoint, or the embedded offline algorithm."""
