"""`python -m tf_charagram.train`, the same as `charagram train`."""

import sys

from tf_charagram.cli import main

if __name__ == "__main__":
    sys.exit(main(["train", *sys.argv[1:]]))
