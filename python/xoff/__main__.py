"""`python -m xoff` is the command `xoff`."""

import sys

from xoff.cli import main

if __name__ == "__main__":
    sys.exit(main())
