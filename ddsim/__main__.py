"""`python -m ddsim`: the command line."""

from ddsim.cli import main

if __name__ == "__main__":
    main()
