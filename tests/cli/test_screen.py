"""What the terminal is sent."""

import io

import pytest
from rich.table import Table

from comitia.cli._screen import Screen

EVIL = "a\x1b[31mred\x1b]0;title\x07\x9b\u202eb"


def shown(thing, **options) -> str:
    file = io.StringIO()
    Screen(file=file, width=200, **options).print(thing, markup=False, highlight=False)
    return file.getvalue()


@pytest.mark.parametrize("options", [{}, {"force_terminal": True, "color_system": "truecolor"}])
def test_a_terminal_obeys_nothing_that_is_shown_on_it(options):
    table = Table("name", title=EVIL)
    table.add_row(EVIL)
    for thing in (EVIL, table):
        text = shown(thing, **options)
        assert "a\\x1b[31mred\\x1b]0;title" in text
        assert "\\x9b\\u202eb" in text
        assert not {"\x07", "\x9b", "\u202e"} & set(text)
        assert "\x1b[31m" not in text


def test_styles_and_lines_are_still_those_of_the_console():
    file = io.StringIO()
    Screen(file=file, force_terminal=True, color_system="standard").print("[red]one[/]\ntwo")
    assert file.getvalue() == "\x1b[31mone\x1b[0m\ntwo\n"
