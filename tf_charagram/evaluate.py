"""`python -m tf_charagram.evaluate`, the same as `charagram evaluate`."""

import sys

from tf_charagram.cli import main

if __name__ == "__main__":
    sys.exit(main(["evaluate", *sys.argv[1:]]))
