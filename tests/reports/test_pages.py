"""Pages of reports: safe, and the same for all."""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from infold.reports.pages import markdown_page, page


def test_html_in_markdown_is_text():
    """A note that is quoted in a report cannot bring a script, nor a link that runs one."""
    made = markdown_page("x", "Hello <script>alert(1)</script> [a](javascript:alert(2)) <img src=x onerror=y>")
    assert "<script" not in made
    assert "<img" not in made
    assert 'href="javascript' not in made


def test_a_table_has_its_cells_and_scrolls():
    """A bar that is escaped parts no cells; a wide table is not cut."""
    made = markdown_page("x", "| a | b |\n|---|---|\n| x \\| y | 2 |\n\n- one\n    - below\n")
    assert made.count("<td>") == 2
    assert '<div class="card scroll"><table>' in made
    assert made.count("<ul>") == 2


def test_a_name_that_a_template_lacks_is_an_error():
    """No report is silently empty."""
    with pytest.raises(UndefinedError):
        page("run")
