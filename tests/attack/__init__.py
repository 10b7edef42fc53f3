"""Attacks: random mutations and random questions, a few in every run of the tests, as many as wanted by one command.

    python -m tests.attack models --cases 10000
    python -m tests.attack decisions --cases 100000
    python -m tests.attack data --cases 1000000
    python -m tests.attack runs --cases 50
    python -m tests.attack names --cases 1000

An attack is one module with a function ``work(folder, cases, seed)`` that says how each case ended; an ending that must
not be begins with ``WRONG``.  Case number n of a seed is the same in every run.  A process that ends without a word is
started again after the case that ended it.
"""
