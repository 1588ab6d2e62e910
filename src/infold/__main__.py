"""`python -m infold`: the same as the `infold` command."""

from infold.cli.start import main

if __name__ == "__main__":
    main()
