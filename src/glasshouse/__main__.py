"""`python -m glasshouse`."""

from glasshouse.cli import main

if __name__ == "__main__":
    main()
