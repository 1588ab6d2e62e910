"""`python -m infold`: the same as the `infold` command."""

from infold.cli.app import main

if __name__ == "__main__":
    main()
