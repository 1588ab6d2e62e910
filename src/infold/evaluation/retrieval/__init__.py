"""How well search finds: sets of questions with known answers, asked of the product's own index."""
