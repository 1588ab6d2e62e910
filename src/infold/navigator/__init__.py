"""The semantic navigator: notes as nested nodes to zoom into, move between and see by theme (spec 5)."""
