"""`python -m tf_charagram.neighbors`, the same as `charagram neighbors`."""

import sys

from tf_charagram.cli.neighbors import main

if __name__ == "__main__":
    sys.exit(main())
