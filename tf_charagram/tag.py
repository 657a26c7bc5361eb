"""`python -m tf_charagram.tag`, the same as `charagram tag`."""

import sys

from tf_charagram.cli import main

if __name__ == "__main__":
    sys.exit(main(["tag", *sys.argv[1:]]))
