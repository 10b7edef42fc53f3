"""Settings on one line are read as tables, and written as they are read."""

import pytest

from comitia.experiments._calls import is_call, read_call, spelt, split_calls


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a, b ,c", ["a", "b", "c"]),
        ("", []),
        (",a,,", ["a"]),
        ("f(a=1, b=[2, 3]), g({4, 5}), h", ["f(a=1, b=[2, 3])", "g({4, 5})", "h"]),
        ("f(a='x, y)', b=1), g", ["f(a='x, y)', b=1)", "g"]),
        ("""f(a="it's, so", b=1), g""", ["""f(a="it's, so", b=1)""", "g"]),
        ("'a, b', c", ["'a, b'", "c"]),
    ],
)
def test_a_list_is_cut_at_commas_outside_of_brackets_and_quotes(text, parts):
    assert split_calls(text) == parts


@pytest.mark.parametrize(
    ("text", "table", "written"),
    [
        ("f1", {"kind": "f1"}, "f1()"),
        ("a.B", {"class": "a.B"}, "B()"),
        (" f1 ( beta = 2 ) ", {"kind": "f1", "beta": 2}, "f1(beta=2)"),
        ("a.B(c=d.E(f=-1.5), g='x')", {"class": "a.B", "c": {"class": "d.E", "f": -1.5}, "g": "x"}, None),
        ("v(of=[m(a=1), (2,)])", {"kind": "v", "of": [{"kind": "m", "a": 1}, [2]]}, "v(of=[m(a=1), [2]])"),
        ("v(of={'a': 1, 'b': True})", {"kind": "v", "of": {"a": 1, "b": True}}, "v(of={'a': 1, 'b': True})"),
    ],
)  # fmt: skip
def test_a_call_is_read_as_a_table_and_written_again(text, table, written):
    assert read_call(text) == table
    assert spelt(table) == (written or "B(c=E(f=-1.5), g='x')")


def test_members_that_have_names_are_written_with_them():
    members = [{"name": "a", "kind": "f1", "beta": 2}, {"name": "b"}, {"kind": "ebr"}]
    assert spelt(members) == "[('a', f1(beta=2)), {'name': 'b'}, ebr()]"


def test_a_name_alone_is_no_call():
    assert [is_call(text) for text in ("f1", "a.b", "f1(beta=2)")] == [False, True, True]
