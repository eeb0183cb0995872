"""`python -m xoff`: the same as the command `xoff`."""

import sys

from xoff.cli import main

if __name__ == "__main__":
    sys.exit(main())
