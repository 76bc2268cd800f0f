"""`python -m skyrig` is the `skyrig` command."""

from skyrig.cli import main

if __name__ == "__main__":
    main()
