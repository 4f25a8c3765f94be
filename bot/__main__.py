"""`python -m bot`: the same as `goodbot`."""

from bot.cli.root import main

if __name__ == "__main__":
    main()
