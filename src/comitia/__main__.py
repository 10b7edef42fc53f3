"""``python -m comitia``: the command line."""

from comitia.cli import main

if __name__ == "__main__":
    main()
