"""Attributes that are found when they are asked for, and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Found = TypeVar("Found", covariant=True)


class once(Generic[Found]):  # noqa: N801  it is used as a decorator
    """Like ``functools.cached_property``, without its lock.

    Before Python 3.12 that holds one lock for all objects of a class while it works: threads that each work on a part
    would wait for each other.  Two threads that ask one object at the same time may both do the work here.

    Examples
    --------
    >>> class Square:
    ...     def __init__(self, side):
    ...         self.side = side
    ...     @once
    ...     def area(self):
    ...         print("multiplying")
    ...         return self.side**2
    >>> square = Square(3)
    >>> square.area, square.area
    multiplying
    (9, 9)
    """

    def __init__(self, find: Callable[[Any], Found]) -> None:
        self._find, self.__doc__ = find, find.__doc__

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, of: None, kind: type) -> once[Found]: ...

    @overload
    def __get__(self, of: object, kind: type) -> Found: ...

    def __get__(self, of: object | None, kind: type) -> once[Found] | Found:
        if of is None:
            return self
        found: Found = self._find(of)
        of.__dict__[self._name] = found
        return found
