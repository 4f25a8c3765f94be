"""`python -m bot`: the same as `goodbot`."""

import sys


def main() -> None:
    """Run the command line. Ctrl-C ends it without a traceback also while it is imported."""
    try:
        from bot.cli.root import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
