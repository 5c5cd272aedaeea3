"""`python -m orchestra` is the command."""

from orchestra.cli import main

if __name__ == "__main__":
    main()
