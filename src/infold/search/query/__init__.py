"""Questions and their answers: retrievers, fusion, filters by phrase, results by group, snippets, suggestions."""
