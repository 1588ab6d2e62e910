"""The steps that make files, one module each, as DVC runs them: `python -m infold.stages.tables`."""
